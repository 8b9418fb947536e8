#include <torch/csrc/stable/library.h>

#include <string>

#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/attention/fourier_basis.hpp"
#include "fenchel/attention/polynomial_basis.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "ops/flat_tensors.hpp"

/// Continuous attention on the line with bases that are not Gaussian, and its derivatives, in float64.
namespace fenchel::ops {
namespace {

/// Calls body(psi) with the basis of that name.
template <class Body>
void with_basis(const std::string& basis, std::int64_t count, double offset, double unit, const Body& body) {
  if (basis == "polynomial") {
    body(PolynomialBasis(count, offset, unit));
  } else if (basis == "fourier") {
    body(FourierBasis(count, unit));
  } else {
    refuse("basis", "be polynomial or fourier", basis);
  }
}

/// A row of cols(N) numbers for each density, written by fill(p, psi, row).
template <class Cols, class Fill>
Tensor rows_of_densities(const Tensor& mu, const Tensor& sigma2, const Tensor& alphas,
                         const std::string& basis, std::int64_t count, double offset, double unit,
                         const Cols& cols, const Fill& fill) {
  const Device device(mu, sigma2, alphas);
  const auto doubles = [&](const char* name, const Tensor& x) {
    return FlatInput(name, of_type(name, x, ScalarType::Double, "float64"), shape_of(mu), ScalarType::Double);
  };
  const FlatInput places = doubles("mu", mu), scales = doubles("sigma2", sigma2),
                  orders = doubles("alphas", alphas);
  std::optional<FlatOutput> out;
  with_basis(basis, count, offset, unit, [&](const auto& psi) {
    const Shape shape = cols(psi.size());
    const index_t size = shape.size() > 1 ? shape[0] * shape[1] : shape[0];
    Shape whole = shape_of(mu);
    whole.insert(whole.end(), shape.begin(), shape.end());
    out.emplace(mu, whole, ScalarType::Double, ScalarType::Double);
    const auto rows = out->rows<double>(size);
    for (index_t i = 0; i < rows.rows; ++i) {
      checkpoint();
      const auto k = static_cast<std::size_t>(i);
      const double order = orders.values<double>()[k], place = places.values<double>()[k],
                   scale = scales.values<double>()[k];
      fill(BetaGaussian(order, place, scale), psi, rows.row(i));
    }
  });
  return out->tensor();
}

Tensor attend_line(const Tensor& mu, const Tensor& sigma2, const Tensor& alphas, std::string basis,
                   std::int64_t count, double offset, double unit) {
  return rows_of_densities(
      mu, sigma2, alphas, basis, count, offset, unit, [](index_t size) { return Shape{size}; },
      [](const BetaGaussian& p, const auto& psi, double* row) {
        Eigen::Map<Eigen::VectorXd>(row, psi.size()) = attend(p, psi);
      });
}

Tensor attend_line_gradient(const Tensor& mu, const Tensor& sigma2, const Tensor& alphas, std::string basis,
                            std::int64_t count, double offset, double unit) {
  return rows_of_densities(
      mu, sigma2, alphas, basis, count, offset, unit,
      [](index_t size) {
        return Shape{3, size};
      },
      [](const BetaGaussian& p, const auto& psi, double* row) {
        Eigen::Map<Eigen::MatrixXd>(row, psi.size(), 3) = detail::attend_gradient(p, psi);
      });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("attend_line", TORCH_BOX(&attend_line));
  m.impl("attend_line_gradient", TORCH_BOX(&attend_line_gradient));
}

}  // namespace fenchel::ops
