#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fenchel/backend/cpu/beta_gaussian_batch.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"

namespace fenchel {
namespace {

using Function = BetaGaussianFunction;
using test::DeviceArray;

constexpr double kInf = kInfinity;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The same formulas, with other roundings: fused operations and another library's functions.
constexpr double kValueError = 1e-13, kDerivativeError = 1e-11;

const Function kFunctions[] = {Function::log_density,     Function::cross_omega,  Function::entropy,
                               Function::tsallis_entropy, Function::log_variance, Function::log_radius2,
                               Function::log_draw,        Function::cdf,          Function::quantile,
                               Function::below_peak};

bool on_line(Function f) { return f == Function::cdf || f == Function::quantile; }

bool has_argument(Function f) {
  return on_line(f) || f == Function::log_density || f == Function::cross_omega || f == Function::log_draw ||
         f == Function::below_peak;
}

/// Every alpha with every argument that the function knows.
struct Elements {
  std::vector<double> argument, log_det, alpha;

  Elements(Function function, index_t n) {
    std::vector<double> arguments{0, 1e-3, 0.3, 0.9, 2.5, 40};
    if (function == Function::log_draw) arguments = {0, 1, 77, 123456, 1e15};
    if (function == Function::below_peak) arguments = {-20, -0.9, -0.3, -1e-3, 0, 1e-3};
    if (function == Function::cdf) arguments = {-30, -2, -0.3, 0, 0.1, 0.8, 3, 1e5, kInf, kNaN};
    if (function == Function::quantile) arguments = {0, 1e-200, 1e-5, 0.03, 0.3, 0.5, 0.7, 0.999, 1, 1.5};
    const double bound = std::max(0.0, 1 - 2 / static_cast<double>(n));
    for (const double a : {bound + 0.05, 0.9, 0.99, std::nextafter(1.0, 0.0), 1.0, std::nextafter(1.0, 2.0),
                           1 + 1e-8, 1.01, 1.1, 4. / 3, 1.5, 1.7, 2.0, 5.0, 1e3, kInf}) {
      for (const double x : arguments) {
        for (const double l : {-1.5, 0.0, 2.0}) {
          argument.push_back(x);
          log_det.push_back(l);
          alpha.push_back(a);
        }
      }
    }
  }
  [[nodiscard]] BetaGaussianBatch batch(Function function, index_t n) const {
    if (!has_argument(function)) return {n, {}, log_det, alpha};
    return {n, argument, log_det, alpha};
  }
};

/// `parts` numbers an element.
void expect_close(const std::vector<double>& got, const std::vector<double>& expected, double error,
                  const Elements& at, Function function, std::size_t parts) {
  for (std::size_t k = 0; k < got.size(); ++k) {
    const double want = expected[k], found = got[k];
    const bool same = (std::isnan(want) && std::isnan(found)) || found == want ||
                      std::abs(found - want) <= error * (1 + std::abs(want));
    EXPECT_TRUE(same) << "function " << static_cast<int>(function) << " part " << k % parts << ": " << found
                      << " for " << want << " at " << at.argument[k / parts] << ", " << at.log_det[k / parts]
                      << ", alpha = 1 + " << at.alpha[k / parts] - 1;
  }
}

class CudaBetaGaussianBatch : public test::GpuTest {};

TEST_F(CudaBetaGaussianBatch, IsThatOfTheCpu) {
  for (const Function function : kFunctions) {
    for (const index_t n : {1, 2, 3, 8}) {
      if (on_line(function) && n > 1) continue;
      const Elements at(function, n);
      const auto count = std::ssize(at.alpha);
      const std::size_t size = at.alpha.size();
      const DeviceArray<double> argument(at.argument), log_det(at.log_det), alpha(at.alpha);
      const BetaGaussianBatch here = at.batch(function, n);
      const BetaGaussianBatch there{n, argument.span_if(has_argument(function)), log_det.span(),
                                    alpha.span()};
      std::vector<double> value(size), gradient(3 * size), hessian(6 * size);
      cpu::beta_gaussian(function, here, value);
      const DeviceArray<double> values(size), gradients(3 * size), hessians(6 * size);
      cuda::beta_gaussian(function, there, values.span(), nullptr);
      expect_close(values.values(), value, kValueError, at, function, 1);
      for (const bool in_alpha : {true, false}) {
        cpu::beta_gaussian_gradient(function, here, {gradient.data(), count, 3}, in_alpha);
        cpu::beta_gaussian_hessian(function, here, {hessian.data(), count, 6}, in_alpha);
        cuda::beta_gaussian_gradient(function, there, gradients.rows(count), in_alpha, nullptr);
        cuda::beta_gaussian_hessian(function, there, hessians.rows(count), in_alpha, nullptr);
        expect_close(gradients.values(), gradient, kDerivativeError, at, function, 3);
        expect_close(hessians.values(), hessian, kDerivativeError, at, function, 6);
      }
    }
  }
}

TEST_F(CudaBetaGaussianBatch, ElementsWithoutADistributionAreNaN) {
  const DeviceArray<double> log_det(std::vector<double>(4, 0.0)), value(4), out(12);
  const DeviceArray<double> alpha(std::vector<double>{0.3, 1. / 3, 1.5, kNaN});
  const BetaGaussianBatch batch{3, {}, log_det.span(), alpha.span()};
  cuda::beta_gaussian(Function::entropy, batch, value.span(), nullptr);
  const auto values = value.values();
  for (const std::size_t k : {0u, 1u, 3u}) EXPECT_TRUE(std::isnan(values[k])) << k;
  EXPECT_TRUE(std::isfinite(values[2]));
  cuda::beta_gaussian_gradient(Function::entropy, batch, out.rows(4), true, nullptr);
  const auto gradients = out.values();
  for (std::size_t k = 0; k < 12; ++k) EXPECT_EQ(std::isnan(gradients[k]), k / 3 != 2) << k;
}

TEST_F(CudaBetaGaussianBatch, DirectionsAreThoseOfTheCpu) {
  std::vector<double> seeds(1000);
  for (std::size_t k = 0; k < seeds.size(); ++k) seeds[k] = static_cast<double>(k * k);
  for (const index_t n : {1, 2, 3, 10}) {
    std::vector<double> expected(seeds.size() * static_cast<std::size_t>(n));
    cpu::draw_directions(seeds, Rows<double>(expected.data(), std::ssize(seeds), n));
    const DeviceArray<double> in(seeds), out(expected.size());
    cuda::draw_directions(in.span(), out.rows(std::ssize(seeds)), nullptr);
    const std::vector<double> got = out.values();
    for (std::size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 2.3e-16) << n;
  }
}

TEST_F(CudaBetaGaussianBatch, RefusesWhatDoesNotFit) {
  const DeviceArray<double> x(3), seven(7);
  const BetaGaussianBatch batch{2, x.span(), x.span(), x.span()};
  const auto value = [](Function function, const BetaGaussianBatch& at, std::span<double> out) {
    cuda::beta_gaussian(function, at, out, nullptr);
  };
  EXPECT_THROW(value(Function::cdf, batch, x.span()), std::invalid_argument);
  EXPECT_THROW(value(Function::log_density, batch, seven.span()), std::invalid_argument);
  EXPECT_THROW(value(Function::log_density, {2, {}, x.span(), x.span()}, x.span()), std::invalid_argument);
  EXPECT_THROW(value(Function::entropy, {2, {}, x.span(), seven.span()}, x.span()), std::invalid_argument);
  EXPECT_THROW(cuda::draw_directions(x.span(), seven.rows(7), nullptr), std::invalid_argument);
  value(Function::entropy, {}, {});
}

}  // namespace
}  // namespace fenchel
