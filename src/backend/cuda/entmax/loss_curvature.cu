#include <limits>

#include "backend/cuda/device/entmax/jacobian.cuh"
#include "backend/cuda/row_launch.cuh"
#include "core/tsallis_term.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"

namespace fenchel::cuda {
namespace {

/// Rows as they are stored, and what is computed in.
template <class Rows, class Real>
struct CurvatureViews {
  using Computed = Real;
  Rows residual, d_scores, product, soft;
  const std::int64_t* classes;  ///< in place of `soft` unless null
  std::int64_t ignored;
  bool cross;
};

/// A row as the Jacobian sees it: p is the residual p - q and the target q.
template <class Views>
class CurvatureRow {
 public:
  using Real = typename Views::Computed;

  __device__ CurvatureRow(const Views& views, index_t i, double alpha, double step)
      : views_(views),
        residual_(views.residual.row(i)),
        d_scores_(views.d_scores.row(i)),
        product_(views.product.row(i)),
        soft_(views.soft.row(i)),
        label_(views.classes != nullptr ? views.classes[i] : -1),
        alpha_(alpha),
        step_(step) {}

  [[nodiscard]] __device__ index_t cols() const { return views_.residual.cols; }
  [[nodiscard]] __device__ bool ignored() const { return !is_soft() && label_ == views_.ignored; }
  [[nodiscard]] __device__ bool has_class() const { return label_ >= 0 && label_ < cols(); }
  [[nodiscard]] __device__ bool is_soft() const { return views_.classes == nullptr; }

  [[nodiscard]] __device__ double q(index_t j) const {
    return is_soft() ? soft_.get(j) : j == label_ ? 1.0 : 0.0;
  }
  [[nodiscard]] __device__ Real p(index_t j) const { return static_cast<Real>(residual_.get(j) + q(j)); }
  /// v - step D, in double as in device::ShiftedRow.
  [[nodiscard]] __device__ Real v(index_t j) const {
    const double own = d_scores_.get(j);
    return static_cast<Real>(step_ == 0 ? own : own - step_ * device::alpha_direction(alpha_, p(j)));
  }
  __device__ void set(index_t j, double x) const { product_.set(j, x); }
  [[nodiscard]] __device__ double largest() const { return product_.largest(); }

 private:
  const Views& views_;
  decltype(Views::soft.row(0)) residual_, d_scores_, product_, soft_;
  index_t label_;
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

/// Without d_alpha in Real, else in double.
template <class Team, class Views>
__global__ void __launch_bounds__(Team::kBlockThreads)
    curvature_kernel(const __grid_constant__ Views views, const PerRow alphas, const double* d_alpha,
                     double* product_alpha) {
  Team team;
  team.meet();
  const index_t i = team.row();
  if (i >= views.residual.rows) return;
  const double alpha = alphas[i], am1 = alpha - 1;
  const double step = d_alpha == nullptr || isinf(alpha) ? 0.0 : d_alpha[i];
  const CurvatureRow<Views> own(views, i, alpha, step);
  if (own.ignored() || !has_target(team, own)) {
    const double value = own.ignored() ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    for (index_t j = team.rank(); j < own.cols(); j += Team::kSize) own.set(j, value);
    if (product_alpha != nullptr && team.rank() == 0) product_alpha[i] = value;
    return;
  }
  const device::ReadRow<Team, CurvatureRow<Views>> row(team, own);
  double along = 0;
  device::jacobian_product(team, row, alpha, [&](double p, double x) {
    if (product_alpha != nullptr && x != 0) along -= x * device::alpha_direction(alpha, p);
  });
  if (product_alpha == nullptr) return;
  if (step != 0) {
    const bool of_target = own.is_soft() && !views.cross;
    double second = 0;
    for (index_t j = team.rank(); j < own.cols(); j += Team::kSize) {
      if (of_target) second += negentropy_curvature(am1, own.q(j));
      second -= negentropy_curvature(am1, own.p(j));
    }
    along += second * step;
  }
  along = team.reduce(along, device::Plus());
  if (team.rank() == 0) product_alpha[i] = along;
}

}  // namespace

template <class T>
void entmax_loss_curvature(DeviceRows<const Computed<T>> residual, PerRow alpha, const Targets<T>& targets,
                           DeviceRows<const Computed<T>> d_scores, const double* d_alpha,
                           DeviceRows<Computed<T>> product, double* product_alpha, Stream stream) {
  constexpr std::string_view kWhere = "cuda::entmax_loss_curvature";
  check_view(kWhere, "residual", residual);
  check_alpha(kWhere, alpha);
  check_same_shape(kWhere, "d_scores", d_scores, "residual", residual);
  check_same_shape(kWhere, "product", product, "residual", residual);
  if (targets.classes == nullptr) check_same_shape(kWhere, "targets", targets.soft, "residual", residual);
  if (residual.rows == 0) return;
  const auto run = [&]<class Rows, class Real>() {
    using Views = CurvatureViews<Rows, Real>;
    const Views views{residual,        d_scores,        product,      targets.soft,
                      targets.classes, targets.ignored, targets.cross};
    with_reading_team(residual.cols, [&]<class Team>() {
      launch_teams<Team>(kWhere, curvature_kernel<Team, Views>, residual.rows, stream, views, alpha, d_alpha,
                         product_alpha);
    });
  };
  if constexpr (std::is_same_v<T, float>) {
    if (d_alpha == nullptr) return run.template operator()<device::KnownRows<float>, float>();
  }
  run.template operator()<device::AnyRows, double>();
}

template void entmax_loss_curvature(DeviceRows<const double>, PerRow, const Targets<double>&,
                                    DeviceRows<const double>, const double*, DeviceRows<double>, double*,
                                    Stream);
template void entmax_loss_curvature(DeviceRows<const float>, PerRow, const Targets<float>&,
                                    DeviceRows<const float>, const double*, DeviceRows<float>, double*,
                                    Stream);
template void entmax_loss_curvature(DeviceRows<const float>, PerRow, const Targets<Half>&,
                                    DeviceRows<const float>, const double*, DeviceRows<float>, double*,
                                    Stream);
template void entmax_loss_curvature(DeviceRows<const float>, PerRow, const Targets<BFloat16>&,
                                    DeviceRows<const float>, const double*, DeviceRows<float>, double*,
                                    Stream);

}  // namespace fenchel::cuda
