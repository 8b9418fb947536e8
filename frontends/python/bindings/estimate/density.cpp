#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/estimate/density/bandwidth.hpp"
#include "fenchel/estimate/density/kernel_density.hpp"
#include "fenchel/estimate/density/kernel_regression.hpp"

namespace fenchel::python {
namespace {

std::span<const double> span_of(const Input<>& x) { return {x.data(), x.size()}; }
std::span<const double> span_of(const std::optional<Input<>>& x) {
  return x ? span_of(*x) : std::span<const double>();
}

/// write(span of results) for each row, without the GIL.
template <class Write>
Output<> new_rows(std::size_t rows, const Write& write) {
  auto values = std::make_unique_for_overwrite<double[]>(rows);
  {
    const WithoutGil released;
    write(std::span<double>(values.get(), rows));
  }
  return to_array(std::move(values), {rows});
}

/// The bandwidths of an object that has one for each coordinate.
template <class P>
std::vector<double> bandwidths(const P& p) {
  std::vector<double> out;
  for (index_t j = 0; j < p.dimension(); ++j) out.push_back(p.bandwidth(j));
  return out;
}

void bind_kernel_density(nb::module_& m) {
  using P = KernelDensity;
  nb::enum_<BandwidthRule>(m, "BandwidthRule")
      .value("silverman", BandwidthRule::silverman)
      .value("sheather_jones", BandwidthRule::sheather_jones)
      .value("likelihood", BandwidthRule::likelihood)
      .value("least_squares", BandwidthRule::least_squares);
  nb::class_<P>(m, "KernelDensity")
      .def("dimension", &P::dimension)
      .def("alpha", &P::alpha)
      .def("weight", &P::weight)
      .def("radius", &P::radius)
      .def("bandwidth", [](const P& p) { return bandwidths(p); })
      .def("hull",
           [](const P& p, index_t j) {
             const Interval hull = p.hull(j);
             return std::pair(hull.lower(), hull.upper());
           })
      .def("pdf",
           [](const P& p, const InputRows& t) {
             return new_rows(t.shape(0), [&](std::span<double> out) { p.pdf_rows(rows_of(t), out); });
           })
      .def("log_pdf",
           [](const P& p, const InputRows& t) {
             return new_rows(t.shape(0), [&](std::span<double> out) { p.log_pdf_rows(rows_of(t), out); });
           })
      .def("cdf",
           [](const P& p, const Input<>& t) {
             return new_rows(t.size(), [&](std::span<double> out) { p.cdf_rows(span_of(t), out); });
           })
      .def("likelihood_score", [](const P& p) { return without_gil([&] { return p.likelihood_score(); }); })
      .def("least_squares_score",
           [](const P& p) { return without_gil([&] { return p.least_squares_score(); }); })
      .def("sample", [](const P& p, index_t count, std::uint64_t seed) {
        const auto columns = static_cast<std::size_t>(p.dimension()), rows = static_cast<std::size_t>(count);
        auto values = std::make_unique_for_overwrite<double[]>(rows * columns);
        {
          const WithoutGil released;
          p.sample_rows(seed, 0, {values.get(), count, p.dimension()});
        }
        return to_array(std::move(values), {rows, columns});
      });
  m.def("kernel_density", [](const InputRows& points, double alpha, const std::vector<double>& bandwidth,
                             const std::optional<Input<>>& weights, const Interval& domain) {
    return without_gil([&] { return P(rows_of(points), alpha, bandwidth, span_of(weights), domain); });
  });
  m.def("select_bandwidth", [](BandwidthRule rule, const InputRows& points, double alpha,
                               const std::optional<Input<>>& weights, const Interval& domain) {
    SelectedDensity found =
        without_gil([&] { return select_bandwidth(rule, rows_of(points), alpha, span_of(weights), domain); });
    return std::pair(std::move(found.density), found.at_end);
  });
}

void bind_kernel_regression(nb::module_& m) {
  using P = KernelRegression;
  nb::class_<P>(m, "KernelRegression")
      .def("dimension", &P::dimension)
      .def("alpha", &P::alpha)
      .def("bandwidth", [](const P& p) { return bandwidths(p); })
      .def("predict",
           [](const P& p, const InputRows& t) {
             return new_rows(t.shape(0), [&](std::span<double> out) { p.predict_rows(rows_of(t), out); });
           })
      .def("least_squares_score",
           [](const P& p) { return without_gil([&] { return p.least_squares_score(); }); });
  const auto local = [](bool line) { return line ? LocalFit::line : LocalFit::mean; };
  m.def("kernel_regression",
        [local](const InputRows& points, const Input<>& targets, double alpha,
                const std::vector<double>& bandwidth, const std::optional<Input<>>& weights, bool line) {
          return without_gil([&] {
            return P(rows_of(points), span_of(targets), alpha, bandwidth, span_of(weights), local(line));
          });
        });
  m.def("select_regression", [local](const InputRows& points, const Input<>& targets, double alpha,
                                     const std::optional<Input<>>& weights, bool line) {
    SelectedRegression found = without_gil([&] {
      return select_regression(rows_of(points), span_of(targets), alpha, span_of(weights), local(line));
    });
    return std::pair(std::move(found.regression), found.at_end);
  });
  m.def("silverman_bandwidth",
        [](const InputRows& points, double alpha, const std::optional<Input<>>& weights) {
          return without_gil([&] { return silverman_bandwidth(rows_of(points), alpha, span_of(weights)); });
        });
}

}  // namespace

void bind_density(nb::module_& m) {
  bind_kernel_density(m);
  bind_kernel_regression(m);
}

}  // namespace fenchel::python
