#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>

#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "support/differences.hpp"
#include "support/messages.hpp"
#include "unit/backend/smooth_sparsemax_reference.hpp"

namespace fenchel {
namespace {

using cpu::Chain;
using testing::kNaN;
using testing::message_of;
using testing::one_row;
using testing::smooth_row;

std::vector<double> noise(std::mt19937_64& rng, std::size_t n) {
  std::normal_distribution<double> normal;
  std::vector<double> x(n);
  for (double& value : x) value = normal(rng);
  return x;
}

double dot(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

std::vector<double> jvp(const std::vector<double>& p, double gamma, const std::vector<double>& d,
                        const std::vector<double>& weights = {}, double d_gamma = 0) {
  std::vector<double> out(p.size());
  cpu::smooth_sparsemax_jvp(one_row(p), gamma, one_row(d), {&d_gamma, 1}, one_row(out),
                            testing::weighted(weights));
  return out;
}

struct Pulled {
  std::vector<double> scores;
  double gamma;
};

Pulled vjp(const std::vector<double>& p, double gamma, const std::vector<double>& g,
           const std::vector<double>& weights = {}) {
  Pulled out{std::vector<double>(p.size()), 0};
  cpu::smooth_sparsemax_vjp(one_row(p), gamma, one_row(g), one_row(out.scores), {&out.gamma, 1},
                            testing::weighted(weights));
  return out;
}

/// Rows, weights, directions, gammas at which the map is smooth.
template <class Check>
void for_each_case(Check check) {
  std::mt19937_64 rng(11);
  for (const std::size_t n : {1, 2, 3, 6, 40}) {
    for (int repeat = 0; repeat < 3; ++repeat) {
      const auto z = noise(rng, n), d = noise(rng, n);
      const auto weights = repeat == 0 ? std::vector<double>{} : testing::random_weights(rng, n);
      for (const double gamma : {0.01, 0.5, 4.0, 100.0}) check(z, d, weights, gamma);
    }
  }
}

TEST(SmoothSparsemaxDerivatives, AgreeWithDifferences) {
  for_each_case([](const auto& z, const auto& d, const auto& weights, double gamma) {
    const double d_gamma = 0.3 * gamma;
    const auto p = smooth_row(z, gamma, weights).p;
    const auto along = jvp(p, gamma, d, weights, d_gamma);
    for (std::size_t j = 0; j < z.size(); ++j) {
      const auto moved = [&](double t) {
        std::vector<double> at = z;
        for (std::size_t k = 0; k < z.size(); ++k) at[k] += t * d[k];
        return smooth_row(at, gamma + t * d_gamma, weights).p[j];
      };
      EXPECT_NEAR(along[j], testing::slope_of(moved, 0, 1e-5), 1e-9) << z.size() << ' ' << gamma << ' ' << j;
    }
  });
}

TEST(SmoothSparsemaxDerivatives, AreOneSymmetricMap) {
  std::mt19937_64 rng(12);
  for_each_case([&](const auto& z, const auto& d, const auto& weights, double gamma) {
    const auto p = smooth_row(z, gamma, weights).p;
    const auto g = noise(rng, z.size());
    const Pulled back = vjp(p, gamma, g, weights);
    EXPECT_EQ(back.scores, jvp(p, gamma, g, weights));
    EXPECT_NEAR(dot(back.scores, d), dot(g, jvp(p, gamma, d, weights)), 1e-14);
    EXPECT_NEAR(back.gamma, dot(g, jvp(p, gamma, std::vector<double>(z.size()), weights, 1)), 1e-14);
    EXPECT_NEAR(std::accumulate(back.scores.begin(), back.scores.end(), 0.0), 0, 1e-14);
    for (std::size_t j = 0; j < z.size(); ++j) {
      EXPECT_TRUE(p[j] > 0 || back.scores[j] == 0) << j;
    }
  });
}

/// Also in place of the cotangent.
TEST(SmoothSparsemaxDerivatives, OfSecondOrderAgreeWithDifferences) {
  std::mt19937_64 rng(15);
  for_each_case([&](const auto& z, const auto& d, const auto& weights, double gamma) {
    const double d_gamma = 0.3 * gamma;
    const auto g = noise(rng, z.size());
    const auto p = smooth_row(z, gamma, weights).p;
    Pulled second{g, 0};
    cpu::smooth_sparsemax_vjp_vjp(one_row(p), gamma, one_row(second.scores), one_row(d), {&d_gamma, 1},
                                  one_row(second.scores), {&second.gamma, 1}, testing::weighted(weights));
    const auto moved = [&](double t) {
      std::vector<double> at = z;
      for (std::size_t k = 0; k < z.size(); ++k) at[k] += t * d[k];
      const double there = gamma + t * d_gamma;
      return vjp(smooth_row(at, there, weights).p, there, g, weights);
    };
    for (std::size_t j = 0; j < z.size(); ++j) {
      const auto scores = [&](double t) { return moved(t).scores[j]; };
      EXPECT_NEAR(second.scores[j], testing::slope_of(scores, 0, 1e-5), 1e-9) << z.size() << ' ' << gamma;
    }
    const auto in_gamma = [&](double t) { return moved(t).gamma; };
    EXPECT_NEAR(second.gamma, testing::slope_of(in_gamma, 0, 1e-5), 1e-9 * (1 + 1 / (gamma * gamma)));
  });
}

TEST(SmoothSparsemaxDerivatives, OfTheLossAreOfItsGradient) {
  for_each_case([](const auto& z, const auto& d, const auto& weights, double gamma) {
    const double d_gamma = 0.3 * gamma;
    const Chain chain = testing::weighted(weights);
    const auto p = smooth_row(z, gamma, weights).p;
    std::vector<double> product(z.size());
    double gamma_product = 0;
    cpu::smooth_sparsemax_loss_curvature(one_row(p), gamma, one_row(d), {&d_gamma, 1}, one_row(product),
                                         {&gamma_product, 1}, chain);
    EXPECT_EQ(product, jvp(p, gamma, d, weights, d_gamma));
    const index_t first = 0;
    const auto slope = [&](double t) {
      std::vector<double> at = z;
      for (std::size_t k = 0; k < z.size(); ++k) at[k] += t * d[k];
      double loss = 0, in_gamma = 0;
      cpu::smooth_sparsemax_loss<double>(one_row(at), gamma + t * d_gamma, ClassTargets{{&first, 1}},
                                         {{&loss, 1}, {}, {&in_gamma, 1}}, chain);
      return in_gamma;
    };
    EXPECT_NEAR(gamma_product, testing::slope_of(slope, 0, 1e-5), 1e-8);
  });
}

TEST(SmoothSparsemaxDerivatives, AreThoseOfSparsemaxWithoutGamma) {
  std::mt19937_64 rng(13);
  const auto z = noise(rng, 20), g = noise(rng, 20);
  const auto p = smooth_row(z, 0).p;
  std::vector<double> want(20);
  cpu::entmax_vjp(one_row(p), 2, one_row(g), one_row(want));
  const auto got = vjp(p, 0, g).scores;
  for (std::size_t j = 0; j < 20; ++j) EXPECT_NEAR(got[j], want[j], 1e-15);
}

/// Where everything is in the support and gamma is large, J = L^+ / gamma up to 1 / gamma^2: a direction
/// that comes from p = (1, -1) / 2 is known.
TEST(SmoothSparsemaxDerivatives, KeepTheirDigitsOnStiffChains) {
  for (const double gamma : {1e4, 1e8, 1e11}) {
    const auto d = jvp({0.5, 0.5}, gamma, {1e3 + 1, 1e3});
    EXPECT_NEAR(d[0] * (2 + 4 * gamma), 1, 1e-15) << gamma;
    EXPECT_NEAR(d[1] * (2 + 4 * gamma), -1, 1e-15) << gamma;
    std::vector<double> p(100, 0.01), direction(100), want(100);
    double left = 0;  // d = (1 + gamma L) want
    for (std::size_t j = 0; j < 100; ++j) want[j] = std::cos(0.1 * static_cast<double>(j));
    const double mean = testing::mass(want) / 100;
    for (double& x : want) x -= mean;
    for (std::size_t j = 0; j < 100; ++j) {
      const double right = j + 1 < 100 ? want[j + 1] - want[j] : 0;
      direction[j] = want[j] / gamma - (right - left);
      left = right;
    }
    const auto got = jvp(p, gamma, direction);
    for (std::size_t j = 0; j < 100; ++j) EXPECT_NEAR(got[j] * gamma, want[j], 2e-13) << gamma << ' ' << j;
  }
}

TEST(SmoothSparsemaxDerivatives, TreatPaddingAsAbsent) {
  std::mt19937_64 rng(14);
  const index_t length = 7;
  const auto z = noise(rng, 7), g = noise(rng, 7);
  const auto p = smooth_row(z, 0.4).p;
  const auto cut = vjp(p, 0.4, g);
  std::vector<double> longer = p, gradient = g, out(9);
  longer.resize(9, 0);
  gradient.resize(9, kNaN);
  double along = 0;
  cpu::smooth_sparsemax_vjp(one_row(longer), 0.4, one_row(gradient), one_row(out), {&along, 1},
                            Chain{{&length, 1}});
  EXPECT_EQ(along, cut.gamma);
  for (std::size_t j = 0; j < 9; ++j) EXPECT_EQ(out[j], j < 7 ? cut.scores[j] : 0.0) << j;
  cpu::smooth_sparsemax_jvp(one_row(longer), 0.4, one_row(gradient), {}, one_row(gradient),
                            Chain{{&length, 1}});
  for (std::size_t j = 0; j < 9; ++j) EXPECT_EQ(gradient[j], j < 7 ? cut.scores[j] : 0.0) << j;
}

TEST(SmoothSparsemaxDerivatives, RoundDoubleToFloat) {
  std::mt19937_64 rng(15);
  const auto z = noise(rng, 30), g = noise(rng, 30);
  const auto exact = smooth_row(z, 2).p;
  const std::vector<float> p(exact.begin(), exact.end()), gradient(g.begin(), g.end());
  std::vector<float> out(30);
  cpu::smooth_sparsemax_vjp(one_row(p), 2, one_row(gradient), one_row(out));
  const auto want = vjp({p.begin(), p.end()}, 2, {gradient.begin(), gradient.end()}).scores;
  for (std::size_t j = 0; j < 30; ++j) EXPECT_EQ(out[j], static_cast<float>(want[j]));
}

TEST(SmoothSparsemaxDerivatives, NaNRowsStayNaN) {
  const std::vector<double> p{kNaN, kNaN, kNaN, 0.25, 0.25, 0.5}, g{1, 2, 3, 1, 2, 3};
  const std::vector<index_t> lengths{2, 3};
  std::vector<double> out(6), along(2);
  cpu::smooth_sparsemax_vjp({p.data(), 2, 3}, 1, {g.data(), 2, 3}, Rows<double>(out.data(), 2, 3), along,
                            Chain{lengths});
  for (std::size_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isnan(out[j])) << j;
  EXPECT_TRUE(std::isnan(along[0]));
  const Pulled second = vjp({0.25, 0.25, 0.5}, 1, {1, 2, 3});
  EXPECT_EQ((std::vector<double>{out[3], out[4], out[5]}), second.scores);
  EXPECT_EQ(along[1], second.gamma);
}

TEST(SmoothSparsemaxDerivatives, SayWhatIsWrong) {
  std::vector<double> p{0.5, 0.5}, two(2), three(3);
  const auto jvp_message = [&](Rows<const double> d, PerRow gamma, std::span<const double> d_gamma) {
    return message_of<std::logic_error>(
        [&] { cpu::smooth_sparsemax_jvp(one_row(p), gamma, d, d_gamma, one_row(two)); });
  };
  EXPECT_EQ(jvp_message(one_row(three), 1, {}),
            "fenchel::smooth_sparsemax_jvp: direction.cols must equal p.cols = 2, got 3");
  EXPECT_EQ(jvp_message(one_row(two), -1, {}),
            "fenchel::smooth_sparsemax_jvp: gamma must be finite and not negative, got -1");
  EXPECT_EQ(jvp_message(one_row(two), 1, three),
            "fenchel::smooth_sparsemax_jvp: gamma_direction.size() must equal the number of rows, 1, got 3");
  const auto vjp_message = [&](Rows<double> out, const Chain& chain, std::span<double> grad_gamma) {
    return message_of<std::logic_error>(
        [&] { cpu::smooth_sparsemax_vjp(one_row(p), 1, one_row(two), out, grad_gamma, chain); });
  };
  const index_t length = 3;
  EXPECT_EQ(vjp_message(one_row(three), {}, {}),
            "fenchel::smooth_sparsemax_vjp: gradient.cols must equal p.cols = 2, got 3");
  EXPECT_EQ(vjp_message(one_row(two), {{&length, 1}}, {}),
            "fenchel::smooth_sparsemax_vjp: lengths[0] must be in [1, 2], got 3");
  EXPECT_EQ(vjp_message(one_row(two), {}, two),
            "fenchel::smooth_sparsemax_vjp: gamma_gradient.size() must equal the number of rows, 1, got 2");
}

}  // namespace
}  // namespace fenchel
