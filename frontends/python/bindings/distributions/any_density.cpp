#include "bindings/distributions/any_density.hpp"

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>

#include <Eigen/Core>
#include <iterator>
#include <new>
#include <type_traits>
#include <variant>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/distribution/line/roughness.hpp"
#include "fenchel/distribution/line/total_variation.hpp"
#include "fenchel/distribution/mixture.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/sobolev_function.hpp"

namespace fenchel::python {
namespace {

template <class F>
auto visit_family(const AnyDensity& any, const F& f) {
  return std::visit(f, any.value);
}

template <class... Families>
void bind_implicit(nb::class_<OneOf<Families...>>& any) {
  const auto from = [&any]<class P>(std::type_identity<P>) {
    any.def("__init__", [](AnyDensity* self, const P& p) { new (self) AnyDensity{p}; });
    nb::implicitly_convertible<P, AnyDensity>();
  };
  (from(std::type_identity<Families>()), ...);
}

Eigen::MatrixXd beta_covariance(const AnyDensity& any, double beta, Callables phi, Callables psi) {
  return visit_family(any, [&](const auto& p) { return beta_covariance(p, beta, phi, psi); });
}
/// On the integers, pair by pair.
Eigen::MatrixXd beta_covariance(const IntegerTable& p, double beta, Callables phi, Callables psi) {
  Eigen::MatrixXd result(std::ssize(phi), std::ssize(psi));
  for (index_t i = 0; i < result.rows(); ++i)
    for (index_t j = 0; j < result.cols(); ++j)
      result(i, j) =
          beta_covariance(p, beta, phi[static_cast<std::size_t>(i)], psi[static_cast<std::size_t>(j)]);
  return result;
}
template <class P>
void bind_beta_covariance(nb::module_& m) {
  m.def("beta_covariance", [](const P& p, double beta, const FunctionList& phi, const FunctionList& psi) {
    return beta_covariance(p, beta, python_functions("phi", phi), python_functions("psi", psi));
  });
}

}  // namespace

std::vector<Interval> support(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) { return detail::pieces(support(p)); });
}
double log_pdf(const AnyDensity& any, double t) {
  return visit_family(any, [t](const auto& p) { return log_pdf(p, t); });
}
double pdf(const AnyDensity& any, double t) {
  return visit_family(any, [t](const auto& p) { return pdf(p, t); });
}
double pdf_derivative(const AnyDensity& any, double t) {
  if (any.mixture) return pdf_derivative(*any.mixture, t);
  return visit_family(any, [t](const auto& p) { return pdf_derivative(p, t); });
}
double cdf(const AnyDensity& any, double t) {
  return visit_family(any, [t](const auto& p) { return cdf(p, t); });
}
double survival(const AnyDensity& any, double t) {
  return visit_family(any, [t](const auto& p) { return survival(p, t); });
}
double log_cdf(const AnyDensity& any, double t) {
  return visit_family(any, [t](const auto& p) { return log_cdf(p, t); });
}
double log_survival(const AnyDensity& any, double t) {
  return visit_family(any, [t](const auto& p) { return log_survival(p, t); });
}
double quantile(const AnyDensity& any, double u) {
  return visit_family(any, [u](const auto& p) { return quantile(p, u); });
}
double survival_quantile(const AnyDensity& any, double u) {
  return visit_family(any, [u](const auto& p) { return survival_quantile(p, u); });
}
double mode(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) { return mode(p); });
}
double mean(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) { return mean(p); });
}
double mean_deviation(const AnyDensity& any, double t) {
  return visit_family(any, [t](const auto& p) { return detail::target_deviation(p, t); });
}
double variance(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) { return variance(p); });
}
double skewness(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) { return skewness(p); });
}
double kurtosis(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) { return kurtosis(p); });
}
double central_moment(const AnyDensity& any, int n) {
  return visit_family(any, [n](const auto& p) { return central_moment(p, n); });
}
double entropy(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) { return entropy(p); });
}
double tsallis_entropy(const AnyDensity& any, double order) {
  return visit_family(any, [order](const auto& p) { return tsallis_entropy(p, order); });
}
double negentropy_order_derivative(const AnyDensity& any, double order) {
  return visit_family(any, [order](const auto& p) { return negentropy_order_derivative(p, order); });
}
double total_variation(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) { return total_variation(p); });
}
double roughness(const AnyDensity& any) {
  if (any.mixture) return roughness(*any.mixture);
  return visit_family(any, [](const auto& p) { return roughness(p); });
}
double roughness(const AnyDensity& any, const Interval& domain) {
  if (any.mixture) return roughness(*any.mixture);
  return visit_family(any, [&domain](const auto& p) { return detail::roughness_within(domain, p); });
}
std::vector<double> kinks(const AnyDensity& any) {
  return visit_family(any, [](const auto& p) -> std::vector<double> {
    if constexpr (requires { kinks(p); }) return kinks(p);
    return {};
  });
}
AnyDensity escort(const AnyDensity& any, double order) {
  return visit_family(any, [order](const auto& p) { return AnyDensity{escort(p, order)}; });
}
double erased_expectation(const AnyDensity& any, FunctionRef<double(double)> f, double accuracy,
                          std::span<const double> cuts) {
  return visit_family(any, [&](const auto& p) { return expectation(p, f, accuracy, cuts); });
}

/// Every family on the line becomes one where one is asked for.
void bind_any_density(nb::module_& m) {
  nb::class_<AnyDensity> any(m, "AnyDensity");
  bind_implicit(any);
  // A mixture as the escort of order 1, itself. Errors of an implicit conversion would be lost.
  any.def("__init__", [](AnyDensity* self, const Mixture<BetaGaussian>& p) {
    new (self) AnyDensity{escort(p, 1), p};
  });
  bind_beta_covariance<AnyDensity>(m);
  bind_beta_covariance<IntegerTable>(m);
  m.def("total_variation", [](const AnyDensity& p) { return total_variation(p); });
  m.def("roughness", [](const AnyDensity& p) { return roughness(p); });
}

}  // namespace fenchel::python
