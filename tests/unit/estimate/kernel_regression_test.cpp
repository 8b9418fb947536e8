#include "fenchel/estimate/density/kernel_regression.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/core/variates.hpp"
#include "support/grids.hpp"

namespace fenchel {
namespace {

using testing::kInf;

const double kAlphas[] = {1, 1 + 1e-8, 1.1, 4.0 / 3, 1.5, 1.7, 2, 5, kInf};

/// The local fit by definition: weighted least squares by a QR decomposition.
double plain(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, const Eigen::VectorXd& w, double alpha,
             double h, const Eigen::VectorXd& t, LocalFit fit, Eigen::Index excluded = -1) {
  const auto n = static_cast<double>(x.cols());
  const double e = 1 / (alpha - 1);
  Eigen::MatrixXd design(x.rows(), fit == LocalFit::mean ? 1 : 1 + x.cols());
  Eigen::VectorXd right(x.rows());
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const Eigen::RowVectorXd d = (x.row(i) - t.transpose()) / h;
    const double q = d.squaredNorm(), s = q / (n + 2 + 2 * e);
    double k = alpha == 1 ? std::exp(-q / 2) : s < 1 ? std::exp(e * std::log1p(-s)) : 0;
    if (alpha == kInf) k = q < n + 2 ? 1 : 0;
    const double root = i == excluded ? 0 : std::sqrt(w[i] * k);
    design(i, 0) = root;
    if (fit == LocalFit::line) design.row(i).tail(x.cols()) = root * d;
    right[i] = root * y[i];
  }
  return design.completeOrthogonalDecomposition().solve(right)[0];
}

struct Sample {
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> x;
  Eigen::VectorXd y, w;

  Sample(Eigen::Index rows, Eigen::Index n, unsigned seed) : x(rows, n), y(rows), w(rows) {
    std::mt19937_64 rng(seed);
    for (Eigen::Index i = 0; i < rows; ++i) {
      for (Eigen::Index j = 0; j < n; ++j) x(i, j) = standard_normal(rng);
      y[i] = std::sin(2 * x(i, 0)) + 0.1 * standard_normal(rng) + 100;
      w[i] = 1 + static_cast<double>(i % 3);
    }
  }
  [[nodiscard]] KernelRegression made(double alpha, double h, LocalFit fit) const {
    const std::vector<double> bandwidth(static_cast<std::size_t>(x.cols()), h);
    return {{x.data(), x.rows(), x.cols()},
            {y.data(), static_cast<std::size_t>(y.size())},
            alpha,
            bandwidth,
            {w.data(), static_cast<std::size_t>(w.size())},
            fit};
  }
};

TEST(KernelRegression, IsLocalLeastSquares) {
  for (const Eigen::Index n : {1, 2, 3}) {
    const Sample sample(500, n, 1), queries(30, n, 2);
    for (const double alpha : kAlphas) {
      for (const LocalFit fit : {LocalFit::mean, LocalFit::line}) {
        const KernelRegression m = sample.made(alpha, 0.6, fit);
        std::vector<double> got(30);
        m.predict_rows({queries.x.data(), 30, n}, got);
        for (Eigen::Index i = 0; i < 30; ++i) {
          const double value = got[static_cast<std::size_t>(i)];
          // A line needs rows enough in reach to be the only one.
          Eigen::Index near = 0;
          for (Eigen::Index k = 0; k < 500; ++k) {
            const double q = (sample.x.row(k) - queries.x.row(i)).squaredNorm() / 0.36;
            near += alpha < 1.01 || q < static_cast<double>(n) + 2 + 2 / (alpha - 1) ? 1 : 0;
          }
          if (near < 8) continue;
          EXPECT_NEAR(value, plain(sample.x, sample.y, sample.w, alpha, 0.6, queries.x.row(i), fit), 1e-7)
              << alpha << " n " << n;
        }
      }
    }
  }
}

TEST(KernelRegression, LinesAreKept) {
  Sample sample(200, 2, 3);
  for (Eigen::Index i = 0; i < 200; ++i) sample.y[i] = 3 + 2 * sample.x(i, 0) - sample.x(i, 1);
  for (const double alpha : {1.0, 2.0}) {
    const KernelRegression m = sample.made(alpha, 1, LocalFit::line);
    const double t[] = {1.5, -1.5};
    double got = 0;
    m.predict_rows({t, 1, 2}, {&got, 1});
    EXPECT_NEAR(got, 7.5, 1e-11);
  }
}

TEST(KernelRegression, OutOfReachAndAlone) {
  const std::vector<double> x{0, 0, 0, 5}, y{1, 2, 3, 10}, h{0.5}, t{0, 5, 100, 0.1, std::nan("")};
  for (const LocalFit fit : {LocalFit::mean, LocalFit::line}) {
    std::vector<double> got(t.size());
    KernelRegression({x.data(), 4, 1}, y, 2, h, {}, fit).predict_rows({t.data(), std::ssize(t), 1}, got);
    EXPECT_NEAR(got[0], 2, 1e-14);
    EXPECT_NEAR(got[1], 10, 1e-14);
    EXPECT_TRUE(std::isnan(got[2]));
    EXPECT_NEAR(got[3], 2, 1e-14);
    EXPECT_TRUE(std::isnan(got[4]));
    KernelRegression({x.data(), 4, 1}, y, 1, h, {}, fit).predict_rows({t.data(), std::ssize(t), 1}, got);
    EXPECT_NEAR(got[2], 10, 1e-9);  // the nearest row, as far as it is
  }
  const std::vector<double> same{4, 4, 4, 4};
  double got = 0;
  KernelRegression({x.data(), 4, 1}, same, 2, h).predict_rows({t.data(), 1, 1}, {&got, 1});
  EXPECT_DOUBLE_EQ(got, 4);
}

TEST(KernelRegression, CrossValidationLeavesEachRowOut) {
  const Sample sample(120, 1, 4);
  for (const double alpha : {1.0, 1.7, 2.0}) {
    for (const LocalFit fit : {LocalFit::mean, LocalFit::line}) {
      double want = 0;
      for (Eigen::Index i = 0; i < 120; ++i) {
        const double m = plain(sample.x, sample.y, sample.w, alpha, 0.9, sample.x.row(i), fit, i);
        want += sample.w[i] * (sample.y[i] - m) * (sample.y[i] - m) / sample.w.sum();
      }
      EXPECT_NEAR(sample.made(alpha, 0.9, fit).least_squares_score(), want, 1e-8) << alpha;
    }
  }
  const SelectedRegression found =
      select_regression({sample.x.data(), 120, 1}, {sample.y.data(), 120}, 2, {}, LocalFit::line);
  EXPECT_FALSE(found.at_end);
  EXPECT_LT(found.regression.least_squares_score(), 0.05);
}

TEST(KernelRegression, ThreadsGiveTheSameBits) {
  const Sample sample(3000, 2, 5);
  std::vector<double> want(3000), got(3000);
  for (const LocalFit fit : {LocalFit::mean, LocalFit::line}) {
    for (const int threads : {1, 3}) {
      set_num_threads(threads);
      sample.made(2, 0.3, fit).predict_rows({sample.x.data(), 3000, 2}, threads == 1 ? want : got);
    }
    EXPECT_EQ(got, want);
  }
  set_num_threads(0);
}

TEST(KernelRegression, Errors) {
  const std::vector<double> x{0, 1}, y{1, 2}, short_y{1}, bad{1, kInf}, h{1};
  EXPECT_THROW(KernelRegression({x.data(), 2, 1}, short_y, 2, h), std::invalid_argument);
  EXPECT_THROW(KernelRegression({x.data(), 2, 1}, bad, 2, h), std::domain_error);
  EXPECT_THROW(KernelRegression({x.data(), 2, 1}, y, 0.9, h), std::domain_error);
  EXPECT_THROW(KernelRegression({x.data(), 2, 1}, y, 2, std::vector<double>{-1}), std::domain_error);
}

}  // namespace
}  // namespace fenchel
