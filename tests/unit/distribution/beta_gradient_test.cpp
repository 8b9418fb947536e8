#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/distribution/line/beta_gradient.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

const std::vector<double> kGradientAlphas{0.7,      0.9,
                                          1 - 1e-8, std::nextafter(1.0, 0.0),
                                          1,        std::nextafter(1.0, 2.0),
                                          1 + 1e-8, 1.1,
                                          4.0 / 3,  1.5,
                                          1.7,      1.99,
                                          2,        2.01,
                                          3,        5,
                                          50};

/// A smooth function whose expectations are accurate enough for differences.
double bump(double t) { return 1 / (1 + (t - 0.5) * (t - 0.5)); }

/// The derivative of g at x by differences over h and h/2.
template <class G>
double difference(G g, double x, double h) {
  const auto slope = [&](double step) { return (g(x + step) - g(x - step)) / (2 * step); };
  return (4 * slope(h / 2) - slope(h)) / 3;
}

template <class P>
double mean_bump(const P& p) {
  return expectation(p, bump, 1e-13);
}

TEST(BetaGradient, GaussianFamilyByDifferences) {
  for (const double alpha : kGradientAlphas) {
    const QuadraticGradient g = expectation_gradient(BetaGaussian(alpha, 0.3, 0.64), bump);
    const auto value = [&](double a, double mu, double sigma2) {
      return mean_bump(BetaGaussian(a, mu, sigma2));
    };
    EXPECT_NEAR(g.mu, difference([&](double x) { return value(alpha, x, 0.64); }, 0.3, 1e-3), 1e-8) << alpha;
    EXPECT_NEAR(g.sigma2, difference([&](double x) { return value(alpha, 0.3, x); }, 0.64, 1e-3), 1e-8)
        << alpha;
    EXPECT_NEAR(g.alpha, difference([&](double x) { return value(x, 0.3, 0.64); }, alpha, 1e-3), 1e-8)
        << alpha;
  }
}

TEST(BetaGradient, LaplaceFamilyByDifferences) {
  for (const double alpha : kGradientAlphas) {
    const AbsoluteGradient g = expectation_gradient(BetaLaplace(alpha, 0.3, 0.8), bump);
    const auto value = [&](double a, double mu, double b) { return mean_bump(BetaLaplace(a, mu, b)); };
    EXPECT_NEAR(g.mu, difference([&](double x) { return value(alpha, x, 0.8); }, 0.3, 1e-3), 1e-8) << alpha;
    EXPECT_NEAR(g.b, difference([&](double x) { return value(alpha, 0.3, x); }, 0.8, 1e-3), 1e-8) << alpha;
    EXPECT_NEAR(g.alpha, difference([&](double x) { return value(x, 0.3, 0.8); }, alpha, 1e-3), 1e-8)
        << alpha;
  }
}

/// Laws that hold at every alpha: a constant does not move, E t = mu, Var = factor sigma2^{2/(alpha+1)}.
TEST(BetaGradient, MomentsMoveAsTheyShould) {
  for (const double alpha : {0.7, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.5, 2.0, 2.5, 5.0, 1e3, 1e6}) {
    const BetaGaussian p(alpha, 0.3, 0.64);
    const auto one = expectation_gradient(p, [](double) { return 1.0; });
    EXPECT_NEAR(one.mu, 0, 1e-12) << alpha;
    EXPECT_NEAR(one.sigma2, 0, 1e-12) << alpha;
    EXPECT_NEAR(one.alpha, 0, 1e-12) << alpha;
    const auto mean = expectation_gradient(p, [](double t) { return t; });
    EXPECT_NEAR(mean.mu, 1, 1e-12) << alpha;
    EXPECT_NEAR(mean.sigma2, 0, 1e-12) << alpha;
    EXPECT_NEAR(mean.alpha, 0, 1e-12) << alpha;
    const auto square = expectation_gradient(p, [](double t) { return (t - 0.3) * (t - 0.3); });
    EXPECT_NEAR(square.sigma2, 2 * variance(p) / ((alpha + 1) * 0.64), 1e-11) << alpha;
    const BetaLaplace q(alpha, 0.3, 0.64);
    const auto deviation = expectation_gradient(q, [](double t) { return std::abs(t - 0.3); });
    EXPECT_NEAR(deviation.b, absolute_moment(q, 1) / (alpha * 0.64), 1e-11) << alpha;
    EXPECT_NEAR(expectation_gradient(q, [](double) { return 1.0; }).alpha, 0, 1e-12) << alpha;
  }
}

/// It is the generalized covariance, also for a jump.
TEST(BetaGradient, IsTheGeneralizedCovariance) {
  const std::array cuts = {0.55};
  const auto step = [](double t) { return t > 0.55 ? 1.0 : 0.0; };
  for (const double alpha : {0.9, 1.0, 1.5, 2.0, 3.0}) {
    const BetaGaussian p(alpha, 0.3, 0.64);
    const auto g = expectation_gradient(p, step, 1e-10, cuts);
    EXPECT_NEAR(g.mu, pdf(p, 0.55), 1e-11) << alpha;
    EXPECT_NEAR(g.sigma2, 0.25 * pdf(p, 0.55) / ((alpha + 1) * 0.64), 1e-11) << alpha;
    const auto smooth = expectation_gradient(p, bump);
    EXPECT_NEAR(0.64 * smooth.mu,
                beta_covariance(
                    p, 2 - alpha, [](double t) { return t; }, bump),
                1e-9)
        << alpha;
  }
}

/// Steps that one rule alone did not see beside the ends of its panels.
TEST(BetaGradient, HiddenStepsAreFound) {
  const BetaGaussian p(2, 0, 1);
  for (const double share : {121, 123, 204, 322, 324}) {
    const double step = share / 4000 * p.half_width();
    const auto psi = [step](double t) { return t > step ? 1.0 : 0.0; };
    EXPECT_NEAR(detail::expectation_gradient(p, psi, 1e-10, {}).mu, pdf(p, step), 1e-8) << share;
  }
}

TEST(BetaGradient, OnlyTheLocationMovesTheUniformOne) {
  const auto g = expectation_gradient(BetaGaussian::uniform(1, 4), [](double t) { return t * t; });
  EXPECT_DOUBLE_EQ(g.mu, 5);
  EXPECT_EQ(g.sigma2, 0);
  EXPECT_EQ(g.alpha, 0);
  EXPECT_DOUBLE_EQ(expectation_gradient(BetaLaplace(kInf, 2, 1), [](double t) { return t * t; }).mu, 4);
}

TEST(BetaGradient, BadInput) {
  const BetaGaussian p(2, 0, 1);
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)expectation_gradient(p, bump, 0); }),
            "fenchel::expectation: accuracy must be positive and finite, got 0");
  const auto message =
      message_of<std::domain_error>([&] { (void)expectation_gradient(p, [](double) { return kNaN; }); });
  EXPECT_NE(message.find(") must be a number, got nan"), std::string::npos) << message;
  EXPECT_NE(message_of<ConvergenceError>([] {
              (void)expectation_gradient(BetaGaussian(0.7, 0, 1), [](double t) { return std::exp(t); });
            }),
            "(no error)");
}

}  // namespace
}  // namespace fenchel
