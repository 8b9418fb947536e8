#include <algorithm>

#include "laws/bounds.hpp"
#include "laws/grid.hpp"
#include "laws/rows.hpp"

/// What the derivatives of entmax promise of every alpha, p and direction [SCD22, Section 4.2].
namespace fenchel::testing {
namespace {

template <class Real>
class DerivativeLaws : public ::testing::Test {};
TYPED_TEST_SUITE(DerivativeLaws, Reals);

/// How large the terms of <w, J v> are before they cancel: sum s |w| (|v| + |mean of v|).
template <class Real>
Extended product_size(double alpha, const std::vector<Real>& p, const std::vector<Real>& w,
                      const std::vector<Real>& v) {
  Extended total = 0, mean = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0) continue;
    const Extended s = std::pow(Extended{p[i]}, 2 - static_cast<Extended>(alpha));
    total += s;
    mean += s * std::fabs(Extended{v[i]});
    first += s * std::fabs(Extended{w[i]});
    second += s * std::fabs(Extended{w[i]} * v[i]);
  }
  return second + first * mean / total;
}

/// Rows of probabilities with and without zeros, as far as s = p^{2-alpha} is a number.
template <class Real, class Check>
void for_each_prediction(const Check& check) {
  for (const double alpha : kAlphas) {
    if (alpha > 50) continue;
    for (const std::size_t n : {1u, 2u, 3u, 7u, 16u, 17u, 100u, 255u, 256u, 1000u, 4097u}) {
      for (const double made_by : {alpha, 1.0, 1.5}) {
        if (alpha > 5 && made_by != alpha) continue;
        const auto p = entmax_row(made_by, normal_row<Real>(n, 1, 7));
        SCOPED_TRACE(::testing::Message() << "alpha = " << alpha << ", n = " << n << ", p by " << made_by);
        check(alpha, p);
      }
    }
  }
}

/// J is symmetric, and jvp is the transpose of vjp in the scores and alpha together.
TYPED_TEST(DerivativeLaws, ProductsAreAdjoint) {
  using Real = TypeParam;
  for_each_prediction<Real>([](double alpha, const std::vector<Real>& p) {
    const auto v = normal_row<Real>(p.size(), 1, 8), w = normal_row<Real>(p.size(), 1, 9);
    const auto back = vjp_row(alpha, p, w);
    const Extended size = product_size(alpha, p, w, v) + product_size(alpha, p, v, w);
    const auto bound = static_cast<double>(kProductUlps * Bounds<Real>::kUnit * size);
    EXPECT_NEAR(static_cast<double>(dot(w, jvp_row(alpha, p, v)) - dot(back.scores, v)), 0, bound);
    // d p / d alpha = -J D: its terms are as large as those of a direction D.
    std::vector<Real> direction(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double l = p[i] > 0 ? std::log(static_cast<double>(p[i])) : 0;
      direction[i] = static_cast<Real>(l * l * (1 + std::exp((alpha - 1) * l)));
    }
    const double d_alpha = 0.7;
    const Extended more = product_size(alpha, p, w, direction) + product_size(alpha, p, direction, w);
    EXPECT_NEAR(static_cast<double>(dot(w, jvp_row(alpha, p, v, d_alpha)) - dot(back.scores, v) -
                                    back.alpha * d_alpha),
                0, bound + static_cast<double>(kProductUlps * Bounds<Real>::kUnit * more));
  });
}

/// <v, J v> >= 0, and J maps to vectors of sum 0 and kills constants: probabilities stay probabilities.
TYPED_TEST(DerivativeLaws, JacobianIsPositiveAndKeepsTheMass) {
  using Real = TypeParam;
  for_each_prediction<Real>([](double alpha, const std::vector<Real>& p) {
    const auto v = normal_row<Real>(p.size(), 1, 10);
    const std::vector<Real> ones(p.size(), 1);
    const auto ulps = [](Extended size) {
      return static_cast<double>(kProductUlps * Bounds<Real>::kUnit * size);
    };
    const auto product = jvp_row(alpha, p, v);
    EXPECT_GE(static_cast<double>(dot(v, product)), -ulps(product_size(alpha, p, v, v)));
    EXPECT_NEAR(static_cast<double>(dot(ones, product)), 0, ulps(product_size(alpha, p, ones, v)));
    const auto constant = jvp_row(alpha, p, ones);
    EXPECT_NEAR(static_cast<double>(dot_size(ones, constant)), 0, ulps(product_size(alpha, p, ones, ones)));
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (p[i] == 0) {
        ASSERT_EQ(product[i], 0);
      }
    }
  });
}

/// Alphas at which differences of the map itself are smooth enough to compare with.
constexpr std::array kSmoothAlphas{0.1, 0.5, 0.9, 1 - 1e-9, 1.0,  1 + 1e-8, 1.01, 1.1, 1.25, 1.3,
                                   1.4, 1.5, 1.7, 1.9,      1.99, 2.0,      2.01, 3.0, 5.0};

constexpr double kDifferenceError = 1e-8;

/// df/dt at 0 by differences at four points, with an error of h^4 and of f's own rounding over h. Beyond
/// alpha = 2 the map is steep.
template <class Function>
double slope_of(double alpha, const Function& f) {
  const double h = alpha > 2 ? 2e-6 : 2e-5;
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

/// A row whose support keeps away from its edge: differences over 1e-4 stay on one smooth piece.
std::vector<double> smooth_row(double alpha, std::size_t n, unsigned seed) {
  auto z = normal_row<double>(n, alpha > 2 ? 0.02 : 0.3, seed);
  for (;;) {
    const auto p = entmax_row(alpha, z);
    bool changed = false;
    for (std::size_t i = 0; i < z.size(); ++i) {
      const bool is_near = p[i] > 0 && p[i] < 0.02 / static_cast<double>(n);
      if (p[i] == 0 || is_near) changed |= z[i] > -10;
      if (p[i] == 0 || is_near) z[i] = -20;
    }
    if (!changed || alpha <= 1.01) return z;
  }
}

TEST(DerivativesOfTheMap, MatchDifferences) {
  for (const double alpha : kSmoothAlphas) {
    for (const std::size_t n : {2u, 7u, 30u}) {
      const auto z = smooth_row(alpha, n, 13), v = normal_row<double>(n, 1, 14), p = entmax_row(alpha, z);
      const double d_alpha = 0.4;
      const auto found = jvp_row(alpha, p, v, d_alpha);
      double scale = 1;
      for (const double x : found) scale = std::max(scale, std::fabs(x));
      for (std::size_t i = 0; i < n; ++i) {
        const double expected = slope_of(alpha, [&](double step) {
          auto moved = z;
          for (std::size_t j = 0; j < n; ++j) moved[j] += step * v[j];
          return entmax_row(alpha + step * d_alpha, moved)[i];
        });
        EXPECT_NEAR(found[i], expected, kDifferenceError * scale) << alpha << ' ' << n << ' ' << i;
      }
    }
  }
}

TEST(DerivativesOfTheMap, SecondOrderMatchesDifferencesOfTheFirst) {
  for (const double alpha : kSmoothAlphas) {
    for (const std::size_t n : {2u, 7u, 30u}) {
      const auto z = smooth_row(alpha, n, 15), g = normal_row<double>(n, 1, 16),
                 w = normal_row<double>(n, 1, 17), v = normal_row<double>(n, 1, 18), p = entmax_row(alpha, z);
      const double w_alpha = -0.6, d_alpha = 0.4;
      const auto inner = [&](double step) {
        auto moved = z;
        for (std::size_t i = 0; i < n; ++i) moved[i] += step * v[i];
        const auto back = vjp_row(alpha + step * d_alpha, entmax_row(alpha + step * d_alpha, moved), g);
        return static_cast<double>(dot(w, back.scores)) + w_alpha * back.alpha;
      };
      std::vector<double> grad(n);
      double grad_alpha = 0;
      cpu::entmax_vjp_vjp(row_of(p), alpha, row_of(g), row_of(w), {&w_alpha, 1}, row_of(grad),
                          {&grad_alpha, 1});
      const double found = static_cast<double>(dot(grad, v)) + d_alpha * grad_alpha;
      const double size = 1 + static_cast<double>(dot_size(grad, v)) + std::fabs(grad_alpha);
      EXPECT_NEAR(found, slope_of(alpha, inner), kDifferenceError * size) << alpha << ' ' << n;

      std::vector<float> p32(p.begin(), p.end()), g32(g.begin(), g.end()), w32(w.begin(), w.end()), grad32(n);
      double grad_alpha32 = 0;
      cpu::entmax_vjp_vjp<float>(row_of(p32), alpha, row_of(g32), row_of(w32), {&w_alpha, 1}, row_of(grad32),
                                 {&grad_alpha32, 1});
      for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(grad32[i], grad[i], 1e-5 * size) << alpha << " in float";
      EXPECT_NEAR(grad_alpha32, grad_alpha, 1e-5 * size) << alpha << " in float";
    }
  }
}

/// The product may be written over the direction.
TYPED_TEST(DerivativeLaws, OutputsMayBeInputs) {
  using Real = TypeParam;
  for_each_prediction<Real>([](double alpha, const std::vector<Real>& p) {
    auto v = normal_row<Real>(p.size(), 1, 19);
    const auto expected = vjp_row(alpha, p, v).scores;
    cpu::entmax_vjp<Real>(row_of(p), alpha, row_of(v), row_of(v));
    EXPECT_EQ(v, expected);
  });
}

}  // namespace
}  // namespace fenchel::testing
