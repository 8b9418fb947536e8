#include "fenchel/estimate/regression/determination.hpp"

#include "core/compensated_sum.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

template <class Term>
double weighted_sum(index_t count, PerRow weights, Term term) {
  detail::CompensatedSum sum;
  for (index_t i = 0; i < count; ++i) sum.add(weights[i] * term(static_cast<std::size_t>(i)));
  return sum.total();
}

}  // namespace

Determination determination(std::span<const double> truth, std::span<const double> prediction,
                            PerRow weights) {
  const auto count = static_cast<index_t>(truth.size());
  if (prediction.size() != truth.size())
    throw_invalid_argument("determination", "predictions", "must number " + shortest(count),
                           static_cast<index_t>(prediction.size()));
  if (weights.per_row() && weights.size() != count)
    throw_invalid_argument("determination", "weights", "must number " + shortest(count), weights.size());
  const double weight = weighted_sum(count, weights, [](std::size_t) { return 1.0; });
  const auto squares = [&](std::span<const double> values) {
    const double mean = weighted_sum(count, weights, [&](std::size_t i) { return values[i]; }) / weight;
    return weighted_sum(count, weights,
                        [&](std::size_t i) { return (values[i] - mean) * (values[i] - mean); });
  };
  const double errors = weighted_sum(
      count, weights, [&](std::size_t i) { return (truth[i] - prediction[i]) * (truth[i] - prediction[i]); });
  return {1 - errors / squares(truth), 1 - errors / squares(prediction)};
}

}  // namespace fenchel
