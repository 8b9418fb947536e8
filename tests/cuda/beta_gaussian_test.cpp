#include "fenchel/backend/cuda/beta_gaussian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "device_beta_gaussian.hpp"

namespace fenchel {
namespace {

using test::DeviceArray, test::DeviceBetaGaussian;
using testing::BetaGaussianCase, testing::kInf, testing::kNaN;

class CudaBetaGaussian : public test::GpuTest {};

/// About as wide as the distribution, with what is infinite or NaN among them.
std::vector<double> points_about(const BetaGaussianCase& p, std::size_t rows, double spread) {
  std::mt19937 rng(5);
  std::normal_distribution<double> normal(0, spread);
  std::vector<double> points(rows * p.size());
  for (std::size_t k = 0; k < points.size(); ++k) points[k] = p.mu(k % p.size()) + normal(rng);
  const double special[] = {kInf, -kInf, kNaN, p.mu(0), 1e200, -1e-200};
  for (std::size_t k = 0; k < std::size(special) && 7 * k < points.size(); ++k) points[7 * k] = special[k];
  return points;
}

/// What log_pdf_rows of either device may err by (backend/cpu/beta_gaussian.hpp).
double log_error(const BetaGaussianCase& p, const double* t, double log_p) {
  const BetaGaussianConstants& c = p.constants();
  double bound = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    double z = 0;
    for (std::size_t j = 0; j < p.size(); ++j) z += std::abs(p.whitening(i, j) * (t[j] - p.mu(j)));
    bound += z * z;
  }
  const double by_q = std::isinf(c.am1) ? 0 : bound / (2 * std::exp(c.am1 * log_p));
  return cpu::kLogPdfError * (std::abs(c.log_peak) + std::abs(log_p - c.log_peak) + by_q);
}

template <class Real>
void expect_densities_of_the_cpu(const BetaGaussianCase& p, std::size_t rows, bool logarithm) {
  const auto cols = static_cast<index_t>(p.size()), count = static_cast<index_t>(rows);
  std::vector<double> points = points_about(p, rows, 1.3);
  const std::vector<Real> stored(points.begin(), points.end());
  points.assign(stored.begin(), stored.end());
  std::vector<double> logs(rows), expected(rows);
  cpu::log_pdf_rows(p.params(), Rows<const double>(points.data(), count, cols), logs);
  cpu::pdf_rows(p.params(), Rows<const double>(points.data(), count, cols), expected);
  const DeviceBetaGaussian device(p.params());
  const DeviceArray<Real> in(stored), out(rows + 8);
  (logarithm ? cuda::log_pdf_rows<Real>
             : cuda::pdf_rows<Real>)(device.params(), cuda::DeviceRows<const Real>(in.data(), count, cols),
                                     out.data(), nullptr);
  const std::vector<Real> got = out.values();
  for (std::size_t k = rows; k < got.size(); ++k) EXPECT_TRUE(std::isnan(got[k]));
  for (std::size_t k = 0; k < rows; ++k) {
    const double want = logarithm ? logs[k] : expected[k], found = static_cast<double>(got[k]);
    if (std::isnan(want) || std::isinf(logs[k])) {
      EXPECT_TRUE(std::isnan(want) ? std::isnan(found) : found == want) << found << " for " << want;
      continue;
    }
    // Both devices may err.
    double error = 2 * log_error(p, points.data() + k * p.size(), logs[k]);
    if (sizeof(Real) == 4) error += cuda::kFloatLogError * std::abs(logs[k] - p.constants().log_peak);
    if (!logarithm) {
      const double exponential = sizeof(Real) == 4 ? cuda::kFloatLogError : 2 * cpu::kLogPdfError;
      error = want * std::expm1(error + exponential);
    }
    if (sizeof(Real) == 4) error += std::max(std::abs(want) * 0x1p-24, 0x1p-150);
    EXPECT_NEAR(found, want, error) << p.constants().am1 << " at row " << k << " of " << rows;
  }
}

TEST_F(CudaBetaGaussian, DensitiesAreThoseOfTheCpu) {
  for (const double alpha : testing::kBetaGaussianAlphas) {
    for (const index_t n : {1, 2, 3, 4, 9}) {
      if (alpha <= 1 - 2.0 / static_cast<double>(n)) continue;
      const BetaGaussianCase p(alpha, n);
      for (const std::size_t rows : {1u, 2u, 3u, 5u, 255u, 256u, 1001u}) {
        for (const bool logarithm : {true, false}) {
          expect_densities_of_the_cpu<double>(p, rows, logarithm);
          expect_densities_of_the_cpu<float>(p, rows, logarithm);
        }
      }
    }
  }
}

TEST_F(CudaBetaGaussian, DensitiesOfAnyRowsAreTheSame) {
  const BetaGaussianCase p(1.5, 2);
  const DeviceBetaGaussian device(p.params());
  const std::vector<double> points = points_about(p, 300, 1);
  const DeviceArray<double> in(points), packed(300), strided(100), shifted(299 + 1);
  cuda::log_pdf_rows(device.params(), {in.data(), 300, 2}, packed.data(), nullptr);
  cuda::log_pdf_rows(device.params(), {in.data(), 100, 2, 6}, strided.data(), nullptr);
  cuda::log_pdf_rows(device.params(), {in.data() + 2, 299, 2}, shifted.data() + 1, nullptr);
  const auto all = packed.values(), some = strided.values(), rest = shifted.values();
  const auto expect_same = [](double x, double y) { EXPECT_TRUE(x == y || (x != x && y != y)); };
  for (std::size_t k = 0; k < 100; ++k) expect_same(some[k], all[3 * k]);
  for (std::size_t k = 1; k < 300; ++k) expect_same(rest[k], all[k]);
  // A column of coordinates after the other.
  std::vector<double> transposed(600);
  for (std::size_t k = 0; k < 300; ++k) {
    transposed[k] = points[2 * k];
    transposed[300 + k] = points[2 * k + 1];
  }
  const DeviceArray<double> columns(transposed), out(300);
  cuda::DeviceRows<const double> view(columns.data(), 300, 2, 1);
  view.step = 300;
  cuda::log_pdf_rows(device.params(), view, out.data(), nullptr);
  const auto found = out.values();
  for (std::size_t k = 0; k < 300; ++k) expect_same(found[k], all[k]);
}

TEST_F(CudaBetaGaussian, CdfAndQuantileAreThoseOfTheCpu) {
  std::vector<double> alphas = testing::kBetaGaussianAlphas;
  alphas.insert(alphas.end(), {0.2, 0.99, 1.01, 1.1, 3.0});
  for (const double alpha : alphas) {
    const BetaGaussianCase p(alpha, 1);
    const DeviceBetaGaussian device(p.params());
    std::vector<double> t = points_about(p, 2001, 1.3), u{0, 1, 0.5, -0.1, 1.1, kNaN, 1e-300, 1e-30, 1e-10};
    for (int k = 1; k < 1000; ++k) u.push_back(k / 1000.0);
    std::vector<double> f(t.size()), x(u.size());
    cpu::cdf_rows(p.params(), t, f);
    cpu::quantile_rows(p.params(), u, x);
    const DeviceArray<double> in_t(t), in_u(u), out_f(t.size()), out_x(u.size());
    cuda::cdf_rows(device.params(), in_t.data(), std::ssize(t), out_f.data(), nullptr);
    cuda::quantile_rows(device.params(), in_u.data(), std::ssize(u), out_x.data(), nullptr);
    const auto got_f = out_f.values(), got_x = out_x.values();
    for (std::size_t k = 0; k < t.size(); ++k) {
      if (std::isnan(t[k])) {
        EXPECT_TRUE(std::isnan(got_f[k]));
      } else {
        EXPECT_NEAR(got_f[k], f[k], 2 * cpu::kCdfError) << alpha << " at " << t[k];
      }
    }
    const double edge = alpha > 1 ? p.factor(0, 0) * std::sqrt(p.constants().radius2) : 0;
    for (std::size_t k = 0; k < u.size(); ++k) {
      if (std::isnan(x[k]) || std::isinf(x[k])) {
        EXPECT_TRUE(std::isnan(x[k]) ? std::isnan(got_x[k]) : got_x[k] == x[k]) << alpha << " at " << u[k];
        continue;
      }
      const double size = std::abs(p.mu(0)) + std::abs(x[k] - p.mu(0)) + edge;
      const double far = alpha < 1 && u[k] < 1e-16 ? 100 : 1;
      EXPECT_NEAR(got_x[k], x[k], 2 * far * cpu::kQuantileError * size) << alpha << " at " << u[k];
    }
  }
}

TEST_F(CudaBetaGaussian, LineFunctionsInFloatAreRoundedOnce) {
  for (const double alpha : {0.7, 1.0, 1.2, 1.5, 2.0}) {
    const BetaGaussianCase p(alpha, 1);
    const DeviceBetaGaussian device(p.params());
    std::vector<float> u;
    for (int k = 0; k <= 777; ++k) u.push_back(static_cast<float>(k) / 777);
    const std::vector<double> exact(u.begin(), u.end());
    std::vector<double> x(u.size());
    cpu::quantile_rows(p.params(), exact, x);
    const DeviceArray<float> in(u);  // in place
    cuda::quantile_rows(device.params(), in.data(), std::ssize(u), in.data(), nullptr);
    const auto got = in.values();
    for (std::size_t k = 0; k < u.size(); ++k) {
      if (std::isinf(x[k])) continue;
      EXPECT_NEAR(static_cast<double>(got[k]), x[k], 0x1.0001p-24 * std::abs(x[k]) + 1e-14) << alpha;
    }
  }
}

TEST_F(CudaBetaGaussian, RefusesWhatDoesNotFit) {
  const BetaGaussianCase p(1.5, 2);
  const DeviceBetaGaussian device(p.params());
  const DeviceArray<double> x(6), out(3);
  cuda::pdf_rows(device.params(), {x.data(), 0, 2}, out.data(), nullptr);
  EXPECT_THROW(cuda::pdf_rows(device.params(), {x.data(), 2, 3}, out.data(), nullptr), std::invalid_argument);
  EXPECT_THROW(cuda::pdf_rows<double>(device.params(), {x.data(), 3, 2}, nullptr, nullptr),
               std::invalid_argument);
  EXPECT_THROW(cuda::cdf_rows(device.params(), x.data(), 3, out.data(), nullptr), std::invalid_argument);
  cuda::BetaGaussianParams none = device.params();
  none.constants.am1 = -1;
  try {
    cuda::pdf_rows(none, {x.data(), 3, 2}, out.data(), nullptr);
    ADD_FAILURE();
  } catch (const std::domain_error& error) {
    EXPECT_STREQ(error.what(), "fenchel::cuda::pdf_rows: constants.am1 must exceed -2 / 2, got -1");
  }
}

}  // namespace
}  // namespace fenchel
