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
  for (const std::size_t n : {1u, 2u, 3u, 20u, 200u}) {
    const auto z = normal(n, 1), direction = normal(n, 1), weight = normal(n, 1);
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
