#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "backend/cuda/beta_gaussian/checks.hpp"
#include "backend/cuda/device/elements.cuh"
#include "core/beta_gaussian/line_jets.hpp"

namespace fenchel::cuda {
namespace {

using Function = BetaGaussianFunction;

/// What of a function is written for each element: a number, three or six.
enum class Part { value = 1, gradient = 3, hessian = 6 };

constexpr int kPartThreads = 128;

/// A thread an element, any function: they are called, not inlined, so that what they share is compiled once.
template <bool kDerivative>
__global__ void __launch_bounds__(kPartThreads)
    element_kernel(Function function, BetaGaussianBatch batch, Part part, double* out, bool in_alpha) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const index_t n = batch.dimension;
  const double bound = fmax(0.0, 1 - 2 / static_cast<double>(n));
  for (index_t i = device::first_item(); i < batch.count; i += device::item_stride()) {
    const double argument = batch.argument != nullptr ? batch.argument[i] : 0, alpha = batch.alpha[i];
    const bool exists = alpha > bound;
    if constexpr (!kDerivative) {
      out[i] = exists ? detail::value_of(function, n, argument, batch.log_det[i], alpha) : kNone;
    } else {
      Jet jet{};
      if (exists) jet = detail::jet_of(function, n, argument, batch.log_det[i], alpha, in_alpha);
      if (part == Part::gradient) {
        for (std::size_t k = 0; k < 3; ++k) out[3 * i + k] = exists ? jet.gradient[k] : kNone;
      } else {
        for (std::size_t k = 0; k < 6; ++k) out[6 * i + k] = exists ? jet.hessian[k] : kNone;
      }
    }
  }
}

void for_each_element(std::string_view where, Function function, const BetaGaussianBatch& batch, Part part,
                      double* out, bool in_alpha, Stream stream) {
  const index_t n = batch.dimension;
  if (n < 1) throw_invalid_argument(where, "dimension", "must be at least 1", n);
  const bool on_line = function == Function::cdf || function == Function::quantile;
  if (on_line && n != 1) throw_invalid_argument(where, "dimension", "must be 1 for cdf and quantile", n);
  if (batch.count < 0) throw_invalid_argument(where, "count", "must not be negative", batch.count);
  if (batch.count == 0) return;
  const bool has_argument = on_line || function == Function::log_density ||
                            function == Function::cross_omega || function == Function::log_draw;
  if (has_argument) check_pointer(where, "argument", batch.argument);
  check_pointer(where, "log_det", batch.log_det);
  check_pointer(where, "alpha", batch.alpha);
  check_pointer(where, "out", out);
  const index_t blocks = std::min<index_t>((batch.count + kPartThreads - 1) / kPartThreads, 1 << 16);
  launch(where, part == Part::value ? element_kernel<false> : element_kernel<true>,
         static_cast<unsigned>(blocks), kPartThreads, 0, stream, function, batch, part, out, in_alpha);
}

}  // namespace

void beta_gaussian(Function function, const BetaGaussianBatch& batch, double* out, Stream stream) {
  for_each_element("cuda::beta_gaussian", function, batch, Part::value, out, false, stream);
}

void beta_gaussian_gradient(Function function, const BetaGaussianBatch& batch, double* out, bool in_alpha,
                            Stream stream) {
  for_each_element("cuda::beta_gaussian_gradient", function, batch, Part::gradient, out, in_alpha, stream);
}

void beta_gaussian_hessian(Function function, const BetaGaussianBatch& batch, double* out, bool in_alpha,
                           Stream stream) {
  for_each_element("cuda::beta_gaussian_hessian", function, batch, Part::hessian, out, in_alpha, stream);
}

}  // namespace fenchel::cuda
