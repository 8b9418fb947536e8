#include <torch/csrc/stable/library.h>

#include <tuple>

#include "fenchel/loss/poisson_rows.hpp"
#include "ops/device.hpp"

namespace fenchel::ops {
namespace {

std::tuple<Tensor, Tensor, Tensor, Tensor> sparse_poisson(const Tensor& mu,
                                                          const std::optional<Tensor>& alphas,
                                                          const Tensor& at, double alpha,
                                                          std::int64_t statistic, double order) {
  const Device device(mu, alphas, at);
  const InputRows numbers("at", of_type("at", at, ScalarType::Double, "float64"), -1, ScalarType::Double);
  const Parameter mus("mu", 0, mu, at, -1), alpha_of_row("alphas", alpha, alphas, at, -1);
  const auto like = [&] { return OutputRows(at, -1, ScalarType::Double); };
  const OutputRows value = like(), d_mu = like(), d_alpha = like(), d2_mu = like();
  if (at.numel() > 0) {
    sparse_poisson_rows(
        static_cast<PoissonStatistic>(statistic), alpha_of_row.per_row(), mus.per_row(),
        numbers.rows<double>(),
        {value.rows<double>(), d_mu.rows<double>(), d_alpha.rows<double>(), d2_mu.rows<double>()}, order);
  }
  return {value.tensor(), d_mu.tensor(), d_alpha.tensor(), d2_mu.tensor()};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) { m.impl("sparse_poisson", TORCH_BOX(&sparse_poisson)); }

}  // namespace fenchel::ops
