#include "fenchel/score/parametric_score.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/Cholesky>

#include "fenchel/distribution/line/beta_gradient.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/loss/sobolev_function.hpp"
#include "fenchel/loss/total_variation_function.hpp"
#include "support/differences.hpp"

namespace fenchel {
namespace {

using testing::slope_of;
using Theta = std::span<const double>;

/// -(t - mu)^2 / (2 e^s) in theta = (mu, s).
ParametricScore bell(std::vector<double> theta) {
  return {std::move(theta),
          [](double t, Theta x) { return -(t - x[0]) * (t - x[0]) / (2 * std::exp(x[1])); },
          {[](double t, Theta x) { return (t - x[0]) / std::exp(x[1]); },
           [](double t, Theta x) { return (t - x[0]) * (t - x[0]) / (2 * std::exp(x[1])); }}};
}

/// A bump of height a, place m and width w beside a parabola, in theta = (a, m, w): two modes.
ParametricScore bump(std::vector<double> theta) {
  const auto shape = [](double t, Theta x) {
    const double z = (t - x[1]) / x[2];
    return std::exp(-z * z / 2);
  };
  return {std::move(theta),
          [shape](double t, Theta x) { return x[0] * shape(t, x) - (t + 1) * (t + 1); },
          {shape, [shape](double t, Theta x) { return x[0] * shape(t, x) * (t - x[1]) / (x[2] * x[2]); },
           [shape](double t, Theta x) {
             return x[0] * shape(t, x) * (t - x[1]) * (t - x[1]) / (x[2] * x[2] * x[2]);
           }}};
}

std::vector<double> moved(Theta theta, std::size_t i, double step) {
  std::vector<double> result(theta.begin(), theta.end());
  result[i] += step;
  return result;
}

TEST(ParametricScore, KeepsItsThetaInCopiesAndHasAnother) {
  std::optional<ParametricScore> first = bell({0.5, 0});
  const ParametricScore copy = *first;
  first.reset();
  EXPECT_EQ(copy(1.5), -0.5);
  EXPECT_EQ(copy.gradient()[0](1.5), 1);
  EXPECT_EQ(copy.gradient()[1](1.5), 0.5);
  const ParametricScore other = copy.at({1.5, 0});
  EXPECT_EQ(other.theta()[0], 1.5);
  EXPECT_EQ(other.gradient()[0](1.5), 0);
}

TEST(ParametricScore, RefusesWhatIsNoParameter) {
  const auto message = [](std::vector<double> theta) {
    try {
      (void)bell(std::move(theta));
    } catch (const std::logic_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({1}),
            "fenchel::parametric_score: theta must have one entry for each entry of gradient, got 1");
  EXPECT_EQ(message({1, NAN}), "fenchel::parametric_score: theta[1] must be finite, got nan");
}

/// BetaGaussian has all of it in closed form, in (mu, sigma2): d / ds = sigma2 d / dsigma2.
TEST(ParametricScore, AgreesWithBetaGaussiansInANonlinearParametrisation) {
  const double mu = 0.4, s = -0.3, sigma2 = std::exp(s);
  const ParametricScore f = bell({mu, s});
  const auto g = [](double t) { return std::sin(t) + t * t; };
  const std::vector<double> data{-1, 0.2, 0.5, 2};
  for (const double alpha : {0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 2.0, 5.0}) {
    const Tsallis omega(alpha);
    const auto loss = cross_omega(omega, f, Line{}, Empirical(data));
    const auto closed = cross_omega(omega, QuadraticScore(mu, sigma2), Line{}, Empirical(data));
    EXPECT_NEAR(loss.value, closed.value, 1e-9) << alpha;
    EXPECT_NEAR(loss.gradient.theta[0], closed.gradient.mu, 1e-8) << alpha;
    EXPECT_NEAR(loss.gradient.theta[1], sigma2 * closed.gradient.sigma2, 1e-8) << alpha;
    EXPECT_NEAR(loss.gradient.alpha, closed.gradient.alpha, 1e-7) << alpha;
    const std::vector<double> slopes = expectation_gradient(omega, f, Line{}, g);
    const QuadraticGradient expected = expectation_gradient(BetaGaussian(alpha, mu, sigma2), g);
    EXPECT_NEAR(slopes[0], expected.mu, 1e-7) << alpha;
    EXPECT_NEAR(slopes[1], sigma2 * expected.sigma2, 1e-7) << alpha;
  }
}

TEST(ParametricScore, IsALinearScoreWhereFIsLinear) {
  const LinearScore linear({0.3, -0.8}, {[](double t) { return t; }, [](double t) { return t * t; }});
  const ParametricScore same({0.3, -0.8}, [](double t, Theta x) { return x[0] * t + x[1] * t * t; },
                             {[](double t, Theta) { return t; }, [](double t, Theta) { return t * t; }});
  const Tsallis omega(1.5, 0.7);
  const Interval domain(-1, 2);
  const auto one = cross_omega(omega, same, domain, Dirac{0.4}).gradient.theta;
  const auto other = cross_omega(omega, linear, domain, Dirac{0.4}).gradient.theta;
  const auto first = normalizer_gradient(omega, same, domain),
             second = normalizer_gradient(omega, linear, domain);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(one[i], other[i], 1e-12);
    EXPECT_NEAR(first[i], second[i], 1e-12);
  }
  EXPECT_TRUE(fenchel_young_gauss_newton(omega, same, domain)
                  .isApprox(fenchel_young_hessian(omega, linear, domain), 1e-12));
}

TEST(ParametricScore, GradientsAreSlopes) {
  const ParametricScore f = bump({2, 1, 0.4});
  const NumericDensity q = predict(Tsallis(2), bell({0.3, -0.5}), Line{});
  const auto g = [](double t) { return std::cos(2 * t); };
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 5.0}) {
    const Tsallis omega(alpha, 0.7);
    const auto loss = fenchel_young(omega, f, q);
    const std::vector<double> normal = normalizer_gradient(omega, f, Line{});
    const std::vector<double> mean = expectation_gradient(omega, f, Line{}, g);
    for (std::size_t i = 0; i < 3; ++i) {
      const auto slope = [&](auto function) {
        return slope_of([&](double step) { return function(f.at(moved(f.theta(), i, step))); }, 0, 1e-3);
      };
      EXPECT_NEAR(loss.gradient.theta[i],
                  slope([&](const auto& x) { return fenchel_young(omega, x, q).value; }), 1e-6)
          << alpha << " " << i;
      EXPECT_NEAR(normal[i], slope([&](const auto& x) { return normalizer(omega, x, Line{}); }), 2e-6)
          << alpha << " " << i;
      EXPECT_NEAR(mean[i], slope([&](const auto& x) { return expectation(predict(omega, x, Line{}), g); }),
                  2e-6)
          << alpha << " " << i;
    }
  }
}

/// [SCD22, Section 3.2]: theta is stationary exactly where E_p[df / dtheta] = E_q[df / dtheta]. The steps of
/// Gauss and Newton lead there, and the loss is larger around.
TEST(ParametricScore, MomentsOfTheGradientMatchAtAStationaryPoint) {
  const std::vector<double> data{-1.6, -1.3, -1.1, -0.9, -0.8, -0.3, 0.7, 0.9, 1.0, 1.2, 1.3};
  const Empirical q(data);
  const Tsallis omega(1.5);
  ParametricScore f = bump({2.5, 1, 0.5});
  const auto gradient_of = [&](const ParametricScore& x) {
    const auto loss = cross_omega(omega, x, Line{}, q);
    return Eigen::VectorXd(Eigen::VectorXd::Map(loss.gradient.theta.data(), 3));
  };
  Eigen::VectorXd gradient = gradient_of(f);
  EXPECT_GT(gradient.norm(), 0.05);
  for (int i = 0; i < 60 && gradient.norm() > 1e-9; ++i) {
    Eigen::VectorXd step = fenchel_young_gauss_newton(omega, f, Line{}).ldlt().solve(-gradient);
    step *= std::min(1.0, 0.2 / step.norm());
    const Eigen::VectorXd theta = Eigen::VectorXd::Map(f.theta().data(), 3) + step;
    f = f.at({theta.begin(), theta.end()});
    gradient = gradient_of(f);
  }
  const NumericDensity p = predict(omega, f, Line{});
  for (const auto& slope : f.gradient()) EXPECT_NEAR(expectation(p, slope), expectation(q, slope), 1e-8);
  const double least = cross_omega(omega, f, Line{}, q).value;
  for (std::size_t i = 0; i < 3; ++i) {
    for (const double step : {-0.02, 0.02})
      EXPECT_GT(cross_omega(omega, f.at(moved(f.theta(), i, step)), Line{}, q).value, least) << i;
  }
}

/// The slope of the gradient is the Gauss-Newton part where the target is the prediction, and differs from
/// it by E_p[f''] - E_q[f''] elsewhere: for theta_0 = mu, f'' = -1 / sigma2 and f_{mu s} = -f_mu.
TEST(ParametricScore, GaussNewtonIsTheHessianAtThePrediction) {
  const ParametricScore f = bell({0.4, -0.3});
  for (const double alpha : {0.8, 1.0, 1.5, 2.0, 3.0}) {
    const Tsallis omega(alpha, 0.7);
    const Eigen::MatrixXd part = fenchel_young_gauss_newton(omega, f, Line{});
    const auto slopes = [&](const auto& q, std::size_t i, std::size_t j) {
      return slope_of(
          [&](double step) {
            return cross_omega(omega, f.at(moved(f.theta(), i, step)), Line{}, q).gradient.theta[j];
          },
          0, 1e-3);
    };
    const NumericDensity p = predict(omega, f, Line{});
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j)
        EXPECT_NEAR(part(static_cast<index_t>(i), static_cast<index_t>(j)), slopes(p, i, j),
                    2e-6 * part.norm())
            << alpha << " " << i << j;
    }
    const Dirac q{1};
    const double more = expectation(q, f.gradient()[0]) - expectation(p, f.gradient()[0]);
    EXPECT_NEAR(part(0, 1) + more, slopes(q, 0, 1), 2e-6 * part.norm()) << alpha;
    EXPECT_GT(std::abs(more), 0.1);
  }
}

template <class Omega>
void check_gamma_slopes(const Omega& omega, double tolerance) {
  const ParametricScore f = bump({2, 1, 0.4});
  const auto loss_at = [&](const ParametricScore& x) { return cross_omega(omega, x, Line{}, Dirac{0.4}); };
  const auto loss = loss_at(f);
  for (std::size_t i = 0; i < 3; ++i) {
    const double numeric =
        slope_of([&](double step) { return loss_at(f.at(moved(f.theta(), i, step))).value; }, 0, 1e-2);
    EXPECT_NEAR(loss.gradient.theta[i], numeric, tolerance) << i;
  }
}

TEST(ParametricScore, HasGradientsUnderTotalVariationAndSobolevToo) {
  check_gamma_slopes(TotalVariation(0.1), 1e-5);
  check_gamma_slopes(Sobolev(0.1), 1e-5);
}

}  // namespace
}  // namespace fenchel
