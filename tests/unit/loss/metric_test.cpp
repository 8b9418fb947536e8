#include "fenchel/loss/metric.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "fenchel/loss/quadratic.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf, testing::message_of;

const double kMetricAlphas[] = {0.4, 0.6, 0.8, 1 - 1e-8, 1, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.5, 2, 3, 5};
struct Ends {
  HalfPlanePoint a, b;
};
constexpr Ends kEnds[] = {{{0, 1}, {1, 1}},      {{0, 0.3}, {1, 1.2}},    {{0.5, 2}, {-1, 0.4}},
                          {{0, 1}, {0.01, 1.5}}, {{0, 0.1}, {5, 0.11}},   {{0, 1}, {1e-6, 1.0001}},
                          {{0, 3}, {1, 0.01}},   {{2, 0.5}, {-40, 0.25}}, {{0, 1}, {0, 2}}};

TEST(Metric, MatchesTheGoldenValues) {
  constexpr double kRows[][3] = {{1, 2.0, 0.35355339059327376},
                                 {1.5, 0.67524044321434912, 0.4953386561833251},
                                 {2, 0.34943218589451955, 0.656084296152147},
                                 {0.8, 3.9640183546976138, 0.29704818811433392}};
  for (const auto& row : kRows) {
    const FenchelYoungMetric metric(row[0]);
    EXPECT_NEAR(metric.constant(), row[1], 1e-14 * row[1]);
    const Geodesic g = geodesic_of_diracs(metric, -0.5, 0.5);
    EXPECT_NEAR(g.sigma_max(), row[2], 1e-14 * row[2]);
    EXPECT_NEAR(g.clairaut(), 1 / row[2], 1e-13 / row[2]);
  }
}

TEST(Metric, IsTheSecondOrderOfTheLoss) {
  constexpr double kStep = 1e-5;
  for (const double alpha : kMetricAlphas) {
    const FenchelYoungMetric metric(alpha);
    for (const double sigma : {0.3, 1.0, 2.5}) {
      const auto tensor = metric.tensor(sigma);
      const QuadraticScore f(0.2, sigma * sigma);
      const double wider = (sigma + kStep) * (sigma + kStep);
      EXPECT_NEAR(2 * fenchel_young(Tsallis(alpha), f, BetaGaussian(alpha, 0.2 + kStep, sigma * sigma)).value,
                  tensor[0] * kStep * kStep, 1e-9 * tensor[0] * kStep * kStep);
      EXPECT_NEAR(2 * fenchel_young(Tsallis(alpha), f, BetaGaussian(alpha, 0.2, wider)).value,
                  tensor[1] * kStep * kStep, 2e-4 * tensor[1] * kStep * kStep);
    }
  }
}

TEST(Metric, CurvatureIsThatOfTheTensor) {
  constexpr double kStep = 1e-3;
  for (const double alpha : kMetricAlphas) {
    const FenchelYoungMetric metric(alpha);
    for (const double sigma : {0.3, 1.0, 2.5}) {
      // K = -(1 / (sqrt(E) sqrt(G))) d/dsigma (d sqrt(E)/dsigma / sqrt(G)).
      const auto root = [&](double s, std::size_t i) { return std::sqrt(metric.tensor(s)[i]); };
      const auto inner = [&](double s) {
        const double h = kStep * sigma;
        return (root(s + h, 0) - root(s - h, 0)) / (2 * h) / root(s, 1);
      };
      const double h = kStep * sigma;
      const double k = -(inner(sigma + h) - inner(sigma - h)) / (2 * h) / (root(sigma, 0) * root(sigma, 1));
      EXPECT_NEAR(metric.curvature(sigma), k, 2e-5 * std::abs(k)) << alpha;
    }
  }
  EXPECT_DOUBLE_EQ(FenchelYoungMetric(1).curvature(0.7), -0.5);
}

TEST(Geodesic, AtOneTheDistanceIsHyperbolic) {
  const FenchelYoungMetric metric(1);
  for (const auto& [a, b] : kEnds) {
    const double w = (a.mu - b.mu) / std::numbers::sqrt2, h = a.sigma - b.sigma;
    const double expected =
        std::numbers::sqrt2 * 2 * std::asinh(std::sqrt((w * w + h * h) / (4 * a.sigma * b.sigma)));
    EXPECT_NEAR(distance(metric, a, b), expected, 1e-11 * expected);
    EXPECT_NEAR(distance(FenchelYoungMetric(1 + 1e-12), a, b), expected, 1e-10 * expected);
  }
}

/// One step of Runge and Kutta for the geodesic equation, y = (mu, sigma, dmu, dsigma).
std::array<double, 4> ode_step(const FenchelYoungMetric& metric, const std::array<double, 4>& y, double h) {
  const auto slope = [&](const std::array<double, 4>& z) {
    const auto t = metric.tensor(z[1]);
    const double de = -2 * t[0] / z[1], dg = (2 * metric.exponent_less_one() - 2) * t[1] / z[1];
    return std::array{z[2], z[3], -de / t[0] * z[2] * z[3],
                      (de * z[2] * z[2] - dg * z[3] * z[3]) / (2 * t[1])};
  };
  const auto along = [&](const std::array<double, 4>& k, double factor) {
    std::array<double, 4> z = y;
    for (std::size_t i = 0; i < 4; ++i) z[i] += factor * h * k[i];
    return z;
  };
  const auto k1 = slope(y), k2 = slope(along(k1, 0.5)), k3 = slope(along(k2, 0.5)), k4 = slope(along(k3, 1));
  std::array<double, 4> next = y;
  for (std::size_t i = 0; i < 4; ++i) next[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  return next;
}

TEST(Geodesic, SolvesItsDifferentialEquation) {
  constexpr int kSteps = 2000;
  constexpr double kStep = 1e-4;
  for (const double alpha : {0.5, 0.8, 1.0, 1.5, 2.0, 5.0}) {
    const FenchelYoungMetric metric(alpha);
    for (const auto& [a, b] : {kEnds[0], kEnds[1], kEnds[2], kEnds[3], kEnds[8]}) {
      SCOPED_TRACE(::testing::Message() << alpha << " from " << a.mu << ' ' << a.sigma);
      const Geodesic g = geodesic(metric, a, b);
      EXPECT_EQ(g.at(0), a);
      EXPECT_EQ(g.at(1), b);
      const HalfPlanePoint left = g.at(0.5 - kStep), middle = g.at(0.5), right = g.at(0.5 + kStep);
      std::array<double, 4> y{middle.mu, middle.sigma, (right.mu - left.mu) / (2 * kStep),
                              (right.sigma - left.sigma) / (2 * kStep)};
      const auto t = metric.tensor(middle.sigma);
      EXPECT_NEAR(std::sqrt(t[0] * y[2] * y[2] + t[1] * y[3] * y[3]), g.length(), 1e-6 * g.length());
      EXPECT_NEAR(std::abs(y[2]) / (g.length() * middle.sigma * middle.sigma), g.clairaut(),
                  1e-6 * g.clairaut() + 1e-9);
      for (int i = 0; i < kSteps; ++i) y = ode_step(metric, y, 0.5 / kSteps);
      EXPECT_NEAR(y[0], b.mu, 1e-5);
      EXPECT_NEAR(y[1], b.sigma, 1e-5);
    }
  }
}

/// The length of a path by small steps.
template <class Path>
double length_of(const FenchelYoungMetric& metric, Path path) {
  constexpr int kSteps = 200;
  double sum = 0;
  HalfPlanePoint last = path(0);
  for (int i = 1; i <= kSteps; ++i) {
    const HalfPlanePoint next = path(i / static_cast<double>(kSteps));
    const auto t = metric.tensor((last.sigma + next.sigma) / 2);
    sum += std::sqrt(t[0] * std::pow(next.mu - last.mu, 2) + t[1] * std::pow(next.sigma - last.sigma, 2));
    last = next;
  }
  return sum;
}

TEST(Geodesic, IsTheShortestPath) {
  for (const double alpha : kMetricAlphas) {
    const FenchelYoungMetric metric(alpha);
    const Geodesic g = geodesic(metric, {0, 0.3}, {1, 1.2});
    const double straight = length_of(metric, [&](double s) { return g.at(s); });
    EXPECT_NEAR(straight, g.length(), 5e-4 * g.length()) << alpha;
    for (const double bump : {-0.05, 0.05}) {
      const auto bent = [&](double s) {
        const HalfPlanePoint p = g.at(s);
        return HalfPlanePoint{p.mu + bump * std::sin(std::numbers::pi * s),
                              p.sigma + bump * std::sin(2 * std::numbers::pi * s)};
      };
      EXPECT_GT(length_of(metric, bent), straight * (1 + 5e-4)) << alpha;
    }
  }
}

TEST(Geodesic, IsADistance) {
  for (const double alpha : kMetricAlphas) {
    const FenchelYoungMetric metric(alpha);
    for (const auto& [a, b] : kEnds) {
      SCOPED_TRACE(::testing::Message() << alpha << " from " << a.mu << ' ' << a.sigma);
      const double d = distance(metric, a, b);
      EXPECT_NEAR(distance(metric, b, a), d, 1e-12 * d);
      EXPECT_EQ(distance(metric, a, a), 0);
      const HalfPlanePoint middle = geodesic(metric, a, b).at(0.3), off{0.3, 0.7};
      EXPECT_NEAR(distance(metric, a, middle), 0.3 * d, 1e-9 * d);
      EXPECT_NEAR(distance(metric, middle, b), 0.7 * d, 1e-9 * d);
      EXPECT_LE(d, distance(metric, a, off) + distance(metric, off, b));
    }
  }
}

TEST(Geodesic, VerticalOnesHaveAClosedForm) {
  for (const double alpha : kMetricAlphas) {
    const FenchelYoungMetric metric(alpha);
    const double d = vertical_distance(metric, 0.5, 2);
    EXPECT_EQ(distance(metric, {1, 0.5}, {1, 2}), d);
    EXPECT_NEAR(distance(metric, {1, 0.5}, {1 + 1e-9, 2}), d, 1e-12 * d) << alpha;
    EXPECT_EQ(geodesic(metric, {1, 0.5}, {1, 2}).sigma_max(), kInf);
    const HalfPlanePoint middle = geodesic(metric, {1, 0.5}, {1, 2}).at(0.5);
    EXPECT_NEAR(vertical_distance(metric, 0.5, middle.sigma), d / 2, 1e-14 * d);
    EXPECT_EQ(std::isinf(vertical_distance(metric, 0, 1)), alpha >= 1);
    if (std::abs(alpha - 1) > 1e-3) {
      const double a = (alpha - 1) / (alpha + 1);
      EXPECT_NEAR(d,
                  std::sqrt(metric.constant()) / std::abs(a) * std::abs(std::pow(0.5, -a) - std::pow(2, -a)),
                  1e-13 * d);
    }
  }
}

TEST(Geodesic, E18IsAHalfEllipseAtOne) {
  const FenchelYoungMetric metric(1);
  const Geodesic g = geodesic_of_diracs(metric, -0.5, 0.5);
  double circle = 0;
  for (const double s : {0.05, 0.2, 0.5, 0.7, 0.99}) {
    const HalfPlanePoint p = g.at(s);
    EXPECT_NEAR(p.mu * p.mu / 2 + p.sigma * p.sigma, g.sigma_max() * g.sigma_max(), 1e-14);
    circle = std::max(circle, std::abs(p.mu * p.mu + p.sigma * p.sigma - g.sigma_max() * g.sigma_max()));
  }
  EXPECT_GT(circle, 0.1);  // as printed
  // Also between members: three points on it determine the centre.
  const Geodesic piece = geodesic(metric, {0, 0.3}, {1, 1.2});
  const double centre = 0.5 + (1.2 * 1.2 - 0.3 * 0.3);
  for (const double s : {0.0, 0.2, 0.6, 1.0}) {
    const HalfPlanePoint p = piece.at(s);
    EXPECT_NEAR(std::pow(p.mu - centre, 2) / 2 + p.sigma * p.sigma, std::pow(piece.sigma_max(), 2), 1e-12);
  }
}

TEST(Geodesic, OfDiracsIsTheLimit) {
  for (const double alpha : kMetricAlphas) {
    SCOPED_TRACE(alpha);
    const FenchelYoungMetric metric(alpha);
    const Geodesic g = geodesic_of_diracs(metric, 2, -1), near = geodesic(metric, {2, 1e-6}, {-1, 1e-6});
    EXPECT_EQ(g.at(0), (HalfPlanePoint{2, 0}));
    EXPECT_EQ(g.at(1), (HalfPlanePoint{-1, 0}));
    EXPECT_NEAR(g.at(0.5).mu, 0.5, 1e-14);
    EXPECT_NEAR(g.at(0.5).sigma, g.sigma_max(), 1e-14 * g.sigma_max());
    EXPECT_NEAR(near.sigma_max(), g.sigma_max(), 1e-5 * g.sigma_max());
    EXPECT_EQ(std::isinf(g.length()), alpha >= 1);
    if (g.length() > 1e8 && !std::isinf(g.length())) continue;  // nearly all of it is where sigma is 0
    const HalfPlanePoint p = g.at(0.2);
    EXPECT_NEAR(geodesic(metric, p, g.at(0.9)).sigma_max(), g.sigma_max(), 1e-9 * g.sigma_max());
    EXPECT_GT(p.mu, 0.5);
  }
}

TEST(Geodesic, EndsOfVeryDifferentScalesAreAboveEachOther) {
  const HalfPlanePoint small{-2.9, 2.2e-162}, middle{-2.3, 0.7}, large{4, 1e154};
  for (const double alpha : {1.0, 1.0000009, 1.03, 2.0}) {
    const FenchelYoungMetric metric(alpha);
    for (const auto& [a, b] : {Ends{small, middle}, Ends{middle, large}, Ends{small, large}}) {
      SCOPED_TRACE(::testing::Message() << alpha << " " << a.sigma << " " << b.sigma);
      const double length = distance(metric, a, b), above = vertical_distance(metric, a.sigma, b.sigma);
      EXPECT_NEAR(distance(metric, b, a), length, 1e-12 * length);
      EXPECT_GE(length, above * (1 - 1e-8));  // the quotient of the scales may have few digits
      EXPECT_LE(length, above * (1 + 1e-8) + 20);
    }
    const Geodesic g = geodesic(metric, small, middle);
    for (const double s : {1e-9, 0.3, 0.6, 1 - 1e-9}) {
      const HalfPlanePoint p = g.at(s);
      EXPECT_NEAR(distance(metric, small, p), s * g.length(), 1e-9 * g.length()) << alpha << " " << s;
    }
  }
}

TEST(Metric, BadInputIsNamed) {
  EXPECT_EQ(message_of<std::domain_error>([] { FenchelYoungMetric(0.25); }),
            "fenchel::fenchel_young_metric: alpha must be above 1/3 and finite, got 0.25");
  EXPECT_EQ(message_of<std::domain_error>([] { FenchelYoungMetric{kInf}; }),
            "fenchel::fenchel_young_metric: alpha must be above 1/3 and finite, got inf");
  const FenchelYoungMetric metric(1.5);
  EXPECT_EQ(message_of<std::domain_error>([&] {
              (void)geodesic(metric, {0, 0}, {1, 1});
            }),
            "fenchel::geodesic: sigma must be positive and finite, got 0");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              (void)geodesic(metric, {kInf, 1}, {1, 1});
            }),
            "fenchel::geodesic: mu must be finite, got inf");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              (void)geodesic(metric, {0, 1}, {1, 1}).at(2);
            }),
            "fenchel::geodesic: s must be in [0, 1], got 2");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)geodesic_of_diracs(metric, 1, 1); }),
            "fenchel::geodesic_of_diracs: b must differ from a, got 1");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)geodesic_of_diracs(metric, testing::kNaN, 1); }),
            "fenchel::geodesic_of_diracs: a must be finite, got nan");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)vertical_distance(metric, -1, 1); }),
            "fenchel::vertical_distance: sigma must be finite and not negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)vertical_distance(metric, 0, 0); }),
            "fenchel::vertical_distance: the larger sigma must be positive and finite, got 0");
  const FenchelYoungMetric flat(1e3);
  EXPECT_EQ(message_of<std::domain_error>([&] {
              (void)geodesic(flat, {0, 1}, {1, 1});
            }),
            "fenchel::geodesic: alpha must leave sigma between the ends in the range of doubles, got 1000");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)geodesic_of_diracs(flat, 0, 1); }),
            "fenchel::geodesic_of_diracs: alpha must leave sigma between the ends in the range of doubles, "
            "got 1000");
  EXPECT_TRUE(std::isnan(metric.tensor(-1)[0]));
  EXPECT_TRUE(std::isnan(metric.curvature(0)));
}

}  // namespace
}  // namespace fenchel
