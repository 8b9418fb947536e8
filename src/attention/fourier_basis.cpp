#include "fenchel/attention/fourier_basis.hpp"

#include <cmath>
#include <numbers>

#include "fenchel/core/check.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fourier_basis";

index_t checked_count(index_t count) {
  if (count < 0) throw_invalid_argument(kWhere, "count", "must not be negative", count);
  return count;
}

double checked_period(index_t count, double period) {
  detail::checked_positive(kWhere, "period", period);
  if (!std::isfinite(2 * std::numbers::pi * static_cast<double>(count) / period))
    throw_domain_error(kWhere, "period", "must leave 2 pi count / period finite", period);
  return period;
}

/// Within half a period, as products with a frequency would overflow far out.
double phase(double t, double period) { return std::isfinite(t) ? std::remainder(t, period) : t; }

}  // namespace

FourierBasis::FourierBasis(index_t count, double period)
    : count_(checked_count(count)), period_(checked_period(count, period)) {}

double FourierBasis::frequency(index_t k) const noexcept {
  return 2 * std::numbers::pi * static_cast<double>(k) / period_;
}

Eigen::VectorXd evaluate(const FourierBasis& psi, double t) {
  Eigen::VectorXd values(psi.size());
  values[0] = 1;
  const double x = phase(t, psi.period());
  for (index_t k = 1; k <= psi.count(); ++k) {
    values[2 * k - 1] = std::cos(psi.frequency(k) * x);
    values[2 * k] = std::sin(psi.frequency(k) * x);
  }
  return values;
}

LineFunction line_function(const FourierBasis& psi, index_t j) {
  if (j == 0) return {[](double) { return 1.0; }};
  const double frequency = psi.frequency((j + 1) / 2), period = psi.period();
  if (j % 2 == 1) return {[=](double t) { return std::cos(frequency * phase(t, period)); }};
  return {[=](double t) { return std::sin(frequency * phase(t, period)); }};
}

}  // namespace fenchel
