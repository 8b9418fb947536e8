#pragma once

#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"

/// What the accessors of an IntegerTable need of a tail that falls like a power.
namespace fenchel::detail {

/// log of the probability to be at least `from` away.
[[nodiscard]] double log_tail_mass(const IntegerTail& tail, double from);

/// The smallest distance >= tail.first such that the probability to be at least as far is at most, or with
/// `strictly` less than, e^log_mass; infinity where it is no index_t.
[[nodiscard]] double tail_quantile(const IntegerTail& tail, double log_mass, bool strictly);

/// The sum of p (t - origin)^n over the tail; infinite where it does not exist.
[[nodiscard]] double tail_moment(const IntegerTail& tail, double origin, int n);

/// The sum of p log_{2-order}(p) / order; -infinity where it does not exist.
[[nodiscard]] double tail_negentropy(const IntegerTail& tail, double order);

/// p^order / sum p^order of a table with tails. Throws std::domain_error where the sum does not exist.
[[nodiscard]] IntegerTable heavy_escort(const IntegerTable& p, double order);

/// The sum of p f. Throws ConvergenceError where f is not smooth, or grows too fast.
[[nodiscard]] double tail_expectation(const IntegerTail& tail, FunctionRef<double(double)> f,
                                      double accuracy);

}  // namespace fenchel::detail
