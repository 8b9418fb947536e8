#include <gtest/gtest.h>
#include <sys/resource.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/loss/multivariate_quadratic.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::message_of;

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// Draws are columns, rows of data lie one after the other: the same memory.
Rows<const double> rows_of(const Matrix& draws) { return {draws.data(), draws.cols(), draws.rows()}; }

/// Points mean +- a L e_i and the mean itself, weighted so that the covariance is L L^T and Mardia's kurtosis
/// as given, at least N^2.
struct Points {
  Matrix draws;
  std::vector<double> weights;
};
Points points_with(const Vector& mean, const Matrix& covariance, double kurtosis, double weight = 100) {
  const index_t n = mean.size();
  const auto size = static_cast<double>(n);
  const double outer = size * size / kurtosis;  // the share of the outer points, where q = kurtosis / N
  const Matrix factor = std::sqrt(kurtosis / size) * Matrix(covariance.llt().matrixL());
  Points points{mean.replicate(1, 2 * n + 1), std::vector<double>(static_cast<std::size_t>(2 * n + 1))};
  points.draws.leftCols(n) += factor;
  points.draws.middleCols(n, n) -= factor;
  for (double& w : points.weights) w = weight * outer / (2 * size);
  points.weights.back() = weight * (1 - outer);
  return points;
}
Moments moments_of(const Points& points) { return Moments::of(rows_of(points.draws), points.weights); }
RowsSource source_of(const Points& points) { return RowsSource(rows_of(points.draws), points.weights); }

Matrix some_scale(index_t n) {
  Matrix scale = Matrix::Identity(n, n) * 0.8;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j)
      scale(i, j) += 0.3 * std::cos(static_cast<double>(i - j) * (1 + static_cast<double>(i + j)));
  }
  return scale;
}
Vector some_mean(index_t n) { return Vector::LinSpaced(n, -1, 2.5); }

Vector triangle_of(const Matrix& scale) {
  Vector triangle(scale.rows() * (scale.rows() + 1) / 2);
  for (index_t i = 0, k = 0; i < scale.rows(); ++i) {
    for (index_t j = 0; j <= i; ++j) triangle[k++] = scale(i, j);
  }
  return triangle;
}

/// mu and the lower triangle of Sigma.
Vector parameters_of(const MultivariateBetaGaussian& p) {
  const Vector triangle = triangle_of(p.Sigma());
  Vector all(p.dimension() + triangle.size());
  all << p.mu(), triangle;
  return all;
}

TEST(FitMultivariate, FindsTheMemberWithTheseMoments) {
  for (const index_t n : {1, 2, 4}) {
    for (const double alpha :
         {0.7, 0.9, 1 - 1e-9, 1., std::nextafter(1., 2.), 1 + 1e-8, 4. / 3, 1.5, 2., 5.}) {
      const MultivariateBetaGaussian p(alpha, some_mean(n), some_scale(n));
      const auto points = points_with(p.mu(), covariance(p), 2. * static_cast<double>(n * n));
      const auto fit = fit_multivariate_beta_gaussian(alpha, moments_of(points));
      EXPECT_LT((fit.parameters - parameters_of(p)).norm(), 1e-13) << alpha << " " << n;
      EXPECT_EQ(fit.parameters, parameters_of(fit.distribution));
      EXPECT_EQ(fit.distribution.alpha(), alpha);
      EXPECT_NEAR(fit.weight, 100, 1e-12);
    }
  }
}

TEST(FitMultivariate, EstimatesAlphaFromTheKurtosis) {
  for (const index_t n : {1, 2, 4}) {
    for (const double alpha : {0.8, 0.9, 1 - 1e-9, 1., 1 + 1e-8, 4. / 3, 1.5, 2., 5.}) {
      const MultivariateBetaGaussian p(alpha, some_mean(n), some_scale(n));
      const auto points = points_with(p.mu(), covariance(p), kurtosis(p));
      const RowsSource source = source_of(points);
      const auto fit = fit_multivariate_beta_gaussian(Data{source});
      EXPECT_NEAR(fit.parameters[0], alpha, 1e-12) << n;
      EXPECT_LT((fit.parameters.tail(fit.parameters.size() - 1) - parameters_of(p)).norm(), 1e-11) << alpha;
    }
  }
}

TEST(FitMultivariate, NamesItsParameters) {
  const auto points = points_with(some_mean(2), some_scale(2), 8);
  const std::vector<std::string> names = {"mu[0]", "mu[1]", "Sigma[0,0]", "Sigma[1,0]", "Sigma[1,1]"};
  EXPECT_EQ(fit_multivariate_beta_gaussian(1.5, moments_of(points)).names, names);
  const RowsSource source = source_of(points);
  const auto fit = fit_multivariate_beta_gaussian(Data{source});
  ASSERT_EQ(fit.names.size(), 6u);
  EXPECT_EQ(fit.names[0], "alpha");
  EXPECT_EQ(std::vector<std::string>(fit.names.begin() + 1, fit.names.end()), names);
}

TEST(FitMultivariate, KurtosesUpToTheUniformsGiveTheUniform) {
  const Vector mean = some_mean(3);
  const Matrix scale = some_scale(3);
  for (const double kurtosis : {9., 75. / 7, 75. / 7 + 1e-8}) {
    const Points points = points_with(mean, scale, kurtosis, 50);
    const RowsSource source = source_of(points);
    const auto fit = fit_multivariate_beta_gaussian(Data{source});
    EXPECT_EQ(fit.parameters[0], kInf);
    EXPECT_LT((covariance(fit.distribution) - scale).norm(), 1e-13);
    EXPECT_LT((fit.distribution.mu() - mean).norm(), 1e-13);
    const Vector errors = fit.standard_errors();
    EXPECT_TRUE(std::isnan(errors[0]));
    EXPECT_NEAR(errors[1], std::sqrt(scale(0, 0) / 50), 1e-13);
    EXPECT_NEAR(errors[4], scale(0, 0) * std::sqrt((3 * 5. / 7 - 1) / 50), 1e-13);
  }
}

TEST(FitMultivariate, OneDimensionIsTheLine) {
  const std::vector<double> values = {0.3, -1.7, 2.2, 0.9, 0.85, -0.4, 5.1, 1.3},
                            weights = {1, 2, 3, 1, 1, 4, 1, 2};
  const Rows<const double> rows(values.data(), 8, 1);
  const LineMoments line = LineMoments::of(values, weights);
  const auto same = [](const auto& got, const auto& want) {
    EXPECT_LT((got.parameters - want.parameters).norm(), 1e-13);
    EXPECT_LT((got.covariance.matrix() - want.covariance).norm(), 1e-12 * want.covariance.norm());
    EXPECT_NEAR(got.loss, want.loss, 1e-13);
  };
  same(fit_multivariate_beta_gaussian(1.5, Moments::of(rows, weights)), fit_beta_gaussian(1.5, line));
  const RowsSource source(rows, weights);
  same(fit_multivariate_beta_gaussian(Data{source}), fit_beta_gaussian(line));
}

TEST(FitMultivariate, TheLossIsLeast) {
  const Matrix draws = sample(MultivariateBetaGaussian(1, some_mean(3), some_scale(3)), 30, 5);
  const MultivariateEmpirical target(draws);
  for (const double alpha : {0.8, 1., 1.5, 2., 5.}) {
    const auto fit = fit_multivariate_beta_gaussian(alpha, Moments::of(rows_of(draws)));
    const MultivariateBetaGaussian& p = fit.distribution;
    const auto loss = cross_omega(Tsallis(alpha), p.score(), Euclidean(3), target);
    EXPECT_NEAR(fit.loss, loss.value, 1e-13 * (1 + std::abs(loss.value))) << alpha;
    EXPECT_LT(loss.gradient.mu.norm(), 1e-13) << alpha;
    EXPECT_LT((p.Sigma() * loss.gradient.Sigma).norm(), 1e-13) << alpha;
  }
}

/// J H^-1 C H^-1 J^T / n with the Hessian H of the loss in (Sigma^-1 mu, -Sigma^-1 / 2), the covariance C of
/// (t, vec(t t^T)) and J by the chain rule, for symmetric changes of the quadratic part; mu = 0.
Matrix sandwich(const MultivariateBetaGaussian& p, double weight) {
  const index_t n = p.dimension(), size = n * (n + 1) / 2;
  const Matrix v = covariance(p);
  const auto dimension = static_cast<double>(n);
  const double ratio = kurtosis(p) / (dimension * (dimension + 2));
  const Matrix& s = p.Sigma();
  // Symmetric matrices E of the lower triangle span the changes of -Sigma^-1 / 2; dSigma = 2 Sigma E Sigma.
  std::vector<Matrix> basis;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j) {
      basis.push_back(Matrix::Zero(n, n));
      basis.back()(i, j) = basis.back()(j, i) = 1;
    }
  }
  const Matrix whole = fenchel_young_hessian(Tsallis(p.alpha()), p.score(), Euclidean(n));
  Matrix h(size, size), c(size, size), jacobian(size, size);
  for (index_t a = 0; a < size; ++a) {
    const Matrix& x = basis[static_cast<std::size_t>(a)];
    jacobian.col(a) = triangle_of(2 * s * x * s);
    for (index_t b = 0; b < size; ++b) {
      const Matrix& y = basis[static_cast<std::size_t>(b)];
      h(a, b) = x.reshaped().dot(whole.bottomRightCorner(n * n, n * n) * y.reshaped());
      c(a, b) = 2 * ratio * (x * v * y * v).trace() + (ratio - 1) * (x * v).trace() * (y * v).trace();
    }
  }
  const Matrix map = jacobian * h.inverse();
  return map * c * map.transpose() / weight;
}

TEST(FitMultivariate, TheCovarianceIsThatOfTheLoss) {
  for (const index_t n : {1, 2, 3}) {
    for (const double alpha : {0.9, 1., 1.5, 2., 5.}) {
      const auto points = points_with(Vector::Zero(n), some_scale(n), 2. * static_cast<double>(n * n), 70);
      const auto fit = fit_multivariate_beta_gaussian(alpha, moments_of(points));
      const Matrix expected = sandwich(fit.distribution, 70);
      const index_t size = expected.rows();
      const Matrix got = fit.covariance.matrix();
      EXPECT_LT((got.bottomRightCorner(size, size) - expected).norm(), 1e-10 * expected.norm())
          << alpha << " " << n;
      EXPECT_LT((got.topLeftCorner(n, n) - some_scale(n) / 70).norm(), 1e-14);
      EXPECT_EQ(got.topRightCorner(n, size).norm(), 0);
    }
  }
}

TEST(FitMultivariate, TheCovarianceHasItsEntriesOneByOne) {
  const Points points = points_with(some_mean(4), some_scale(4), 30, 50);
  const RowsSource source = source_of(points);
  for (const auto& fit : {fit_multivariate_beta_gaussian(1.5, moments_of(points)),
                          fit_multivariate_beta_gaussian(Data{source})}) {
    const Matrix matrix = fit.covariance.matrix();
    ASSERT_EQ(matrix.rows(), fit.parameters.size());
    ASSERT_EQ(fit.covariance.rows(), matrix.rows());
    for (index_t i = 0; i < matrix.rows(); ++i) {
      for (index_t j = 0; j < matrix.cols(); ++j) EXPECT_EQ(fit.covariance(i, j), matrix(i, j));
    }
    EXPECT_EQ(matrix, matrix.transpose());
    EXPECT_EQ(fit.covariance.diagonal(), matrix.diagonal());
  }
}

/// Of 20300 parameters, whose covariance has 3 GB.
TEST(FitMultivariate, ManyDimensionsTakeLittleMemory) {
  const auto megabytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
  };
  constexpr index_t kN = 200;
  const Points points = points_with(Vector::Zero(kN), Matrix::Identity(kN, kN), 1.2 * kN * kN, 1000);
  const auto before = megabytes();
  const auto fit = fit_multivariate_beta_gaussian(1.5, moments_of(points));
  const Vector errors = fit.standard_errors();
  EXPECT_EQ(errors.size(), 20300);
  EXPECT_NEAR(errors[0], std::sqrt(1 / 1000.), 1e-12);
  EXPECT_LT(megabytes() - before, 200);
}

/// The setting of [SCD22, Figure 4]: two dimensions, isotropic and anisotropic; the family matches.
TEST(FitMultivariate, SamplesInThePlaneAreRecovered) {
  constexpr int kSamples = 25;
  const Vector mu = Eigen::Vector2d(0.5, -1);
  const Matrix isotropic = Matrix::Identity(2, 2), anisotropic = Eigen::Matrix2d{{1, 0.8}, {0.8, 1.5}};
  for (const Matrix& scale : {isotropic, anisotropic}) {
    for (const double alpha : {1., 4. / 3, 1.5, 2.}) {
      const MultivariateBetaGaussian p(alpha, mu, scale);
      const Vector truth = parameters_of(p);
      double given = 0, estimated = 0;
      for (int seed = 1; seed <= kSamples; ++seed) {
        const Matrix draws = sample(p, 5000, static_cast<std::uint64_t>(seed));
        const auto fit = fit_multivariate_beta_gaussian(alpha, Moments::of(rows_of(draws)));
        const Vector gap = fit.parameters - truth;
        given += gap.dot(fit.covariance.matrix().inverse() * gap) / kSamples / 5;
        const RowsSource source(rows_of(draws));
        const auto with_alpha = fit_multivariate_beta_gaussian(Data{source});
        Vector wider(6);
        wider << with_alpha.parameters[0] - alpha, with_alpha.parameters.tail(5) - truth;
        estimated += wider.dot(with_alpha.covariance.matrix().inverse() * wider) / kSamples / 6;
      }
      EXPECT_NEAR(given, 1, 0.4) << alpha;
      EXPECT_NEAR(estimated, 1, 0.4) << alpha;
      const Matrix draws = sample(p, 20000, 99);
      const auto fit = fit_multivariate_beta_gaussian(alpha, Moments::of(rows_of(draws)));
      const Vector errors = fit.standard_errors();
      for (index_t i = 0; i < 5; ++i)
        EXPECT_LT(std::abs(fit.parameters[i] - truth[i]), 3 * errors[i]) << alpha << " " << i;
      EXPECT_LT(errors.maxCoeff(), 0.05);
      for (index_t i = 0; i < 100; ++i)
        EXPECT_NEAR(pdf(fit.distribution, draws.col(i)), pdf(p, draws.col(i)), 0.05 * pdf(p, mu));
    }
  }
}

TEST(FitMultivariate, ErrorsAreInfiniteWhereMomentsAre) {
  const Matrix round = Matrix::Identity(2, 2);
  const auto given =
      fit_multivariate_beta_gaussian(0.6, moments_of(points_with(Vector::Zero(2), round, 8, 50)));
  const Vector errors = given.standard_errors();
  EXPECT_NEAR(errors[0], std::sqrt(1. / 50), 1e-14);
  for (index_t i = 2; i < 5; ++i) EXPECT_EQ(errors[i], kInf);
  const MultivariateBetaGaussian heavy(0.75, Vector::Zero(2), round);
  const Points points = points_with(Vector::Zero(2), some_scale(2), kurtosis(heavy), 50);
  const RowsSource source = source_of(points);
  const Vector estimated = fit_multivariate_beta_gaussian(Data{source}).standard_errors();
  for (const index_t i : {0, 3, 4, 5}) EXPECT_EQ(estimated[i], kInf);
}

std::string refusal(double alpha, const Matrix& draws) {
  return message_of<std::domain_error>(
      [&] { static_cast<void>(fit_multivariate_beta_gaussian(alpha, Moments::of(rows_of(draws)))); });
}

TEST(FitMultivariate, SaysWhatCannotBeFitted) {
  const std::string where = "fenchel::fit_multivariate_beta_gaussian: ";
  const Matrix good = sample(MultivariateBetaGaussian(1, some_mean(3), some_scale(3)), 20, 5);
  EXPECT_EQ(refusal(0.6, good), where + "alpha must be finite and above 3/5, got 0.6");
  EXPECT_EQ(refusal(kInf, good), where + "alpha must be finite and above 3/5, got inf");
  EXPECT_EQ(refusal(2, good.leftCols(0)),
            where + "the weight of all rows must be positive and finite, got 0");
  Matrix constant = good;
  constant.row(1).setConstant(7);
  EXPECT_EQ(
      refusal(2, constant),
      where + "the variance of column 1 must be positive and finite (leave a constant column out), got 0");
  const std::string collinear =
      " must not be a linear combination of those before it (leave it out, or give more rows than columns), "
      "got a singular covariance";
  Matrix sum = good;
  sum.row(2) = sum.row(0) - 2 * sum.row(1);
  EXPECT_EQ(refusal(2, sum), where + "column 2" + collinear);
  EXPECT_EQ(refusal(2, good.leftCols(3)), where + "column 2" + collinear);
  EXPECT_EQ(refusal(2, good.leftCols(2)), where + "column 1" + collinear);
  const std::vector<std::string> names = {"length", "width", "height"};
  const RowsSource source(rows_of(sum), {}, names), flat(rows_of(constant), {}, names);
  EXPECT_EQ(
      message_of<std::domain_error>([&] { static_cast<void>(fit_multivariate_beta_gaussian(Data{source})); }),
      where + "column 'height'" + collinear);
  EXPECT_EQ(
      message_of<std::domain_error>([&] { static_cast<void>(fit_multivariate_beta_gaussian(Data{flat})); }),
      where +
          "the variance of column 'width' must be positive and finite (leave a constant column out), got 0");
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { static_cast<void>(fit_multivariate_beta_gaussian(2, Data{source})); }),
            where + "column 'height'" + collinear);
  EXPECT_EQ(message_of<std::domain_error>(
                [&] { static_cast<void>(fit_multivariate_beta_gaussian(0.6, Data{source})); }),
            where + "alpha must be finite and above 3/5, got 0.6");
  const RowsSource regular(rows_of(good));
  EXPECT_EQ(fit_multivariate_beta_gaussian(2, Data{regular}).parameters,
            fit_multivariate_beta_gaussian(2, Moments::of(rows_of(good))).parameters);
}

}  // namespace
}  // namespace fenchel
