#include <gtest/gtest.h>

#include <Eigen/LU>

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/location_scale.hpp"
#include "fenchel/loss/multivariate_quadratic.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/loss/scaled_gaussian.hpp"
#include "fenchel/loss/sobolev.hpp"
#include "fenchel/loss/total_variation.hpp"
#include "support/differences.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "unit/distribution/location_scale_examples.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::slope_of;

std::vector<double> members(const ScaledGaussianGradient& g) { return {g.kappa, g.mu, g.sigma2}; }
std::vector<double> members(const LocationScaleGradient& g) { return {g.mu, g.sigma}; }
std::vector<double> members(const AbsoluteGammaGradient& g) { return {g.mu, g.b, g.gamma}; }
std::vector<double> members(const QuadraticGammaGradient& g) { return {g.mu, g.sigma2, g.gamma}; }

template <std::size_t N>
std::vector<double> triangle(const Hessian<N>& h) {
  std::vector<double> values;
  for (std::size_t i = 0; i < N; ++i) {
    for (std::size_t j = i; j < N; ++j) {
      values.push_back(h[i][j]);
      EXPECT_EQ(h[i][j], h[j][i]);
    }
  }
  return values;
}

void expect_close(const std::vector<double>& got, const std::vector<double>& want, double error,
                  const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], error * std::abs(want[i]) + (error > 1e-10 ? error : 1e-300))
        << what << " " << i;
}

template <class Omega, class Score>
void check(testing::GoldenBlock& block, const Omega& omega, const Score& f, double loss_error = 1e-12) {
  const std::string name = "family " + std::to_string(block["family"][0]) + " at " +
                           std::to_string(block["at"][1]) + " " + std::to_string(block["at"].back());
  EXPECT_NEAR(normalizer(omega, f, Line()), block["normalizer"][0],
              1e-13 * (1 + std::abs(block["normalizer"][0])));
  expect_close(members(normalizer_gradient(omega, f, Line())), block["normalizer_gradient"], 1e-12,
               name + " gradient of A");
  expect_close(triangle(normalizer_hessian(omega, f, Line())), block["normalizer_hessian"], 1e-11,
               name + " Hessian of A");
  expect_close(triangle(fenchel_young_hessian(omega, f, Line(), Dirac{block["y"][0]})), block["loss_hessian"],
               loss_error, name + " Hessian of the loss");
}

TEST(LineHessians, MatchTheGoldenValues) {
  for (auto& block : testing::golden_blocks("line_hessians.txt")) {
    const int family = static_cast<int>(block["family"][0]);
    const std::vector<double>& at = block["at"];
    if (family == 0) {
      check(block, Tsallis(2), ScaledGaussianScore(at[0], at[1], at[2]), 1e-11);
    } else if (family >= 10) {
      check(block, Tsallis(2), testing::location_scale_example(family - 10, at[0], at[1]), 1e-9);
    } else if (family == 1) {
      check(block, TotalVariation(at[2]), AbsoluteScore(at[0], at[1]));
    } else if (family == 2) {
      check(block, TotalVariation(at[2]), QuadraticScore(at[0], at[1]));
    } else if (family == 3) {
      check(block, Sobolev(at[2]), AbsoluteScore(at[0], at[1]), 1e-11);
    } else {
      check(block, Sobolev(at[2]), QuadraticScore(at[0], at[1]), 1e-11);
    }
  }
}

/// The Hessians are the differences of the gradients, for every kind of target and at any temperature.
template <class Gradient, class HessianOf>
void expect_differences(const std::vector<double>& at, Gradient gradient, HessianOf hessian, double error) {
  const auto h = hessian(at);
  for (std::size_t j = 0; j < at.size(); ++j) {
    for (std::size_t i = 0; i < at.size(); ++i) {
      const auto along = [&](double x) {
        std::vector<double> moved = at;
        moved[j] = x;
        return gradient(moved)[i];
      };
      EXPECT_NEAR(h[i][j], slope_of(along, at[j], 1e-3), error) << i << " " << j;
    }
  }
}

template <class Check>
void for_each_target(Check check) {
  const std::vector<double> values = {-0.7, 0.1, 0.55, 0.55, 1.9};
  check(Dirac{1.2});
  check(Empirical(values));
  check(BetaGaussian(1.5, 0.2, 0.4));
  check(CappedParabola(0.4, 0.25, 0.5));
}

TEST(LineHessians, AreDifferencesOfGradients) {
  for (const double t : {1.0, 1.7}) {
    for_each_target([&](const auto& q) {
      const auto scaled = [](const std::vector<double>& x) { return ScaledGaussianScore(x[0], x[1], x[2]); };
      const auto quadratic = [](const std::vector<double>& x) { return QuadraticScore(x[0], x[1]); };
      const auto absolute = [](const std::vector<double>& x) { return AbsoluteScore(x[0], x[1]); };
      const auto located = [](const std::vector<double>& x) {
        return testing::location_scale_example(2, x[0], x[1]);
      };
      const auto both = [&](const std::vector<double>& at, auto omega, auto score, double error) {
        expect_differences(
            at, [&](const auto& x) { return members(cross_omega(omega(x), score(x), Line(), q).gradient); },
            [&](const auto& x) { return fenchel_young_hessian(omega(x), score(x), Line(), q); }, error);
        expect_differences(
            at, [&](const auto& x) { return members(normalizer_gradient(omega(x), score(x), Line())); },
            [&](const auto& x) { return normalizer_hessian(omega(x), score(x), Line()); }, error);
      };
      const auto sparse = [t](const auto&) { return Tsallis(2, t); };
      const auto fused = [t](const auto& x) { return TotalVariation(x[2], t); };
      const auto smooth = [t](const auto& x) { return Sobolev(x[2], t); };
      both({3, 0.3, 0.9}, sparse, scaled, 1e-8);
      both({0.3, 0.9}, sparse, located, 1e-8);
      both({0.3, 0.9, 0.5}, fused, quadratic, 1e-8);
      both({0.3, 0.9, 0.5}, fused, absolute, 1e-5);  // a density of q has its own kinks
      both({0.3, 0.9, 0.5}, smooth, quadratic, 1e-8);
      both({0.3, 0.9, 0.5}, smooth, absolute, 1e-5);
    });
  }
}

/// In canonical parameters no target is needed: from the derivatives in mu and the scale, by the chain rule.
TEST(LineHessians, CanonicalOnesAreDifferencesOfMoments) {
  const auto check = [](auto omega) {
    const double theta[2] = {0.4, -0.7};
    const auto quadratic = [](double first, double second) {
      return QuadraticScore(-first / (2 * second), -1 / (2 * second));
    };
    const auto moments = [&](double first, double second, int n) {
      const auto p = predict(omega, quadratic(first, second), Line());
      return n == 1 ? mean(p) : variance(p) + mean(p) * mean(p);
    };
    const auto h = fenchel_young_hessian(omega, quadratic(theta[0], theta[1]), Line());
    for (const int n : {1, 2}) {
      const auto row = static_cast<std::size_t>(n - 1);
      EXPECT_NEAR(h[row][0], slope_of([&](double x) { return moments(x, theta[1], n); }, theta[0], 1e-3),
                  1e-9);
      EXPECT_NEAR(h[row][1], slope_of([&](double x) { return moments(theta[0], x, n); }, theta[1], 1e-3),
                  1e-9);
    }
    const auto deviation = [&](double x) {
      const auto p = predict(omega, AbsoluteScore(0.4, -1 / x), Line());
      return mean_deviation(p, 0.4);
    };
    EXPECT_NEAR(fenchel_young_hessian(omega, AbsoluteScore(0.4, 0.8), Line()),
                slope_of([&](double x) { return -deviation(x); }, -1.25, 1e-3) * -1, 1e-8);
  };
  for (const double t : {1.0, 1.7}) {
    check(TotalVariation(0.5, t));
    check(Sobolev(0.5, t));
    check(Sobolev(1e-3, t));
  }
}

TEST(LineHessians, AtGammaZeroOnlyTheLossesSecondDerivativeInGammaIsInfinite) {
  for (const auto& h : {fenchel_young_hessian(TotalVariation(0), QuadraticScore(0.3, 0.9), Line(), Dirac{1}),
                        fenchel_young_hessian(Sobolev(0), QuadraticScore(0.3, 0.9), Line(), Dirac{1}),
                        fenchel_young_hessian(TotalVariation(0), AbsoluteScore(0.3, 0.9), Line(), Dirac{1}),
                        fenchel_young_hessian(Sobolev(0), AbsoluteScore(0.3, 0.9), Line(), Dirac{1})}) {
    EXPECT_EQ(h[2][2], kInf);
    for (const double entry : {h[0][0], h[0][1], h[1][1], h[1][2]}) EXPECT_TRUE(std::isfinite(entry));
  }
  const auto near = normalizer_gradient(Sobolev(1e-14), QuadraticScore(0, 0.9), Line());
  EXPECT_NEAR(normalizer_gradient(Sobolev(0), QuadraticScore(0, 0.9), Line()).gamma, near.gamma, 1e-6);
  EXPECT_NEAR(near.gamma, -0.5 / 0.9, 1e-6);
  EXPECT_NEAR(normalizer_hessian(Sobolev(0), AbsoluteScore(0, 0.9), Line())[2][2],
              normalizer_hessian(Sobolev(1e-14), AbsoluteScore(0, 0.9), Line())[2][2], 1e-5);
}

TEST(LineHessians, AnAtomAtTheKinkIsInfiniteInMu) {
  EXPECT_EQ(fenchel_young_hessian(Sobolev(1), AbsoluteScore(0.5, 2), Line(), Dirac{0.5})[0][0], kInf);
  EXPECT_EQ(fenchel_young_hessian(Sobolev(1), AbsoluteScore(0.5, 2), Line(), Dirac{0.6})[0][0], 0);
  const auto smooth = testing::location_scale_example(0, 0.5, 2),
             kinked = testing::location_scale_example(1, 0.5, 2);
  EXPECT_EQ(fenchel_young_hessian(Tsallis(2), kinked, Line(), Dirac{0.5})[0][0], kInf);
  EXPECT_NEAR(fenchel_young_hessian(Tsallis(2), smooth, Line(), Dirac{0.5})[0][0], 1. / 8, 1e-9);
}

TEST(NormalizerHessian, OfAbsoluteScores) {
  for (const double alpha : {0.6, 1.0, 1 + 1e-8, 4. / 3, 2.0, 5.0, 1e6, kInf}) {
    for (const double t : {1.0, 1.7}) {
      const Tsallis omega(alpha, t);
      const auto at = [](double theta) { return AbsoluteScore(0.2, -1 / theta); };
      const auto value = [&](double theta) { return normalizer(omega, at(theta), Line()); };
      const auto slope = [&](double theta) { return normalizer_gradient(omega, at(theta), Line()); };
      EXPECT_NEAR(slope(-1.25), slope_of(value, -1.25, 1e-3), 1e-9) << alpha;
      EXPECT_NEAR(normalizer_hessian(omega, at(-1.25), Line()), slope_of(slope, -1.25, 1e-3), 1e-9) << alpha;
    }
  }
}

TEST(NormalizerHessian, OfQuadraticScores) {
  for (const double alpha : {0.4, 0.8, 1.0, 1 + 1e-8, 4. / 3, 2.0, 5.0, 1e6, kInf}) {
    for (const double t : {1.0, 1.7}) {
      const Tsallis omega(alpha, t);
      const double theta[2] = {0.4, -0.7};
      const auto slope = [&](double first, double second, std::size_t i) {
        const QuadraticScore f(-first / (2 * second), -1 / (2 * second));
        return normalizer_gradient(omega, f, Line())[i];
      };
      const QuadraticScore f(0.4 / 1.4, 1 / 1.4);
      const Hessian<2> h = normalizer_hessian(omega, f, Line());
      const Eigen::MatrixXd same =
          normalizer_hessian(omega,
                             MultivariateQuadraticScore(Eigen::VectorXd::Constant(1, f.mu()),
                                                        Eigen::MatrixXd::Constant(1, 1, f.sigma2())),
                             Euclidean(1));
      for (std::size_t i : {0, 1}) {
        EXPECT_NEAR(h[i][0], slope_of([&](double x) { return slope(x, theta[1], i); }, theta[0], 1e-3), 1e-9);
        EXPECT_NEAR(h[i][1], slope_of([&](double x) { return slope(theta[0], x, i); }, theta[1], 1e-3), 1e-8);
        for (std::size_t j : {0, 1})
          EXPECT_NEAR(same(static_cast<index_t>(i), static_cast<index_t>(j)), h[i][j], 1e-13);
      }
    }
  }
}

TEST(NormalizerHessian, InThePlaneIsTheDifferenceOfTheGradient) {
  const Eigen::Vector2d eta(0.3, -0.5);
  const Eigen::Matrix2d precision{{1.5, 0.4}, {0.4, 0.9}};
  for (const double alpha : {0.6, 1.0, 4. / 3, 2.0, 5.0, 1e6, kInf}) {
    const Tsallis omega(alpha, 1.3);
    const auto gradient = [&](double step, index_t k) -> Eigen::VectorXd {
      Eigen::Vector2d first = eta;
      Eigen::Matrix2d second = -precision / 2;
      if (k < 2) {
        first[k] += step;
      } else {  // both of a pair move, each by half
        second((k - 2) % 2, (k - 2) / 2) += step / 2;
        second((k - 2) / 2, (k - 2) % 2) += step / 2;
      }
      const Eigen::Matrix2d sigma = (-2 * second).inverse();
      const auto g =
          normalizer_gradient(omega, MultivariateQuadraticScore(sigma * first, sigma), Euclidean(2));
      Eigen::VectorXd all(6);
      all << g.linear, g.quadratic.reshaped();
      return all;
    };
    const Eigen::Matrix2d sigma = precision.inverse();
    const Eigen::MatrixXd h =
        normalizer_hessian(omega, MultivariateQuadraticScore(sigma * eta, sigma), Euclidean(2));
    for (index_t i = 0; i < 6; ++i) {
      for (index_t k = 0; k < 6; ++k) {
        EXPECT_NEAR(h(i, k), slope_of([&](double x) { return gradient(x, k)[i]; }, 0, 1e-3),
                    1e-9 * (10 + std::abs(h(i, k))))
            << alpha;
        EXPECT_DOUBLE_EQ(h(i, k), h(k, i));
      }
    }
  }
  EXPECT_THROW(
      static_cast<void>(normalizer_hessian(
          Tsallis(2), MultivariateQuadraticScore(eta, Eigen::Matrix2d{{1, 1}, {1, 1}}), Euclidean(2))),
      std::domain_error);
}

TEST(Hessians, ScalesWhoseSecondDerivativesOverflowAreNamed) {
  const std::vector<double> observed{-1, 0.5, 2};
  const Empirical q(observed);
  for (const double scale : {5e-324, 1e-300, 1e-170}) {
    const std::string message =
        " must keep second derivatives in the range of doubles, got " + shortest(scale);
    EXPECT_EQ(testing::message_of<std::domain_error>([&] {
                static_cast<void>(
                    fenchel_young_hessian(TotalVariation(0.1), QuadraticScore(0.4, scale), Line(), q));
              }),
              "fenchel::fenchel_young_hessian: sigma2" + message);
    EXPECT_EQ(testing::message_of<std::domain_error>([&] {
                static_cast<void>(fenchel_young_hessian(Sobolev(0.1), AbsoluteScore(0.4, scale), Line(), q));
              }),
              "fenchel::fenchel_young_hessian: b" + message);
  }
}

}  // namespace
}  // namespace fenchel
