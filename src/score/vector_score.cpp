#include "fenchel/score/vector_score.hpp"

#include <algorithm>

#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {

VectorScore::VectorScore(std::vector<double> values) : values_(std::move(values)) {
  if (values_.empty()) throw_invalid_argument("vector_score", "values.size()", "must be at least 1", 0);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (values_[i] < kInfinity) continue;
    throw_domain_error("vector_score", indexed("values", static_cast<index_t>(i)), "must be finite or -inf",
                       values_[i]);
  }
  if (std::ranges::max(values_) == -kInfinity) {
    throw_domain_error("vector_score", "the largest value", "must be finite", -kInfinity);
  }
}

}  // namespace fenchel
