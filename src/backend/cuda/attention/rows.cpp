#include "fenchel/backend/cuda/attention.hpp"

#include <cuda_runtime_api.h>

#include <string>
#include <string_view>

#include "backend/cuda/attention/line.hpp"
#include "backend/cuda/attention/space.hpp"
#include "backend/cuda/checks.hpp"

/// What continuous attention asks of its arguments, and the way to the line or to more dimensions.
namespace fenchel::cuda {
namespace {

/// Whether there is anything to do.
template <class Real>
[[nodiscard]] bool check(std::string_view where, const Densities<Real>& p, const GaussianFunctions& psi) {
  if (p.rows < 0)
    throw_invalid_argument(where, "mu", "must have a number of rows that is not negative", p.rows);
  if (psi.dimension < 1) throw_invalid_argument(where, "psi.dimension", "must be at least 1", psi.dimension);
  check_alpha(where, p.alpha);
  const double lowest = 1 - 2 / static_cast<double>(psi.dimension);
  if (p.alpha.values == nullptr && !(p.alpha.shared > lowest)) {
    throw_domain_error(where, "alpha", "must exceed 1 - 2/D = " + shortest(lowest), p.alpha.shared);
  }
  if (p.rows == 0) return false;
  if (psi.count < 1) throw_invalid_argument(where, "psi.count", "must be at least 1", psi.count);
  check_pointer(where, "mu", p.mu);
  check_pointer(where, "scale", p.scale);
  check_pointer(where, "psi.mean", psi.mean);
  check_pointer(where, "psi.covariance", psi.covariance);
  return true;
}

template <class Real>
void check_tangents(std::string_view where, const std::string& name, const DensityTangents<Real>& tangents) {
  check_pointer(where, name + ".mu", tangents.mu);
  check_pointer(where, name + ".scale", tangents.scale);
}

template <class Real>
void check_values(std::string_view where, const std::string& name, const ValueMatrices<Real>& values,
                  index_t rows) {
  check_pointer(where, name + ".data", values.data);
  if (values.dimension < 1) {
    throw_invalid_argument(where, name + ".dimension", "must be at least 1", values.dimension);
  }
  if (values.count < 1 || rows % values.count != 0) {
    throw_invalid_argument(where, name + ".count",
                           "must divide the number of densities, " + std::to_string(rows), values.count);
  }
}

/// What sums over no rows are.
void clear(std::string_view where, const BasisTangents<double>& sums, const GaussianFunctions& psi,
           Stream stream) {
  const auto clear_numbers = [&](double* numbers, index_t count) {
    if (numbers == nullptr || count < 1) return;
    throw_if_failed(where,
                    cudaMemsetAsync(numbers, 0, static_cast<std::size_t>(count) * sizeof(double), stream));
  };
  clear_numbers(sums.mean, psi.count * psi.dimension);
  clear_numbers(sums.covariance, psi.count * psi.dimension * psi.dimension);
}

}  // namespace

template <class Real>
void attend(const Densities<Real>& p, const GaussianFunctions& psi, Real* r, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend";
  if (!check(kWhere, p, psi)) return;
  check_pointer(kWhere, "r", r);
  psi.dimension == 1 ? attend_line(p, psi, r, stream) : attend_space(p, psi, r, stream);
}

template <class Real>
void attend_vjp(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                const DensityTangents<Real>& gradient, const BasisTangents<double>& basis_gradient,
                Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_vjp";
  if (!check(kWhere, p, psi)) return clear(kWhere, basis_gradient, psi, stream);
  check_pointer(kWhere, "cotangent", cotangent);
  check_tangents(kWhere, "gradient", gradient);
  psi.dimension == 1 ? attend_vjp_line(p, psi, cotangent, gradient, basis_gradient, stream)
                     : attend_vjp_space(p, psi, cotangent, gradient, basis_gradient, stream);
}

template <class Real>
void attend_jvp(const Densities<Real>& p, const GaussianFunctions& psi,
                const DensityTangents<const Real>& direction,
                const BasisTangents<const double>& basis_direction, Real* tangent, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_jvp";
  if (!check(kWhere, p, psi)) return;
  check_tangents(kWhere, "direction", direction);
  check_pointer(kWhere, "tangent", tangent);
  psi.dimension == 1 ? attend_jvp_line(p, psi, direction, basis_direction, tangent, stream)
                     : attend_jvp_space(p, psi, direction, basis_direction, tangent, stream);
}

template <class Real>
void attend_vjp_vjp(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                    const DensityTangents<const Real>& direction,
                    const BasisTangents<const double>& basis_direction, const DensityTangents<Real>& product,
                    const BasisTangents<double>& basis_product, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_vjp_vjp";
  if (!check(kWhere, p, psi)) return clear(kWhere, basis_product, psi, stream);
  check_pointer(kWhere, "cotangent", cotangent);
  attend_vjp_vjp_space(p, psi, cotangent, direction, basis_direction, product, basis_product, stream);
}

template <class Real>
void attend_context(const Densities<Real>& p, const GaussianFunctions& psi,
                    const ValueMatrices<const Real>& values, Real* context, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_context";
  if (!check(kWhere, p, psi)) return;
  check_values(kWhere, "values", values, p.rows);
  check_pointer(kWhere, "context", context);
  psi.dimension == 1 ? attend_context_line(p, psi, values, context, stream)
                     : attend_context_space(p, psi, values, context, stream);
}

template <class Real>
void attend_context_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                        const ValueMatrices<const Real>& values, const Real* cotangent,
                        const DensityTangents<Real>& gradient, const ValueMatrices<Real>& values_gradient,
                        Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_context_vjp";
  if (!check(kWhere, p, psi)) return;
  check_values(kWhere, "values", values, p.rows);
  check_pointer(kWhere, "cotangent", cotangent);
  check_tangents(kWhere, "gradient", gradient);
  if (values_gradient.data != nullptr &&
      (values_gradient.count != values.count || values_gradient.dimension != values.dimension)) {
    throw_invalid_argument(kWhere, "values_gradient",
                           "must have the count and dimension of values, " + shortest(values.count) +
                               " and " + shortest(values.dimension),
                           shortest(values_gradient.count) + " and " + shortest(values_gradient.dimension));
  }
  psi.dimension == 1 ? attend_context_vjp_line(p, psi, values, cotangent, gradient, values_gradient, stream)
                     : attend_context_vjp_space(p, psi, values, cotangent, gradient, values_gradient, stream);
}

template void attend(const Densities<float>&, const GaussianFunctions&, float*, Stream);
template void attend_vjp(const Densities<float>&, const GaussianFunctions&, const float*,
                         const DensityTangents<float>&, const BasisTangents<double>&, Stream);
template void attend_jvp(const Densities<float>&, const GaussianFunctions&,
                         const DensityTangents<const float>&, const BasisTangents<const double>&, float*,
                         Stream);
template void attend_vjp_vjp(const Densities<float>&, const GaussianFunctions&, const float*,
                             const DensityTangents<const float>&, const BasisTangents<const double>&,
                             const DensityTangents<float>&, const BasisTangents<double>&, Stream);
template void attend_context(const Densities<float>&, const GaussianFunctions&,
                             const ValueMatrices<const float>&, float*, Stream);
template void attend_context_vjp(const Densities<float>&, const GaussianFunctions&,
                                 const ValueMatrices<const float>&, const float*,
                                 const DensityTangents<float>&, const ValueMatrices<float>&, Stream);
template void attend(const Densities<double>&, const GaussianFunctions&, double*, Stream);
template void attend_vjp(const Densities<double>&, const GaussianFunctions&, const double*,
                         const DensityTangents<double>&, const BasisTangents<double>&, Stream);
template void attend_jvp(const Densities<double>&, const GaussianFunctions&,
                         const DensityTangents<const double>&, const BasisTangents<const double>&, double*,
                         Stream);
template void attend_vjp_vjp(const Densities<double>&, const GaussianFunctions&, const double*,
                             const DensityTangents<const double>&, const BasisTangents<const double>&,
                             const DensityTangents<double>&, const BasisTangents<double>&, Stream);
template void attend_context(const Densities<double>&, const GaussianFunctions&,
                             const ValueMatrices<const double>&, double*, Stream);
template void attend_context_vjp(const Densities<double>&, const GaussianFunctions&,
                                 const ValueMatrices<const double>&, const double*,
                                 const DensityTangents<double>&, const ValueMatrices<double>&, Stream);

}  // namespace fenchel::cuda
