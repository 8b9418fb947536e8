#include "bindings/distributions/beta_gaussian.hpp"

#include <nanobind/operators.h>
#include <nanobind/stl/array.h>

#include <cmath>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/backend/cpu/beta_gaussian.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel::python {
namespace {

/// kernel(params, points, out) over all elements of an array, as rows of one number.
template <class Kernel>
Output<double> map_rows(const BetaGaussian& p, const Input<>& x, const Kernel& kernel) {
  const double mu = p.mu(), sigma = std::sqrt(p.sigma2()), whitening = 1 / sigma;
  const cpu::BetaGaussianParams params{p.constants(), {&mu, 1}, {&whitening, 1, 1}, {&sigma, 1, 1}};
  auto values = std::make_unique_for_overwrite<double[]>(x.size());
  {
    const WithoutGil released;
    kernel(params, std::span(x.data(), x.size()), std::span(values.get(), x.size()));
  }
  return to_array(std::move(values), shape_of(x));
}

Rows<const double> as_rows(std::span<const double> points) { return {points.data(), std::ssize(points), 1}; }

}  // namespace

/// The kernels know no ends but those of mu +- half_width: the uniform distribution has its own.
template <>
Output<double> pdf_array<BetaGaussian>(const BetaGaussian& p, const Input<>& t) {
  if (std::isinf(p.alpha())) return map_array(t, [&p](double x) noexcept { return pdf(p, x); });
  return map_rows(p, t, [](const auto& params, std::span<const double> points, std::span<double> out) {
    cpu::pdf_rows(params, as_rows(points), out);
  });
}
template <>
Output<double> log_pdf_array<BetaGaussian>(const BetaGaussian& p, const Input<>& t) {
  if (std::isinf(p.alpha())) return map_array(t, [&p](double x) noexcept { return log_pdf(p, x); });
  return map_rows(p, t, [](const auto& params, std::span<const double> points, std::span<double> out) {
    cpu::log_pdf_rows(params, as_rows(points), out);
  });
}
template <>
Output<double> quantile_array<BetaGaussian>(const BetaGaussian& p, const Input<>& u) {
  const auto at = [&p](double x) noexcept {
    return at_probability(x, [&p](double v) { return quantile(p, v); });
  };
  if (std::isinf(p.alpha())) return map_array(u, at);
  return map_rows(p, u, [](const auto& params, std::span<const double> levels, std::span<double> out) {
    cpu::quantile_rows(params, levels, out);
  });
}

/// What the other families have not.
void bind_beta_gaussian() {
  nb::borrow<nb::class_<BetaGaussian>>(nb::type<BetaGaussian>())
      .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def_static("student", &BetaGaussian::student)
      .def_static("uniform", &BetaGaussian::uniform)
      .def_static("from_canonical", &BetaGaussian::from_canonical)
      .def("canonical_parameters", [](const BetaGaussian& p) { return canonical_parameters(p); });
}

}  // namespace fenchel::python
