#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/variant.h>

#include <optional>
#include <span>
#include <variant>

#include "bindings/arrays/arrays.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/rows.hpp"

/// Batches of rows as the kernels take them: where they lie in NumPy's memory, without a copy.
namespace fenchel::python {

/// Rows of contiguous elements, any distance apart. Python sees to it that they are.
template <class T>
using RowsArray = nb::ndarray<T, nb::ndim<2>, nb::device::cpu>;
/// Numbers that are written, one after the other.
template <class T>
using Numbers = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// An alpha or a gamma.
using Parameter = std::variant<double, Input<double>>;

template <class T>
[[nodiscard]] Rows<T> rows_of(const std::optional<RowsArray<T>>& x) {
  return x ? rows_of(*x) : Rows<T>{};
}

/// The numbers of an array, which outlives the span; none for None.
template <class Array>
[[nodiscard]] auto span_of(const Array& x) {
  return std::span(x.data(), x.size());
}
template <class Array>
[[nodiscard]] auto span_of(const std::optional<Array>& x) {
  return x ? span_of(*x) : decltype(span_of(*x)){};
}

/// The numbers that are written, a null pointer for None.
template <class T>
[[nodiscard]] T* data_of(const std::optional<Numbers<T>>& numbers) {
  return numbers ? numbers->data() : nullptr;
}

[[nodiscard]] inline PerRow per_row(const Parameter& parameter) {
  if (const double* value = std::get_if<double>(&parameter)) return *value;
  return span_of(std::get<Input<double>>(parameter));
}

inline auto rows_argument(const char* name) { return nb::arg(name).noconvert(); }

/// name(scores, parameter, p, extra...) runs map(scores, parameter, p, extra...) without the GIL.
template <class Real, class... Extra, class Map, class... Names>
void bind_map(nb::module_& m, const char* name, const Map& map, const Names&... names) {
  m.def(
      name,
      [map](const RowsArray<const Real>& scores, const Parameter& parameter, const RowsArray<Real>& p,
            const Extra&... extra) {
        const WithoutGil released;
        map(rows_of(scores), per_row(parameter), rows_of(p), extra...);
      },
      rows_argument("scores"), nb::arg("parameter"), rows_argument("p"), names...);
}

/// name(p, parameter, v, product, by_parameter, extra...): a product with the Jacobian. by_parameter are the
/// derivatives with respect to the parameter, written by a vjp (T = double), read by a jvp (const double).
template <class Real, class T, class... Extra, class Product, class... Names>
void bind_jacobian_product(nb::module_& m, const char* name, const Product& product, const Names&... names) {
  m.def(
      name,
      [product](const RowsArray<const Real>& p, const Parameter& parameter, const RowsArray<const Real>& v,
                const RowsArray<Real>& result, const std::optional<Numbers<T>>& by_parameter,
                const Extra&... extra) {
        const WithoutGil released;
        product(rows_of(p), per_row(parameter), rows_of(v), rows_of(result), span_of(by_parameter), extra...);
      },
      rows_argument("p"), nb::arg("parameter"), rows_argument("v"), rows_argument("result"),
      rows_argument("by_parameter").none(), names...);
}

}  // namespace fenchel::python
