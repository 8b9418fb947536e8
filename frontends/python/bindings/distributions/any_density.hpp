#pragma once

#include <concepts>
#include <optional>
#include <random>
#include <span>
#include <variant>
#include <vector>

#include "bindings/distributions/families.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/mixture.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"

namespace fenchel::python {

/// One of several families on the line, itself a LineDistribution: as the target of a loss, which is then
/// compiled once and not for each pair of families. Those of a LocationScale and of a NumericDensity call
/// Python.
template <class... Families>
struct OneOf {
  using value_type = double;
  std::variant<Families...> value;
  /// Of which `value` is the density.
  std::optional<Mixture<BetaGaussian>> mixture = {};

  [[nodiscard]] double mu() const {
    return std::visit([](const auto& p) { return detail::location(p); }, value);
  }
  [[nodiscard]] OneOf centred() const {
    return std::visit([this](const auto& p) { return OneOf{detail::centred(p), mixture}; }, value);
  }
};
#define FENCHEL_TYPE(P, name, omega) P,
using AnyDensity = OneOf<FENCHEL_LINE_FAMILIES(FENCHEL_TYPE) LocationScale, NumericDensity>;
#undef FENCHEL_TYPE
template <>
inline constexpr bool kCallsPython<AnyDensity> = true;

[[nodiscard]] inline Line domain(const AnyDensity&) noexcept { return {}; }
[[nodiscard]] std::vector<Interval> support(const AnyDensity& p);
[[nodiscard]] double log_pdf(const AnyDensity& p, double t);
[[nodiscard]] double pdf(const AnyDensity& p, double t);
[[nodiscard]] double pdf_derivative(const AnyDensity& p, double t);
[[nodiscard]] double cdf(const AnyDensity& p, double t);
[[nodiscard]] double survival(const AnyDensity& p, double t);
[[nodiscard]] double log_cdf(const AnyDensity& p, double t);
[[nodiscard]] double log_survival(const AnyDensity& p, double t);
[[nodiscard]] double quantile(const AnyDensity& p, double u);
[[nodiscard]] double survival_quantile(const AnyDensity& p, double u);
[[nodiscard]] double mode(const AnyDensity& p);
[[nodiscard]] double mean(const AnyDensity& p);
[[nodiscard]] double mean_deviation(const AnyDensity& p, double t);
[[nodiscard]] double variance(const AnyDensity& p);
[[nodiscard]] double skewness(const AnyDensity& p);
[[nodiscard]] double kurtosis(const AnyDensity& p);
[[nodiscard]] double central_moment(const AnyDensity& p, int n);
[[nodiscard]] double entropy(const AnyDensity& p);
[[nodiscard]] double tsallis_entropy(const AnyDensity& p, double order);
[[nodiscard]] double negentropy_order_derivative(const AnyDensity& p, double order);
[[nodiscard]] double total_variation(const AnyDensity& p);
[[nodiscard]] double roughness(const AnyDensity& p);
[[nodiscard]] double roughness(const AnyDensity& p, const Interval& domain);
[[nodiscard]] std::vector<double> kinks(const AnyDensity& p);
[[nodiscard]] AnyDensity escort(const AnyDensity& p, double order);

[[nodiscard]] double erased_expectation(const AnyDensity& p, FunctionRef<double(double)> f, double accuracy,
                                        std::span<const double> cuts);
template <std::invocable<double> F>
[[nodiscard]] double expectation(const AnyDensity& p, F&& f, double accuracy = 1e-10,
                                 std::span<const double> cuts = {}) {
  return erased_expectation(p, f, accuracy, cuts);
}

/// One draw, by inversion.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const AnyDensity& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

static_assert(LineDistribution<AnyDensity>);

}  // namespace fenchel::python
