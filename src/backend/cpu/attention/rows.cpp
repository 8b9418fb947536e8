#include "fenchel/backend/cpu/attention.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>

#include "backend/cpu/attention/basis.hpp"
#include "backend/cpu/attention/checks.hpp"
#include "backend/cpu/attention/pairs.hpp"
#include "backend/cpu/attention/row.hpp"
#include "backend/cpu/attention/values.hpp"
#include "core/scratch.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::detail {
namespace {

/// Calls body(i, blocks, spare) for every density of a batch with its row of expectations; `spare` is a block
/// for the caller. One thread does `together` rows that follow each other. Throws ConvergenceError where a
/// row would not be accurate.
template <class Real, class Body>
void for_each_row(std::string_view where, const cpu::Densities<Real>& p, const cpu::GaussianFunctions& psi,
                  Wanted wanted, const Body& body, index_t together = 1) {
  const index_t n = p.mu.cols, pitch = padded(psi.mu.rows), blocks = block_count(n, wanted);
  const LineFunctions line(n == 1 ? psi : cpu::GaussianFunctions{});
  const index_t sorted_size = line.sorted_size(blocks);
  const index_t numbers = n + 2 * n * n + (n > 1 ? space_scratch(n) : 0) + (blocks + 1) * pitch + sorted_size;
  const index_t groups = (p.mu.rows + together - 1) / together;
  const int workers = workers_for(groups, together * psi.mu.rows * (n > 1 ? 1000 : 10));
  const Scratch memory(workers, scratch_bytes<double>(numbers) + 8 * kCacheLine);
  constexpr Accuracy kAccuracy = sizeof(Real) == 4 ? Accuracy::kSingle : Accuracy::kDouble;
  std::atomic<index_t> failed = -1;
  parallel_rows(groups, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    auto* const mu = part.template take<double>(n);
    auto* const scale = part.template take<double>(n * n);
    auto* const factor = part.template take<double>(n * n);
    auto* const scratch = part.template take<double>(n > 1 ? space_scratch(n) : 0);
    const RowBlocks out{part.template take<double>(blocks * pitch), pitch};
    auto* const spare = part.template take<double>(pitch);
    auto* const sorted = part.template take<double>(sorted_size);
    for (index_t i = begin * together; i < std::min(end * together, p.mu.rows); ++i) {
      std::copy_n(p.mu.row(i), n, mu);
      std::copy_n(p.Sigma.row(i), n * n, scale);
      cholesky(scale, n, factor);
      double log_det = 0;
      for (index_t a = 0; a < n; ++a) log_det += 2 * std::log(factor[a * n + a]);
      const DensityRow density{beta_gaussian_constants(n, p.alpha[i] - 1, log_det), mu, scale};
      if (n == 1) {
        attend_line_row(density, line, wanted, kAccuracy, sorted, out);
      } else if (!attend_space_row(density, psi, wanted, kAccuracy, scratch, out)) {
        index_t first = failed;
        while ((first < 0 || i < first) && !failed.compare_exchange_weak(first, i)) {
        }
        continue;
      }
      body(i, out, spare);
    }
  });
  if (failed < 0) return;
  throw ConvergenceError(error_message(where, "the expectation under density " + shortest(failed.load()),
                                       "must be resolved", "an integral that is not"));
}

template <class Real>
[[nodiscard]] Wanted wanted_by(const cpu::DensityTangents<Real>& tangents, bool basis = false) noexcept {
  if (basis) return tangents.alpha.empty() ? Wanted::kBasisToo : Wanted::kAll;
  return tangents.alpha.empty() ? Wanted::kGradient : Wanted::kAlphaToo;
}

/// Row i of the gradient of <cotangent, r_i>.
template <class Real, class Cotangent>
void pull_back(const RowBlocks& row, const Cotangent* cotangent, index_t count, index_t i,
               const cpu::DensityTangents<Real>& gradient) noexcept {
  const index_t n = gradient.mu.cols;
  const auto partial = [&](index_t block) { return static_cast<Real>(dot(row[block], cotangent, count)); };
  for (index_t a = 0; a < n; ++a) gradient.mu.row(i)[a] = partial(1 + a);
  Real* const scale = gradient.Sigma.row(i);
  for_each_entry(
      n, [&](index_t a, index_t b, index_t block) { scale[a * n + b] = scale[b * n + a] = partial(block); });
  if (!gradient.alpha.empty()) {
    gradient.alpha[static_cast<std::size_t>(i)] = partial(block_count(n, Wanted::kGradient));
  }
}

/// The gradient of sum_ij cotangent_ij r_ij in all parameters, on the line.
template <class Real>
void line_gradient(std::string_view where, const cpu::Densities<Real>& p, const cpu::GaussianFunctions& psi,
                   Rows<const Real> cotangent, const cpu::DensityTangents<Real>& gradient,
                   const cpu::BasisTangents<double>& basis_gradient) {
  const index_t count = psi.mu.rows;
  const RowParts parts(p.mu.rows);
  const Wanted wanted = wanted_by(gradient, true);
  BasisSums sums(parts, count, 1);
  for_each_row(
      where, p, psi, wanted,
      [&](index_t i, const RowBlocks& row, double*) {
        const Real* const factors = cotangent.row(i);
        pull_back(row, factors, count, i, gradient);
        const double *const slope = row[1], *const bend = row[block_count(1, wanted) - 1];
        double* const sum = sums.mean(i / parts.size, 0);
        for (index_t j = 0; j < count; ++j) {
          const double factor = factors[j];
          if (factor == 0) continue;  // a slope may be infinite
          sum[2 * j] -= factor * slope[j];
          sum[2 * j + 1] += factor * bend[j];
        }
      },
      parts.size);
  sums.store(basis_gradient);
}

}  // namespace
}  // namespace fenchel::detail

namespace fenchel::cpu {

template <class Real>
void attend(const Densities<Real>& p, const GaussianFunctions& psi, Rows<std::type_identity_t<Real>> r) {
  constexpr auto kWhere = "attend";
  detail::check_densities(kWhere, p);
  if (p.mu.rows == 0) return;
  detail::check_functions(kWhere, psi, p.mu.cols);
  detail::check_matrix(kWhere, "r", r, p.mu.rows, psi.mu.rows);
  detail::for_each_row(
      kWhere, p, psi, detail::Wanted::kValues,
      [&](index_t i, const detail::RowBlocks& row, double*) { detail::store(row[0], r.cols, r.row(i)); });
}

template <class Real>
void attend_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                Rows<const std::type_identity_t<Real>> cotangent,
                const DensityTangents<std::type_identity_t<Real>>& gradient,
                const BasisTangents<double>& basis_gradient) {
  constexpr auto kWhere = "attend_vjp";
  detail::check_densities(kWhere, p);
  detail::check_basis_tangents(kWhere, "basis_gradient", basis_gradient, psi);
  if (p.mu.rows == 0) return detail::clear(basis_gradient);
  detail::check_functions(kWhere, psi, p.mu.cols);
  detail::check_matrix(kWhere, "cotangent", cotangent, p.mu.rows, psi.mu.rows);
  detail::check_tangents(kWhere, "gradient", gradient, p.mu.rows, p.mu.cols);
  const bool basis_too = detail::is_given(basis_gradient);
  if (basis_too && p.mu.cols == 1) {
    return detail::line_gradient<Real>(kWhere, p, psi, cotangent, gradient, basis_gradient);
  }
  detail::for_each_row(kWhere, p, psi, detail::wanted_by(gradient),
                       [&](index_t i, const detail::RowBlocks& row, double*) {
                         detail::pull_back(row, cotangent.row(i), psi.mu.rows, i, gradient);
                       });
  if (basis_too) detail::basis_gradient<Real>(kWhere, p, psi, cotangent, basis_gradient);
}

template <class Real>
void attend_jvp(const Densities<Real>& p, const GaussianFunctions& psi,
                const DensityTangents<const std::type_identity_t<Real>>& direction,
                const BasisTangents<const double>& basis_direction,
                Rows<std::type_identity_t<Real>> tangent) {
  constexpr auto kWhere = "attend_jvp";
  detail::check_densities(kWhere, p);
  if (p.mu.rows == 0) return;
  const index_t n = p.mu.cols, count = psi.mu.rows;
  detail::check_functions(kWhere, psi, n);
  detail::check_tangents(kWhere, "direction", direction, p.mu.rows, n);
  detail::check_matrix(kWhere, "tangent", tangent, p.mu.rows, count);
  detail::check_basis_tangents(kWhere, "basis_direction", basis_direction, psi);
  const bool basis_too = detail::is_given(basis_direction), by_pairs = basis_too && n > 1;
  const detail::Wanted wanted = detail::wanted_by(direction, basis_too && n == 1);
  const auto of_basis =
      std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(by_pairs ? p.mu.rows * count : 0));
  if (by_pairs) {
    detail::basis_tangent(kWhere, p, psi, basis_direction, {of_basis.get(), p.mu.rows, count});
  }
  detail::for_each_row(kWhere, p, psi, wanted, [&](index_t i, const detail::RowBlocks& row, double* sum) {
    std::fill_n(sum, count, 0.0);
    if (by_pairs) std::copy_n(of_basis.get() + i * count, count, sum);
    const auto add_basis = [&](Rows<const double> along, index_t block, double sign) {
      for (index_t j = 0; along.data != nullptr && j < count; ++j) {
        const double by = *along.row(j);
        if (by != 0) sum[j] += sign * by * row[block][j];  // a slope may be infinite
      }
    };
    if (detail::basis_too(wanted)) {
      add_basis(basis_direction.mu, 1, -1);
      add_basis(basis_direction.Sigma, detail::block_count(1, wanted) - 1, 1);
    }
    const auto add = [&](index_t block, double by) {
      if (by != 0) detail::add_multiple(by, row[block], count, sum);
    };
    for (index_t a = 0; a < n; ++a) add(1 + a, double{direction.mu.row(i)[a]});
    const Real* const scale = direction.Sigma.row(i);
    detail::for_each_entry(n, [&](index_t a, index_t b, index_t block) {
      add(block, a == b ? double{scale[a * n + a]} : double{scale[a * n + b]} + double{scale[b * n + a]});
    });
    if (!direction.alpha.empty()) {
      add(detail::block_count(n, detail::Wanted::kGradient),
          double{direction.alpha[static_cast<std::size_t>(i)]});
    }
    detail::store(sum, count, tangent.row(i));
  });
}

template <class Real>
void attend_context(const Densities<Real>& p, const GaussianFunctions& psi,
                    const ValueMatrices<const std::type_identity_t<Real>>& values,
                    Rows<std::type_identity_t<Real>> context) {
  constexpr auto kWhere = "attend_context";
  detail::check_densities(kWhere, p);
  if (p.mu.rows == 0) return;
  detail::check_functions(kWhere, psi, p.mu.cols);
  detail::check_values(kWhere, "values", values, p.mu.rows);
  detail::check_matrix(kWhere, "context", context, p.mu.rows, values.dimension);
  const index_t count = psi.mu.rows, share = p.mu.rows / values.count;
  detail::for_each_row(
      kWhere, p, psi, detail::Wanted::kValues, [&](index_t i, const detail::RowBlocks& row, double*) {
        const Real* const matrix = values.data + i / share * values.dimension * count;
        for (index_t m = 0; m < values.dimension; ++m) {
          context.row(i)[m] = static_cast<Real>(detail::dot(row[0], matrix + m * count, count));
        }
      });
}

template <class Real>
void attend_context_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                        const ValueMatrices<const std::type_identity_t<Real>>& values,
                        Rows<const std::type_identity_t<Real>> cotangent,
                        const DensityTangents<std::type_identity_t<Real>>& gradient,
                        const ValueMatrices<std::type_identity_t<Real>>& values_gradient) {
  constexpr auto kWhere = "attend_context_vjp";
  detail::check_densities(kWhere, p);
  const index_t rows = p.mu.rows, count = psi.mu.rows;
  if (rows == 0) return;
  detail::check_functions(kWhere, psi, p.mu.cols);
  detail::check_values(kWhere, "values", values, rows);
  detail::check_matrix(kWhere, "cotangent", cotangent, rows, values.dimension);
  detail::check_tangents(kWhere, "gradient", gradient, rows, p.mu.cols);
  const bool values_too = values_gradient.data != nullptr;
  if (values_too) {
    if (values_gradient.count != values.count || values_gradient.dimension != values.dimension) {
      throw_invalid_argument(kWhere, "values_gradient",
                             "must have the count and dimension of values, " + shortest(values.count) +
                                 " and " + shortest(values.dimension),
                             shortest(values_gradient.count) + " and " + shortest(values_gradient.dimension));
    }
  }
  const index_t share = rows / values.count;
  const auto kept =
      std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(values_too ? rows * count : 0));
  detail::for_each_row(kWhere, p, psi, detail::wanted_by(gradient),
                       [&](index_t i, const detail::RowBlocks& row, double* pulled) {
                         const Real* const matrix = values.data + i / share * values.dimension * count;
                         std::fill_n(pulled, count, 0.0);
                         for (index_t m = 0; m < values.dimension; ++m) {
                           detail::add_multiple(double{cotangent.row(i)[m]}, matrix + m * count, count,
                                                pulled);
                         }
                         detail::pull_back(row, pulled, count, i, gradient);
                         if (values_too) std::copy_n(row[0], count, kept.get() + i * count);
                       });
  if (!values_too) return;
  const index_t matrix_rows = values.count * values.dimension;
  const int workers = workers_for(matrix_rows, share * count);
  const detail::Scratch memory(workers, detail::scratch_bytes<double>(count));
  parallel_rows(matrix_rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto* const sum = memory.of(worker).template take<double>(count);
    for (index_t row = begin; row < end; ++row) {
      const index_t first = row / values.dimension * share, m = row % values.dimension;
      std::fill_n(sum, count, 0.0);
      for (index_t i = first; i < first + share; ++i) {
        detail::add_multiple(double{cotangent.row(i)[m]}, kept.get() + i * count, count, sum);
      }
      detail::store(sum, count, values_gradient.data + row * count);
    }
  });
}

template void attend(const Densities<float>&, const GaussianFunctions&, Rows<float>);
template void attend_vjp(const Densities<float>&, const GaussianFunctions&, Rows<const float>,
                         const DensityTangents<float>&, const BasisTangents<double>&);
template void attend_jvp(const Densities<float>&, const GaussianFunctions&,
                         const DensityTangents<const float>&, const BasisTangents<const double>&,
                         Rows<float>);
template void attend_context(const Densities<float>&, const GaussianFunctions&,
                             const ValueMatrices<const float>&, Rows<float>);
template void attend_context_vjp(const Densities<float>&, const GaussianFunctions&,
                                 const ValueMatrices<const float>&, Rows<const float>,
                                 const DensityTangents<float>&, const ValueMatrices<float>&);
template void attend(const Densities<double>&, const GaussianFunctions&, Rows<double>);
template void attend_vjp(const Densities<double>&, const GaussianFunctions&, Rows<const double>,
                         const DensityTangents<double>&, const BasisTangents<double>&);
template void attend_jvp(const Densities<double>&, const GaussianFunctions&,
                         const DensityTangents<const double>&, const BasisTangents<const double>&,
                         Rows<double>);
template void attend_context(const Densities<double>&, const GaussianFunctions&,
                             const ValueMatrices<const double>&, Rows<double>);
template void attend_context_vjp(const Densities<double>&, const GaussianFunctions&,
                                 const ValueMatrices<const double>&, Rows<const double>,
                                 const DensityTangents<double>&, const ValueMatrices<double>&);

}  // namespace fenchel::cpu
