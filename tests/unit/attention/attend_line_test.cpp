#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/quadrature/gauss_kronrod.hpp"
#include "fenchel/attention/attend.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "support/attention_line.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace elsewhere {

/// A basis that somebody else wrote.
struct Ramps {
  [[nodiscard]] fenchel::index_t size() const { return 2; }
};
Eigen::VectorXd evaluate(const Ramps&, double t) { return Eigen::Vector2d(t, 2 * t + 1); }

}  // namespace elsewhere

namespace fenchel {
namespace {

using testing::golden_rows;
using testing::kInf;
using testing::kLineAttention;
using testing::kLineMu;
using testing::kLineSigma2;
using testing::kNaN;
using testing::message_of;

const std::vector<double> kLineAlphas{0.4,
                                      0.8,
                                      std::nextafter(1.0, 0.0),
                                      1,
                                      std::nextafter(1.0, 2.0),
                                      1 + 1e-8,
                                      1.1,
                                      4.0 / 3,
                                      1.5,
                                      1.7,
                                      2,
                                      3,
                                      5,
                                      1e6,
                                      kInf};

/// use(name, p) for a member of every family on the line.
template <class Use>
void for_each_family(double mu, double size, Use use) {
  use("BetaGaussian .8", BetaGaussian(0.8, mu, size * size));
  use("BetaGaussian 3/2", BetaGaussian(1.5, mu, size * size));
  use("BetaLaplace .8", BetaLaplace(0.8, mu, size));
  use("BetaLaplace 1", BetaLaplace(1, mu, size));
  use("BetaLaplace 2", BetaLaplace(2, mu, size));
  use("BetaLaplace 5", BetaLaplace(5, mu, size));
  use("TruncatedGaussian", TruncatedGaussian(1.3, mu, size * size));
  use("LocationScale", LocationScale(LocationScaleScore([](double x) { return x * x * x / 6; },
                                                        [](double x) { return x * x / 2; }, mu, size)));
  use("CappedTriangular", CappedTriangular(0.3, mu, size));
  use("CappedParabola", CappedParabola(0.3, mu, size * size));
  use("SmoothTriangular", SmoothTriangular(0.1, mu, size));
  use("SmoothParabola", SmoothParabola(0.1, mu, size * size));
  use("NumericDensity",
      NumericDensity([=](double t) { return -std::abs(t - mu) / size + std::log1p(std::abs(t - mu)); },
                     {{-kInf, mu - size}, {mu, kInf}}, {mu - size, mu}));
}

/// int p psi by the sum of dense Gauss-Kronrod pieces about the function and the density.
template <class P>
double brute_force(const P& p, double mean, double width) {
  std::vector<double> ends;
  for (const Interval& piece : detail::pieces(support(p))) {
    const double lower = std::max(piece.lower(), mean - 39 * width);
    const double upper = std::min(piece.upper(), mean + 39 * width);
    if (!(lower < upper)) continue;
    constexpr int kPieces = 200;
    // geometric about both ends, so that an edge or a kink at the end is seen
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i <= kPieces / 2; ++i) {
        const double share = 0.5 * std::exp2(-45.0 * i / (kPieces / 2));
        ends.push_back(side == 0 ? lower + (upper - lower) * share : upper - (upper - lower) * share);
      }
    }
    for (int i = 0; i <= kPieces; ++i) ends.push_back(lower + (upper - lower) * i / kPieces);
  }
  for (const double knot : detail::knots(p)) {
    ends.push_back(knot);
    for (int i = 0; i < 60; ++i)
      for (const double side : {-1.0, 1.0}) ends.push_back(knot + side * width * std::exp2(-i / 2.0));
  }
  for (int i = -80; i <= 80; ++i) ends.push_back(mean + width * i / 2);
  std::sort(ends.begin(), ends.end());
  const auto product = [&](double t) {
    const double z = (t - mean) / width;
    return pdf(p, t) * std::exp(-z * z / 2);
  };
  double sum = 0;
  for (std::size_t i = 1; i < ends.size(); ++i)
    sum += detail::gauss_kronrod(product, ends[i - 1], ends[i]).value;
  return sum / (std::sqrt(2 * std::numbers::pi) * width);
}

TEST(AttendLine, GoldenRows74To83) {
  for (const auto& row : kLineAttention) {
    const BetaGaussian p(row.alpha, kLineMu, kLineSigma2);
    const double r = attend(p, GaussianBasis({row.mean}, {row.width}))[0];
    EXPECT_NEAR(r, row.value, 1e-12 * row.value) << row.alpha << " " << row.mean << " " << row.width;
  }
}

/// The generic way is what the kernel is checked against, and the other way around.
TEST(AttendLine, QuadratureAgreesWithTheGoldenRows) {
  for (const auto& row : kLineAttention) {
    const BetaGaussian p(row.alpha, kLineMu, kLineSigma2);
    const GaussianBasis psi({row.mean}, {row.width});
    const double r = detail::with_line_density(p, [&](const detail::LineDensityView& density) {
      return detail::gaussian_expectation(density, line_function(psi, 0), row.mean, row.width);
    });
    EXPECT_NEAR(r, row.value, 1e-12 * row.value) << row.alpha << " " << row.mean << " " << row.width;
  }
}

/// The kernel and quadrature share no code: widths from 1e-4 to 1e3 of the density's, means up to 30 widths
/// beyond four of its sizes.
TEST(AttendLine, TheKernelAndQuadratureAgree) {
  constexpr double kBound = 1e-12;
  Philox rng(7);
  for (const double alpha : {0.5, 0.8, 0.97, std::nextafter(1.0, 0.0), 1.0, std::nextafter(1.0, 2.0),
                             1 + 1e-6, 1.1, 4.0 / 3, 1.5, 1.7, 2.0, 3.0, 10.0, kInf}) {
    for (int i = 0; i < 60; ++i) {
      const double sigma2 = std::exp(6 * uniform01(rng) - 3), mu = 2 * uniform01(rng) - 1;
      const BetaGaussian p(alpha, mu, sigma2);
      const double size = survival_quantile(p, 0.1) - quantile(p, 0.1);
      const double width = size * std::pow(10, 7 * uniform01(rng) - 4);
      const double mean = mu + (2 * uniform01(rng) - 1) * (4 * size + 30 * width);
      const GaussianBasis psi({mean}, {width});
      const double r = attend(p, psi)[0],
                   want = detail::with_line_density(p, [&](const auto&density) {
                     return detail::gaussian_expectation(density, line_function(psi, 0), mean, width);
                   });
      EXPECT_GE(r, 0);
      if (want < 1e-30 * std::min(1 / width, pdf(p, mu))) continue;
      EXPECT_NEAR(r, want, kBound * want)
          << alpha << " " << sigma2 << " " << mu << " " << mean << " " << width;
    }
  }
}

TEST(AttendLine, GaussianFunctionsUnderEveryFamily) {
  const double mu = 0.4, size = 0.7;
  const std::vector<std::array<double, 2>> functions = {
      {0.5, 0.3}, {0.4, 1e-4}, {0.7, 1e-3}, {0.9, 50}, {0.2, 1e3}, {4, 0.4}, {-6, 0.3}, {3, 0.1}, {0.3, 2}};
  for_each_family(mu, size, [&](const char* name, const auto& p) {
    for (const auto& [mean, width] : functions) {
      const double r = attend(p, GaussianBasis({mean}, {width}))[0], want = brute_force(p, mean, width);
      EXPECT_NEAR(r, want, 1e-10 * want) << name << " " << mean << " " << width;
      EXPECT_GE(r, 0);
    }
  });
}

TEST(AttendLine, FunctionsFarOutsideOfTheSupportAreNotLost) {
  for_each_family(0.0, 0.5, [](const char* name, const auto& p) {
    for (const double width : {1e-3, 0.05, 3.0}) {
      const double mean = 2.5 + 25 * width;
      const double r = attend(p, GaussianBasis({mean}, {width}))[0], want = brute_force(p, mean, width);
      EXPECT_NEAR(r, want, 1e-10 * want) << name << " " << width;
    }
  });
}

TEST(AttendLine, ShiftAndScaleChangeNothingButUnits) {
  const auto check = [](const auto& p, const auto& q, double shift, double unit) {
    const double r = attend(p, GaussianBasis({0.8}, {0.2}))[0];
    const double moved = attend(q, GaussianBasis({shift + 0.8 * unit}, {0.2 * unit}))[0];
    EXPECT_NEAR(moved * unit, r, 1e-10 * r);
  };
  check(TruncatedGaussian(1.5, 0.1, 1), TruncatedGaussian(1.5, 0.1e-6, 1e-12), 0, 1e-6);
  check(TruncatedGaussian(1.5, 0.1, 1), TruncatedGaussian(1.5, 1e5 + 0.1, 1), 1e5, 1);
  check(CappedTriangular(0.2, 0.1, 1), CappedTriangular(0.2, 0.1e6, 1e12), 0, 1e6);
}

/// 40 digits, by 30 Gauss nodes on panels that shrink to the edges of the support.
/// mpmath.quad errs by 5e-8 at some of the points.
TEST(AttendLine, LaplaceFarOutsideOfTheSupportAgainstFortyDigits) {
  struct Point {
    double alpha, mu, b, mean, width, want;
  };
  for (const Point& at : {Point{1000, -29.75268443704732, 4.501846537875285, -30.256865316115555,
                                0.0002187766201002759, 1.175811036890422965e-167},
                          Point{1000, -11.0010764711251, 0.4099761441311952, -10.442191592218332,
                                0.0024832725676623884, 1.4293007229763062497e-137},
                          Point{1.1, 0.3827571602707609, 1.3763213070079707, 44.344457873295646,
                                2.1918916776254083, 1.1705592989922770656e-59},
                          Point{1.3, 0.0413259793472436, 0.09778043484747923, 1.548986794329838,
                                0.027787552143246203, 2.0892446788130808097e-293},
                          Point{1.5, -36.626701885025206, 0.06064995411186192, -36.907374797813446,
                                9.698516912588194e-05, 7.459620148141078043e-9},
                          Point{1.5, 0x1p17, 1e-8, 0x1p17 + 0x1p-18, 1e-6, 55851.090004657326813}}) {
    const double got = attend(BetaLaplace(at.alpha, at.mu, at.b), GaussianBasis({at.mean}, {at.width}))[0];
    EXPECT_NEAR(got, at.want, 1e-10 * at.want) << at.alpha << " " << at.mean;
  }
}

TEST(AttendLine, PolynomialsAreMoments) {
  for (const double alpha : kLineAlphas) {
    const BetaGaussian p(alpha, 0.3, 0.64);
    const Eigen::VectorXd r = attend(p, PolynomialBasis(6));
    for (int k = 0; k <= 6; ++k) {
      const double want = moment(p, k);
      if (!std::isfinite(want)) continue;
      EXPECT_NEAR(r[k], want, 1e-14 * std::abs(want)) << alpha << " " << k;
    }
    EXPECT_EQ(r[0], 1);
    EXPECT_NEAR(r[1], 0.3, 1e-16);
  }
  for_each_family(0.4, 0.7, [](const char* name, const auto& p) {
    const PolynomialBasis psi(3, 1, 2);
    const Eigen::VectorXd r = attend(p, psi);
    EXPECT_NEAR(r[0], 1, 1e-15) << name;
    EXPECT_NEAR(1 + 2 * r[1], mean(p), 1e-12) << name;
    EXPECT_NEAR(4 * (r[2] - r[1] * r[1]), variance(p), 1e-12 * variance(p)) << name;
    const auto cube = [](double t) { return (t - 1) / 2 * ((t - 1) / 2) * ((t - 1) / 2); };
    EXPECT_NEAR(r[3], expectation(p, cube), 2e-9 * (1 + std::abs(r[3]))) << name;
  });
}

TEST(AttendLine, MomentsThatDoNotExist) {
  const Eigen::VectorXd r = attend(BetaGaussian(0.4, 0.3, 0.64), PolynomialBasis(4, 0.1));  // nu = 7/3
  EXPECT_TRUE(std::isfinite(r[2]));
  EXPECT_TRUE(std::isnan(r[3]));
  EXPECT_EQ(r[4], kInf);
}

TEST(AttendLine, ACentreAndAWidthKeepHighDegrees) {
  const BetaGaussian p(2, 1e6, 1e-3);
  const double width = p.half_width();
  const Eigen::VectorXd r = attend(p, PolynomialBasis(20, 1e6, width));
  EXPECT_NEAR(r[20], 3.0 / (21 * 23), 1e-15);  // E x^20 under 3/4 (1 - x^2)
}

TEST(AttendLine, WavesAgreeWithTheGoldenTable) {
  for (const auto& row : golden_rows("characteristic_function.txt")) {
    const double alpha = row[0], sigma2 = row[1], frequency = row[2], mu = 0.3;
    const FourierBasis psi(1, 2 * std::numbers::pi / frequency);
    const Eigen::VectorXd r = attend(BetaGaussian(alpha, mu, sigma2), psi);
    EXPECT_EQ(r[0], 1);
    EXPECT_NEAR(r[1], row[3] * std::cos(frequency * mu), 2e-14) << alpha << " " << sigma2 << " " << frequency;
    EXPECT_NEAR(r[2], row[3] * std::sin(frequency * mu), 2e-14) << alpha << " " << sigma2 << " " << frequency;
  }
}

TEST(AttendLine, WavesAgreeWithQuadrature) {
  const FourierBasis psi(3, 2.5);
  for (const double alpha : kLineAlphas) {
    if (alpha < 0.5) continue;  // the tail oscillates too far out
    const BetaGaussian p(alpha, 0.3, 0.64);
    const Eigen::VectorXd r = attend(p, psi);
    for (index_t j = 0; j < psi.size(); ++j) {
      const double want = detail::with_line_density(p, [&](const detail::LineDensityView& density) {
        return detail::line_expectation(density, line_function(psi, j));
      });
      EXPECT_NEAR(r[j], want, 1e-11) << alpha << " " << j;
    }
  }
  const BetaGaussian uniform = BetaGaussian::uniform(1, 4);  // no prediction: its own constants count
  const double w = psi.frequency(2);
  EXPECT_NEAR(attend(uniform, psi)[3], (std::sin(4 * w) - std::sin(w)) / (3 * w), 1e-15);
  EXPECT_NEAR(attend(uniform, GaussianBasis({2}, {100}))[0], 1 / (std::sqrt(2 * std::numbers::pi) * 100),
              1e-6);
}

TEST(AttendLine, AnyCallable) {
  const FunctionBasis psi(
      {[](double t) { return t > 0.55 ? 1.0 : 0.0; }, [](double t) { return std::abs(t - 0.55); }}, {0.55});
  for_each_family(0.4, 0.7, [&](const char* name, const auto& p) {
    const Eigen::VectorXd r = attend(p, psi);
    EXPECT_NEAR(r[0], survival(p, 0.55), 1e-10) << name;
    const double want = expectation(
        p, [](double t) { return std::abs(t - 0.55); }, 1e-9);
    EXPECT_NEAR(r[1], want, 2e-9 * want) << name;
  });
}

/// Beside the mode, where panels begin, and elsewhere: one rule alone did not see these steps.
TEST(AttendLine, HiddenStepsAreFound) {
  const BetaGaussian p(2, 0, 1);
  for (const double share : {1, 2, 5, 7}) {
    const double step = share / 4000 * p.half_width();
    const FunctionBasis basis({[step](double t) { return t > step ? 1.0 : 0.0; }});
    EXPECT_NEAR(attend(p, basis)[0], survival(p, step), 1e-9) << share;
  }
}

TEST(AttendLine, ConcatenationIsItsParts) {
  const PolynomialBasis first(2);
  const GaussianBasis second({0, 1}, {1, 0.01});
  const FourierBasis third(1, 2);
  const FunctionBasis fourth({[](double t) { return std::tanh(t); }});
  const auto check = [&](const auto& p) {
    const Eigen::VectorXd r = attend(p, ConcatenatedBasis(first, ConcatenatedBasis(second, third), fourth));
    Eigen::VectorXd want(9);
    want << attend(p, first), attend(p, second), attend(p, third), attend(p, fourth);
    EXPECT_EQ(r, want);
  };
  check(BetaGaussian(1.5, 0.2, 0.3));
  check(TruncatedGaussian(1.5, 0.2, 0.3));
  check(SparsePoisson(2, 3.1));
}

TEST(AttendLine, ABasisOfYourOwnNeedsSizeAndEvaluate) {
  const BetaGaussian p(1.5, 0.2, 0.3);
  const Eigen::VectorXd r = attend(p, elsewhere::Ramps{});
  EXPECT_NEAR(r[0], 0.2, 1e-12);
  EXPECT_NEAR(r[1], 1.4, 1e-12);
  EXPECT_EQ(attend(p, ConcatenatedBasis(elsewhere::Ramps{}, PolynomialBasis(1))).head(2), r);
}

TEST(AttendLine, IntegersAreSums) {
  const SparsePoisson p(1.5, 3.1);
  const GaussianBasis psi({2.2}, {0.7});
  double want = 0;
  for (index_t t = 0; t < 30; ++t) want += pmf(p, t) * evaluate(psi, static_cast<double>(t))[0];
  EXPECT_NEAR(attend(p, psi)[0], want, 1e-15);
  EXPECT_NEAR(attend(p, PolynomialBasis(1))[1], mean(p), 1e-15);
}

TEST(AttendLine, ASupportThatDoublesDoNotResolveIsAnError) {
  EXPECT_EQ(
      message_of<ConvergenceError>([] { (void)attend(BetaLaplace(2, 1e308, 0.5), FourierBasis(2, 1)); }),
      "fenchel::attend: the width of the support must be resolved by doubles near its centre, got 0");
}

TEST(AttendLine, AValueThatIsNoneIsNamed) {
  const FunctionBasis psi({[](double) { return kNaN; }});
  const std::string message =
      message_of<std::domain_error>([&] { (void)attend(BetaGaussian(2, 0, 1), psi); });
  EXPECT_EQ(message.substr(0, 21), "fenchel::attend: psi(");
  EXPECT_NE(message.find(") must be a number, got nan"), std::string::npos) << message;
}

TEST(AttendLine, AnExpectationThatDoesNotExistIsAnError) {
  const FunctionBasis psi({[](double t) { return std::exp(t); }});
  EXPECT_EQ(message_of<ConvergenceError>([&] { (void)attend(BetaGaussian(0.8, 0, 1), psi); }),
            "fenchel::attend: the estimated relative error must reach 1e-10, got inf");
}

}  // namespace
}  // namespace fenchel
