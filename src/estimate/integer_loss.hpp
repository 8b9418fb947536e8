#pragma once

#include <string_view>

#include "fenchel/core/compensated_sum.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/estimate/count_histogram.hpp"
#include "fenchel/loss/integers.hpp"

namespace fenchel::detail {

/// The mean cross-Omega loss of counts under the score of a prediction p.
template <class P>
double mean_cross_omega(const P& p, const CountHistogram& counts) {
  CompensatedSum below_mode;
  const auto values = counts.values();
  const auto weights = counts.weights();
  for (std::size_t k = 0; k < values.size(); ++k)
    below_mode.add(weights[k] * p.prediction().relative(values[k]));
  return cross_omega(Tsallis(p.alpha()), score(p), domain(p), mode(p)).value -
         below_mode.total() / counts.weight();
}

inline void check_integer_fit(std::string_view where, double alpha, const CountHistogram& counts) {
  if (!(alpha >= 1)) throw_domain_error(where, "alpha", "must be at least 1", alpha);
  if (alpha > std::numeric_limits<double>::max()) throw_domain_error(where, "alpha", "must be finite", alpha);
  if (!(counts.weight() > 0))
    throw_domain_error(where, "the weight of the data", "must be positive", counts.weight());
}

}  // namespace fenchel::detail
