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

}  // namespace

FourierBasis::FourierBasis(index_t count, double period)
    : count_(checked_count(count)), period_(detail::checked_positive(kWhere, "period", period)) {}

double FourierBasis::frequency(index_t k) const noexcept {
  return 2 * std::numbers::pi * static_cast<double>(k) / period_;
}

Eigen::VectorXd evaluate(const FourierBasis& psi, double t) {
  Eigen::VectorXd values(psi.size());
  values[0] = 1;
  for (index_t k = 1; k <= psi.count(); ++k) {
    values[2 * k - 1] = std::cos(psi.frequency(k) * t);
    values[2 * k] = std::sin(psi.frequency(k) * t);
  }
  return values;
}

LineFunction line_function(const FourierBasis& psi, index_t j) {
  if (j == 0) return {[](double) { return 1.0; }};
  const double frequency = psi.frequency((j + 1) / 2);
  if (j % 2 == 1) return {[frequency](double t) { return std::cos(frequency * t); }};
  return {[frequency](double t) { return std::sin(frequency * t); }};
}

}  // namespace fenchel
