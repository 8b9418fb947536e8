#include <optional>

#include "bindings/arrays/rows.hpp"
#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::python {
namespace {

template <class Real>
cpu::Densities<Real> densities(const Parameter& alpha, const RowsArray<const Real>& mu,
                               const RowsArray<const Real>& scale) {
  return {per_row(alpha), rows_of(mu), rows_of(scale)};
}
template <class Real>
cpu::DensityTangents<Real> tangents(const Numbers<Real>& alpha, const RowsArray<Real>& mu,
                                    const RowsArray<Real>& scale) {
  return {span_of(alpha), rows_of(mu), rows_of(scale)};
}

/// count x M x N numbers.
template <class T>
using MatrixArray = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <class T>
cpu::ValueMatrices<T> matrices(const MatrixArray<T>& values) {
  return {values.data(), static_cast<index_t>(values.shape(0)), static_cast<index_t>(values.shape(1))};
}

/// Python hands in arrays of one Real, so that the overload is that of their type and nothing is copied.
template <class Psi, class Real>
void bind_rows(nb::module_& m) {
  using In = RowsArray<const Real>;
  using Out = RowsArray<Real>;
  m.def("attend_rows",
        [](const Parameter& alpha, const In& mu, const In& scale, const Psi& psi, const Out& r) {
          const WithoutGil released;
          cpu::attend(densities<Real>(alpha, mu, scale), psi.functions(), rows_of(r));
        });
  m.def("attend_rows_vjp",
        [](const Parameter& alpha, const In& mu, const In& scale, const Psi& psi, const In& cotangent,
           const Numbers<Real>& d_alpha, const Out& d_mu, const Out& d_scale) {
          const WithoutGil released;
          cpu::attend_vjp(densities<Real>(alpha, mu, scale), psi.functions(), rows_of(cotangent),
                          tangents<Real>(d_alpha, d_mu, d_scale));
        });
  m.def("attend_rows_jvp", [](const Parameter& alpha, const In& mu, const In& scale, const Psi& psi,
                              const std::optional<Numbers<const Real>>& d_alpha, const In& d_mu,
                              const In& d_scale, const Out& tangent) {
    const WithoutGil released;
    cpu::attend_jvp(densities<Real>(alpha, mu, scale), psi.functions(),
                    {span_of(d_alpha), rows_of(d_mu), rows_of(d_scale)}, {}, rows_of(tangent));
  });
  m.def("attend_context_rows", [](const Parameter& alpha, const In& mu, const In& scale, const Psi& psi,
                                  const MatrixArray<const Real>& values, const Out& context) {
    const WithoutGil released;
    cpu::attend_context(densities<Real>(alpha, mu, scale), psi.functions(), matrices<const Real>(values),
                        rows_of(context));
  });
  m.def("attend_context_rows_vjp",
        [](const Parameter& alpha, const In& mu, const In& scale, const Psi& psi,
           const MatrixArray<const Real>& values, const In& cotangent, const Numbers<Real>& d_alpha,
           const Out& d_mu, const Out& d_scale, const MatrixArray<Real>& d_values) {
          const WithoutGil released;
          cpu::attend_context_vjp(densities<Real>(alpha, mu, scale), psi.functions(),
                                  matrices<const Real>(values), rows_of(cotangent),
                                  tangents<Real>(d_alpha, d_mu, d_scale), matrices<Real>(d_values));
        });
}

}  // namespace

void bind_attend_rows(nb::module_& m) {
  bind_rows<GaussianBasis, double>(m);
  bind_rows<GaussianBasis, float>(m);
  bind_rows<MultivariateGaussianBasis, double>(m);
  bind_rows<MultivariateGaussianBasis, float>(m);
}

}  // namespace fenchel::python
