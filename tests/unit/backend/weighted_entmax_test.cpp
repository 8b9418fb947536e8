#include "fenchel/backend/cpu/weighted_entmax.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/core/deformed.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "unit/backend/one_row.hpp"

namespace fenchel {
namespace {

using cpu::ClassTargets;
using cpu::SoftTargets;
using testing::kAlphas;
using testing::kInf;
using testing::kNaN;
using testing::out;
using testing::row;

template <class Real = double>
std::vector<Real> predict(double alpha, const std::vector<Real>& z, const std::vector<Real>& w,
                          double* normalizer = nullptr) {
  std::vector<Real> p(z.size());
  cpu::weighted_entmax(row(z), row(w), alpha, out(p), {.normalizer = normalizer});
  return p;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}
double largest(const std::vector<double>& x) {
  double result = 0;
  for (const double value : x) result = std::max(result, std::abs(value));
  return result;
}

/// A gradient of one row with memory of its own.
struct Gradient {
  std::vector<double> scores, weights;
  double alpha = 0;

  explicit Gradient(std::size_t n) : scores(n), weights(n) {}
  cpu::NodeGradient<double> views() { return {out(scores), out(weights), {&alpha, 1}}; }
  [[nodiscard]] double along(const testing::GoldenBlock& b) const {
    return dot(scores, b.at("d_scores")) + dot(weights, b.at("d_weights")) + alpha * b.at("d_alpha")[0];
  }
  [[nodiscard]] double size(const testing::GoldenBlock& b) const {
    double sum = std::abs(alpha * b.at("d_alpha")[0]);
    for (std::size_t i = 0; i < scores.size(); ++i)
      sum += std::abs(scores[i] * b.at("d_scores")[i]) + std::abs(weights[i] * b.at("d_weights")[i]);
    return sum;
  }
};

cpu::NodeDirection<double> direction_of(const testing::GoldenBlock& b) {
  return {row(b.at("d_scores")), row(b.at("d_weights")), b.at("d_alpha")};
}

/// The differences of the table where the truth is 0.
constexpr double kNothing = 1e-60;

template <class Check>
void for_each_block(Check check) {
  for (const auto& b : testing::golden_blocks("weighted_entmax.txt")) {
    SCOPED_TRACE(::testing::Message() << "alpha = " << b.at("alpha")[0] << ", " << b.at("scores").size()
                                      << " scores from " << b.at("scores")[0]);
    check(b, b.at("alpha")[0], b.at("scores"), b.at("weights"));
  }
}

TEST(WeightedEntmax, MatchesTheTable) {
  for_each_block([](const auto& b, double alpha, const auto& z, const auto& w) {
    double normalizer = 0;
    const auto p = predict(alpha, z, w, &normalizer);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p[i], b.at("p")[i], 4e-14 * b.at("p")[i] + 4e-16);
    EXPECT_NEAR(normalizer, b.at("normalizer")[0], 4e-14 * std::abs(b.at("normalizer")[0]) + 1e-14);
    if (std::abs(z[0]) > 1e5) return;  // float cannot tell these scores apart
    const std::vector<float> z32(z.begin(), z.end()), w32(w.begin(), w.end());
    const std::vector<double> z64(z32.begin(), z32.end()), w64(w32.begin(), w32.end());
    const auto p32 = predict(alpha, z32, w32);
    const auto expected = predict(alpha, z64, w64);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(p32[i], expected[i], 6e-8 * expected[i] + 1e-44);
  });
}

TEST(WeightedEntmax, DerivativesMatchTheTable) {
  for_each_block([](const auto& b, double alpha, const auto& z, const auto& w) {
    const auto p = predict(alpha, z, w);
    const auto& g = b.at("cotangent");
    const auto direction = direction_of(b);
    std::vector<double> tangent(z.size());
    cpu::weighted_entmax_jvp(row(p), row(w), alpha, direction, out(tangent));
    const double scale = largest(b.at("tangent"));
    // Past alpha = 2 the smallest probabilities have derivatives like p^{2-alpha}: their own error grows so.
    const double bound = alpha > 2 ? 1e-9 : 1e-12;
    for (std::size_t i = 0; i < p.size(); ++i)
      EXPECT_NEAR(tangent[i], b.at("tangent")[i], bound * scale + kNothing) << i;
    Gradient gradient(z.size());
    cpu::weighted_entmax_vjp(row(p), row(w), alpha, row(g), gradient.views());
    EXPECT_NEAR(gradient.along(b), dot(g, b.at("tangent")), bound * (0.01 + scale + gradient.size(b)));
    if (alpha > 10) return;  // s = w p^{2-alpha} is past the largest number
    Gradient product(z.size());
    cpu::weighted_entmax_vjp_vjp(row(p), row(w), alpha, row(g), direction, product.views());
    const double second = b.at("second")[0];
    EXPECT_NEAR(product.along(b), second, 10 * bound * (0.01 + std::abs(second) + product.size(b)));
  });
}

TEST(WeightedEntmax, LossesMatchTheTable) {
  for_each_block([](const auto& b, double alpha, const auto& z, const auto& w) {
    const auto& q = b.at("target");
    const auto label = static_cast<index_t>(b.at("label")[0]);
    const SoftTargets<double> soft{row(q)};
    const ClassTargets classes{{&label, 1}};
    const auto near = [&](double got, double expected, double scale) {
      if (std::isinf(expected)) return;  // past the largest number
      EXPECT_NEAR(got, expected, 1e-11 * (scale + std::abs(expected)) + 1e-11);
    };
    for (const bool cross : {false, true}) {
      Gradient gradient(z.size());
      double loss = 0, of_class = 0;
      const cpu::WeightedLossOutputs<double> outputs{{&loss, 1}, gradient.views()}, only{{&of_class, 1}, {}};
      const auto run = [&](const auto& targets, const auto& to) {
        cross ? cpu::weighted_cross_omega<double>(row(z), row(w), alpha, targets, to)
              : cpu::weighted_entmax_loss<double>(row(z), row(w), alpha, targets, to);
      };
      run(soft, outputs);
      run(classes, only);
      const double size = std::abs(z[0]) > 1e5 ? 1e-4 : 0;  // of the scores' own rounding, in u = z - A
      near(loss, b.at("losses")[cross], size);
      near(of_class, b.at("class_losses")[cross], size);
      near(gradient.along(b), b.at("loss_slopes")[cross], gradient.size(b));
      Gradient product(z.size());
      const auto residual = gradient.scores;
      if (cross) {
        cpu::weighted_cross_omega_curvature<double>(row(residual), row(w), alpha, soft, direction_of(b),
                                                    product.views());
      } else {
        cpu::weighted_entmax_loss_curvature<double>(row(residual), row(w), alpha, soft, direction_of(b),
                                                    product.views());
      }
      if (alpha <= 2) near(product.along(b), b.at("loss_curvatures")[cross], 10 * product.size(b));
    }
  });
}

std::vector<double> normal(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution;
  std::vector<double> values(n);
  for (double& x : values) x = distribution(random);
  return values;
}
std::vector<double> positive(std::size_t n, unsigned seed) {
  auto values = normal(n, seed);
  for (double& x : values) x = std::exp(x);
  return values;
}

TEST(WeightedEntmax, WithOnesIsEntmax) {
  for (const double alpha : kAlphas) {
    const auto z = normal(200, 1);
    const auto p = predict(alpha, z, std::vector<double>(z.size(), 1.0));
    std::vector<double> expected(z.size());
    cpu::entmax(row(z), alpha, out(expected));
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(p[i], expected[i], 4e-16) << alpha;
  }
}

/// Where one score has nearly all of the weight, too.
TEST(WeightedEntmax, DerivativesWithOnesAreThoseOfEntmax) {
  for (const double alpha : {0.5, 1.0, 1.1, 1.5, 1.7, 2.0, 3.0}) {
    for (const double deviation : {1.0, 10.0, 100.0}) {
      for (const std::size_t n : {2u, 30u}) {
        auto z = normal(n, 11);
        for (double& x : z) x *= deviation;
        const std::vector<double> ones(n, 1.0);
        const auto p = predict(alpha, z, ones), g = normal(n, 12), v = normal(n, 13);
        std::vector<double> expected(n), tangent(n), second(n);
        cpu::entmax_vjp(row(p), alpha, row(g), out(expected));
        cpu::entmax_jvp(row(p), alpha, row(v), {}, out(tangent));
        cpu::entmax_vjp_vjp(row(p), alpha, row(g), row(v), {}, out(second));
        Gradient gradient(n), product(n);
        std::vector<double> found(n);
        cpu::weighted_entmax_vjp(row(p), row(ones), alpha, row(g), gradient.views());
        cpu::weighted_entmax_jvp(row(p), row(ones), alpha, {row(v)}, out(found));
        cpu::weighted_entmax_vjp_vjp(row(p), row(ones), alpha, row(g), {row(v)}, product.views());
        const auto near = [&](const std::vector<double>& got, const std::vector<double>& exact,
                              double bound) {
          for (std::size_t i = 0; i < n; ++i)
            ASSERT_NEAR(got[i], exact[i], bound) << alpha << ' ' << deviation << ' ' << n;
        };
        near(gradient.scores, expected, 1e-14 * largest(expected));
        near(found, tangent, 1e-14 * largest(tangent));
        double terms = 0;
        for (std::size_t i = 0; i < n; ++i)
          terms = std::max(terms, p[i] == 0 ? 0.0 : std::abs(expected[i] * tangent[i] / p[i]));
        near(product.scores, second, 1e-13 * terms);
      }
    }
  }
}

/// A node that is there k times is one of k times the weight; one of weight 0 is not there.
TEST(WeightedEntmax, WeightsRepeatNodes) {
  for (const double alpha : kAlphas) {
    const auto z = normal(9, 2), w = positive(9, 3);
    auto z_more = z, w_more = w;
    w_more[4] /= 4;
    for (int k = 0; k < 3; ++k) {
      z_more.push_back(z[4]);
      w_more.push_back(w_more[4]);
    }
    z_more.push_back(kNaN);
    w_more.push_back(0);
    const auto p = predict(alpha, z, w), more = predict(alpha, z_more, w_more);
    for (std::size_t i = 0; i < z.size(); ++i)
      EXPECT_NEAR(more[i], i == 4 ? p[i] / 4 : p[i], 1e-14) << alpha << ' ' << i;
    EXPECT_EQ(more.back(), 0);
  }
}

/// Weights c w and scores z c^{-am1} give the same probabilities: the density is divided by c.
TEST(WeightedEntmax, ScalingOfWeightsIsAScalingOfScores) {
  for (const double alpha : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    const double c = 4, factor = std::pow(c, 1 - alpha);
    auto z = normal(20, 4), w = positive(20, 5);
    const auto p = predict(alpha, z, w);
    for (double& x : z) x *= factor;
    for (double& x : w) x *= c;
    const auto scaled = predict(alpha, z, w);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(scaled[i], p[i], 4e-15) << alpha;
  }
}

TEST(WeightedEntmax, AtOneIsSoftmaxWithAPrior) {
  const auto z = normal(30, 6), w = positive(30, 7);
  double total = 0;
  for (std::size_t i = 0; i < z.size(); ++i) total += w[i] * std::exp(z[i]);
  const auto p = predict(1, z, w);
  for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(p[i], w[i] * std::exp(z[i]) / total, 1e-15);
}

/// No density exceeds one: the limit of large alpha.
TEST(WeightedEntmax, AtInfinityNodesFillUpFromTheTop) {
  const std::vector<double> z{3, 1, 2, 1, 0}, w{0.3, 0.25, 0.2, 0.75, 5};
  const auto p = predict(kInf, z, w);
  const std::vector<double> expected{0.3, 0.125, 0.2, 0.375, 0};
  const auto near = predict(1e9, z, w);
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_NEAR(p[i], expected[i], 1e-16);
    EXPECT_NEAR(near[i], expected[i], 1e-7);
  }
  const std::vector<double> small{0.1, 0.2, 0.1};
  const auto uniform = predict(kInf, {1, 2, 3}, small);
  for (std::size_t i = 0; i < small.size(); ++i) EXPECT_NEAR(uniform[i], small[i] / 0.4, 1e-16);
  // P moves with the weights alone.
  Gradient gradient(5);
  const std::vector<double> g{1, 2, -1, 0.5, 7};
  cpu::weighted_entmax_vjp(row(p), row(w), kInf, row(g), gradient.views());
  EXPECT_EQ(gradient.scores, std::vector<double>(5));
  EXPECT_EQ(gradient.alpha, 0);
  const double step = 1e-6;
  for (std::size_t i = 0; i < 5; ++i) {
    auto above = w, below = w;
    above[i] += step;
    below[i] -= step;
    const double slope = (dot(g, predict(kInf, z, above)) - dot(g, predict(kInf, z, below))) / (2 * step);
    EXPECT_NEAR(gradient.weights[i], slope, 1e-8) << i;
  }
}

TEST(WeightedEntmax, LossIsExactlyZeroAtThePrediction) {
  for (const double alpha : kAlphas) {
    const auto z = normal(12, 8), w = positive(12, 9);
    const auto p = predict(alpha, z, w);
    Gradient gradient(z.size());
    double loss = -1;
    cpu::weighted_entmax_loss<double>(row(z), row(w), alpha, SoftTargets<double>{row(p)},
                                      {{&loss, 1}, gradient.views()});
    EXPECT_EQ(loss, 0) << alpha;
    EXPECT_EQ(gradient.scores, std::vector<double>(z.size())) << alpha;
    if (std::isinf(alpha)) continue;
    EXPECT_EQ(gradient.weights, std::vector<double>(z.size())) << alpha;
    EXPECT_EQ(gradient.alpha, 0) << alpha;
  }
}

TEST(WeightedEntmax, NodesOfWeightZeroAndMasks) {
  const std::vector<double> z{kInf, 1, -kInf, 0}, w{0, 2, 1, 1};
  const auto p = predict(1.5, z, w);
  EXPECT_EQ(p[0], 0);
  EXPECT_EQ(p[2], 0);
  EXPECT_NEAR(p[1] + p[3], 1, 1e-16);
  const auto loss_of = [&](index_t label) {
    double loss = 0;
    cpu::weighted_entmax_loss<double>(row(z), row(w), 1.5, ClassTargets{{&label, 1}}, {{&loss, 1}, {}});
    return loss;
  };
  EXPECT_EQ(loss_of(0), kInf);
  EXPECT_EQ(loss_of(2), kInf);
  EXPECT_LT(loss_of(1), 1);
  for (const double bad : {kNaN, kInf}) {
    for (const double x : predict(1.5, {bad, 1}, {1, 1})) EXPECT_TRUE(std::isnan(x));
  }
  for (const double x : predict(1.5, {-kInf, 1}, {1, 0})) EXPECT_TRUE(std::isnan(x));
}

TEST(WeightedEntmax, RowsShareWeightsAndHaveAlphasOfTheirOwn) {
  const std::vector<float> z{1, 2, 3, 0.5F, 0.25F, 0, 3, 1, 2}, w{0.5F, 1, 2};
  const std::vector<double> alphas{1, 1.5, 3};
  std::vector<float> p(9);
  cpu::weighted_entmax<float>({z.data(), 3, 3}, {w.data(), 3, 3, 0}, alphas, {p.data(), 3, 3});
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<float> own(z.begin() + 3 * static_cast<int>(i),
                                 z.begin() + 3 * static_cast<int>(i) + 3);
    const auto expected = predict(alphas[i], own, w);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(p[3 * i + j], expected[j]);
  }
}

/// Equal scores have equal densities 1 / sum w, and s = P (sum w)^{am1}.
TEST(WeightedEntmax, WeightsAtTheEndsOfTheRangeOfDoubles) {
  const std::vector<double> z(4, 0.0), shares{0.125, 0.25, 0.125, 0.5}, g{1, -2, 0.5, 3};
  const double mean = dot(shares, g);
  for (const double total : {0x1p-1000, 1e-300, 1e300, 0x1p1000}) {
    auto w = shares;
    for (double& x : w) x *= total;
    for (const double alpha : {0.5, 0.8, 1.0, 1.2, 1.5, 1.9, 2.0}) {
      SCOPED_TRACE(::testing::Message() << total << " " << alpha);
      const auto p = predict(alpha, z, w);
      Gradient gradient(4);
      std::vector<double> tangent(4);
      cpu::weighted_entmax_vjp(row(p), row(w), alpha, row(g), gradient.views());
      cpu::weighted_entmax_jvp(row(p), row(w), alpha, {row(g), {}, {}}, out(tangent));
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_NEAR(p[i], shares[i], 1e-15);
        const double want = shares[i] * std::exp((alpha - 1) * std::log(total)) * (g[i] - mean);
        EXPECT_NEAR(gradient.scores[i], want, 1e-12 * std::abs(want));
        EXPECT_NEAR(tangent[i], want, 1e-12 * std::abs(want));
      }
    }
  }
}

TEST(WeightedEntmax, SaysWhatIsWrong) {
  const std::vector<double> z{1, 2}, w{1, -0.5}, nan{kNaN, 1}, infinite{1, kInf}, longer{1, 2, 3};
  std::vector<double> p(2);
  const auto run = [&](const std::vector<double>& weights, double alpha = 1.5) {
    return [&, alpha] { cpu::weighted_entmax(row(z), row(weights), alpha, out(p)); };
  };
  EXPECT_EQ(testing::message_of<std::domain_error>(run(w)),
            "fenchel::weighted_entmax: weights[0][1] must be finite and not negative, got -0.5");
  EXPECT_EQ(testing::message_of<std::domain_error>(run(nan)),
            "fenchel::weighted_entmax: weights[0][0] must be finite and not negative, got nan");
  EXPECT_EQ(testing::message_of<std::domain_error>(run(infinite)),
            "fenchel::weighted_entmax: weights[0][1] must be finite and not negative, got inf");
  EXPECT_EQ(testing::message_of<std::invalid_argument>(run(longer)),
            "fenchel::weighted_entmax: weights.cols must equal scores.cols = 2, got 3");
  EXPECT_EQ(testing::message_of<std::domain_error>(run(z, -1)),
            "fenchel::weighted_entmax: alpha must be positive, got -1");
}

}  // namespace
}  // namespace fenchel
