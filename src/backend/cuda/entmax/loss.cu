#include "backend/cuda/entmax/tasks.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"

namespace fenchel::cuda {
namespace {

/// Losses, and residuals of any type, of classes or distributions.
template <class T, class Targets>
void run_loss(std::string_view where, const DeviceRows<const T>& z, PerRow alpha, const Targets& targets,
              bool cross, const device::AnyRows& residual, std::span<Computed<T>> loss,
              std::span<double> slope, std::span<const Computed<T>> weights, Stream stream) {
  if (z.rows == 0) return;
  const LossTask<Computed<T>> task{
      residual,      row_targets(targets, cross), distributions<T>(targets), loss.data(), slope.data(),
      weights.data()};
  bool held = false;
  if (!slope.empty()) {
    // one kind of kernel has slopes
  } else if (task.targets.classes != nullptr) {
    held = launch_held<T>(where, z, alpha,
                          {residual, task.targets.classes, task.targets.ignored, task.loss, task.weights},
                          stream);
  } else if constexpr (sizeof(T) >= 4) {
    held = launch_held_soft<T>(where, z, alpha, task, stream);
  }
  launch_reading<T>(where, z, alpha, task, held, stream);
}

template <class T, class Targets>
void check_loss(std::string_view where, const DeviceRows<const T>& scores, PerRow alpha,
                const Targets& targets) {
  check_view(where, "scores", scores);
  check_targets(where, targets, "scores", scores);
  check_alpha(where, alpha, scores.rows);
}

template <class T, class Targets>
void checked_loss(std::string_view where, const DeviceRows<const T>& scores, PerRow alpha,
                  const Targets& targets, bool cross, const LossOutputs<T>& outputs, Stream stream) {
  check_loss<T>(where, scores, alpha, targets);
  check_numbers(where, "loss", outputs.loss.size(), scores.rows);
  if (outputs.residual.data != nullptr) {
    check_same_shape(where, "residual", outputs.residual, "scores", scores);
  }
  check_numbers(where, "slope", outputs.slope.size(), scores.rows);
  run_loss<T>(where, scores, alpha, targets, cross, outputs.residual, outputs.loss, outputs.slope, {},
              stream);
}

template <class T, class Targets>
void checked_vjp(const DeviceRows<const T>& scores, PerRow alpha, const Targets& targets,
                 std::span<const Computed<T>> cotangent, const DeviceRows<T>& gradient, Stream stream) {
  constexpr std::string_view kWhere = "cuda::entmax_loss_vjp";
  check_loss<T>(kWhere, scores, alpha, targets);
  check_count(kWhere, "cotangent", cotangent.size(), scores.rows);
  check_same_shape(kWhere, "gradient", gradient, "scores", scores);
  run_loss<T>(kWhere, scores, alpha, targets, false, gradient, {}, {}, cotangent, stream);
}

}  // namespace

template <class T>
void entmax_loss(DeviceRows<const T> scores, PerRow alpha, const ClassTargets& targets,
                 const LossOutputs<T>& outputs, Stream stream) {
  checked_loss<T>("cuda::entmax_loss", scores, alpha, targets, false, outputs, stream);
}

template <class T>
void entmax_loss(DeviceRows<const T> scores, PerRow alpha,
                 const std::type_identity_t<SoftTargets<T>>& targets, const LossOutputs<T>& outputs,
                 Stream stream) {
  checked_loss<T>("cuda::entmax_loss", scores, alpha, targets, false, outputs, stream);
}

template <class T>
void cross_omega(DeviceRows<const T> scores, PerRow alpha,
                 const std::type_identity_t<SoftTargets<T>>& targets, const LossOutputs<T>& outputs,
                 Stream stream) {
  checked_loss<T>("cuda::cross_omega", scores, alpha, targets, true, outputs, stream);
}

template <class T>
void entmax_loss_vjp(DeviceRows<const T> scores, PerRow alpha, const ClassTargets& targets,
                     std::span<const Computed<T>> cotangent, DeviceRows<T> gradient, Stream stream) {
  checked_vjp<T>(scores, alpha, targets, cotangent, gradient, stream);
}

template <class T>
void entmax_loss_vjp(DeviceRows<const T> scores, PerRow alpha,
                     const std::type_identity_t<SoftTargets<T>>& targets,
                     std::span<const Computed<T>> cotangent, DeviceRows<T> gradient, Stream stream) {
  checked_vjp<T>(scores, alpha, targets, cotangent, gradient, stream);
}

#define FENCHEL_INSTANTIATE_LOSS(T)                                                                    \
  template void entmax_loss(DeviceRows<const T>, PerRow, const ClassTargets&, const LossOutputs<T>&,   \
                            Stream);                                                                   \
  template void entmax_loss(DeviceRows<const T>, PerRow, const SoftTargets<T>&, const LossOutputs<T>&, \
                            Stream);                                                                   \
  template void cross_omega(DeviceRows<const T>, PerRow, const SoftTargets<T>&, const LossOutputs<T>&, \
                            Stream);                                                                   \
  template void entmax_loss_vjp(DeviceRows<const T>, PerRow, const ClassTargets&,                      \
                                std::span<const Computed<T>>, DeviceRows<T>, Stream);                  \
  template void entmax_loss_vjp(DeviceRows<const T>, PerRow, const SoftTargets<T>&,                    \
                                std::span<const Computed<T>>, DeviceRows<T>, Stream);
FENCHEL_INSTANTIATE_LOSS(double)
FENCHEL_INSTANTIATE_LOSS(float)
FENCHEL_INSTANTIATE_LOSS(Half)
FENCHEL_INSTANTIATE_LOSS(BFloat16)
#undef FENCHEL_INSTANTIATE_LOSS

}  // namespace fenchel::cuda
