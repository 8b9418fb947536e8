#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/fusedmax/grid_checks.hpp"
#include "core/compensated_sum.hpp"
#include "fenchel/backend/cpu/fusedmax_grid.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

constexpr index_t work_of(index_t cols) noexcept { return 20 * cols; }

/// Memory for one image: a direction, k of dp/dgamma = J k, and the pixels of the plateaus.
struct DerivativeScratch {
  double *direction, *balance;
  index_t* plateau;
  unsigned char* seen;
};

std::size_t derivative_scratch_size(index_t cols) noexcept {
  return 2 * detail::scratch_bytes<double>(cols) + detail::scratch_bytes<index_t>(cols) +
         detail::scratch_bytes<unsigned char>(cols);
}

/// The derivatives of one image from its p.
template <class Real>
class DerivativeRow {
 public:
  DerivativeRow(const Real* p, const detail::GridLayout& grid, double gamma,
                const DerivativeScratch& scratch) noexcept
      : p_(p), grid_(grid), size_(grid.height * grid.width), gamma_(gamma), m_(scratch) {
    std::fill_n(m_.balance, size_, 0.0);
    detail::for_edges(grid_, [&](index_t u, index_t v) {
      const double sign = p_[u] < p_[v] ? 1.0 : p_[u] > p_[v] ? -1.0 : 0.0;
      m_.balance[u] += sign;
      m_.balance[v] -= sign;
    });
  }

  /// A NaN row has NaN in all its pixels.
  [[nodiscard]] bool valid() const noexcept { return !std::isnan(p_[0]); }

  /// J (direction + step k), in m_.direction.
  void apply_jacobian(const Real* direction, double step) const noexcept {
    detail::CompensatedSum total;
    index_t support = 0;
    for (index_t v = 0; v < size_; ++v) {
      const bool inside = p_[v] > 0;
      m_.direction[v] = inside ? direction[v] + step * m_.balance[v] : 0.0;
      m_.seen[v] = !inside;
      if (!inside) continue;
      total.add(m_.direction[v]);
      ++support;
    }
    const double mean = total.total() / static_cast<double>(support);
    for (index_t v = 0; v < size_; ++v) {
      if (m_.seen[v] == 0) average_plateau(v, mean);
    }
  }

  [[nodiscard]] double along_gamma() const noexcept {
    detail::CompensatedSum sum;
    for (index_t v = 0; v < size_; ++v) sum.add(m_.direction[v] * m_.balance[v]);
    return sum.total();
  }

 private:
  void average_plateau(index_t first, double mean) const noexcept {
    index_t count = 0;
    const auto visit = [&](index_t v) {
      m_.seen[v] = 1;
      m_.plateau[count++] = v;
    };
    const auto try_visit = [&](bool exists, index_t v) {
      if (exists && m_.seen[v] == 0 && p_[v] == p_[first]) visit(v);
    };
    visit(first);
    for (index_t k = 0; k < count && gamma_ > 0; ++k) {
      const index_t v = m_.plateau[k], column = v % grid_.width;
      try_visit(column + 1 < grid_.width, v + 1);
      try_visit(column > 0, v - 1);
      try_visit(v + grid_.width < size_, v + grid_.width);
      try_visit(v >= grid_.width, v - grid_.width);
    }
    detail::CompensatedSum sum;
    for (index_t k = 0; k < count; ++k) sum.add(m_.direction[m_.plateau[k]]);
    const double average = sum.total() / static_cast<double>(count) - mean;
    for (index_t k = 0; k < count; ++k) m_.direction[m_.plateau[k]] = average;
  }

  const Real* p_;
  const detail::GridLayout& grid_;
  index_t size_;
  double gamma_;
  const DerivativeScratch& m_;
};

/// Calls write(i, row) for every image, row being its DerivativeRow after J (directions[i] + steps[i] k).
template <class Real, class Write>
void run(const detail::GridLayout& grid, Rows<const Real> p, PerRow gamma, Rows<const Real> directions,
         std::span<const double> steps, Rows<Real> out, const Write& write) {
  const index_t cols = p.cols;
  const int workers = workers_for(p.rows, work_of(cols));
  const detail::Scratch memory(workers, derivative_scratch_size(cols));
  parallel_rows(p.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    auto* direction = part.take<double>(cols);
    auto* balance = part.take<double>(cols);
    auto* plateau = part.take<index_t>(cols);
    const DerivativeScratch scratch{direction, balance, plateau, part.take<unsigned char>(cols)};
    for (index_t i = begin; i < end; ++i) {
      const DerivativeRow<Real> row(p.row(i), grid, gamma[i], scratch);
      if (row.valid()) {
        row.apply_jacobian(directions.row(i), steps.empty() ? 0.0 : steps[static_cast<std::size_t>(i)]);
      } else {
        std::fill_n(direction, cols, std::numeric_limits<double>::quiet_NaN());
      }
      std::transform(direction, direction + cols, out.row(i), [](double x) { return static_cast<Real>(x); });
      write(i, row);
    }
  });
}

}  // namespace

template <class Real>
void fusedmax_grid_jvp(Input<Real> p, index_t height, PerRow gamma, Input<Real> direction,
                       std::span<const double> gamma_direction, Rows<Real> tangent) {
  constexpr auto kWhere = "fusedmax_grid_jvp";
  const auto grid = detail::checked_grid(kWhere, "p", p, height, gamma);
  detail::check_same_shape(kWhere, "direction", direction, "p", p);
  detail::check_same_shape(kWhere, "tangent", tangent, "p", p);
  if (!gamma_direction.empty()) {
    detail::check_count(kWhere, "gamma_direction", static_cast<index_t>(gamma_direction.size()), p.rows);
  }
  run(grid, p, gamma, direction, gamma_direction, tangent, [](index_t, const auto&) noexcept {});
}

template <class Real>
void fusedmax_grid_vjp(Input<Real> p, index_t height, PerRow gamma, Input<Real> cotangent,
                       Rows<Real> gradient, std::span<double> gamma_gradient) {
  constexpr auto kWhere = "fusedmax_grid_vjp";
  const auto grid = detail::checked_grid(kWhere, "p", p, height, gamma);
  detail::check_same_shape(kWhere, "cotangent", cotangent, "p", p);
  detail::check_same_shape(kWhere, "gradient", gradient, "p", p);
  if (!gamma_gradient.empty()) {
    detail::check_count(kWhere, "gamma_gradient", static_cast<index_t>(gamma_gradient.size()), p.rows);
  }
  run(grid, p, gamma, cotangent, {}, gradient, [&](index_t i, const auto& row) noexcept {
    if (!gamma_gradient.empty()) gamma_gradient[static_cast<std::size_t>(i)] = row.along_gamma();
  });
}

template void fusedmax_grid_jvp(Input<float>, index_t, PerRow, Input<float>, std::span<const double>,
                                Rows<float>);
template void fusedmax_grid_vjp(Input<float>, index_t, PerRow, Input<float>, Rows<float>, std::span<double>);
template void fusedmax_grid_jvp(Input<double>, index_t, PerRow, Input<double>, std::span<const double>,
                                Rows<double>);
template void fusedmax_grid_vjp(Input<double>, index_t, PerRow, Input<double>, Rows<double>,
                                std::span<double>);

}  // namespace fenchel::cpu
