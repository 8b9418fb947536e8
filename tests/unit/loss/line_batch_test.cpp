#include "fenchel/loss/line_batch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "support/differences.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::message_of;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kFamilies = {LineFamily::beta_laplace,      LineFamily::truncated_gaussian,
                                  LineFamily::capped_triangular, LineFamily::capped_parabola,
                                  LineFamily::smooth_triangular, LineFamily::smooth_parabola};
constexpr std::array kAtANumber = {LineStatistic::log_pdf, LineStatistic::cdf, LineStatistic::quantile,
                                   LineStatistic::cross_omega};
constexpr std::array kWhole = {LineStatistic::half_width, LineStatistic::variance, LineStatistic::entropy,
                               LineStatistic::tsallis_entropy};

struct Point {
  double x, shape, scale;
};

double value(LineFamily family, LineStatistic function, Point at) {
  const bool whole = function >= LineStatistic::half_width;
  double out = 0;
  line_batch(family, function, {{&at.x, whole ? 0U : 1U}, {&at.shape, 1}, {&at.scale, 1}}, {&out, 1});
  return out;
}

std::array<double, 3> gradient(LineFamily family, LineStatistic function, Point at) {
  const bool whole = function >= LineStatistic::half_width;
  std::array<double, 3> out{};
  line_batch_gradient(family, function, {{&at.x, whole ? 0U : 1U}, {&at.shape, 1}, {&at.scale, 1}},
                      Rows<double>(out.data(), 1, 3));
  return out;
}

/// Shapes that all families have, and some of one.
std::vector<double> shapes_of(LineFamily family) {
  if (family == LineFamily::beta_laplace) return {0.8, 1, 1 + 1e-8, 4. / 3, 1.5, 2, 5, 1e3};
  if (family == LineFamily::truncated_gaussian) return {1.001, 1.3, 2, 10, 1e4};
  return {1e-7, 1e-3, 0.1, 0.7, 3, 100};
}

void expect_differences(LineFamily family, LineStatistic function, Point at) {
  const auto got = gradient(family, function, at);
  const auto along = [&](int which) {
    double Point::*const parts[] = {&Point::x, &Point::shape, &Point::scale};
    const double h = 1e-5 * std::abs(at.*parts[which]);
    const auto moved = [&](double t) {
      Point there = at;
      there.*parts[which] += t;
      return value(family, function, there);
    };
    return testing::slope_of(moved, 0, h);
  };
  const bool whole = function >= LineStatistic::half_width;
  for (int which = whole ? 1 : 0; which < 3; ++which) {
    const double want = along(which), got_here = got[static_cast<std::size_t>(which)];
    const double size = std::abs(value(family, function, at)) / (which == 1   ? at.shape
                                                                 : which == 2 ? at.scale
                                                                              : std::abs(at.x));
    EXPECT_NEAR(got_here, want, 1e-6 * std::abs(want) + 2e-8 * size)
        << static_cast<int>(family) << ' ' << static_cast<int>(function) << ' ' << which << " at " << at.x
        << ' ' << at.shape << ' ' << at.scale;
  }
}

TEST(LineBatch, DerivativesAreThoseOfDifferences) {
  for (const LineFamily family : kFamilies) {
    for (const double shape : shapes_of(family)) {
      for (const double scale : {0.3, 1.7}) {
        const double width = std::sqrt(value(family, LineStatistic::variance, {0, shape, scale}));
        for (const LineStatistic function : kAtANumber) {
          for (const double part : {-1.1, -0.35, 0.2, 0.8}) {
            const bool probability = function == LineStatistic::quantile;
            expect_differences(family, function,
                               {probability ? std::abs(part) / 1.2 : part * width, shape, scale});
          }
        }
        if (shape == 1e-7) continue;  // differences see no width move
        for (const LineStatistic function : kWhole) {
          if (std::isinf(value(family, function, {0, shape * (1 - 1e-5), scale}))) continue;
          expect_differences(family, function, {0, shape, scale});
        }
      }
    }
  }
}

/// At gamma = 0 they are one-sided, and the limits of those that follow.
TEST(LineBatch, DerivativesAtGammaZeroAreLimits) {
  for (const LineFamily family : {LineFamily::capped_triangular, LineFamily::capped_parabola,
                                  LineFamily::smooth_triangular, LineFamily::smooth_parabola}) {
    for (const LineStatistic function : {LineStatistic::log_pdf, LineStatistic::cdf, LineStatistic::quantile,
                                         LineStatistic::variance, LineStatistic::tsallis_entropy}) {
      const auto at_zero = gradient(family, function, {0.3, 0, 1.2}),
                 near = gradient(family, function, {0.3, 1e-9, 1.2});
      const bool smooth = family >= LineFamily::smooth_triangular;
      for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_NEAR(at_zero[k], near[k], (smooth ? 2e-3 : 1e-2) * (1 + std::abs(near[k])))
            << static_cast<int>(family) << ' ' << static_cast<int>(function) << ' ' << k;
      }
    }
  }
}

TEST(LineBatch, ValuesAreThoseOfTheFamilies) {
  const BetaLaplace p(1.5, 0, 2);
  EXPECT_EQ(value(LineFamily::beta_laplace, LineStatistic::log_pdf, {0.3, 1.5, 2}), log_pdf(p, 0.3));
  EXPECT_EQ(value(LineFamily::beta_laplace, LineStatistic::tsallis_entropy, {0, 1.5, 2}),
            tsallis_entropy(p, 1.5));
  const TruncatedGaussian q(2, 0, 0.5);
  EXPECT_EQ(value(LineFamily::truncated_gaussian, LineStatistic::cdf, {-0.2, 2, 0.5}), cdf(q, -0.2));
  EXPECT_EQ(value(LineFamily::truncated_gaussian, LineStatistic::half_width, {0, 2, 0.5}), q.half_width());
  const SmoothTriangular r(0.5, 0, 3);
  EXPECT_EQ(value(LineFamily::smooth_triangular, LineStatistic::quantile, {0.8, 0.5, 3}), quantile(r, 0.8));
  EXPECT_EQ(value(LineFamily::smooth_triangular, LineStatistic::entropy, {0, 0.5, 3}), entropy(r));
  EXPECT_EQ(line_family("smooth_parabola"), LineFamily::smooth_parabola);
  EXPECT_EQ(line_statistic("tsallis_entropy"), LineStatistic::tsallis_entropy);
}

TEST(LineBatch, EdgesAndInfinityHaveNoSilentNumbers) {
  const double inf = kInfinity;
  EXPECT_EQ(value(LineFamily::beta_laplace, LineStatistic::log_pdf, {9, 2, 1}), -inf);
  EXPECT_EQ(gradient(LineFamily::beta_laplace, LineStatistic::log_pdf, {9, 2, 1}), (std::array<double, 3>{}));
  EXPECT_EQ(gradient(LineFamily::beta_laplace, LineStatistic::cdf, {0.2, inf, 1}),
            (std::array<double, 3>{1, 0, 0}));
  EXPECT_EQ(gradient(LineFamily::beta_laplace, LineStatistic::entropy, {0, inf, 1}),
            (std::array<double, 3>{}));
  EXPECT_TRUE(std::isnan(value(LineFamily::smooth_parabola, LineStatistic::quantile, {1.1, 1, 1})));
  EXPECT_TRUE(std::isnan(value(LineFamily::smooth_parabola, LineStatistic::cdf, {kNaN, 1, 1})));
  EXPECT_TRUE(std::isnan(value(LineFamily::smooth_parabola, LineStatistic::cdf, {0, kNaN, 1})));
  for (const LineFamily family : kFamilies) {
    const auto edge = gradient(family, LineStatistic::quantile, {1, 1.5, 2});
    const auto width = gradient(family, LineStatistic::half_width, {0, 1.5, 2});
    EXPECT_EQ(edge[1], width[1]) << static_cast<int>(family);
    EXPECT_EQ(edge[2], width[2]) << static_cast<int>(family);
  }
}

TEST(LineBatch, FenchelYoungIsZeroAtTheTargetAndHasItsGradient) {
  for (const LineFamily family : kFamilies) {
    const Point q{0.2, 1.5, 0.8};
    const auto loss = [&](Point p) {
      double out = 0;
      std::array<double, 3> slopes{};
      line_batch_fenchel_young(family, {{&p.x, 1}, {&p.shape, 1}, {&p.scale, 1}},
                               {{&q.x, 1}, {&q.shape, 1}, {&q.scale, 1}}, {&out, 1},
                               Rows<double>(slopes.data(), 1, 3));
      return std::pair(out, slopes);
    };
    EXPECT_NEAR(loss(q).first, 0, 1e-12) << static_cast<int>(family);
    const Point p{0.5, 1.5, 1.1};
    const auto [value, slopes] = loss(p);
    EXPECT_GT(value, 0.001);
    const auto along = [&](double Point::*part) {
      return testing::slope_of(
          [&](double t) {
            Point there = p;
            there.*part += t;
            return loss(there).first;
          },
          0, 1e-4);
    };
    EXPECT_NEAR(slopes[0], along(&Point::x), 1e-6) << static_cast<int>(family);
    EXPECT_NEAR(slopes[1], along(&Point::shape), 1e-6) << static_cast<int>(family);
    EXPECT_NEAR(slopes[2], along(&Point::scale), 1e-6) << static_cast<int>(family);
  }
}

TEST(LineBatch, ErrorsNameTheParameter) {
  EXPECT_EQ(message_of<std::domain_error>([] {
              static_cast<void>(value(LineFamily::truncated_gaussian, LineStatistic::cdf, {0, 0.5, 1}));
            }),
            "fenchel::truncated_gaussian: kappa must be > 1 and finite, got 0.5");
  EXPECT_EQ(message_of<std::invalid_argument>([] { static_cast<void>(line_family("normal")); }),
            "fenchel::line_family: name must be one of them, got normal");
  const std::array<double, 2> two{1, 1};
  double out = 0;
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              line_batch(LineFamily::beta_laplace, LineStatistic::variance, {{}, two, two}, {&out, 1});
            }),
            "fenchel::line_batch: shape.size() must equal the number of rows, 1, got 2");
}

}  // namespace
}  // namespace fenchel
