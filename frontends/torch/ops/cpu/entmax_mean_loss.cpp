#include <torch/csrc/stable/library.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <tuple>

#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "ops/entmax_loss.hpp"

/// The mean of the losses of rows, in one call.
namespace fenchel::ops {
namespace {

std::tuple<Tensor, Tensor, Tensor, Tensor> entmax_mean_loss(const Tensor& scores,
                                                            const std::optional<Tensor>& alphas,
                                                            const Tensor& classes, double alpha,
                                                            std::int64_t dim, std::int64_t ignore_index,
                                                            bool gradient) {
  const Device device = Device::of_rows(scores, alphas, classes);
  const ScalarType type = computed_in("scores", scores);
  const Targets targets(classes, ignore_index, scores, checked_dim("scores", scores, dim));
  const backend::ClassTargets labels = targets.classes();
  const std::size_t rows = labels.classes.size();
  const auto counted = static_cast<index_t>(rows) - std::ranges::count(labels.classes, ignore_index);
  const auto losses = std::make_unique_for_overwrite<std::byte[]>(rows * sizeof(double));
  auto [residual, slope] =
      write_entmax_losses(device, scores, alphas, targets, alpha, dim, type, false, gradient, losses.get());
  const Tensor mean = empty_strided(scores, {}, {}, type), count = empty_strided(scores, {}, {}, type);
  visit_real(type, [&]<class Real>(Real) {
    const backend::LossOutputs<Real> of_rows{{reinterpret_cast<Real*>(losses.get()), rows}, {}, {}};
    numbers_of<Real>(mean)[0] = backend::reduce_loss<Real>(backend::Reduction::mean, labels, of_rows);
    numbers_of<Real>(count)[0] = static_cast<Real>(std::max<index_t>(counted, 1));
  });
  return {mean, residual, slope, count};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) { m.impl("entmax_mean_loss", TORCH_BOX(&entmax_mean_loss)); }

}  // namespace fenchel::ops
