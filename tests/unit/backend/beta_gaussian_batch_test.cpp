#include "fenchel/backend/cpu/beta_gaussian_batch.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace fenchel::cpu {
namespace {

using Function = BetaGaussianFunction;

TEST(BetaGaussianBatch, IsTheFunctionElementByElement) {
  const std::vector<double> q = {0.1, 0.5, 40}, log_det = {0, -0.3, 0.7}, alpha = {0.7, 1, 2};
  const BetaGaussianBatch batch{2, q, log_det, alpha};
  std::vector<double> value(3), gradient(9), hessian(18);
  beta_gaussian(Function::log_density, batch, value);
  beta_gaussian_gradient(Function::log_density, batch, {gradient.data(), 3, 3});
  beta_gaussian_hessian(Function::log_density, batch, {hessian.data(), 3, 6});
  for (std::size_t i = 0; i < 3; ++i) {
    const Jet jet = beta_gaussian_jet(Function::log_density, 2, q[i], log_det[i], alpha[i]);
    EXPECT_EQ(value[i], jet.value);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(gradient[3 * i + k], jet.gradient[k]);
    for (std::size_t k = 0; k < 6; ++k) EXPECT_EQ(hessian[6 * i + k], jet.hessian[k]);
  }
  std::vector<double> direction(6);
  draw_directions(q, {direction.data(), 3, 2});
  EXPECT_NEAR(direction[0] * direction[0] + direction[1] * direction[1], 1, 1e-15);
  EXPECT_EQ(direction[0], direction[2]);  // of the same seed, 0
  EXPECT_NE(direction[0], direction[4]);
}

TEST(BetaGaussianBatch, NamesWhatDoesNotFit) {
  const std::vector<double> zeros = {0, 0}, alpha = {1, 0.2}, one = {1};
  std::vector<double> out(2);
  const auto message = [&](Function function, const BetaGaussianBatch& batch) {
    try {
      beta_gaussian(function, batch, out);
    } catch (const std::exception& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(Function::entropy, {3, {}, zeros, alpha}),
            "fenchel::beta_gaussian: alpha[1] must be above 0.33333333333333337, got 0.2");
  EXPECT_EQ(message(Function::cdf, {2, zeros, zeros, alpha}),
            "fenchel::beta_gaussian: dimension must be 1 for cdf and quantile, got 2");
  EXPECT_EQ(message(Function::entropy, {1, {}, zeros, one}),
            "fenchel::beta_gaussian: alpha.size() must equal the number of rows, 2, got 1");
  EXPECT_EQ(message(Function::log_density, {1, {}, zeros, alpha}),
            "fenchel::beta_gaussian: argument.size() must equal the number of rows, 2, got 0");
  EXPECT_NE(message(Function::entropy, {0, {}, zeros, alpha}), "");
  beta_gaussian(Function::entropy, {1, {}, {}, {}}, {});  // nothing to do
}

}  // namespace
}  // namespace fenchel::cpu
