#include <torch/csrc/stable/library.h>

#include <tuple>

#include "fenchel/loss/poisson_rows.hpp"
#include "ops/device.hpp"

namespace fenchel::ops {
namespace {

using Three = std::tuple<Tensor, Tensor, Tensor>;

/// The value and its first derivatives, or its second ones.
Three results(const Tensor& mu, const std::optional<Tensor>& alphas, const Tensor& at, double alpha,
              std::int64_t statistic, double order, bool second) {
  const Device device(mu, alphas, at);
  const InputRows numbers("at", of_type("at", at, ScalarType::Double, "float64"), -1, ScalarType::Double);
  const Parameter mus("mu", 0, mu, at, -1), alpha_of_row("alphas", alpha, alphas, at, -1);
  const auto like = [&] { return OutputRows(at, -1, ScalarType::Double); };
  const OutputRows value = like(), d_mu = like(), d_alpha = like();
  const OutputRows d2_mu = like(), d_mu_alpha = like(), d2_alpha = like();
  if (at.numel() > 0) {
    PoissonRows out{value.rows<double>(), d_mu.rows<double>(), d_alpha.rows<double>()};
    if (second) {
      out.d2_mu = d2_mu.rows<double>();
      out.d_mu_alpha = d_mu_alpha.rows<double>();
      out.d2_alpha = d2_alpha.rows<double>();
    }
    sparse_poisson_rows(static_cast<PoissonStatistic>(statistic), alpha_of_row.per_row(), mus.per_row(),
                        numbers.rows<double>(), out, order);
  }
  if (second) return {d2_mu.tensor(), d_mu_alpha.tensor(), d2_alpha.tensor()};
  return {value.tensor(), d_mu.tensor(), d_alpha.tensor()};
}

Three sparse_poisson(const Tensor& mu, const std::optional<Tensor>& alphas, const Tensor& at, double alpha,
                     std::int64_t statistic, double order) {
  return results(mu, alphas, at, alpha, statistic, order, false);
}

Three sparse_poisson_curvature(const Tensor& mu, const std::optional<Tensor>& alphas, const Tensor& at,
                               double alpha, std::int64_t statistic, double order) {
  return results(mu, alphas, at, alpha, statistic, order, true);
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("sparse_poisson", TORCH_BOX(&sparse_poisson));
  m.impl("sparse_poisson_curvature", TORCH_BOX(&sparse_poisson_curvature));
}

}  // namespace fenchel::ops
