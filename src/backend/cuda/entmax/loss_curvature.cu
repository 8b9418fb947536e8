#include <limits>

#include "backend/cuda/device/entmax/jacobian.cuh"
#include "backend/cuda/entmax/targets.hpp"
#include "backend/cuda/row_launch.cuh"
#include "core/tsallis_term.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"

namespace fenchel::cuda {
namespace {

/// Rows as they are stored, and what is computed in.
template <class Rows, class Real>
struct CurvatureViews {
  using Computed = Real;
  Rows residual, direction, product, soft;
  RowTargets targets;
};

/// A row as the Jacobian sees it: p is the residual p - q and the target q.
template <class Views>
class CurvatureRow {
 public:
  using Real = typename Views::Computed;

  __device__ CurvatureRow(const Views& views, index_t i, double alpha, double step)
      : views_(views),
        residual_(views.residual.row(i)),
        direction_(views.direction.row(i)),
        product_(views.product.row(i)),
        soft_(views.soft.row(i)),
        label_(views.targets.classes != nullptr ? views.targets.classes[i] : -1),
        ignored_(views.targets.is_ignored(i)),
        alpha_(alpha),
        step_(step) {}

  [[nodiscard]] __device__ index_t cols() const { return views_.residual.cols; }
  [[nodiscard]] __device__ bool ignored() const { return ignored_; }
  [[nodiscard]] __device__ bool has_class() const { return label_ >= 0 && label_ < cols(); }
  [[nodiscard]] __device__ bool is_soft() const { return views_.targets.classes == nullptr; }

  [[nodiscard]] __device__ double q(index_t j) const {
    return is_soft() ? soft_.get(j) : j == label_ ? 1.0 : 0.0;
  }
  [[nodiscard]] __device__ Real p(index_t j) const { return static_cast<Real>(residual_.get(j) + q(j)); }
  /// v - step D, in double as in device::ShiftedRow.
  [[nodiscard]] __device__ Real v(index_t j) const {
    const double own = direction_.get(j);
    return static_cast<Real>(step_ == 0 ? own : own - step_ * device::alpha_direction(alpha_, p(j)));
  }
  __device__ void set(index_t j, double x) const { product_.set(j, x); }
  [[nodiscard]] __device__ double largest() const { return product_.largest(); }

 private:
  const Views& views_;
  decltype(Views::soft.row(0)) residual_, direction_, product_, soft_;
  index_t label_;
  bool ignored_;
  double alpha_, step_;
};

/// Far from the loop that calls it: it has as many instructions as all of the kernel.
__device__ __noinline__ double negentropy_curvature(double am1, double p) {
  return detail::tsallis_term_alpha_curvature(am1, p);
}

/// Whether a row has a target; the threads of a team agree.
template <class Team, class Row>
__device__ bool has_target(Team& team, const Row& row) {
  if (!row.is_soft()) return row.has_class();
  int bad = 0;
  for (index_t j = team.rank(); j < row.cols(); j += Team::kSize) bad |= !(row.q(j) >= 0);
  return team.reduce(bad, device::Larger()) == 0;
}

/// Without a direction of alpha in Real, else in double.
template <class Team, class Views>
__global__ void __launch_bounds__(Team::kBlockThreads)
    curvature_kernel(const __grid_constant__ Views views, const PerRow alphas, const double* alpha_direction,
                     double* alpha_product) {
  Team team;
  team.meet();
  const index_t i = team.row();
  if (i >= views.residual.rows) return;
  const double alpha = alphas[i], am1 = alpha - 1;
  const double step = alpha_direction == nullptr || isinf(alpha) ? 0.0 : alpha_direction[i];
  const CurvatureRow<Views> own(views, i, alpha, step);
  if (own.ignored() || !has_target(team, own)) {
    const double value = own.ignored() ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    for (index_t j = team.rank(); j < own.cols(); j += Team::kSize) own.set(j, value);
    if (alpha_product != nullptr && team.rank() == 0) alpha_product[i] = value;
    return;
  }
  const device::ReadRow<Team, CurvatureRow<Views>> row(team, own);
  double along = 0;
  device::jacobian_product(team, row, alpha, [&](double p, double x) {
    if (alpha_product != nullptr && x != 0) along -= x * device::alpha_direction(alpha, p);
  });
  if (alpha_product == nullptr) return;
  if (step != 0) {
    const bool of_target = own.is_soft() && !views.targets.cross;
    double second = 0;
    for (index_t j = team.rank(); j < own.cols(); j += Team::kSize) {
      if (of_target) second += negentropy_curvature(am1, own.q(j));
      second -= negentropy_curvature(am1, own.p(j));
    }
    along += second * step;
  }
  along = team.reduce(along, device::Plus());
  if (team.rank() == 0) alpha_product[i] = along;
}

template <class Real, class Targets>
void run(std::string_view where, DeviceRows<const Real> residual, PerRow alpha, const Targets& targets,
         bool cross, const LossCurvature<Real>& curvature, Stream stream) {
  check_view(where, "residual", residual);
  check_alpha(where, alpha, residual.rows);
  check_same_shape(where, "direction", curvature.direction, "residual", residual);
  check_same_shape(where, "product", curvature.product, "residual", residual);
  check_numbers(where, "alpha_direction", curvature.alpha_direction.size(), residual.rows);
  check_numbers(where, "alpha_product", curvature.alpha_product.size(), residual.rows);
  check_targets(where, targets, "residual", residual);
  if (residual.rows == 0) return;
  const auto launch_as = [&]<class Rows, class Computed>() {
    using Views = CurvatureViews<Rows, Computed>;
    const Views views{residual, curvature.direction, curvature.product, distributions<Real>(targets),
                      row_targets(targets, cross)};
    with_reading_team(residual.cols, [&]<class Team>() {
      launch_teams<Team>(where, curvature_kernel<Team, Views>, residual.rows, stream, views, alpha,
                         curvature.alpha_direction.data(), curvature.alpha_product.data());
    });
  };
  if constexpr (std::is_same_v<Real, float>) {
    if (curvature.alpha_direction.empty()) {
      return launch_as.template operator()<device::KnownRows<float>, float>();
    }
  }
  launch_as.template operator()<device::AnyRows, double>();
}

}  // namespace

template <class Real>
void entmax_loss_curvature(Input<Real> residual, PerRow alpha, const ClassTargets& targets,
                           const LossCurvature<Real>& curvature, Stream stream) {
  run<Real>("cuda::entmax_loss_curvature", residual, alpha, targets, false, curvature, stream);
}

template <class Real>
void entmax_loss_curvature(Input<Real> residual, PerRow alpha,
                           const std::type_identity_t<SoftTargets<Real>>& targets,
                           const LossCurvature<Real>& curvature, Stream stream) {
  run<Real>("cuda::entmax_loss_curvature", residual, alpha, targets, false, curvature, stream);
}

template <class Real>
void cross_omega_curvature(Input<Real> residual, PerRow alpha,
                           const std::type_identity_t<SoftTargets<Real>>& targets,
                           const LossCurvature<Real>& curvature, Stream stream) {
  run<Real>("cuda::cross_omega_curvature", residual, alpha, targets, true, curvature, stream);
}

#define FENCHEL_INSTANTIATE(Real)                                                                           \
  template void entmax_loss_curvature(Input<Real>, PerRow, const ClassTargets&, const LossCurvature<Real>&, \
                                      Stream);                                                              \
  template void entmax_loss_curvature(Input<Real>, PerRow, const SoftTargets<Real>&,                        \
                                      const LossCurvature<Real>&, Stream);                                  \
  template void cross_omega_curvature(Input<Real>, PerRow, const SoftTargets<Real>&,                        \
                                      const LossCurvature<Real>&, Stream);
FENCHEL_INSTANTIATE(float)
FENCHEL_INSTANTIATE(double)
#undef FENCHEL_INSTANTIATE

}  // namespace fenchel::cuda
