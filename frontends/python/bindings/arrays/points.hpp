#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::python {

/// f of each point, the rows of an array (..., N) with N > 0: without the GIL and by several threads.
template <class Result = double, class F>
[[nodiscard]] Output<Result> map_points(const Input<>& points, const F& f) {
  std::vector<std::size_t> shape = shape_of(points);
  const auto size = static_cast<index_t>(shape.back());
  shape.pop_back();
  const auto count = static_cast<index_t>(points.size()) / size;
  auto values = std::make_unique_for_overwrite<Result[]>(static_cast<std::size_t>(count));
  const double* data = points.data();
  {
    const WithoutGil released;
    parallel_rows(
        count, workers_for(count, kElementCost * size), [&](index_t begin, index_t end, int) noexcept {
          for (index_t i = begin; i < end; ++i)
            values[static_cast<std::size_t>(i)] = f(Eigen::Map<const Eigen::VectorXd>(data + i * size, size));
        });
  }
  return to_array(std::move(values), shape);
}

/// The same for an f that may call Python: with the GIL, on this thread.
template <class F>
[[nodiscard]] Output<double> map_points_here(const Input<>& points, const F& f) {
  std::vector<std::size_t> shape = shape_of(points);
  const auto size = static_cast<index_t>(shape.back());
  shape.pop_back();
  std::vector<double> values(points.size() / static_cast<std::size_t>(size));
  const double* point = points.data();
  const ScopedCheck check(handle_signals);
  for (double& value : values) {
    checkpoint();
    value = f(Eigen::Map<const Eigen::VectorXd>(point, size));
    point += size;
  }
  return to_array(std::move(values), shape);
}

}  // namespace fenchel::python
