#include "fenchel/domain/finite.hpp"

#include <algorithm>
#include <cmath>

#include "fenchel/core/error.hpp"

namespace fenchel {

Finite::Finite(std::vector<double> weights) : weights_(std::move(weights)) {
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i] >= 0 && std::isfinite(weights_[i])) continue;
    throw_domain_error("finite", indexed("weights", static_cast<index_t>(i)),
                       "must be finite and not negative", weights_[i]);
  }
  if (std::ranges::none_of(weights_, [](double w) { return w > 0; })) {
    throw_domain_error("finite", "the largest weight", "must be positive", 0);
  }
}

}  // namespace fenchel
