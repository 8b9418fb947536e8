#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "fenchel/backend/cpu/weighted_entmax.hpp"
#include "support/grids.hpp"
#include "unit/backend/one_row.hpp"

/// Weights and orders at the ends of their ranges.
namespace fenchel {
namespace {

using testing::out;
using testing::row;
template <class Real>
std::vector<Real> predict(double alpha, const std::vector<Real>& z, const std::vector<Real>& w) {
  std::vector<Real> p(z.size());
  cpu::weighted_entmax(row(z), row(w), alpha, out(p));
  return p;
}

/// log_{2-alpha}(P / w) = z - A on the support, and less off it: both sides against the heaviest node.
void expect_prediction(double alpha, const std::vector<double>& z, const std::vector<double>& w,
                       const std::vector<double>& p) {
  const long double am1 = alpha - 1;
  const auto log_density = [&](std::size_t i, double mass) {
    return std::log(static_cast<long double>(mass)) - std::log(static_cast<long double>(w[i]));
  };
  const auto deformed = [&](long double l) { return am1 == 0 ? l : std::expm1(am1 * l) / am1; };
  long double mass = 0;
  for (const double x : p) mass += x;
  ASSERT_NEAR(static_cast<double>(mass), 1, 1e-14);
  const auto k = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  const long double own = log_density(k, p[k]);
  for (std::size_t i = 0; i < z.size(); ++i) {
    SCOPED_TRACE(::testing::Message() << i << ": " << p[i] << ' ' << w[i] << ' ' << z[i] << ", heaviest "
                                      << p[k] << ' ' << w[k] << ' ' << z[k]);
    constexpr double kNothing = 1e-20;
    const long double above = log_density(i, p[i] + kNothing), below = log_density(i, p[i] - kNothing);
    const long double expected = deformed(own) + (static_cast<long double>(z[i]) - z[k]);
    const auto error = [&](long double l) {
      return 2e-12L * (std::exp(am1 * l) + std::exp(am1 * own)) + 1e-14L * (std::abs(z[i]) + std::abs(z[k]));
    };
    ASSERT_GE(deformed(above), expected - error(above));
    if (p[i] > kNothing) {
      ASSERT_LE(deformed(below), expected + error(below));
    }
  }
}

TEST(WeightedEntmaxExtremes, WeightsOfAnySizeBesideEachOther) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> power(-300, 300);
  for (const double alpha :
       {0.3, 0.7, 0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 1.5, 1.7, 2.0, 3.0, 9.0}) {
    for (const double deviation : {1e-3, 1.0, 469.887589052464, 1e9}) {
      for (const bool ties : {false, true}) {
        for (const std::size_t n : {1u, 2u, 5u, 64u}) {
          for (int repeat = 0; repeat < 10; ++repeat) {
            SCOPED_TRACE(::testing::Message() << alpha << ' ' << deviation << ' ' << ties << ' ' << n);
            std::vector<double> z(n), w(n);
            for (double& x : z) x = (ties ? std::round(normal(random)) : normal(random)) * deviation;
            for (double& x : w) x = std::pow(10, power(random));
            expect_prediction(alpha, z, w, predict(alpha, z, w));
          }
        }
      }
    }
  }
}

/// Weights c w and scores c^{-am1} z give the same probabilities.
TEST(WeightedEntmaxExtremes, WeightsOfOneSizeFarFromOne) {
  const std::vector<double> z{0.3, -0.1, 0.25, -2, 0.1, -0.4}, w{0.5, 2, 1, 3, 0.25, 1};
  for (const double alpha : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    const auto p = predict(alpha, z, w);
    for (const int power : {-400, -100, -40, 40, 100, 400}) {
      auto scaled_z = z, scaled_w = w;
      for (double& x : scaled_z) x *= std::pow(2, power * (1 - alpha));
      for (double& x : scaled_w) x *= std::pow(2, power);
      const auto scaled = predict(alpha, scaled_z, scaled_w);
      for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(scaled[i], p[i], 1e-13) << alpha << ' ' << power;
    }
  }
}

TEST(WeightedEntmaxExtremes, TheSumOfTheWeightsOverflows) {
  constexpr double w = std::numeric_limits<double>::max();
  for (const double alpha : testing::kAlphas) {
    for (const double x : predict<double>(alpha, {1, 1, 1, 1}, {w, w, w, w}))
      EXPECT_NEAR(x, 0.25, 1e-13) << alpha;
    for (const double x : predict<double>(alpha, {1, -1e9, 2, 0}, {w, w, w, 0})) EXPECT_GE(x, 0) << alpha;
  }
}

/// All that is asked of one row, with memory of its own.
template <class Real>
struct Outputs {
  std::vector<Real> scores, weights;
  double alpha = 0;

  explicit Outputs(std::size_t n) : scores(n), weights(n) {}
  cpu::NodeGradient<Real> views() { return {out(scores), out(weights), {&alpha, 1}}; }
  void expect_numbers(const char* of) const {
    for (const Real x : scores) ASSERT_TRUE(std::isfinite(x)) << of << " in scores";
    for (const Real x : weights) ASSERT_TRUE(std::isfinite(x)) << of << " in weights";
    ASSERT_FALSE(std::isnan(alpha)) << of << " in alpha";
  }
};

template <class Real>
std::vector<Real> drawn(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Real> x(n);
  for (Real& value : x) value = static_cast<Real>(normal(random));
  return x;
}

template <class Real>
void expect_numbers(double alpha, const std::vector<Real>& z, const std::vector<Real>& w) {
  const std::size_t n = z.size();
  const auto p = predict(alpha, z, w), g = drawn<Real>(n, 1), dz = drawn<Real>(n, 2), dw = drawn<Real>(n, 3);
  const double d_alpha = 0.5;
  Outputs<Real> gradient(n), second(n), loss(n), curvature(n);
  cpu::weighted_entmax_vjp(row(p), row(w), alpha, row(g), gradient.views());
  gradient.expect_numbers("vjp");
  std::vector<Real> q(n, Real(1) / static_cast<Real>(n));
  for (const cpu::NodeDirection<Real>& direction :
       {cpu::NodeDirection<Real>{row(dz), row(dw), {&d_alpha, 1}}, cpu::NodeDirection<Real>{row(dz), {}, {}},
        cpu::NodeDirection<Real>{{}, row(dw), {}}}) {
    std::vector<Real> tangent(n);
    cpu::weighted_entmax_jvp(row(p), row(w), alpha, direction, out(tangent));
    for (const Real x : tangent) ASSERT_TRUE(std::isfinite(x)) << "jvp";
    cpu::weighted_entmax_vjp_vjp(row(p), row(w), alpha, row(g), direction, second.views());
    second.expect_numbers("vjp_vjp");
    Real value = 0;
    cpu::weighted_entmax_loss<Real>(row(z), row(w), alpha, cpu::SoftTargets<Real>{row(q)},
                                    {{&value, 1}, loss.views()});
    ASSERT_GE(value, 0) << "loss";
    loss.expect_numbers("loss");
    cpu::weighted_entmax_loss_curvature<Real>(row(loss.scores), row(w), alpha, cpu::SoftTargets<Real>{row(q)},
                                              direction, curvature.views());
    curvature.expect_numbers("curvature");
  }
}

template <class Real>
void expect_numbers_of_all_kinds(double largest_power) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> power(-largest_power, largest_power);
  for (const double alpha :
       {0.1, 0.7, 1.0, 1.1, 1.5, 2.0, 2.1, 5.0, 50.0, 300.0, 1e3, 1e6, 1727223.66, 4.5e7, 1e12, 1e308}) {
    for (const double size : {1e-9, 1.0, 1e9}) {
      for (const char* kind : {"even", "many", "few", "sizes"}) {
        for (const std::size_t n : {1u, 2u, 5u, 40u}) {
          SCOPED_TRACE(::testing::Message() << alpha << ' ' << size << ' ' << kind << ' ' << n);
          std::vector<Real> z(n), w(n);
          for (Real& x : z) x = static_cast<Real>(std::round(2 * normal(random)) * size);
          for (Real& x : w) {
            const double even = std::exp(normal(random));
            x = static_cast<Real>(kind[0] == 's'   ? std::pow(10, power(random))
                                  : kind[0] == 'm' ? 100 * even
                                  : kind[0] == 'f' ? 0.001 * even
                                                   : even);
          }
          expect_numbers(alpha, z, w);
        }
      }
    }
  }
}

/// The formulas of docs/math.md 2.9 as they stand there, in numbers of a larger range.
struct Reference {
  using Vector = std::vector<long double>;
  Vector gradient, in_weight, tangent, second, second_in_weight;
  long double in_alpha = 0, second_in_alpha = 0;

  Reference(double alpha, const std::vector<double>& mass, const std::vector<double>& w,
            const std::vector<double>& g, const std::vector<double>& dz, const std::vector<double>& dw,
            double d_alpha)
      : gradient(w.size()),
        in_weight(w.size()),
        tangent(w.size()),
        second(w.size()),
        second_in_weight(w.size()) {
    const std::size_t n = w.size();
    const long double am1 = alpha - 1;
    Vector p(n), l(n), s(n), d(n), d2(n), v(n), b(n);
    std::size_t k = 0;  // where s is largest
    const auto each = [&](const auto& set) {
      for (std::size_t i = 0; i < n; ++i) {
        if (mass[i] > 0) set(i);
      }
    };
    each([&](std::size_t i) {
      p[i] = static_cast<long double>(mass[i]) / w[i];
      l[i] = std::log(p[i]);
      s[i] = w[i] * std::exp((1 - am1) * l[i]);
      if (s[i] > s[k]) k = i;
      const long double t = am1 * l[i], power = std::exp(t);
      d[i] = (power * (t - 1) + 1) / (am1 * am1);
      d2[i] = (power * (t * t - 2 * t + 2) - 2) / (am1 * am1 * am1);
      v[i] = dz[i] - d_alpha * d[i] + p[i] * dw[i] / s[i];
    });
    // x less its mean under s, and J x, which adds up to 0.
    const auto centred = [&](const auto& x) {
      long double sum = 0, total = 0;
      each([&](std::size_t i) { sum += s[i] * (x[i] - x[k]), total += s[i]; });
      Vector result(n);
      each([&](std::size_t i) { result[i] = x[i] - x[k] - sum / total; });
      return result;
    };
    const auto product = [&](const Vector& x) {
      Vector result(n);
      each([&](std::size_t i) {
        if (i == k) return;
        result[i] = s[i] * x[i];
        result[k] -= result[i];
      });
      return result;
    };
    const Vector h = centred(Vector(g.begin(), g.end()));
    gradient = product(h);
    tangent = product(centred(v));
    each([&](std::size_t i) {
      in_weight[i] = p[i] * h[i];
      in_alpha -= gradient[i] * (d[i] - d[k]);
      b[i] = h[i] * (am1 * dw[i] / w[i] - (am1 - 1) * tangent[i] / mass[i] - l[i] * d_alpha);
    });
    const Vector b_centred = centred(b);
    second = product(b_centred);
    each([&](std::size_t i) {
      const long double moved = tangent[i] - p[i] * dw[i];
      second_in_weight[i] = h[i] * moved / w[i] - p[i] * (b[k] - b_centred[k]);
      second_in_alpha -=
          second[i] * (d[i] - d[k]) + h[i] * l[i] * moved + gradient[i] * (d2[i] - d2[k]) * d_alpha;
    });
  }
};

/// Numbers past the largest saturate. A rounding of log p counts alpha times.
void expect_near(double alpha, const std::vector<double>& got, const std::vector<long double>& expected,
                 const char* of) {
  constexpr long double kLargest = std::numeric_limits<double>::max();
  long double size = 1;
  for (const long double x : expected) size = std::max(size, std::min(std::abs(x), kLargest));
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_LE(std::abs(got[i] - std::clamp(expected[i], -kLargest, kLargest)), 1e-12 * alpha * size)
        << of << ' ' << i << ' ' << got[i] << ' ' << expected[i];
}

TEST(WeightedEntmaxExtremes, DerivativesOfLargeOrders) {
  const std::vector<double> z{0.3, -0.1, 0.25, -2, 0.1, -0.4}, shares{0.1, 0.3, 0.15, 0.2, 0.05, 0.2};
  const auto g = drawn<double>(6, 1), dz = drawn<double>(6, 2), dw = drawn<double>(6, 3);
  for (const double alpha : {3.0, 50.0, 300.0, 1000.0}) {
    for (const double total : {0.01, 0.8, 1.2, 3.0, 100.0}) {
      for (const double d_alpha : {0.0, 0.7}) {
        SCOPED_TRACE(::testing::Message() << alpha << ' ' << total << ' ' << d_alpha);
        auto w = shares;
        for (double& x : w) x *= total;
        const auto p = predict(alpha, z, w);
        const Reference expected(alpha, p, w, g, dz, dw, d_alpha);
        Outputs<double> gradient(6), second(6);
        std::vector<double> tangent(6);
        const cpu::NodeDirection<double> direction{row(dz), row(dw), {&d_alpha, 1}};
        cpu::weighted_entmax_vjp(row(p), row(w), alpha, row(g), gradient.views());
        cpu::weighted_entmax_jvp(row(p), row(w), alpha, direction, out(tangent));
        cpu::weighted_entmax_vjp_vjp(row(p), row(w), alpha, row(g), direction, second.views());
        expect_near(alpha, gradient.scores, expected.gradient, "gradient");
        expect_near(alpha, gradient.weights, expected.in_weight, "gradient in weights");
        expect_near(alpha, {gradient.alpha}, {expected.in_alpha}, "gradient in alpha");
        expect_near(alpha, tangent, expected.tangent, "tangent");
        expect_near(alpha, second.scores, expected.second, "second");
        expect_near(alpha, second.weights, expected.second_in_weight, "second in weights");
        expect_near(alpha, {second.alpha}, {expected.second_in_alpha}, "second in alpha");
      }
    }
  }
}

TEST(WeightedEntmaxExtremes, DerivativesAreNumbers) { expect_numbers_of_all_kinds<double>(300); }
TEST(WeightedEntmaxExtremes, DerivativesAreNumbersInFloat) { expect_numbers_of_all_kinds<float>(36); }

}  // namespace
}  // namespace fenchel
