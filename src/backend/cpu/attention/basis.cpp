#include "backend/cpu/attention/basis.hpp"

#include "backend/cpu/attention/checks.hpp"
#include "backend/cpu/attention/pairs.hpp"

namespace fenchel {
namespace detail {
namespace {

/// The numbers of each worker.
class WorkerNumbers {
 public:
  WorkerNumbers(int workers, index_t each)
      : each_(each), numbers_(static_cast<std::size_t>(workers * each)) {}
  [[nodiscard]] double* of(int worker) noexcept { return numbers_.data() + worker * each_; }

 private:
  index_t each_;
  std::vector<double> numbers_;
};

/// (x + x^T) / 2 of a D x D matrix, or 0 for a null one.
template <class Real>
void load_matrix(const Real* from, index_t d, double* to) noexcept {
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b < d; ++b) {
      to[a * d + b] = from == nullptr ? 0 : 0.5 * (double{from[a * d + b]} + double{from[b * d + a]});
    }
  }
}

/// Row i of a view, or null where it is not given.
template <class T>
[[nodiscard]] T* row_of(Rows<T> view, index_t i) noexcept {
  return view.data == nullptr ? nullptr : view.row(i);
}

}  // namespace

template <class Real>
void basis_gradient(std::string_view where, const cpu::Densities<Real>& p, const cpu::GaussianFunctions& psi,
                    Rows<const Real> cotangent, const cpu::BasisTangents<double>& gradient) {
  const index_t d = p.mu.cols;
  const int workers = pair_workers(p, psi);
  BasisSums sums(RowParts(p.mu.rows), psi.mu.rows, d);
  WorkerNumbers numbers(workers, d + d * d);
  for_each_pair_row(where, p, psi, workers, [&](index_t part, int worker, index_t i, const Pairs& pairs) {
    double *const mean = numbers.of(worker), *const covariance = mean + d;
    return pairs.for_each([&](index_t j, PairRow& row, index_t lane) {
      const double factor = cotangent.row(i)[j];
      if (factor == 0) return;
      row.gradient(lane, mean, covariance);
      for (index_t k = 0; k < d; ++k) sums.mean(part, j)[k] += factor * mean[k];
      for (index_t k = 0; k < d * d; ++k) sums.covariance(part, j)[k] += factor * covariance[k];
    });
  });
  sums.store(gradient);
}

template <class Real>
void basis_tangent(std::string_view where, const cpu::Densities<Real>& p, const cpu::GaussianFunctions& psi,
                   const cpu::BasisTangents<const double>& direction, Rows<double> tangent) {
  const index_t d = p.mu.cols;
  const int workers = pair_workers(p, psi);
  WorkerNumbers numbers(workers, d + d * d);
  for_each_pair_row(where, p, psi, workers, [&](index_t, int worker, index_t i, const Pairs& pairs) {
    double *const mean = numbers.of(worker), *const covariance = mean + d;
    return pairs.for_each([&](index_t j, PairRow& row, index_t lane) {
      row.gradient(lane, mean, covariance);
      const double *const along = row_of(direction.mu, j), *const turn = row_of(direction.Sigma, j);
      double sum = 0;
      for (index_t k = 0; along != nullptr && k < d; ++k) sum += mean[k] * along[k];
      for (index_t k = 0; turn != nullptr && k < d * d; ++k) sum += covariance[k] * turn[k];
      tangent.row(i)[j] = sum;
    });
  });
}

template void basis_gradient(std::string_view, const cpu::Densities<float>&, const cpu::GaussianFunctions&,
                             Rows<const float>, const cpu::BasisTangents<double>&);
template void basis_gradient(std::string_view, const cpu::Densities<double>&, const cpu::GaussianFunctions&,
                             Rows<const double>, const cpu::BasisTangents<double>&);
template void basis_tangent(std::string_view, const cpu::Densities<float>&, const cpu::GaussianFunctions&,
                            const cpu::BasisTangents<const double>&, Rows<double>);
template void basis_tangent(std::string_view, const cpu::Densities<double>&, const cpu::GaussianFunctions&,
                            const cpu::BasisTangents<const double>&, Rows<double>);

}  // namespace detail

namespace cpu {

template <class Real>
void attend_vjp_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                    Rows<const std::type_identity_t<Real>> cotangent,
                    const DensityTangents<const std::type_identity_t<Real>>& direction,
                    const BasisTangents<const double>& basis_direction,
                    const DensityTangents<std::type_identity_t<Real>>& product,
                    const BasisTangents<double>& basis_product) {
  constexpr auto kWhere = "attend_vjp_vjp";
  const index_t rows = p.mu.rows, d = p.mu.cols, count = psi.mu.rows;
  detail::check_densities(kWhere, p);
  detail::check_basis_tangents(kWhere, "basis_product", basis_product, psi);
  if (rows == 0) return detail::clear(basis_product);
  detail::check_functions(kWhere, psi, d);
  detail::check_matrix(kWhere, "cotangent", cotangent, rows, count);
  detail::check_given_tangents(kWhere, "direction", direction, rows, d);
  detail::check_basis_tangents(kWhere, "basis_direction", basis_direction, psi);
  detail::check_given_tangents(kWhere, "product", product, rows, d);
  const bool alpha_too = !direction.alpha.empty() || !product.alpha.empty();
  const int workers = detail::pair_workers(p, psi);
  const bool basis_too = detail::is_given(basis_product);
  detail::BasisSums sums(detail::RowParts(basis_too ? rows : 1), count, d);
  const index_t size = d + 2 * d * d;
  detail::WorkerNumbers numbers(workers, 2 * size + d + d * d);
  detail::for_each_pair_row(
      kWhere, p, psi, workers, [&](index_t part, int worker, index_t i, const detail::Pairs& pairs) {
        double *const from = numbers.of(worker), *const to = from + size, *const mu = to + size;
        double* const scale = mu + d;
        const Real* const moves = detail::row_of(direction.mu, i);
        const double along =
            direction.alpha.empty() ? 0 : double{direction.alpha[static_cast<std::size_t>(i)]};
        double alpha = 0;
        std::fill_n(mu, d + d * d, 0.0);
        const bool accurate = pairs.for_each([&](index_t j, detail::PairRow& row, index_t lane) {
          const double factor = cotangent.row(i)[j];
          if (factor == 0) return;
          detail::PairTangents by{from, from + d, from + d + d * d, along};
          detail::PairTangents out{to, to + d, to + d + d * d, 0};
          const double* const mean = detail::row_of(basis_direction.mu, j);
          for (index_t a = 0; a < d; ++a) {
            by.distance[a] = (mean == nullptr ? 0 : mean[a]) - (moves == nullptr ? 0 : double{moves[a]});
          }
          detail::load_matrix(detail::row_of(direction.Sigma, i), d, by.scale);
          detail::load_matrix(detail::row_of(basis_direction.Sigma, j), d, by.covariance);
          row.hessian(lane, alpha_too, by, out);
          for (index_t a = 0; a < d; ++a) mu[a] -= factor * out.distance[a];
          for (index_t k = 0; k < d * d; ++k) scale[k] += factor * out.scale[k];
          alpha += factor * out.alpha;
          if (!basis_too) return;
          for (index_t a = 0; a < d; ++a) sums.mean(part, j)[a] += factor * out.distance[a];
          for (index_t k = 0; k < d * d; ++k) sums.covariance(part, j)[k] += factor * out.covariance[k];
        });
        const auto store = [](const double* numbers_of, index_t how_many, Real* row) {
          for (index_t k = 0; row != nullptr && k < how_many; ++k) row[k] = static_cast<Real>(numbers_of[k]);
        };
        store(mu, d, detail::row_of(product.mu, i));
        store(scale, d * d, detail::row_of(product.Sigma, i));
        if (!product.alpha.empty()) product.alpha[static_cast<std::size_t>(i)] = static_cast<Real>(alpha);
        return accurate;
      });
  if (basis_too) sums.store(basis_product);
}

template void attend_vjp_vjp(const Densities<float>&, const GaussianFunctions&, Rows<const float>,
                             const DensityTangents<const float>&, const BasisTangents<const double>&,
                             const DensityTangents<float>&, const BasisTangents<double>&);
template void attend_vjp_vjp(const Densities<double>&, const GaussianFunctions&, Rows<const double>,
                             const DensityTangents<const double>&, const BasisTangents<const double>&,
                             const DensityTangents<double>&, const BasisTangents<double>&);

}  // namespace cpu
}  // namespace fenchel
