#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/gil.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel::python {

namespace nb = nanobind;

/// An array that is only read, of any shape, its elements one after the other. Python hands in what fits.
template <class T = double>
using Input = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
/// The same, rows by columns.
using InputRows = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// An array that is given back.
template <class T = double>
using Output = nb::ndarray<nb::numpy, T>;

/// An array of elements that live as long as their owner does. Needs the GIL, as to_array does.
template <class T, class Owner>
[[nodiscard]] Output<T> owned_array(T* data, const std::vector<std::size_t>& shape,
                                    std::unique_ptr<Owner> owner) {
  nb::capsule capsule(owner.get(), [](void* p) noexcept { delete static_cast<Owner*>(p); });
  static_cast<void>(owner.release());
  return Output<T>(data, shape.size(), shape.data(), std::move(capsule));
}

template <class T>
[[nodiscard]] Output<T> to_array(std::vector<T> values, const std::vector<std::size_t>& shape) {
  auto owner = std::make_unique<std::vector<T>>(std::move(values));
  T* data = owner->data();
  return owned_array(data, shape, std::move(owner));
}
template <class T>
[[nodiscard]] Output<T> to_array(std::unique_ptr<T[]> values, const std::vector<std::size_t>& shape) {
  auto owner = std::make_unique<std::unique_ptr<T[]>>(std::move(values));
  T* data = owner->get();
  return owned_array(data, shape, std::move(owner));
}
template <class T>
[[nodiscard]] Output<T> to_array(std::vector<T> values) {
  const std::size_t size = values.size();
  return to_array(std::move(values), {size});
}
template <class Range>
[[nodiscard]] Output<> copy_to_array(const Range& values) {
  return to_array(std::vector<double>(values.begin(), values.end()));
}

/// Rows of an array of two axes, where they lie.
template <class T, class... Annotations>
[[nodiscard]] Rows<T> rows_of(const nb::ndarray<T, nb::ndim<2>, Annotations...>& x) {
  return {x.data(), static_cast<index_t>(x.shape(0)), static_cast<index_t>(x.shape(1)), x.stride(0)};
}

template <class T>
[[nodiscard]] std::vector<std::size_t> shape_of(const Input<T>& x) {
  std::vector<std::size_t> shape(x.ndim());
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = x.shape(i);
  return shape;
}

/// What one element costs, in nanoseconds, when parallel_rows decides about threads.
inline constexpr index_t kElementCost = 20;

/// f of each element, in an array of the same shape: without the GIL and by several threads.
template <class Result = double, class T, class F>
[[nodiscard]] Output<Result> map_array(const Input<T>& x, const F& f) {
  static_assert(std::is_nothrow_invocable_v<const F&, T>);
  auto values = std::make_unique_for_overwrite<Result[]>(x.size());
  const T* data = x.data();
  {
    const WithoutGil released;
    const auto count = static_cast<index_t>(x.size());
    parallel_rows(count, workers_for(count, kElementCost), [&](index_t begin, index_t end, int) noexcept {
      for (index_t i = begin; i < end; ++i) values[static_cast<std::size_t>(i)] = f(data[i]);
    });
  }
  return to_array(std::move(values), shape_of(x));
}

/// The same on this thread with the GIL held, for an f that may call Python or throw.
template <class Result = double, class T, class F>
[[nodiscard]] Output<Result> map_array_here(const Input<T>& x, const F& f) {
  const ScopedCheck check(handle_signals);
  std::vector<Result> values(x.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    checkpoint_at(static_cast<index_t>(i));
    values[i] = f(x.data()[i]);
  }
  return to_array(std::move(values), shape_of(x));
}

}  // namespace fenchel::python
