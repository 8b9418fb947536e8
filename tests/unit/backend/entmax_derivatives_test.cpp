#include "fenchel/backend/cpu/entmax_derivatives.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/reference.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;

/// Where the complex-step oracle holds: 1 + am1 (z - A) must not underflow.
const std::vector<double> kSmoothAlphas{0.1,      0.5,  0.9, 1 - 1e-9, 1.0,     std::nextafter(1.0, 2.0),
                                        1 + 1e-8, 1.01, 1.1, 1.25,     4.0 / 3, 1.5,
                                        1.7,      2.0,  2.5, 5.0};

struct Row {
  std::vector<double> values;
  operator Rows<const double>() const { return {values.data(), 1, static_cast<index_t>(values.size())}; }
  Rows<double> out() { return {values.data(), 1, static_cast<index_t>(values.size())}; }
};

Row entmax(double alpha, std::vector<double> z) {
  Row row{std::move(z)};
  cpu::entmax(row, alpha, row.out());
  return row;
}

Row zeros_like(const Row& row) { return {std::vector<double>(row.values.size())}; }

class Derivatives : public ::testing::TestWithParam<double> {
 protected:
  std::vector<double> normal(std::size_t n, double scale) {
    std::normal_distribution<double> distribution(0, scale);
    std::vector<double> values(n);
    for (double& x : values) x = distribution(random_);
    return values;
  }
  std::mt19937 random_{5};
};

testing::ExtendedVector extended(const std::vector<double>& x) { return {x.begin(), x.end()}; }

double largest(const testing::ExtendedVector& x) {
  double result = 0;
  for (const auto value : x) result = std::max(result, std::abs(static_cast<double>(value)));
  return result;
}

TEST_P(Derivatives, ProductsMatchComplexSteps) {
  const double alpha = GetParam();
  const std::vector<std::pair<std::size_t, double>> rows{{1, 1},  {2, 1},   {3, 1},   {20, 1},  {200, 1},
                                                         {2, 10}, {20, 10}, {20, 30}, {200, 30}};
  for (const auto& [n, deviation] : rows) {
    if (alpha > 1 && deviation > 1) continue;  // p has lost digits next to the threshold
    const auto z = normal(n, deviation), direction = normal(n, 1), weight = normal(n, 1);
    const Row p = entmax(alpha, z);
    const double d_alpha = 0.7;
    const auto expected_z = testing::reference_derivative(alpha, extended(z), extended(direction), 0);
    const auto expected = testing::reference_derivative(alpha, extended(z), extended(direction), d_alpha);

    Row d_p = zeros_like(p);
    cpu::entmax_jvp(p, alpha, Row{direction}, {}, d_p.out());
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(d_p.values[i], double(expected_z[i]), 4e-14 * largest(expected_z));
    cpu::entmax_jvp(p, alpha, Row{direction}, std::span<const double>(&d_alpha, 1), d_p.out());
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_NEAR(d_p.values[i], double(expected[i]), 1e-13 * largest(expected));

    // <weight, dp> = <vjp(weight), (dz, dalpha)>
    Row grad = zeros_like(p);
    double grad_alpha = 0, left = 0, right = 0;
    cpu::entmax_vjp(p, alpha, Row{weight}, grad.out(), std::span<double>(&grad_alpha, 1));
    for (std::size_t i = 0; i < n; ++i) {
      left += weight[i] * static_cast<double>(expected[i]);
      right += grad.values[i] * direction[i];
    }
    EXPECT_NEAR(left, right + grad_alpha * d_alpha, 1e-13 * (1 + double(n) * largest(expected)));
  }
}

/// J v as a function of p, in long double, centred at the entry of the largest weight.
template <class Real>
testing::ExtendedVector product_of(const std::vector<Real>& p, double alpha, const std::vector<Real>& v) {
  testing::ExtendedVector s(p.size());
  for (std::size_t i = 0; i < p.size(); ++i)
    s[i] = p[i] == 0 ? 0.0L : std::pow(testing::Extended(p[i]), 2 - testing::Extended(alpha));
  const auto k = static_cast<std::size_t>(std::max_element(s.begin(), s.end()) - s.begin());
  testing::Extended total = 0, moment = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    total += s[i];
    moment += s[i] * (testing::Extended(v[i]) - v[k]);
  }
  for (std::size_t i = 0; i < p.size(); ++i) s[i] *= testing::Extended(v[i]) - v[k] - moment / total;
  return s;
}

/// Of scores of any deviation, also where one entry has nearly all of the weight, and of a v far from 0.
template <class Real>
void expect_products_of_p(std::mt19937& random, double alpha, double bound) {
  std::normal_distribution<double> normal;
  for (const double deviation : {1.0, 10.0, 100.0}) {
    for (const Real offset : {Real(0), Real(1e6)}) {
      for (const index_t n : {2, 3, 20, 200, 3000}) {
        const auto size = static_cast<std::size_t>(n);
        std::vector<Real> p(size), v(size), out(size);
        for (Real& x : p) x = static_cast<Real>(deviation * normal(random));
        for (Real& x : v) x = offset + static_cast<Real>(normal(random));
        cpu::entmax<Real>({p.data(), 1, n}, alpha, {p.data(), 1, n});
        cpu::entmax_vjp<Real>({p.data(), 1, n}, alpha, {v.data(), 1, n}, {out.data(), 1, n});
        const auto expected = product_of(p, alpha, v);
        const double allowed = bound * largest(expected) + 2 * std::numeric_limits<Real>::denorm_min();
        for (std::size_t i = 0; i < size; ++i)
          ASSERT_NEAR(out[i], double(expected[i]), allowed)
              << alpha << ' ' << deviation << ' ' << offset << ' ' << n;
      }
    }
  }
}

TEST_P(Derivatives, ProductsAreThoseOfTheProbabilities) {
  expect_products_of_p<double>(random_, GetParam(), 5e-15);
  expect_products_of_p<float>(random_, GetParam(), 5e-6);
}

TEST_P(Derivatives, SecondOrderMatchesDifferencesOfComplexSteps) {
  const double alpha = GetParam();
  const std::size_t n = 6;
  const auto z = normal(n, 0.5), g = normal(n, 1), w = normal(n, 1), v = normal(n, 1);
  const double w_alpha = 0.3;
  const Row p = entmax(alpha, z);
  Row grad = zeros_like(p);
  double grad_alpha = 0;
  cpu::entmax_vjp_vjp(p, alpha, Row{g}, Row{w}, std::span<const double>(&w_alpha, 1), grad.out(),
                      std::span<double>(&grad_alpha, 1));
  // <g, Dp[(w, w_alpha)]> along v, and along alpha with a step that is exact in double.
  const double h = std::ldexp(1.0, -24);
  const auto inner = [&](double sign, double alpha_share) {
    testing::ExtendedVector at(n);
    for (std::size_t i = 0; i < n; ++i) at[i] = z[i] + sign * h * (1 - alpha_share) * v[i];
    const double moved = alpha + sign * h * alpha_share * 0.5;
    const auto d = testing::reference_derivative(moved, at, extended(w), w_alpha);
    testing::Extended sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += g[i] * d[i];
    return sum;
  };
  const auto along_z = static_cast<double>((inner(1, 0) - inner(-1, 0)) / (2 * h));
  const auto along_alpha = static_cast<double>((inner(1, 1) - inner(-1, 1)) / h);
  double found = 0, scale = 1;
  for (std::size_t i = 0; i < n; ++i) {
    found += grad.values[i] * v[i];
    scale = std::max(scale, std::abs(grad.values[i]));
  }
  EXPECT_NEAR(found, along_z, 1e-8 * scale);
  EXPECT_NEAR(grad_alpha, along_alpha, 1e-8 * std::max(scale, std::abs(along_alpha)));
}

/// The Hessian's product as a function of p (src/backend/entmax/terms.hpp), in long double, which holds s of
/// every alpha here; and the sizes of what it is the difference of.
struct SecondOrder {
  testing::ExtendedVector scores;
  testing::Extended alpha = 0, scale = 0, alpha_scale = 0;
};

SecondOrder second_order_of(const std::vector<double>& p, double alpha, const std::vector<double>& g,
                            const std::vector<double>& w, double w_alpha) {
  using testing::Extended;
  const std::size_t n = p.size();
  const Extended a = Extended(alpha) - 1;
  testing::ExtendedVector s(n), l(n), d(n), x(n), y(n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (p[i] == 0) continue;
    l[i] = std::log(Extended(p[i]));
    s[i] = std::exp((1 - a) * l[i]);
    d[i] = a == 0 ? l[i] * l[i] / 2 : (std::exp(a * l[i]) * (a * l[i] - 1) + 1) / (a * a);
  }
  const auto k = static_cast<std::size_t>(std::max_element(s.begin(), s.end()) - s.begin());
  const auto mean = [&](const auto& v) {
    Extended total = 0, moment = 0;
    for (std::size_t i = 0; i < n; ++i) {
      total += s[i];
      moment += s[i] == 0 ? 0 : s[i] * (v(i) - v(k));
    }
    return v(k) + moment / total;
  };
  const auto product = [&](const auto& v, testing::ExtendedVector& out) {
    const Extended centre = mean([&](std::size_t i) { return v(i) - v(k); });
    Extended others = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (i != k && s[i] != 0) others += out[i] = s[i] * (v(i) - v(k) - centre);
    }
    out[k] = -others;
  };
  const auto shifted = [&](std::size_t i) { return w[i] - w_alpha * d[i]; };
  product([&](std::size_t i) { return Extended(g[i]); }, y);
  product(shifted, x);
  SecondOrder result{testing::ExtendedVector(n)};
  for (std::size_t i = 0; i < n; ++i) {
    if (s[i] == 0) continue;
    b[i] = -y[i] * ((a - 1) * x[i] / p[i] + l[i] * w_alpha) / s[i];
    result.scale = std::max(result.scale, std::abs(s[i] * b[i]));
  }
  product([&](std::size_t i) { return b[i]; }, result.scores);
  for (std::size_t i = 0; i < n; ++i) {
    if (s[i] == 0) continue;
    const Extended power = std::exp(a * l[i]), al = a * l[i];
    const Extended d2 = a == 0 ? l[i] * l[i] * l[i] / 3 : (power * (al * al - 2 * al + 2) - 2) / (a * a * a);
    for (const Extended term :
         {-y[i] * l[i] * x[i] / s[i], -y[i] * w_alpha * d2, -result.scores[i] * (d[i] - d[k])}) {
      result.alpha += term;
      result.alpha_scale += std::abs(term);
    }
  }
  return result;
}

/// Also past alpha = 100, where p^{2-alpha} of a probability of 0.002, or of many equal ones, is more than
/// the largest number.
TEST(EntmaxDerivatives, SecondOrderIsThatOfTheProbabilities) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  constexpr double kLargest = std::numeric_limits<double>::max();
  const auto saturated = [&](testing::Extended x) {
    return static_cast<double>(std::clamp<testing::Extended>(x, -kLargest, kLargest));
  };
  const auto numbers = [&](std::size_t n, double scale) {
    std::vector<double> x(n);
    for (double& value : x) value = scale * normal(random);
    return x;
  };
  for (const double alpha : {0.3, 1.0, 1.1, 1.5, 1.9, 2.0, 2.5, 5.0, 30.0, 118.0, 300.0, 1000.0}) {
    for (const double deviation : {0.0, 1e-3, 1.0, 10.0, 100.0}) {
      for (const std::size_t n : {1u, 2u, 3u, 20u, 200u}) {
        for (const double w_alpha : {0.0, 0.4}) {
          const Row p = entmax(alpha, numbers(n, deviation)), g{numbers(n, 1)}, w{numbers(n, 1)};
          Row out = zeros_like(p);
          double in_alpha = 0;
          cpu::entmax_vjp_vjp(p, alpha, g, w, std::span<const double>(&w_alpha, 1), out.out(),
                              std::span<double>(&in_alpha, 1));
          const SecondOrder expected = second_order_of(p.values, alpha, g.values, w.values, w_alpha);
          for (std::size_t i = 0; i < n; ++i)
            ASSERT_NEAR(out.values[i], saturated(expected.scores[i]), 1e-13 * saturated(expected.scale))
                << alpha << ' ' << deviation << ' ' << n << ' ' << w_alpha;
          ASSERT_NEAR(in_alpha, saturated(expected.alpha), 1e-13 * saturated(expected.alpha_scale))
              << alpha << ' ' << deviation << ' ' << n << ' ' << w_alpha;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, Derivatives, ::testing::ValuesIn(kSmoothAlphas));

TEST(EntmaxDerivatives, AlphaGradientMatchesTheTable) {
  for (auto& block : testing::golden_blocks("entmax.txt")) {
    const double alpha = block["alpha"][0];
    if (alpha > 5) continue;  // the table's p at larger alpha has underflowed parts, tested below
    const Row p = entmax(alpha, block["scores"]);
    const std::size_t n = p.values.size();
    for (std::size_t i = 0; i < n; ++i) {
      Row unit = zeros_like(p), grad = zeros_like(p);
      unit.values[i] = 1;
      double grad_alpha = 0;
      cpu::entmax_vjp(p, alpha, unit, grad.out(), std::span<double>(&grad_alpha, 1));
      EXPECT_NEAR(grad_alpha, block["p_alpha"][i], 1e-12 * std::max(1.0, std::abs(block["p_alpha"][i])))
          << alpha << ' ' << block["scores"][0];
    }
  }
}

/// alpha > 2: the smallest probability has an enormous weight p^{2-alpha}; the product stays finite and sums
/// to zero.
TEST(EntmaxDerivatives, LargeAlphaDoesNotOverflow) {
  const Row p{{0.9, 0.1 - 1e-9, 1e-9}};
  for (const double alpha : {5.0, 50.0, 1e6}) {
    Row out = zeros_like(p);
    cpu::entmax_jvp(p, alpha, Row{{1, 0, 0}}, {}, out.out());
    double sum = 0;
    for (const double x : out.values) {
      EXPECT_TRUE(std::isfinite(x)) << alpha;
      sum += x;
    }
    EXPECT_NEAR(sum, 0, 1e-12 * std::abs(out.values[0])) << alpha;
    // dp_0 = s_0 (1 - s_0 / sum s): the smallest takes all of the mean, so dp_0 = s_0.
    const double expected = std::min(std::pow(0.9, 2 - alpha), std::numeric_limits<double>::max());
    EXPECT_NEAR(out.values[0] / expected, 1, 1e-9) << alpha;
  }
}

/// Differences of v and their sum overflow where products do not.
TEST(EntmaxDerivatives, LargeCotangentsDoNotOverflow) {
  const double large = std::numeric_limits<double>::max();
  for (const double alpha : {0.5, 1.0, 1.3, 1.5, 2.0}) {
    Row p{{0.5, 0.25, 0.25, 0}}, out = zeros_like(p);
    cpu::entmax_vjp(p, alpha, Row{{large, -large, -large, kNaN}}, out.out());
    const auto expected = product_of<double>(p.values, alpha, {1, -1, -1, 0});
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(out.values[i] / large, std::clamp(double(expected[i]), -1.0, 1.0), 1e-15) << alpha;
    }
  }
}

/// The entry that takes what the others leave, too.
TEST(EntmaxDerivatives, KeepTheirDigitsOnLongRowsOfEqualNumbers) {
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  Row p{std::vector<double>(1000, 1e-3)}, v = p, out = p;
  for (double& x : v.values) x = normal(random);
  std::ranges::sort(v.values);
  for (const double alpha : {1.0, 1.5, 2.0, 3.0, 3.8209448902614858}) {
    cpu::entmax_vjp(p, alpha, v, out.out());
    const auto expected = product_of<double>(p.values, alpha, v.values);
    double size = 0;
    for (const auto x : expected) size = std::max(size, std::abs(static_cast<double>(x)));
    for (std::size_t i = 0; i < 1000; ++i)
      EXPECT_NEAR(out.values[i], static_cast<double>(expected[i]), 1e-14 * size) << alpha << ' ' << i;
  }
}

TEST(EntmaxDerivatives, AreZeroOffTheSupportAndAtInfiniteAlpha) {
  Row out = zeros_like(Row{{0, 0, 0}});
  double grad_alpha = 1;
  const Row p{{0.75, 0.25, 0}};
  for (const double alpha : {1.5, 2.0, 3.0}) {
    cpu::entmax_vjp(p, alpha, Row{{1, 2, kNaN}}, out.out(), std::span<double>(&grad_alpha, 1));
    EXPECT_EQ(out.values[2], 0) << "what lies off the support is not even read";
    EXPECT_NEAR(out.values[0] + out.values[1], 0, 1e-15);
    EXPECT_LT(out.values[0], 0);
  }
  cpu::entmax_vjp(p, kInf, Row{{1, 2, 3}}, out.out(), std::span<double>(&grad_alpha, 1));
  EXPECT_EQ(out.values, (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(grad_alpha, 0);
}

TEST(EntmaxDerivatives, ANaNRowStaysNaN) {
  for (const double alpha : {1.0, 1.3, 1.5, 2.0, 3.0, kInf}) {
    Row out = zeros_like(Row{{0, 0}});
    cpu::entmax_vjp(Row{{kNaN, kNaN}}, alpha, Row{{1, 2}}, out.out());
    EXPECT_TRUE(std::isnan(out.values[0]) && std::isnan(out.values[1])) << alpha;
    Row one = zeros_like(Row{{0}});
    cpu::entmax_vjp(Row{{kNaN}}, alpha, Row{{1}}, one.out());
    EXPECT_TRUE(std::isnan(one.values[0])) << alpha;
  }
}

TEST(EntmaxDerivatives, FloatFollowsDouble) {
  std::mt19937 random(8);
  std::normal_distribution<float> normal;
  constexpr index_t kRows = 7, kCols = 300;
  std::vector<float> z(kRows * kCols), g(z.size()), p(z.size()), out(z.size());
  for (float& x : z) x = 2 * normal(random);
  for (float& x : g) x = normal(random);
  for (const double alpha : kSmoothAlphas) {
    cpu::entmax({z.data(), kRows, kCols}, alpha, Rows<float>(p.data(), kRows, kCols));
    const std::vector<double> p64(p.begin(), p.end()), g64(g.begin(), g.end());
    std::vector<double> expected(z.size()), alpha32(kRows), alpha64(kRows);
    cpu::entmax_vjp({p64.data(), kRows, kCols}, alpha, {g64.data(), kRows, kCols},
                    Rows<double>(expected.data(), kRows, kCols), alpha64);
    cpu::entmax_vjp({p.data(), kRows, kCols}, alpha, {g.data(), kRows, kCols},
                    Rows<float>(out.data(), kRows, kCols), alpha32);
    double scale = 0;
    for (const double x : expected) scale = std::max(scale, std::abs(x));
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(out[i], expected[i], 1e-5 * scale) << alpha;
    for (std::size_t i = 0; i < kRows; ++i)
      EXPECT_NEAR(alpha32[i], alpha64[i], 2e-5 * (1 + std::abs(alpha64[i])));
  }
}

TEST(EntmaxDerivatives, BadInputIsNamed) {
  Row p{{0.5, 0.5}}, out = zeros_like(p);
  std::vector<double> three(3);
  using testing::message_of;
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              cpu::entmax_vjp(p, 2.0, Row{{1, 2, 3}}, out.out());
            }),
            "fenchel::entmax_vjp: cotangent.cols must equal p.cols = 2, got 3");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::entmax_vjp(p, 2.0, p, out.out(), three); }),
            "fenchel::entmax_vjp: alpha_gradient.size() must equal the number of rows, 1, got 3");
  EXPECT_EQ(message_of<std::domain_error>([&] { cpu::entmax_jvp(p, -2.0, p, {}, out.out()); }),
            "fenchel::entmax_jvp: alpha must be positive, got -2");
}

}  // namespace
}  // namespace fenchel
