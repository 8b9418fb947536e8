#include "fenchel/backend/cuda/attention.hpp"

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "backend/cuda/attention/arrays.hpp"
#include "backend/cuda/attention/line.hpp"
#include "backend/cuda/attention/space.hpp"
#include "backend/cuda/checks.hpp"

/// What continuous attention asks of its arguments, and the way to the line or to more dimensions.
namespace fenchel::cuda {
namespace {

/// The densities and functions of a call, and its checks.
template <class Real>
struct Arguments {
  std::string_view where;
  DensityArrays<Real> p;
  FunctionArrays psi;

  Arguments(std::string_view function, const Densities<Real>& densities, const GaussianFunctions& functions)
      : where(function),
        p{nullptr, nullptr, densities.mu.rows, densities.alpha},
        psi{nullptr, nullptr, functions.mu.rows, functions.mu.cols} {
    const index_t d = psi.dimension, square = d * d;
    if (p.rows < 0)
      throw_invalid_argument(where, "mu", "must have a number of rows that is not negative", p.rows);
    if (d < 1) throw_invalid_argument(where, "psi.mu.cols", "must be at least 1", d);
    check_alpha(where, p.alpha, p.rows);
    const double lowest = 1 - 2 / static_cast<double>(d);
    if (!p.alpha.per_row() && !(p.alpha[0] > lowest)) {
      throw_domain_error(where, "alpha", "must exceed 1 - 2/D = " + shortest(lowest), p.alpha[0]);
    }
    if (p.rows == 0) return;
    if (psi.count < 1) throw_invalid_argument(where, "psi.mu.rows", "must be at least 1", psi.count);
    p.mu = array_of(where, "mu", densities.mu, p.rows, d);
    p.Sigma = array_of(where, "Sigma", densities.Sigma, p.rows, square);
    psi.mu = array_of(where, "psi.mu", functions.mu, psi.count, d);
    psi.Sigma = array_of(where, "psi.Sigma", functions.Sigma, psi.count, square);
  }

  [[nodiscard]] bool on_line() const noexcept { return psi.dimension == 1; }

  /// A number for each pair.
  template <class T>
  [[nodiscard]] T* pairs(std::string_view name, const DeviceRows<T>& x) const {
    return array_of(where, name, x, p.rows, psi.count);
  }
  template <class T>
  [[nodiscard]] DensityTangentArrays<T> tangents(const std::string& name, const DensityTangents<T>& x) const {
    const auto optional = given_tangents(name, x);
    return {array_of(where, name + ".mu", x.mu, p.rows, psi.dimension),
            array_of(where, name + ".Sigma", x.Sigma, p.rows, psi.dimension * psi.dimension), optional.alpha};
  }
  /// The same, where mu and Sigma may be absent, too.
  template <class T>
  [[nodiscard]] DensityTangentArrays<T> given_tangents(const std::string& name,
                                                       const DensityTangents<T>& x) const {
    check_numbers(where, name + ".alpha", x.alpha.size(), p.rows);
    return {array_or_null(where, name + ".mu", x.mu, p.rows, psi.dimension),
            array_or_null(where, name + ".Sigma", x.Sigma, p.rows, psi.dimension * psi.dimension),
            x.alpha.data()};
  }
  template <class T>
  [[nodiscard]] BasisTangentArrays<T> basis(const std::string& name, const BasisTangents<T>& x) const {
    return {array_or_null(where, name + ".mu", x.mu, psi.count, psi.dimension),
            array_or_null(where, name + ".Sigma", x.Sigma, psi.count, psi.dimension * psi.dimension)};
  }

  /// What sums over no rows are.
  void clear(const BasisTangents<double>& sums, Stream stream) const {
    const BasisTangentArrays<double> arrays = basis("the gradient of the basis", sums);
    const auto clear_numbers = [&](double* numbers, index_t count) {
      if (numbers == nullptr || count < 1) return;
      throw_if_failed(where,
                      cudaMemsetAsync(numbers, 0, static_cast<std::size_t>(count) * sizeof(double), stream));
    };
    clear_numbers(arrays.mu, psi.count * psi.dimension);
    clear_numbers(arrays.Sigma, psi.count * psi.dimension * psi.dimension);
  }
};

}  // namespace

template <class Real>
void attend(const Densities<Real>& p, const GaussianFunctions& psi, DeviceRows<std::type_identity_t<Real>> r,
            Stream stream) {
  const Arguments<Real> x("cuda::attend", p, psi);
  if (x.p.rows == 0) return;
  Real* const out = x.pairs("r", r);
  x.on_line() ? attend_line(x.p, x.psi, out, stream) : attend_space(x.p, x.psi, out, stream);
}

template <class Real>
void attend_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                DeviceRows<const std::type_identity_t<Real>> cotangent,
                const DensityTangents<std::type_identity_t<Real>>& gradient,
                const BasisTangents<double>& basis_gradient, Stream stream) {
  const Arguments<Real> x("cuda::attend_vjp", p, psi);
  if (x.p.rows == 0) return x.clear(basis_gradient, stream);
  const Real* const weights = x.pairs("cotangent", cotangent);
  const auto of_p = x.tangents("gradient", gradient);
  const auto of_basis = x.basis("basis_gradient", basis_gradient);
  x.on_line() ? attend_vjp_line(x.p, x.psi, weights, of_p, of_basis, stream)
              : attend_vjp_space(x.p, x.psi, weights, of_p, of_basis, stream);
}

template <class Real>
void attend_jvp(const Densities<Real>& p, const GaussianFunctions& psi,
                const DensityTangents<const std::type_identity_t<Real>>& direction,
                const BasisTangents<const double>& basis_direction,
                DeviceRows<std::type_identity_t<Real>> tangent, Stream stream) {
  const Arguments<Real> x("cuda::attend_jvp", p, psi);
  if (x.p.rows == 0) return;
  const auto of_p = x.tangents("direction", direction);
  const auto of_basis = x.basis("basis_direction", basis_direction);
  Real* const out = x.pairs("tangent", tangent);
  x.on_line() ? attend_jvp_line(x.p, x.psi, of_p, of_basis, out, stream)
              : attend_jvp_space(x.p, x.psi, of_p, of_basis, out, stream);
}

template <class Real>
void attend_vjp_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                    DeviceRows<const std::type_identity_t<Real>> cotangent,
                    const DensityTangents<const std::type_identity_t<Real>>& direction,
                    const BasisTangents<const double>& basis_direction,
                    const DensityTangents<std::type_identity_t<Real>>& product,
                    const BasisTangents<double>& basis_product, Stream stream) {
  const Arguments<Real> x("cuda::attend_vjp_vjp", p, psi);
  if (x.p.rows == 0) return x.clear(basis_product, stream);
  attend_vjp_vjp_space(x.p, x.psi, x.pairs("cotangent", cotangent), x.given_tangents("direction", direction),
                       x.basis("basis_direction", basis_direction), x.given_tangents("product", product),
                       x.basis("basis_product", basis_product), stream);
}

#define FENCHEL_INSTANTIATE(Real)                                                                        \
  template void attend(const Densities<Real>&, const GaussianFunctions&, DeviceRows<Real>, Stream);      \
  template void attend_vjp(const Densities<Real>&, const GaussianFunctions&, DeviceRows<const Real>,     \
                           const DensityTangents<Real>&, const BasisTangents<double>&, Stream);          \
  template void attend_jvp(const Densities<Real>&, const GaussianFunctions&,                             \
                           const DensityTangents<const Real>&, const BasisTangents<const double>&,       \
                           DeviceRows<Real>, Stream);                                                    \
  template void attend_vjp_vjp(const Densities<Real>&, const GaussianFunctions&, DeviceRows<const Real>, \
                               const DensityTangents<const Real>&, const BasisTangents<const double>&,   \
                               const DensityTangents<Real>&, const BasisTangents<double>&, Stream);
FENCHEL_INSTANTIATE(float)
FENCHEL_INSTANTIATE(double)
#undef FENCHEL_INSTANTIATE

}  // namespace fenchel::cuda
