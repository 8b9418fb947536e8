#include "fenchel/backend/cuda/entmax_derivatives.hpp"

#include "backend/cuda/device/entmax/jacobian.cuh"
#include "backend/cuda/packed.hpp"
#include "backend/cuda/row_launch.cuh"

namespace fenchel::cuda {
namespace {

using device::ProductViews;

/// Up to alpha = 2 two sums are all that a product needs.
__device__ bool is_weighted(double alpha) { return alpha > 0 && alpha <= 2; }

/// So many threads of a multiprocessor have rows on their way at once: with more registers each, half of them
/// would wait.
constexpr int kThreadsAtOnce = 1024;

/// J v; rows of a larger alpha, or of one that does not exist, are left alone.
template <class Team, class Row, class T>
__global__ void __launch_bounds__(Team::kBlockThreads, kThreadsAtOnce / Team::kBlockThreads)
    weighted_product_kernel(const __grid_constant__ ProductViews<T> views, const PerRow alphas) {
  using Real = Computed<T>;
  Team team;
  const bool in_batch = team.row() < views.p.rows;
  const index_t i = in_batch ? team.row() : views.p.rows - 1;
  const double alpha = alphas[i];
  Row row(team, device::RowAt<T>{views, i});
  team.meet();
  device::weighted_product(team, row, alpha, in_batch && is_weighted(alpha), [](Real, Real) {});
}

/// The same of rows of any type.
struct AnyProductViews {
  device::AnyRows p, v, out;
};

__device__ device::StoredRow<float> row_of(const ProductViews<float>& views, index_t i, double, double) {
  return device::RowAt<float>{views, i};
}
__device__ device::ShiftedRow row_of(const AnyProductViews& views, index_t i, double alpha, double step) {
  return {views.p.row(i), views.v.row(i), views.out.row(i), views.p.cols, alpha, step};
}

/// J (v - D d_alpha), and -<that, D> in grad_alpha, for every alpha; or only of the rows that the other
/// kernel leaves. Floats are read as such where there is no d_alpha.
template <class Team, class Views>
__global__ void __launch_bounds__(Team::kBlockThreads)
    product_kernel(const __grid_constant__ Views views, const PerRow alphas, const double* d_alpha,
                   double* grad_alpha, const bool weighted_too) {
  Team team;
  team.meet();
  const index_t i = team.row();
  if (i >= views.p.rows) return;
  const double alpha = alphas[i], step = d_alpha == nullptr || isinf(alpha) ? 0.0 : d_alpha[i];
  if (!weighted_too && is_weighted(alpha)) return;
  using Row = decltype(row_of(views, i, alpha, step));
  const device::ReadRow<Team, Row> row(team, row_of(views, i, alpha, step));
  double along = 0;
  device::jacobian_product(team, row, alpha, [&](double p, double x) {
    if (grad_alpha != nullptr && x != 0) along += x * device::alpha_direction(alpha, p);
  });
  if (grad_alpha == nullptr) return;
  along = team.reduce(along, device::Plus());
  if (team.rank() == 0) grad_alpha[i] = 0.0 - along;
}

/// By the smallest team whose registers hold a row, 16 bytes at a time or column by column; by threads that
/// are neighbours as the rows are, where those run across memory.
template <class T>
void launch_weighted(std::string_view where, const ProductViews<T>& views, PerRow alpha, Stream stream) {
  using device::BlockTeam, device::ColumnTeam, device::HeldRow, device::WarpTeam;
  const index_t rows = views.p.rows, cols = views.p.cols;
  const auto by = [&]<class Team, class Row>() {
    launch_teams<Team>(where, weighted_product_kernel<Team, Row, T>, rows, stream, views, alpha);
  };
  const auto reading = [&]<class Team>() {
    by.template operator()<Team, device::ReadRow<Team, device::StoredRow<T>, 4>>();
  };
  if (views.p.step != 1 && views.p.stride == 1 && views.p.inner >= device::kWarp) {
    return reading.template operator()<ColumnTeam<16>>();
  }
  const auto columns = [&]<class Team>() { by.template operator()<Team, HeldRow<Team, T, 1, 16>>(); };
  constexpr int kSize = device::Pack<T>::kSize;
  if (cols % kSize != 0 || !is_packed(views.p) || !is_packed(views.v) || !is_packed(views.out)) {
    if (cols <= 512) return columns.template operator()<WarpTeam<128, 32>>();
    if (cols <= 4096) return columns.template operator()<BlockTeam<256>>();
    if (cols <= 16384) return columns.template operator()<BlockTeam<1024>>();
  } else {
    // Halves are computed with as many registers as floats: more of them than two packs a thread would spill.
    constexpr int kPacks = sizeof(T) == 2 ? 2 : 4;
    constexpr bool kFloat = std::is_same_v<T, float>;  // has a team for every length, others for each second
    const auto packed = [&]<class Team, bool kUsed = true>() {
      if constexpr (kUsed) {
        const bool exists = Team::kBlocks == 1 || has_clusters();
        if (!exists || cols > index_t{Team::kSize} * kPacks * kSize) return false;
        by.template operator()<Team, HeldRow<Team, T, kSize, kPacks>>();
      }
      return kUsed;
    };
    if (packed.template operator()<WarpTeam<128, 8>>()) return;
    if (packed.template operator()<WarpTeam<128, 16>, kFloat>()) return;
    if (packed.template operator()<WarpTeam<128, 32>>()) return;
    if (packed.template operator()<BlockTeam<64>, kFloat>()) return;
    if (packed.template operator()<BlockTeam<128>>()) return;
    if (packed.template operator()<BlockTeam<256>, kFloat>()) return;
    if (packed.template operator()<BlockTeam<512>>()) return;
    if (packed.template operator()<BlockTeam<512, 2>, kFloat>()) return;
    if (packed.template operator()<BlockTeam<1024, 2>>()) return;
    if (packed.template operator()<BlockTeam<512, 8>, kFloat>()) return;
    if (packed.template operator()<BlockTeam<1024, 8>>()) return;
  }
  if (!has_clusters()) return reading.template operator()<BlockTeam<1024>>();
  reading.template operator()<BlockTeam<1024, 8>>();
}

/// Where the derivatives in alpha come from or go.
struct AlphaParts {
  std::span<const double> direction = {};
  std::span<double> gradient = {};
};

template <class T>
void run(std::string_view where, const ProductViews<T>& views, std::string_view v, std::string_view out,
         PerRow alpha, const AlphaParts& parts, Stream stream) {
  check_view(where, "p", views.p);
  check_same_shape(where, v, views.v, "p", views.p);
  check_same_shape(where, out, views.out, "p", views.p);
  check_alpha(where, alpha, views.p.rows);
  check_numbers(where, "alpha_direction", parts.direction.size(), views.p.rows);
  check_numbers(where, "alpha_gradient", parts.gradient.size(), views.p.rows);
  if (views.p.rows == 0) return;
  const bool none_weighted = !alpha.per_row() && alpha[0] > 2;
  const bool weighted_too = none_weighted || !parts.direction.empty() || !parts.gradient.empty();
  if (!weighted_too) launch_weighted(where, views, alpha, stream);
  if (!weighted_too && !alpha.per_row()) return;
  const auto launch_products = [&](const auto& seen) {
    using Views = std::remove_cvref_t<decltype(seen)>;
    with_reading_team(views.p.cols, [&]<class Team>() {
      launch_teams<Team>(where, product_kernel<Team, Views>, views.p.rows, stream, seen, alpha,
                         parts.direction.data(), parts.gradient.data(), weighted_too);
    });
  };
  if constexpr (std::is_same_v<T, float>) {
    if (parts.direction.empty()) return launch_products(views);
  }
  launch_products(AnyProductViews{views.p, views.v, views.out});
}

}  // namespace

template <class T>
void entmax_vjp(Input<T> p, PerRow alpha, Input<T> cotangent, DeviceRows<T> gradient,
                std::span<double> alpha_gradient, Stream stream) {
  run<T>("cuda::entmax_vjp", {p, cotangent, gradient}, "cotangent", "gradient", alpha, {{}, alpha_gradient},
         stream);
}

template <class T>
void entmax_jvp(Input<T> p, PerRow alpha, Input<T> direction, std::span<const double> alpha_direction,
                DeviceRows<T> tangent, Stream stream) {
  run<T>("cuda::entmax_jvp", {p, direction, tangent}, "direction", "tangent", alpha, {alpha_direction},
         stream);
}

template void entmax_vjp(Input<double>, PerRow, Input<double>, DeviceRows<double>, std::span<double>, Stream);
template void entmax_jvp(Input<double>, PerRow, Input<double>, std::span<const double>, DeviceRows<double>,
                         Stream);
template void entmax_vjp(Input<float>, PerRow, Input<float>, DeviceRows<float>, std::span<double>, Stream);
template void entmax_jvp(Input<float>, PerRow, Input<float>, std::span<const double>, DeviceRows<float>,
                         Stream);
template void entmax_vjp(Input<Half>, PerRow, Input<Half>, DeviceRows<Half>, std::span<double>, Stream);
template void entmax_jvp(Input<Half>, PerRow, Input<Half>, std::span<const double>, DeviceRows<Half>, Stream);
template void entmax_vjp(Input<BFloat16>, PerRow, Input<BFloat16>, DeviceRows<BFloat16>, std::span<double>,
                         Stream);
template void entmax_jvp(Input<BFloat16>, PerRow, Input<BFloat16>, std::span<const double>,
                         DeviceRows<BFloat16>, Stream);

}  // namespace fenchel::cuda
