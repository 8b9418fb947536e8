#include <gtest/gtest.h>

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/capped.hpp"
#include "fenchel/estimate/fit/smooth.hpp"
#include "fenchel/estimate/regression/minimize.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/loss/sobolev.hpp"
#include "fenchel/loss/total_variation.hpp"
#include "support/column.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/three_points.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::message_of, testing::moments_with, testing::slope_of, testing::source_of;

constexpr double kGammas[] = {0, 0.01, 0.7, 30};

std::vector<double> some_values() { return {0.3, -1.7, 2.2, 0.9, 0.85, -0.4, 3.1, 1.3, 0.1, -0.6, 1.9}; }
constexpr double kSomeMedian = 0.85;

/// The fit is where the mean loss of these values is least: its derivatives vanish, it grows on every side,
/// and it is what the fit says.
template <class Omega, class MakeScore, class P>
void expect_least(const Omega& omega, MakeScore score_at, const Fit<P>& fit, const std::string& what) {
  const std::vector<double> values = some_values();
  const auto loss_at = [&](double mu, double scale) {
    return cross_omega(omega, score_at(mu, scale), Line{}, Empirical(values)).value;
  };
  const double mu = fit.parameters[0], scale = fit.parameters[1], least = loss_at(mu, scale);
  EXPECT_NEAR(fit.loss, least, 1e-13 * (1 + std::abs(least))) << what;
  for (const double step : {0.3, 0.03, 0.003}) {
    for (const double side : {-step, step}) {
      EXPECT_GT(loss_at(mu + side, scale), least) << what;
      EXPECT_GT(loss_at(mu, scale * std::exp(side)), least) << what;
      EXPECT_GT(loss_at(mu + side, scale * std::exp(side)), least) << what;
      EXPECT_GT(loss_at(mu + side, scale * std::exp(-side)), least) << what;
    }
  }
}

TEST(FitMoments, TheLossIsLeast) {
  const std::vector<double> values = some_values();
  const LineMoments moments = LineMoments::of(values);
  const AbsoluteMoments deviation = AbsoluteMoments::of(kSomeMedian, values);
  const auto quadratic = [](double mu, double sigma2) { return QuadraticScore(mu, sigma2); };
  const auto absolute = [](double mu, double b) { return AbsoluteScore(mu, b); };
  for (const double alpha : {0.6, 0.9, 1., 1 + 1e-8, 1.5, 2., 5.}) {
    const std::string what = "alpha " + std::to_string(alpha);
    const auto gaussian = fit_beta_gaussian(alpha, moments);
    expect_least(Tsallis(alpha), quadratic, gaussian, what);
    const auto loss = cross_omega(Tsallis(alpha), score(gaussian.distribution), Line{}, Empirical(values));
    EXPECT_NEAR(loss.gradient.mu, 0, 1e-14) << what;
    EXPECT_NEAR(loss.gradient.sigma2 * gaussian.parameters[1], 0, 1e-14) << what;
    expect_least(Tsallis(alpha), absolute, fit_beta_laplace(alpha, deviation), what);
  }
  for (const double gamma : kGammas) {
    const std::string what = "gamma " + std::to_string(gamma);
    expect_least(TotalVariation(gamma), quadratic, fit_capped_parabola(gamma, moments), what);
    expect_least(TotalVariation(gamma), absolute, fit_capped_triangular(gamma, deviation), what);
    expect_least(Sobolev(gamma), quadratic, fit_smooth_parabola(gamma, moments), what);
    expect_least(Sobolev(gamma), absolute, fit_smooth_triangular(gamma, deviation), what);
  }
}

TEST(FitMoments, MinimisingTheLossFindsTheSame) {
  const std::vector<double> values = some_values();
  const auto minimum = [&](const auto& omega) {
    const auto loss = [&](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
      const double sigma2 = std::exp(x[1]);
      const auto at = cross_omega(omega, QuadraticScore(x[0], sigma2), Line{}, Empirical(values));
      gradient = Eigen::Vector2d(at.gradient.mu, at.gradient.sigma2 * sigma2);
      return at.value;
    };
    Eigen::VectorXd x = minimize(loss, Eigen::Vector2d(0, 0)).x;
    x[1] = std::exp(x[1]);
    return x;
  };
  const LineMoments moments = LineMoments::of(values);
  for (const double alpha : {0.7, 1., 4. / 3, 2.})
    EXPECT_LT((minimum(Tsallis(alpha)) - fit_beta_gaussian(alpha, moments).parameters).norm(), 1e-6) << alpha;
  EXPECT_LT((minimum(TotalVariation(0.7)) - fit_capped_parabola(0.7, moments).parameters).norm(), 1e-6);
  EXPECT_LT((minimum(Sobolev(0.7)) - fit_smooth_parabola(0.7, moments).parameters).norm(), 1e-6);
}

TEST(FitMoments, FindTheMemberWithTheseMoments) {
  const auto about = [](double mu, double deviation) {
    return AbsoluteMoments::of(mu, std::array{mu - deviation, mu + deviation});
  };
  for (const double alpha : {0.51, 0.7, 1 - 1e-9, 1., 1 + 1e-8, 4. / 3, 2., 5., 1e6}) {
    const BetaLaplace p(alpha, 0.5, 2.5);
    const auto fit = fit_beta_laplace(alpha, about(0.5, absolute_moment(p, 1)));
    EXPECT_EQ(fit.names, (std::vector<std::string>{"mu", "b"}));
    EXPECT_EQ(fit.parameters[0], 0.5);
    EXPECT_NEAR(fit.distribution.b() / 2.5, 1, 4e-15 * (1 + alpha)) << alpha;
  }
  for (const double gamma : kGammas) {
    for (const double scale : {1e-6, 2.5, 1e6}) {
      const CappedParabola capped(gamma, 0.5, scale);
      EXPECT_NEAR(fit_capped_parabola(gamma, moments_with(0.5, variance(capped), 2)).parameters[1] / scale, 1,
                  1e-12);
      const SmoothParabola smooth(gamma, 0.5, scale);
      EXPECT_NEAR(fit_smooth_parabola(gamma, moments_with(0.5, variance(smooth), 2)).parameters[1] / scale, 1,
                  1e-12);
      const CappedTriangular flat(gamma, 0.5, scale);
      EXPECT_NEAR(fit_capped_triangular(gamma, about(0.5, absolute_moment(flat, 1))).parameters[1] / scale, 1,
                  1e-12);
      const SmoothTriangular round(gamma, 0.5, scale);
      EXPECT_NEAR(fit_smooth_triangular(gamma, about(0.5, absolute_moment(round, 1))).parameters[1] / scale,
                  1, 1e-12);
    }
  }
}

double scale_slope(const QuadraticGradient& gradient) { return gradient.sigma2; }
double scale_slope(const QuadraticGammaGradient& gradient) { return gradient.sigma2; }
double scale_slope(const AbsoluteGradient& gradient) { return gradient.b; }
double scale_slope(const AbsoluteGammaGradient& gradient) { return gradient.b; }

/// C / H^2 / n for either parameter, H the Hessian of the loss of samples from p, by differences, and C the
/// mean square of the slopes of one value's loss.
template <class Omega, class MakeScore, class P>
void expect_sandwich(const Omega& omega, MakeScore score_at, const Fit<P>& fit, const std::string& what) {
  const P& p = fit.distribution;
  const double mu = fit.parameters[0], scale = fit.parameters[1], unit = standard_deviation(p);
  const auto slopes = [&](double x, double s, const auto& q) {
    const auto gradient = cross_omega(omega, score_at(x, s), Line{}, q).gradient;
    return Eigen::Vector2d(gradient.mu, scale_slope(gradient));
  };
  const double h[] = {slope_of([&](double x) { return slopes(x, scale, p)[0]; }, mu, 1e-6 * unit),
                      slope_of([&](double s) { return slopes(mu, s, p)[1]; }, scale, 1e-3 * scale)};
  for (const int i : {0, 1}) {
    const double c = expectation(p, [&](double t) {
      const double slope = slopes(mu, scale, Dirac{t})[i];
      return slope * slope;
    });
    EXPECT_NEAR(fit.covariance(i, i) * h[i] * h[i] * fit.weight / c, 1, 1e-5) << what << " " << i;
  }
  EXPECT_EQ(fit.covariance(0, 1), 0) << what;
  EXPECT_EQ(fit.covariance(1, 0), 0) << what;
}

TEST(FitMoments, TheCovarianceIsThatOfTheLoss) {
  const std::vector<double> values = some_values();
  const LineMoments moments = LineMoments::of(values);
  const AbsoluteMoments deviation = AbsoluteMoments::of(kSomeMedian, values);
  const auto quadratic = [](double mu, double sigma2) { return QuadraticScore(mu, sigma2); };
  const auto absolute = [](double mu, double b) { return AbsoluteScore(mu, b); };
  for (const double alpha : {0.9, 1., 1.5, 2., 5.}) {
    const std::string what = "alpha " + std::to_string(alpha);
    expect_sandwich(Tsallis(alpha), quadratic, fit_beta_gaussian(alpha, moments), what);
    expect_sandwich(Tsallis(alpha), absolute, fit_beta_laplace(alpha, deviation), what);
  }
  EXPECT_EQ(fit_beta_laplace(2. / 3, deviation).covariance(1, 1), kInf);
  for (const double gamma : {0.01, 0.7, 30.}) {
    const std::string what = "gamma " + std::to_string(gamma);
    expect_sandwich(TotalVariation(gamma), quadratic, fit_capped_parabola(gamma, moments), what);
    expect_sandwich(TotalVariation(gamma), absolute, fit_capped_triangular(gamma, deviation), what);
    expect_sandwich(Sobolev(gamma), quadratic, fit_smooth_parabola(gamma, moments), what);
    expect_sandwich(Sobolev(gamma), absolute, fit_smooth_triangular(gamma, deviation), what);
  }
}

template <class P>
void expect_same(const Fit<P>& got, const Fit<P>& want) {
  EXPECT_LT((got.parameters - want.parameters).norm(), 1e-13 * want.parameters.norm());
  EXPECT_LT((got.covariance - want.covariance).norm(), 1e-13 * want.covariance.norm());
  EXPECT_NEAR(got.loss, want.loss, 1e-13);
  EXPECT_DOUBLE_EQ(got.weight, want.weight);
}

TEST(FitMoments, AWeightIsARepetition) {
  const std::vector<double> values = {0.3, -1.7, 50, 2.2, 0.9}, weights = {2, 1, 0, 3, 1};
  const std::vector<double> repeated = {0.3, 0.3, -1.7, 2.2, 2.2, 2.2, 0.9};
  const auto weighted = LineMoments::of(values, weights), plain = LineMoments::of(repeated);
  expect_same(fit_beta_gaussian(1.5, weighted), fit_beta_gaussian(1.5, plain));
  expect_same(fit_beta_gaussian(weighted), fit_beta_gaussian(plain));
  expect_same(fit_capped_parabola(0.3, weighted), fit_capped_parabola(0.3, plain));
  expect_same(fit_smooth_parabola(0.3, weighted), fit_smooth_parabola(0.3, plain));
  const RowsSource few = source_of(values, weights), many = source_of(repeated);
  expect_same(fit_beta_laplace(1.5, Data{few}), fit_beta_laplace(1.5, Data{many}));
  expect_same(fit_capped_triangular(0.3, Data{few}), fit_capped_triangular(0.3, Data{many}));
  expect_same(fit_smooth_triangular(0.3, Data{few}), fit_smooth_triangular(0.3, Data{many}));
  expect_same(fit_beta_laplace(1.5, Data{few}),
              fit_beta_laplace(1.5, AbsoluteMoments::of(0.9, values, weights)));
}

/// Samples of p are fitted within their errors: `count` values each, the squares of the errors in units of
/// the covariance are those of a chi-squared variable, and one large sample is near.
template <class P, class Estimate>
void expect_recovered(const P& p, const Eigen::VectorXd& truth, Estimate estimate, const std::string& what) {
  constexpr int kSamples = 25;
  constexpr index_t kCount = 1000, kLarge = 20000;
  double squares = 0;
  for (int seed = 1; seed <= kSamples; ++seed) {
    const auto fit = estimate(sample(p, kCount, static_cast<std::uint64_t>(seed)));
    const Eigen::VectorXd gap = fit.parameters - truth;
    squares += gap.dot(Eigen::MatrixXd(fit.covariance).inverse() * gap);
  }
  const double per_parameter = squares / kSamples / static_cast<double>(truth.size());
  EXPECT_GT(per_parameter, 0.6) << what;
  EXPECT_LT(per_parameter, 1.6) << what;
  const auto fit = estimate(sample(p, kLarge, 99));
  const Eigen::VectorXd errors = fit.standard_errors();
  for (index_t i = 0; i < truth.size(); ++i) {
    EXPECT_LT(std::abs(fit.parameters[i] - truth[i]), 3 * errors[i]) << what << " " << i;
    EXPECT_LT(errors[i], 0.1 * (1 + std::abs(truth[i]))) << what << " " << i;
  }
}

TEST(FitMoments, ARootHasTheErrorsOfTheDeltaMethod) {
  const std::vector<double> values = {0.3, -1.7, 2.2, 0.9, 5};
  const auto fit = fit_beta_gaussian(LineMoments::of(values)), root = with_root(fit, 2, "sigma");
  EXPECT_EQ(root.names, (std::vector<std::string>{"alpha", "mu", "sigma"}));
  const double sigma = std::sqrt(fit.distribution.sigma2());
  EXPECT_EQ(root.parameters[2], sigma);
  const Eigen::Vector3d slopes(1, 1, 1 / (2 * sigma));
  const Eigen::MatrixXd expected = slopes.asDiagonal() * fit.covariance * slopes.asDiagonal();
  EXPECT_TRUE(root.covariance.isApprox(expected, 1e-14)) << root.covariance << "\n\n" << expected;
}

TEST(FitMoments, SamplesAreRecovered) {
  const double mu = 3, scale = 0.4;
  const Eigen::Vector2d truth(mu, scale);
  for (const double alpha : {0.9, 1., 1.5, 2.}) {
    const std::string what = "alpha " + std::to_string(alpha);
    const auto moments = [](const std::vector<double>& values) { return LineMoments::of(values); };
    const BetaGaussian p(alpha, mu, scale);
    expect_recovered(
        p, truth, [&](const auto& v) { return fit_beta_gaussian(alpha, moments(v)); }, what);
    if (alpha >= 1)
      expect_recovered(
          p, Eigen::Vector3d(alpha, mu, scale), [&](const auto& v) { return fit_beta_gaussian(moments(v)); },
          what + " estimated");
    const auto laplace = [alpha](const auto& v) { return fit_beta_laplace(alpha, Data{source_of(v)}); };
    expect_recovered(BetaLaplace(alpha, mu, scale), truth, laplace, what + " absolute");
  }
  for (const double gamma : {0.2, 3.}) {
    const std::string what = "gamma " + std::to_string(gamma);
    const auto capped = [gamma](const auto& v) { return fit_capped_parabola(gamma, LineMoments::of(v)); };
    expect_recovered(CappedParabola(gamma, mu, scale), truth, capped, what + " capped");
    const auto flat = [gamma](const auto& v) { return fit_capped_triangular(gamma, Data{source_of(v)}); };
    expect_recovered(CappedTriangular(gamma, mu, scale), truth, flat, what + " capped, absolute");
    const auto smooth = [gamma](const auto& v) { return fit_smooth_parabola(gamma, LineMoments::of(v)); };
    expect_recovered(SmoothParabola(gamma, mu, scale), truth, smooth, what + " smooth");
    const auto round = [gamma](const auto& v) { return fit_smooth_triangular(gamma, Data{source_of(v)}); };
    expect_recovered(SmoothTriangular(gamma, mu, scale), truth, round, what + " smooth, absolute");
  }
}

std::string refusal(auto fit) {
  return message_of<std::domain_error>([&] { static_cast<void>(fit()); });
}

TEST(FitMoments, SayWhatCannotBeFitted) {
  const LineMoments good = moments_with(0, 1, 3), none, one = LineMoments::of(std::array{4., 4., 4.});
  const std::string equal = " must be positive and finite (rows that are all equal are a Dirac), got 0";
  EXPECT_EQ(refusal([&] { return fit_beta_gaussian(1. / 3, good); }),
            "fenchel::fit_beta_gaussian: alpha must be above 1/3, got 0.3333333333333333");
  EXPECT_EQ(refusal([&] { return fit_beta_gaussian(1e6, good); }),
            "fenchel::beta_gaussian: sigma2 must be positive and finite, got inf");
  EXPECT_EQ(refusal([&] { return fit_beta_gaussian(2, none); }),
            "fenchel::fit_beta_gaussian: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(refusal([&] { return fit_beta_gaussian(none); }),
            "fenchel::fit_beta_gaussian: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(refusal([&] { return fit_beta_gaussian(2, one); }),
            "fenchel::fit_beta_gaussian: the variance" + equal);
  EXPECT_EQ(refusal([&] { return fit_beta_gaussian(one); }),
            "fenchel::fit_beta_gaussian: the variance" + equal);
  EXPECT_EQ(
      refusal([&] { return fit_beta_gaussian(moments_with(0, 1e-200, 3)); }),
      "fenchel::fit_beta_gaussian: the fourth central moment must be in the range of doubles (choose another "
      "unit), got 0");
  EXPECT_EQ(refusal([&] { return fit_capped_parabola(-1, good); }),
            "fenchel::fit_capped_parabola: gamma must be finite and not negative, got -1");
  EXPECT_EQ(refusal([&] { return fit_capped_parabola(1, one); }),
            "fenchel::fit_capped_parabola: the variance" + equal);
  EXPECT_EQ(refusal([&] { return fit_smooth_parabola(kInf, good); }),
            "fenchel::fit_smooth_parabola: gamma must be finite and not negative, got inf");
  EXPECT_EQ(refusal([&] { return fit_smooth_parabola(1, none); }),
            "fenchel::fit_smooth_parabola: the weight of all rows must be positive and finite, got 0");
}

TEST(FitMoments, SayWhatCannotBeFittedAboutAMedian) {
  const std::vector<double> values = some_values(), same = {4, 4, 4};
  const RowsSource good = source_of(values), one = source_of(same);
  const std::string equal = " must be positive and finite (rows that are all equal are a Dirac), got 0";
  EXPECT_EQ(refusal([&] { return fit_beta_laplace(0.5, Data{good}); }),
            "fenchel::fit_beta_laplace: alpha must be finite and above 1/2, got 0.5");
  EXPECT_EQ(refusal([&] { return fit_beta_laplace(2, Data{one}); }),
            "fenchel::fit_beta_laplace: the mean deviation" + equal);
  EXPECT_EQ(refusal([&] { return fit_beta_laplace(2, AbsoluteMoments(1)); }),
            "fenchel::fit_beta_laplace: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(refusal([&] { return fit_beta_laplace(2, AbsoluteMoments::of(1, values)); }),
            "fenchel::fit_beta_laplace: the centre of the moments must be a median of the rows, got 1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              static_cast<void>(fit_beta_laplace(2, AbsoluteMoments::of(kSomeMedian, values, {}, {2, 1})));
            }),
            "fenchel::fit_beta_laplace: the powers of the moments must begin with 1, got others");
  const RowsSource nothing = source_of({});
  EXPECT_EQ(refusal([&] { return fit_beta_laplace(2, Data{nothing}); }),
            "fenchel::weighted_quantile: the weight of all rows must be positive and finite, got 0");
  EXPECT_EQ(refusal([&] { return fit_capped_triangular(-1, Data{good}); }),
            "fenchel::fit_capped_triangular: gamma must be finite and not negative, got -1");
  EXPECT_EQ(refusal([&] { return fit_capped_triangular(1, Data{one}); }),
            "fenchel::fit_capped_triangular: the mean deviation" + equal);
  EXPECT_EQ(refusal([&] { return fit_smooth_triangular(1, Data{one}); }),
            "fenchel::fit_smooth_triangular: the mean deviation" + equal);
}

}  // namespace
}  // namespace fenchel
