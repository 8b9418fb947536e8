#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays/array_source.hpp"
#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "fenchel/estimate/statistics/radial_moments.hpp"

namespace fenchel::python {
namespace {

std::span<const std::byte> view(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}

LineMoments empty_like(const LineMoments&) { return {}; }
Moments empty_like(const Moments& s) { return Moments(s.dimension()); }
AbsoluteMoments empty_like(const AbsoluteMoments& s) {
  return AbsoluteMoments(s.centre(), {s.powers().begin(), s.powers().end()});
}
CountHistogram empty_like(const CountHistogram&) { return {}; }

/// Adds rows: those that cannot be used change nothing. Other threads see it before or after.
template <class S>
void update(S& total, const InputRows& rows, const std::optional<Input<>>& weights,
            std::vector<std::string> names, index_t first) {
  const S empty = empty_like(total);
  total.merge(with_data(rows, weights, std::move(names), first,
                        [&empty](const Data& data) { return collect(data, empty); }));
}

/// RadialMoments do not tell their mean and covariance, so that no empty ones can be made beside them: the
/// GIL is held for as long as they change.
void update(RadialMoments& total, const InputRows& rows, const std::optional<Input<>>& weights,
            std::vector<std::string> names, index_t first) {
  const ArraySource source(rows, weights, std::move(names), first);
  RadialMoments next = total;
  Batch batch;
  for (index_t i = 0; i < source.batches(); ++i) {
    handle_signals();
    source.read(i, batch);
    try {
      next.update(batch.rows, batch.row_weights());
    } catch (const BadEntry& bad) {
      throw DataError(source.place(i, bad.row(), bad.column()) + ": " + bad.complaint());
    }
  }
  total = next;
}

/// What all statistics have in common. Constructor and moments are their own.
template <Statistics S>
[[nodiscard]] nb::class_<S> bind_statistics(nb::module_& m, const char* name) {
  return nb::class_<S>(m, name)
      .def(
          "update",
          [](S& s, const InputRows& rows, const std::optional<Input<>>& weights,
             std::vector<std::string> names,
             index_t first) { update(s, rows, weights, std::move(names), first); },
          nb::arg("rows"), nb::arg("weights").none(), nb::arg("names"), nb::arg("first"))
      .def("merge", [](S& s, const S& other) { s.merge(S(other)); })
      .def("copy", [](const S& s) { return S(s); })
      .def("to_bytes",
           [](const S& s) {
             const Bytes bytes = s.to_bytes();
             return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
           })
      .def_static("from_bytes", [](const nb::bytes& bytes) { return S::from_bytes(view(bytes)); })
      .def_prop_ro("weight", &S::weight);
}

}  // namespace

void bind_statistics(nb::module_& m) {
  bind_statistics<LineMoments>(m, "LineMoments")
      .def(nb::init<>())
      .def_prop_ro("mean", &LineMoments::mean)
      .def_prop_ro("variance", &LineMoments::variance)
      .def_prop_ro("minimum", &LineMoments::minimum)
      .def_prop_ro("maximum", &LineMoments::maximum)
      .def("central_moment", &LineMoments::central_moment);
  bind_statistics<Moments>(m, "Moments")
      .def(nb::init<index_t>())
      .def_prop_ro("dimension", &Moments::dimension)
      .def_prop_ro(
          "mean", [](const Moments& s) { return vector_to_array(s.mean()); }, nb::rv_policy::move)
      .def_prop_ro(
          "covariance", [](const Moments& s) { return matrix_to_array(s.covariance()); },
          nb::rv_policy::move);
  bind_statistics<AbsoluteMoments>(m, "AbsoluteMoments")
      .def(nb::init<double, std::vector<double>>())
      .def_prop_ro("centre", &AbsoluteMoments::centre)
      .def_prop_ro(
          "powers",
          [](const AbsoluteMoments& s) { return std::vector<double>(s.powers().begin(), s.powers().end()); })
      .def_prop_ro("weight_below", &AbsoluteMoments::weight_below)
      .def_prop_ro("weight_above", &AbsoluteMoments::weight_above)
      .def("moment", &AbsoluteMoments::moment);
  bind_statistics<CountHistogram>(m, "CountHistogram")
      .def(nb::init<>())
      .def_prop_ro("mean", &CountHistogram::mean)
      .def_prop_ro("variance", &CountHistogram::variance)
      .def_prop_ro(
          "values", [](const CountHistogram& s) { return to_array(s.values()); }, nb::rv_policy::move)
      .def_prop_ro(
          "weights", [](const CountHistogram& s) { return to_array(s.weights()); }, nb::rv_policy::move);
  bind_statistics<RadialMoments>(m, "RadialMoments")
      .def("__init__",
           [](RadialMoments* s, const Input<>& mean, const InputRows& covariance) {
             new (s) RadialMoments(vector_of(mean), matrix_of(covariance));
           })
      .def_prop_ro("dimension", &RadialMoments::dimension)
      .def_prop_ro("mean", &RadialMoments::mean)
      .def_prop_ro("mean_square", &RadialMoments::mean_square);
}

}  // namespace fenchel::python
