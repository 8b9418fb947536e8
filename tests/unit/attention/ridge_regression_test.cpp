#include "fenchel/attention/ridge_regression.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>
#include <thread>
#include <vector>

#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/attention/polynomial_basis.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/normal_matrix.hpp"

namespace fenchel {
namespace {

using testing::kNaN;
using testing::message_of;
using testing::normal_matrix;
using testing::slope_of;

template <class Real>
using RowMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Real>
Rows<Real> rows_of(RowMatrix<Real>& m) {
  return {m.data(), m.rows(), m.cols()};
}
template <class Real>
Rows<const Real> const_rows_of(const RowMatrix<Real>& m) {
  return {m.data(), m.rows(), m.cols()};
}

const GaussianBasis& audio() {
  static const GaussianBasis psi = GaussianBasis::linearly_spaced(128, 0, 1, {.1, .5});
  return psi;
}
MultivariateGaussianBasis images() {
  return MultivariateGaussianBasis::unit_square(10, 10, .001 * Eigen::Matrix2d::Identity());
}

Eigen::MatrixXd sine(index_t length) {
  Eigen::MatrixXd h(1, length);
  const auto t = positions(length);
  for (index_t l = 0; l < length; ++l) {
    h(0, l) = std::sin(2 * std::numbers::pi * t[static_cast<std::size_t>(l)]);
  }
  return h;
}

TEST(Positions, AreCentresOfCells) {
  EXPECT_EQ(positions(1), (std::vector<double>{.5}));
  EXPECT_EQ(positions(2), (std::vector<double>{.25, .75}));
  EXPECT_EQ(positions(4), (std::vector<double>{.125, .375, .625, .875}));
  EXPECT_EQ(positions(5)[2], .5);
  const Eigen::MatrixXd grid = grid_positions(2, 4);
  ASSERT_EQ(grid.cols(), 8);
  EXPECT_EQ(grid.col(1), Eigen::Vector2d(.375, .25));
  EXPECT_EQ(grid.col(4), Eigen::Vector2d(.125, .75));
}

TEST(Positions, OfGridsRunAsTheBasisDoes) {
  const auto psi = MultivariateGaussianBasis::unit_square(2, 3, Eigen::Matrix2d::Identity());
  const Eigen::MatrixXd grid = grid_positions(2, 3);
  for (index_t j = 0; j < 6; ++j) {
    for (index_t k = 0; k < 6; ++k) {
      EXPECT_LE((grid.col(j) - psi.mu(j)).norm(), (grid.col(j) - psi.mu(k)).norm()) << j << " " << k;
    }
  }
}

TEST(RidgeRegression, MinimisesItsObjective) {
  for (const index_t length : {1, 7, 127, 128, 129, 300}) {
    const double lambda = .1;
    const auto t = positions(length);
    const RidgeRegression<GaussianBasis> ridge(audio(), t, lambda);
    const Eigen::MatrixXd f = design_matrix(audio(), t), h = normal_matrix(3, length, 1);
    const Eigen::MatrixXd b = ridge.fit(h).coefficients;
    const Eigen::MatrixXd slope = (b * f - h) * f.transpose() + lambda * b;
    EXPECT_LE(slope.cwiseAbs().maxCoeff(), 1e-11 * (h * f.transpose()).cwiseAbs().maxCoeff()) << length;
    EXPECT_EQ(ridge.matrix().rows(), length);
    EXPECT_EQ(ridge.matrix().cols(), 128);
  }
}

TEST(RidgeRegression, BothSystemsGiveTheSameMatrix) {
  const auto t = positions(10);
  const GaussianBasis psi({0, .3, .6, 1}, {.1, .2, .1, .3});
  const Eigen::MatrixXd f = design_matrix(psi, t), g = RidgeRegression<GaussianBasis>(psi, t, .1).matrix();
  const Eigen::MatrixXd long_system = f.transpose() * f + .1 * Eigen::MatrixXd::Identity(10, 10);
  EXPECT_LE((long_system * g - f.transpose()).cwiseAbs().maxCoeff(), 1e-13);
}

double reconstruction_error(index_t length, double lambda) {
  const auto v = RidgeCache<GaussianBasis>(audio(), lambda).at(length).fit(sine(length));
  double sum = 0;
  const int points = 1000;
  for (int k = 0; k < points; ++k) {
    const double t = (k + .5) / points;
    sum += std::pow(value(v, t)[0] - std::sin(2 * std::numbers::pi * t), 2);
  }
  return std::sqrt(sum / points);
}

TEST(RidgeRegression, ReconstructsASineAtEvenAndOddLengths) {
  for (const index_t length : {10, 11, 12, 13, 50, 51, 400, 401}) {
    EXPECT_LE(reconstruction_error(length, .1), .02) << length;
  }
}

TEST(RidgeRegression, ReconstructsAnImage) {
  const RidgeCache<MultivariateGaussianBasis> cache(
      MultivariateGaussianBasis::unit_square(10, 10, .01 * Eigen::Matrix2d::Identity()), .1);
  const auto& ridge = cache.at(14, 11);
  const Eigen::MatrixXd& t = ridge.positions();
  const Eigen::MatrixXd h = (t.row(0) * std::numbers::pi).array().sin() * (1 - t.row(1).array());
  const auto v = ridge.fit(h);
  for (const double x : {.2, .5, .7}) {
    for (const double y : {.1, .45, .8}) {
      EXPECT_NEAR(value(v, Eigen::Vector2d(x, y))[0], std::sin(std::numbers::pi * x) * (1 - y), .01);
    }
  }
}

TEST(RidgeRegression, GradientsMatchDifferences) {
  for (const index_t length : {6, 40}) {
    const GaussianBasis psi = GaussianBasis::linearly_spaced(20, 0, 1, {.05, .1});
    const auto t = positions(length);
    const RidgeRegression<GaussianBasis> ridge(psi, t, .3);
    const Eigen::MatrixXd h = normal_matrix(2, length, 2), w = normal_matrix(2, 20, 3),
                          direction = normal_matrix(2, length, 4);
    const RidgeGradient gradient = ridge.vjp(h, w);
    const auto along = [&](double x) {
      return ridge.fit(h + x * direction).coefficients.cwiseProduct(w).sum();
    };
    EXPECT_NEAR(gradient.observations.cwiseProduct(direction).sum(), slope_of(along, 0, .1), 1e-11);
    const auto of_lambda = [&](double lambda) {
      return RidgeRegression<GaussianBasis>(psi, t, lambda).fit(h).coefficients.cwiseProduct(w).sum();
    };
    const double slope = slope_of(of_lambda, .3, 1e-3);
    EXPECT_NEAR(gradient.ridge, slope, 1e-8 * std::abs(slope)) << length;
  }
}

TEST(RidgeRegression, InterpolatesWithoutPenaltyWhereItCan) {
  const GaussianBasis psi({.2, .5, .8}, {.1, .1, .1});
  const Eigen::MatrixXd h = normal_matrix(2, 3, 5);
  const auto v = RidgeRegression<GaussianBasis>(psi, positions(3), 0).fit(h);
  for (index_t l = 0; l < 3; ++l) {
    EXPECT_LE((value(v, positions(3)[static_cast<std::size_t>(l)]) - h.col(l)).norm(), 1e-13);
  }
}

TEST(RidgeCache, KeepsWhatItHandsOut) {
  const RidgeCache<GaussianBasis> cache(audio(), .1);
  const auto& ten = cache.at(10);
  const Eigen::MatrixXd before = ten.matrix();
  for (index_t length = 1; length < 40; ++length) EXPECT_EQ(cache.at(length).matrix().rows(), length);
  EXPECT_EQ(&cache.at(10), &ten);
  EXPECT_EQ(ten.matrix(), before);
}

TEST(RidgeCache, IsSharedByThreads) {
  const RidgeCache<GaussianBasis> cache(GaussianBasis::linearly_spaced(10, 0, 1, {.1, .5}), .1);
  std::vector<const RidgeRegression<GaussianBasis>*> found(80);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < 4; ++k) {
    threads.emplace_back([&, k] {
      for (std::size_t l = 0; l < 20; ++l) found[20 * k + l] = &cache.at(static_cast<index_t>(l + 1));
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t k = 0; k < found.size(); ++k) {
    EXPECT_EQ(found[k], found[k % 20]);
    EXPECT_EQ(found[k]->matrix().rows(), static_cast<index_t>(k % 20 + 1));
  }
}

template <class Real>
class RidgeRows : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(RidgeRows, Reals);

TYPED_TEST(RidgeRows, FitEachSequenceOnItsOwnLength) {
  using Real = TypeParam;
  const double tolerance = sizeof(Real) == 4 ? 1e-6 : 1e-14;
  const index_t count = 4, features = 3, most = 12;
  const std::vector<index_t> lengths{12, 1, 7, 10};
  const RidgeCache<GaussianBasis> cache(audio(), .1);
  RowMatrix<Real> h = normal_matrix(count * features, most, 6).cast<Real>();
  RowMatrix<Real> b(count * features, 128), w = normal_matrix(count * features, 128, 7).cast<Real>();
  RowMatrix<Real> gradient = RowMatrix<Real>::Constant(count * features, most, Real(kNaN));
  for (index_t i = 0; i < count; ++i) {
    h.block(i * features, lengths[size_t(i)], features, most - lengths[size_t(i)]).setConstant(Real(kNaN));
  }
  fit_rows(cache, const_rows_of(h), lengths, rows_of(b));
  fit_rows_vjp(cache, const_rows_of(w), lengths, rows_of(gradient));
  double by_ridge = 0;
  // What the kernels take: count matrices of features x N, one after the other.
  const cpu::ValueMatrices<const Real> values{b.data(), count, features};
  for (index_t i = 0; i < count; ++i) {
    const index_t length = lengths[size_t(i)];
    const auto& ridge = cache.at(length);
    const Eigen::MatrixXd own = h.block(i * features, 0, features, length).template cast<double>();
    const Eigen::MatrixXd cotangent = w.middleRows(i * features, features).template cast<double>();
    const Eigen::MatrixXd expected = ridge.fit(own).coefficients;
    const Eigen::Map<const RowMatrix<Real>> found(values.data + i * features * 128, features, 128);
    EXPECT_LE((found.template cast<double>() - expected).norm(), tolerance * expected.norm());
    const Eigen::MatrixXd expected_gradient = ridge.vjp(own, cotangent).observations;
    EXPECT_LE((gradient.block(i * features, 0, features, length).template cast<double>() - expected_gradient)
                  .norm(),
              tolerance * expected_gradient.norm());
    EXPECT_TRUE(gradient.block(i * features, length, features, most - length).isZero(Real{0}));
    by_ridge += ridge.vjp(own, cotangent).ridge;
  }
  EXPECT_NEAR(fit_rows_ridge_vjp(cache, const_rows_of(h), lengths, const_rows_of(w)), by_ridge,
              1e-12 * std::abs(by_ridge));
}

TYPED_TEST(RidgeRows, FitImagesOfOneShape) {
  using Real = TypeParam;
  const RidgeCache<MultivariateGaussianBasis> cache(images(), .1);
  const auto& ridge = cache.at(6, 5);
  const RowMatrix<Real> h = normal_matrix(4, 30, 8).cast<Real>(), w = normal_matrix(4, 100, 9).cast<Real>();
  RowMatrix<Real> b(4, 100), gradient(4, 30);
  fit_rows(ridge, const_rows_of(h), rows_of(b));
  fit_rows_vjp(ridge, const_rows_of(w), rows_of(gradient));
  const double tolerance = sizeof(Real) == 4 ? 1e-6 : 1e-14;
  const Eigen::MatrixXd expected = h.template cast<double>() * ridge.matrix();
  EXPECT_LE((b.template cast<double>() - expected).norm(), tolerance * expected.norm());
  const Eigen::MatrixXd expected_gradient = w.template cast<double>() * ridge.matrix().transpose();
  EXPECT_LE((gradient.template cast<double>() - expected_gradient).norm(),
            tolerance * expected_gradient.norm());
}

TEST(RidgeRegression, SaysWhatIsWrong) {
  const auto make = [](index_t length, double lambda) {
    return [=] { (void)RidgeRegression<GaussianBasis>(audio(), positions(length), lambda); };
  };
  EXPECT_EQ(message_of<std::domain_error>(make(5, -1)),
            "fenchel::ridge_regression: ridge must be finite and not negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>(make(5, kNaN)),
            "fenchel::ridge_regression: ridge must be finite and not negative, got nan");
  EXPECT_EQ(
      message_of<std::domain_error>(make(200, 0)),
      "fenchel::ridge_regression: ridge must be larger, since F and ridge make a singular system, got 0");
  EXPECT_EQ(
      message_of<std::domain_error>(make(100, 0)),
      "fenchel::ridge_regression: ridge must be larger, since F and ridge make a singular system, got 0");
  EXPECT_EQ(message_of<std::domain_error>(make(200, 1e-30)),
            "fenchel::ridge_regression: ridge must be larger, since F and ridge make a singular system, got "
            "1e-30");
  EXPECT_EQ(message_of<std::invalid_argument>(make(0, .1)),
            "fenchel::positions: length must be at least 1, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [] { (void)RidgeRegression<GaussianBasis>(audio(), std::span<const double>(), .1); }),
            "fenchel::ridge_regression: positions must not be empty, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] {
              const double places[] = {0.5, testing::kInf};
              (void)RidgeRegression<PolynomialBasis>(PolynomialBasis(1), places, .1);
            }),
            "fenchel::ridge_regression: psi at positions[1] must be finite, got inf");
  EXPECT_EQ(message_of<std::invalid_argument>([] { (void)grid_positions(0, 3); }),
            "fenchel::grid_positions: rows must be at least 1, got 0");
  EXPECT_EQ(message_of<std::invalid_argument>([] { (void)grid_positions(3, -1); }),
            "fenchel::grid_positions: cols must be at least 1, got -1");
  const RidgeRegression<GaussianBasis> ridge(audio(), positions(5), .1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { (void)ridge.fit(normal_matrix(2, 6, 1)); }),
            "fenchel::ridge_regression: observations.cols() must be 5, got 6");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { (void)ridge.vjp(normal_matrix(2, 5, 1), normal_matrix(3, 128, 1)); }),
            "fenchel::ridge_regression: cotangent.rows() must be 2, got 3");
}

TEST(FitRows, SaysWhatIsWrong) {
  const RidgeCache<GaussianBasis> cache(audio(), .1);
  RowMatrix<double> h = normal_matrix(4, 10, 1), b(4, 128), narrow(4, 127), few(3, 128);
  const auto fit = [&](std::vector<index_t> lengths, RowMatrix<double>& out) {
    return message_of<std::invalid_argument>(
        [&] { fit_rows(cache, const_rows_of(h), lengths, rows_of(out)); });
  };
  EXPECT_EQ(fit({10, 11}, b), "fenchel::fit_rows: lengths[1] must be in [1, 10], got 11");
  EXPECT_EQ(fit({0, 10}, b), "fenchel::fit_rows: lengths[0] must be in [1, 10], got 0");
  EXPECT_EQ(fit({10, 10, 10}, b),
            "fenchel::fit_rows: lengths.size() must divide observations.rows = 4, got 3");
  EXPECT_EQ(fit({}, b), "fenchel::fit_rows: lengths.size() must divide observations.rows = 4, got 0");
  EXPECT_EQ(fit({10, 9}, narrow),
            "fenchel::fit_rows: coefficients.cols must equal the size of the basis, 128, got 127");
  EXPECT_EQ(fit({10, 9}, few),
            "fenchel::fit_rows: coefficients.rows must equal observations.rows = 4, got 3");
  const std::vector<index_t> lengths{10, 12};
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { fit_rows_vjp(cache, const_rows_of(b), lengths, rows_of(h)); }),
      "fenchel::fit_rows_vjp: lengths[1] must be in [1, 10], got 12");
}

TEST(ValueFunction, AContextIsANumberWhereProductsAreNot) {
  const ValueFunction<PolynomialBasis> v{Eigen::RowVector2d(1.5e308, -1.5e308), PolynomialBasis(1)};
  const Eigen::Vector2d r(1.5, 1.25);
  EXPECT_FALSE((v.coefficients * r).allFinite());
  EXPECT_DOUBLE_EQ(context(v, r)[0], 3.75e307);
  EXPECT_EQ(context(v, Eigen::Vector2d(1.5, 0))[0], testing::kInf);
}

}  // namespace
}  // namespace fenchel
