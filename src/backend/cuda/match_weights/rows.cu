#include "fenchel/backend/cuda/match_weights.hpp"

#include <cmath>
#include <string>

#include "backend/cuda/device/match_weights/row_work.cuh"
#include "backend/cuda/launch.cuh"
#include "fenchel/core/check.hpp"

namespace fenchel::cuda {
namespace {

constexpr int kBlock = 128;
/// Threads a row in dimensions 1, 2 and 3: more, and the algebra that each does for itself costs more than
/// the sums. In any other dimension it is a block.
constexpr int kRowThreads = 16;
constexpr index_t kLargestDimension = 64;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A number for each row, as rows of one; not given for none.
template <class T>
device::AnyRows column_of(T* data, index_t rows) {
  return DeviceRows<T>(data, rows, 1, 1);
}

/// match_weights.
struct WriteDensity {
  device::AnyRows mu, Sigma;

  template <class Matching>
  __device__ void operator()(const Matching& matching, bool good) const {
    const index_t d = matching.dimension(), i = matching.index();
    const detail::MatchedRow& row = matching.row();
    if (!matching.first()) return;
    for (index_t a = 0; a < d; ++a) mu.row(i).set(a, good ? row.mean[a] : kNone);
    for (index_t a = 0; a < d * d; ++a) Sigma.row(i).set(a, good ? row.kappa * row.covariance[a] : kNone);
  }
};

/// Writes a number for each column of a row: 0 for those past its length, NaN where there is no density.
template <class Matching, class Number>
__device__ void write_columns(const device::AnyRows& out, const Matching& matching, bool good,
                              const Number& number) {
  const device::AnyRow to = out.row(matching.index());
  matching.shared_out(out.cols, [&](index_t l) {
    to.set(l, !good ? kNone : l < matching.row().length ? number(matching.offset(l)) : 0.0);
  });
}

/// Where a density's derivatives come from.
struct Cotangent {
  device::AnyRows mu, Sigma, alpha;

  template <class Real>
  Cotangent(const DensityTangents<const Real>& x)
      : mu(x.mu), Sigma(x.Sigma), alpha(column_of(x.alpha.data(), std::ssize(x.alpha))) {}
};

/// match_weights_vjp.
struct WriteGradient {
  Cotangent cotangent;
  device::AnyRows gradient, alpha_gradient;

  template <class Matching>
  __device__ void operator()(const Matching& matching, bool good) const {
    const index_t d = matching.dimension(), i = matching.index();
    const device::ReadNumbers of_mu{cotangent.mu.row(i)}, of_Sigma{cotangent.Sigma.row(i)};
    auto& state = matching.state();
    if (good) {
      matching.alone(
          [&] { state.gradient = detail::match_gradient(of_Sigma, state.alpha.am1, d, state.row); });
    }
    write_columns(gradient, matching, good, [&](const auto& offset) {
      return state.gradient.in_weight(of_mu, offset, d, state.row.total);
    });
    if (alpha_gradient.rows == 0 || !matching.first()) return;
    const double own = cotangent.alpha.rows == 0 ? 0.0 : cotangent.alpha.row(i).get(0);
    alpha_gradient.row(i).set(0, good ? own + state.gradient.of_kappa * state.row.kappa_slope : kNone);
  }
};

struct Direction {
  device::AnyRows weights, alpha;

  [[nodiscard]] __device__ double along_alpha(index_t i) const {
    return alpha.rows == 0 ? 0.0 : alpha.row(i).get(0);
  }
};

/// match_weights_jvp.
struct WriteTangent {
  Direction direction;
  device::AnyRows mu, Sigma;

  template <class Matching>
  __device__ void operator()(const Matching& matching, bool good) const {
    const index_t d = matching.dimension(), i = matching.index();
    const detail::MatchedRow& row = matching.row();
    double* const moved = row.work;
    matching.move_moments(direction.weights.row(i), moved);
    if (!matching.first()) return;
    const double d_log_kappa =
        detail::moved_log_kappa(moved, matching.state().alpha.am1, direction.along_alpha(i), d, row);
    for (index_t a = 0; a < d; ++a) mu.row(i).set(a, good ? row.shift[a] : kNone);
    for (index_t a = 0; a < d * d; ++a) {
      const double moves = row.kappa * (moved[a] + row.covariance[a] * d_log_kappa);
      Sigma.row(i).set(a, good ? moves : kNone);
    }
  }
};

/// match_weights_vjp_vjp.
struct WriteProduct {
  Cotangent cotangent;
  Direction direction;
  device::AnyRows product, alpha_product;

  template <class Matching>
  __device__ void operator()(const Matching& matching, bool good) const {
    const index_t d = matching.dimension(), i = matching.index();
    const device::ReadNumbers of_mu{cotangent.mu.row(i)}, of_Sigma{cotangent.Sigma.row(i)};
    auto& state = matching.state();
    const double d_alpha = direction.along_alpha(i);
    const double total = matching.move_moments(direction.weights.row(i), state.row.more);
    matching.alone([&] {
      state.curvature =
          detail::match_curvature(of_mu, of_Sigma, state.alpha.am1, total, d_alpha, d, state.row);
    });
    write_columns(product, matching, good, [&](const auto& offset) {
      return state.curvature.in_weight(of_mu, offset, d, state.row.total);
    });
    if (alpha_product.rows == 0 || !matching.first()) return;
    const double curve = good ? device::kappa_curve(d, state.alpha.am1) : 0.0;
    alpha_product.row(i).set(0,
                             good ? state.curvature.in_alpha(state.row.kappa_slope, curve, d_alpha) : kNone);
  }
};

/// Groups of kThreads match rows, and `write` says what is made of them. A group past the last row does what
/// the group of that row does.
template <int kDim, int kThreads, class Write>
__global__ void __launch_bounds__(kBlock)
    match_kernel(const __grid_constant__ device::MatchArguments arguments,
                 const __grid_constant__ Write write) {
  using Group = device::RowGroup<kThreads>;
  constexpr bool kGeneral = kDim == 0;
  extern __shared__ double general_numbers[];
  __shared__ unsigned words[Group::kSharedWords];
  __shared__ unsigned char general_state[kGeneral ? sizeof(device::MatchState) : 1] alignas(16);
  double own_numbers[kGeneral ? 1 : detail::matched_row_size(kDim)];
  device::MatchState own_state;
  auto& state = kGeneral ? *reinterpret_cast<device::MatchState*>(general_state) : own_state;
  const index_t place = (index_t{blockIdx.x} * kBlock + threadIdx.x) / kThreads;
  const index_t i = place < arguments.weights.rows ? place : arguments.weights.rows - 1;
  const device::RowMatching<kDim, kThreads> matching(arguments, Group(words), state,
                                                     kGeneral ? general_numbers : own_numbers, i);
  const bool good = matching.match();
  write(matching, good);
}

template <class Real>
device::MatchArguments checked_arguments(std::string_view where, PerRow alpha,
                                         const DeviceRows<const Real>& weights,
                                         const WeightPositions& positions, std::optional<double> floor) {
  check_view(where, "weights", weights);
  const bool on_cells = positions.points.data == nullptr && positions.points.rows == 0;
  const index_t d = on_cells ? 1 : positions.points.cols;
  if (d < 1 || d > kLargestDimension) {
    throw_invalid_argument(where, "points.cols", "must be in [1, " + shortest(kLargestDimension) + "]", d);
  }
  if (!on_cells) {
    check_matrix(where, "points", positions.points, weights.cols, d);
    check_contiguous(where, "points", positions.points);
  }
  check_numbers(where, "lengths", positions.lengths.size(), weights.rows);
  if (floor) detail::checked_nonnegative(where, "floor", *floor);
  check_per_row(where, "alpha", alpha, weights.rows);
  const auto n = static_cast<double>(d);
  if (!alpha.per_row() && !(alpha[0] > n / (n + 2) && std::isfinite(alpha[0]))) {
    throw_domain_error(where, "alpha",
                       "must be finite and greater than " + shortest(d) + "/" + shortest(d + 2), alpha[0]);
  }
  const auto terms = alpha.per_row() ? detail::AlphaTerms{} : detail::alpha_terms(d, alpha[0] - 1);
  return {weights,
          sizeof(Real) == sizeof(float),
          {positions.points.data, d, positions.lengths.data()},
          alpha,
          floor.has_value(),
          floor.value_or(0),
          terms};
}

/// A row for mu and one for Sigma, at any distance.
template <class Real>
void check_density(std::string_view where, std::string_view name, const DensityTangents<Real>& density,
                   index_t rows, index_t d) {
  const auto check_part = [&](std::string_view part, const DeviceRows<Real>& view, index_t cols) {
    const std::string full = std::string(name).append(part);
    check_matrix(where, full, view, rows, cols);
    check_step(where, full, view);
  };
  check_part(".mu", density.mu, d);
  check_part(".Sigma", density.Sigma, d * d);
  check_numbers(where, std::string(name).append(".alpha"), density.alpha.size(), rows);
}

template <int kDim, int kThreads, class Write>
void launch_match(std::string_view where, const device::MatchArguments& arguments, const Write& write,
                  Stream stream) {
  constexpr int kRowsABlock = kBlock / kThreads;
  const index_t blocks = (arguments.weights.rows + kRowsABlock - 1) / kRowsABlock;
  const index_t numbers = kDim == 0 ? detail::matched_row_size(arguments.positions.dimension) : 0;
  launch(where, match_kernel<kDim, kThreads, Write>, grid_of(where, blocks), dim3(kBlock),
         static_cast<std::size_t>(numbers) * sizeof(double), stream, arguments, write);
}

template <class Write>
void run_match(std::string_view where, const device::MatchArguments& arguments, const Write& write,
               Stream stream) {
  if (arguments.weights.rows == 0) return;
  switch (arguments.positions.dimension) {
    case 1:
      return launch_match<1, kRowThreads>(where, arguments, write, stream);
    case 2:
      return launch_match<2, kRowThreads>(where, arguments, write, stream);
    case 3:
      return launch_match<3, kRowThreads>(where, arguments, write, stream);
    default:
      return launch_match<0, kBlock>(where, arguments, write, stream);
  }
}

}  // namespace

template <class Real>
void match_weights(PerRow alpha, Input<Real> weights, const WeightPositions& positions,
                   std::optional<double> floor, const DensityTangents<Real>& density, Stream stream) {
  constexpr std::string_view kWhere = "cuda::match_weights";
  const auto arguments = checked_arguments<Real>(kWhere, alpha, weights, positions, floor);
  check_density(kWhere, "density", density, weights.rows, arguments.positions.dimension);
  run_match(kWhere, arguments, WriteDensity{density.mu, density.Sigma}, stream);
}

template <class Real>
void match_weights_vjp(PerRow alpha, Input<Real> weights, const WeightPositions& positions,
                       std::optional<double> floor,
                       const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                       DeviceRows<Real> gradient, std::span<std::type_identity_t<Real>> alpha_gradient,
                       Stream stream) {
  constexpr std::string_view kWhere = "cuda::match_weights_vjp";
  const auto arguments = checked_arguments<Real>(kWhere, alpha, weights, positions, floor);
  check_density(kWhere, "cotangent", cotangent, weights.rows, arguments.positions.dimension);
  check_same_shape(kWhere, "gradient", gradient, "weights", weights);
  check_numbers(kWhere, "alpha_gradient", alpha_gradient.size(), weights.rows);
  run_match(kWhere, arguments,
            WriteGradient{cotangent, gradient, column_of(alpha_gradient.data(), std::ssize(alpha_gradient))},
            stream);
}

template <class Real>
void match_weights_jvp(PerRow alpha, Input<Real> weights, const WeightPositions& positions,
                       std::optional<double> floor, Input<Real> direction,
                       std::span<const std::type_identity_t<Real>> alpha_direction,
                       const DensityTangents<Real>& tangent, Stream stream) {
  constexpr std::string_view kWhere = "cuda::match_weights_jvp";
  const auto arguments = checked_arguments<Real>(kWhere, alpha, weights, positions, floor);
  check_same_shape(kWhere, "direction", direction, "weights", weights);
  check_numbers(kWhere, "alpha_direction", alpha_direction.size(), weights.rows);
  check_density(kWhere, "tangent", tangent, weights.rows, arguments.positions.dimension);
  run_match(kWhere, arguments,
            WriteTangent{{direction, column_of(alpha_direction.data(), std::ssize(alpha_direction))},
                         tangent.mu,
                         tangent.Sigma},
            stream);
}

template <class Real>
void match_weights_vjp_vjp(PerRow alpha, Input<Real> weights, const WeightPositions& positions,
                           std::optional<double> floor,
                           const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                           Input<Real> direction, std::span<const std::type_identity_t<Real>> alpha_direction,
                           DeviceRows<Real> product, std::span<std::type_identity_t<Real>> alpha_product,
                           Stream stream) {
  constexpr std::string_view kWhere = "cuda::match_weights_vjp_vjp";
  const auto arguments = checked_arguments<Real>(kWhere, alpha, weights, positions, floor);
  check_density(kWhere, "cotangent", cotangent, weights.rows, arguments.positions.dimension);
  check_same_shape(kWhere, "direction", direction, "weights", weights);
  check_numbers(kWhere, "alpha_direction", alpha_direction.size(), weights.rows);
  check_same_shape(kWhere, "product", product, "weights", weights);
  check_numbers(kWhere, "alpha_product", alpha_product.size(), weights.rows);
  run_match(kWhere, arguments,
            WriteProduct{cotangent,
                         {direction, column_of(alpha_direction.data(), std::ssize(alpha_direction))},
                         product,
                         column_of(alpha_product.data(), std::ssize(alpha_product))},
            stream);
}

#define FENCHEL_INSTANTIATE(Real)                                                                            \
  template void match_weights(PerRow, Input<Real>, const WeightPositions&, std::optional<double>,            \
                              const DensityTangents<Real>&, Stream);                                         \
  template void match_weights_vjp(PerRow, Input<Real>, const WeightPositions&, std::optional<double>,        \
                                  const DensityTangents<const Real>&, DeviceRows<Real>, std::span<Real>,     \
                                  Stream);                                                                   \
  template void match_weights_jvp(PerRow, Input<Real>, const WeightPositions&, std::optional<double>,        \
                                  Input<Real>, std::span<const Real>, const DensityTangents<Real>&, Stream); \
  template void match_weights_vjp_vjp(PerRow, Input<Real>, const WeightPositions&, std::optional<double>,    \
                                      const DensityTangents<const Real>&, Input<Real>,                       \
                                      std::span<const Real>, DeviceRows<Real>, std::span<Real>, Stream);
FENCHEL_INSTANTIATE(float)
FENCHEL_INSTANTIATE(double)
#undef FENCHEL_INSTANTIATE

}  // namespace fenchel::cuda
