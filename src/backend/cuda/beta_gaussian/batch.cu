#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "backend/cuda/device/elements.cuh"
#include "core/beta_gaussian/line_jets.hpp"

namespace fenchel::cuda {
namespace {

using Function = BetaGaussianFunction;

/// What of a function is written for each element: a number, three or six.
enum class Part { value = 1, gradient = 3, hessian = 6 };

constexpr int kPartThreads = 128;

/// A BetaGaussianBatch as the kernel takes it.
struct Elements {
  index_t dimension, count;
  const double *argument, *log_det, *alpha;  ///< the argument may be null
};

/// A thread an element, any function: they are called, not inlined, so that what they share is compiled once.
template <bool kDerivative>
__global__ void __launch_bounds__(kPartThreads)
    element_kernel(Function function, Elements batch, Part part, double* out, bool in_alpha) {
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

/// How many elements there are.
[[nodiscard]] index_t count_of(const BetaGaussianBatch& batch) { return std::ssize(batch.log_det); }

void for_each_element(std::string_view where, Function function, const BetaGaussianBatch& batch, Part part,
                      double* out, bool in_alpha, Stream stream) {
  const index_t n = batch.dimension, count = count_of(batch);
  if (n < 1) throw_invalid_argument(where, "dimension", "must be at least 1", n);
  const bool on_line = function == Function::cdf || function == Function::quantile;
  if (on_line && n != 1) throw_invalid_argument(where, "dimension", "must be 1 for cdf and quantile", n);
  const bool has_argument = on_line || function == Function::log_density ||
                            function == Function::cross_omega || function == Function::log_draw ||
                            function == Function::below_peak;
  check_count(where, "argument", batch.argument.size(), has_argument ? count : 0);
  check_count(where, "alpha", batch.alpha.size(), count);
  if (count == 0) return;
  const Elements elements{n, count, batch.argument.data(), batch.log_det.data(), batch.alpha.data()};
  const index_t blocks = std::min<index_t>((count + kPartThreads - 1) / kPartThreads, 1 << 16);
  launch(where, part == Part::value ? element_kernel<false> : element_kernel<true>,
         static_cast<unsigned>(blocks), kPartThreads, 0, stream, function, elements, part, out, in_alpha);
}

/// One part of the jet a row.
void write_rows(std::string_view where, Function function, const BetaGaussianBatch& batch, Part part,
                const DeviceRows<double>& out, bool in_alpha, Stream stream) {
  check_matrix(where, "out", out, count_of(batch), static_cast<index_t>(part));
  check_contiguous(where, "out", out);
  for_each_element(where, function, batch, part, out.data, in_alpha, stream);
}

}  // namespace

void beta_gaussian(Function function, const BetaGaussianBatch& batch, std::span<double> out, Stream stream) {
  constexpr std::string_view kWhere = "cuda::beta_gaussian";
  check_count(kWhere, "out", out.size(), count_of(batch));
  for_each_element(kWhere, function, batch, Part::value, out.data(), false, stream);
}

void beta_gaussian_gradient(Function function, const BetaGaussianBatch& batch, DeviceRows<double> out,
                            bool in_alpha, Stream stream) {
  write_rows("cuda::beta_gaussian_gradient", function, batch, Part::gradient, out, in_alpha, stream);
}

void beta_gaussian_hessian(Function function, const BetaGaussianBatch& batch, DeviceRows<double> out,
                           bool in_alpha, Stream stream) {
  write_rows("cuda::beta_gaussian_hessian", function, batch, Part::hessian, out, in_alpha, stream);
}

}  // namespace fenchel::cuda
