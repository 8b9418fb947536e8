#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/gil.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel::python {

template <class P, class F>
[[nodiscard]] Output<double> map_accessor(const Input<>& x, const F& f) {
  if constexpr (kCallsPython<P>) {
    return map_array_here(x, f);
  } else {
    return map_array(x, [&f](double t) noexcept { return f(t); });
  }
}

/// quantile(p, u), NaN where u is no probability.
template <class F>
[[nodiscard]] double at_probability(double u, const F& quantile) {
  return u >= 0 && u <= 1 ? quantile(u) : std::numeric_limits<double>::quiet_NaN();
}

inline std::pair<double, double> ends(const Interval& support) { return {support.lower(), support.upper()}; }
inline std::pair<double, double> ends(const std::vector<Interval>& support) {
  return {support.front().lower(), support.back().upper()};
}

/// Accessors over arrays, which a family with a faster kernel specializes.
template <class P>
[[nodiscard]] Output<double> pdf_array(const P& p, const Input<>& t) {
  return map_accessor<P>(t, [&p](double x) { return pdf(p, x); });
}
template <class P>
[[nodiscard]] Output<double> log_pdf_array(const P& p, const Input<>& t) {
  return map_accessor<P>(t, [&p](double x) { return log_pdf(p, x); });
}
template <class P>
[[nodiscard]] Output<double> quantile_array(const P& p, const Input<>& u) {
  return map_accessor<P>(
      u, [&p](double x) { return at_probability(x, [&p](double v) { return quantile(p, v); }); });
}

/// What the families on the line have in common. Constructor and parameters are the family's own.
template <LineDistribution P, class... Extra>
[[nodiscard]] nb::class_<P> bind_line_distribution(nb::module_& m, const char* name, const Extra&... extra) {
  return nb::class_<P>(m, name, extra...)
      .def("pdf", &pdf_array<P>)
      .def("log_pdf", &log_pdf_array<P>)
      .def("cdf", [](const P& p,
                     const Input<>& t) { return map_accessor<P>(t, [&p](double x) { return cdf(p, x); }); })
      .def("survival",
           [](const P& p, const Input<>& t) {
             return map_accessor<P>(t, [&p](double x) { return survival(p, x); });
           })
      .def("log_cdf",
           [](const P& p, const Input<>& t) {
             return map_accessor<P>(t, [&p](double x) { return log_cdf(p, x); });
           })
      .def("log_survival",
           [](const P& p, const Input<>& t) {
             return map_accessor<P>(t, [&p](double x) { return log_survival(p, x); });
           })
      .def("quantile", &quantile_array<P>)
      .def("survival_quantile",
           [](const P& p, const Input<>& u) {
             return map_accessor<P>(u, [&p](double x) {
               return at_probability(x, [&p](double v) { return survival_quantile(p, v); });
             });
           })
      .def("support", [](const P& p) { return ends(support(p)); })
      .def("pieces",
           [](const P& p) {
             std::vector<std::pair<double, double>> pieces;
             for (const Interval& piece : detail::pieces(support(p))) pieces.push_back(ends(piece));
             return pieces;
           })
      .def("mean", [](const P& p) { return mean(p); })
      .def("median", [](const P& p) { return median(p); })
      .def("mode", [](const P& p) { return mode(p); })
      .def("variance", [](const P& p) { return variance(p); })
      .def("standard_deviation", [](const P& p) { return standard_deviation(p); })
      .def("skewness", [](const P& p) { return skewness(p); })
      .def("kurtosis", [](const P& p) { return kurtosis(p); })
      .def("moment", [](const P& p, int n) { return moment(p, n); })
      .def("central_moment", [](const P& p, int n) { return central_moment(p, n); })
      .def("entropy", [](const P& p) { return entropy(p); })
      .def("tsallis_entropy", [](const P& p, double order) { return tsallis_entropy(p, order); })
      .def("expectation",
           [](const P& p, const Function& f, const std::vector<double>& points) {
             return expectation(p, PythonFunction("func", f), 1e-10, points);
           })
      .def(
          "escort", [](const P& p, double order) { return escort(p, order); }, nb::keep_alive<0, 1>())
      .def("sample", [](const P& p, index_t count, std::uint64_t seed) {
        return to_array(without_gil<P>([&] { return sample(p, count, seed); }));
      });
}

}  // namespace fenchel::python
