#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "ops/device.hpp"
#include "ops/entmax_loss.hpp"

/// The mean of the losses of rows, in one call.
namespace fenchel::ops {
namespace {

template <class Real>
Tensor scalar(Real value, const Tensor& like) {
  const Tensor made = empty_strided(like, {}, {}, like.scalar_type());
  numbers_of<Real>(made)[0] = value;
  return made;
}

/// The mean of the losses of rows that are not ignored, and their number, or 1.
template <class Real>
std::pair<Tensor, Tensor> mean_and_count(const Tensor& loss, const backend::ClassTargets& targets) {
  const index_t counted = loss.numel() - std::ranges::count(targets.classes, targets.ignored);
  const backend::LossOutputs<Real> rows{numbers_of<Real>(loss), {}, {}};
  return {scalar(backend::reduce_loss<Real>(backend::Reduction::mean, targets, rows), loss),
          scalar(static_cast<Real>(std::max<index_t>(counted, 1)), loss)};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> entmax_mean_loss(const Tensor& scores,
                                                            const std::optional<Tensor>& alphas,
                                                            const Tensor& classes, double alpha,
                                                            std::int64_t dim, std::int64_t ignore_index,
                                                            bool gradient) {
  const auto [loss, residual, slope] =
      entmax_loss(scores, alphas, classes, std::nullopt, alpha, dim, ignore_index, false, gradient);
  const Tensor labels = contiguous_rows(classes, -1);
  const backend::ClassTargets targets{numbers_of<const index_t>(labels), ignore_index};
  const auto [mean, count] = loss.scalar_type() == ScalarType::Double ? mean_and_count<double>(loss, targets)
                                                                      : mean_and_count<float>(loss, targets);
  return {mean, residual, slope, count};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) { m.impl("entmax_mean_loss", TORCH_BOX(&entmax_mean_loss)); }

}  // namespace fenchel::ops
