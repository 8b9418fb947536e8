#pragma once

#include <string_view>

#include "backend/cuda/checks.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"

/// Targets and outputs of a loss as its kernels take them.
namespace fenchel::cuda {

/// What there is one of for each row: a class, or where that is null a distribution that may be ignored.
/// `cross` leaves out Omega(q).
struct RowTargets {
  const index_t* classes;
  index_t ignored;
  const unsigned char* ignore;  ///< null where all rows count
  bool cross;

  [[nodiscard]] FENCHEL_HD bool is_ignored(index_t i) const noexcept {
    return classes != nullptr ? classes[i] == ignored : ignore != nullptr && ignore[i] != 0;
  }
};

/// Null parts are not computed.
template <class Real>
struct LossArrays {
  Real* loss;
  DeviceRows<Real> residual;
  double* slope;
};

[[nodiscard]] inline RowTargets row_targets(const ClassTargets& targets, bool cross) {
  return {targets.classes.data(), targets.ignored, nullptr, cross};
}
template <class T>
[[nodiscard]] RowTargets row_targets(const SoftTargetViews<DeviceRows, T>& targets, bool cross) {
  return {nullptr, 0, targets.ignore.data(), cross};
}

/// The distributions, where there are some.
template <class T>
[[nodiscard]] DeviceRows<const T> distributions(const ClassTargets& /*targets*/) {
  return {};
}
template <class T>
[[nodiscard]] DeviceRows<const T> distributions(const SoftTargetViews<DeviceRows, T>& targets) {
  return targets.rows;
}

template <class T>
void check_targets(std::string_view where, const ClassTargets& targets, std::string_view /*name*/,
                   const DeviceRows<T>& rows) {
  check_count(where, "classes", targets.classes.size(), rows.rows);
}
template <class T, class U>
void check_targets(std::string_view where, const SoftTargetViews<DeviceRows, T>& targets,
                   std::string_view name, const DeviceRows<U>& rows) {
  check_same_shape(where, "targets", targets.rows, name, rows);
  check_numbers(where, "ignore", targets.ignore.size(), rows.rows);
}

}  // namespace fenchel::cuda
