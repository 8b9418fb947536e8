#include "backend/cpu/entmax/soft_loss_row.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/compensated_sum.hpp"
#include "core/fenchel_young_term.hpp"
#include "fenchel/core/deformed.hpp"

/// Terms that are added up in vectors against the same terms one by one.
namespace fenchel {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const std::vector<double> kAlphas{0.05,     0.5, 0.8,  0.999,   1,   std::nextafter(1.0, 2.0),
                                  1 + 1e-8, 1.1, 1.25, 4.0 / 3, 1.5, 1.75,
                                  2,        5,   100,  1e6};

/// Scores u, which are their own excess over the normaliser, their p, and targets of every branch.
template <class Real>
struct Problem {
  explicit Problem(double alpha, std::size_t n) : am1(alpha - 1) {
    const std::vector<double> ratios{0, 1, 1 + 1e-6, 0.3, 1e-5, 40, 3e6, 0, 0.9, 2};
    for (std::size_t j = 0; j < n; ++j) {
      const double u = -0.37 * static_cast<double>((5 * j) % 23);
      z.push_back(static_cast<Real>(u));
      p.push_back(static_cast<Real>(deformed_exp(am1, double{z[j]})));
      const double target =
          p[j] > 0 ? ratios[(j * 7) % ratios.size()] * double{p[j]} : (j % 2 == 0 ? 0 : 1e-3);
      q.push_back(static_cast<Real>(std::min(1.0, target)));
    }
  }
  [[nodiscard]] detail::SoftLossRow<Real> row() const {
    return {z.data(), p.data(), q.data(), static_cast<index_t>(z.size()), am1, {0, {0, 0}}};
  }
  template <class Term>
  [[nodiscard]] double one_by_one(const Term& term) const {
    double sum = 0;
    for (std::size_t j = 0; j < z.size(); ++j) sum += term(am1, q[j], p[j], z[j]);
    return sum;
  }
  /// What terms are made of, for their rounding.
  [[nodiscard]] double size() const {
    double sum = 0;
    for (std::size_t j = 0; j < z.size(); ++j) {
      sum += p[j] * (1 + std::abs(am1 * z[j]));
      if (q[j] > 0) sum += q[j] * (1 + std::abs(z[j]) + std::abs(deformed_log(am1, double{q[j]})));
    }
    return sum;
  }

  double am1;
  std::vector<Real> z, p, q;
};

template <class Real>
class SoftLossRow : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(SoftLossRow, Reals);

TYPED_TEST(SoftLossRow, IsTheSumOfItsTerms) {
  for (const double alpha : kAlphas) {
    for (const std::size_t n : {1, 2, 7, 8, 9, 15, 16, 17, 31, 100, 601}) {
      SCOPED_TRACE(::testing::Message() << "alpha " << alpha << ", " << n << " columns");
      const Problem<TypeParam> x(alpha, n);
      const double near = 4e-15 * x.size();
      EXPECT_NEAR(detail::fenchel_young_row(x.row()), x.one_by_one(detail::fenchel_young_term), near);
      EXPECT_NEAR(detail::cross_omega_row(x.row()), x.one_by_one(detail::cross_omega_term), near);
      detail::CompensatedSum slope;
      for (const TypeParam q : x.q) slope.add(detail::tsallis_term_alpha_derivative(x.am1, q));
      EXPECT_NEAR(detail::negentropy_slope(x.q.data(), std::ssize(x.q), x.am1), slope.total(),
                  4e-15 * std::abs(slope.total()));
    }
  }
}

/// A loss is the square of what a target is off, p^alpha (r - 1)^2 / 2, and 0 where it is not.
TEST(SoftLossRow, SmallLossesKeepTheirDigits) {
  for (const double alpha : kAlphas) {
    if (alpha > 100) continue;  // where 1e-6 is not small
    Problem<double> x(alpha, 20);
    x.q = x.p;
    EXPECT_EQ(detail::fenchel_young_row(x.row()), 0) << alpha;
    double expected = 0;
    for (std::size_t j = 0; j < x.p.size(); ++j) {
      x.q[j] = x.p[j] * (1 + 1e-6);
      if (x.p[j] > 0) expected += std::pow(x.p[j], alpha) * 0.5e-12;
    }
    EXPECT_NEAR(detail::fenchel_young_row(x.row()), expected, 1e-4 * expected) << alpha;
  }
}

TEST(SoftLossRow, ExtremesAreAddedUpTermByTerm) {
  for (const double alpha : {0.05, 0.5, 1.0, 1.5, 3.0, kInf}) {
    Problem<double> x(alpha == kInf ? 3.0 : alpha, 20);
    x.am1 = alpha - 1;
    x.q[3] = 5e-324;
    const double found = detail::fenchel_young_row(x.row());
    EXPECT_NEAR(found, x.one_by_one(detail::fenchel_young_term), 1e-13 * std::abs(found)) << alpha;
    double slope = 0;
    for (const double q : x.q) slope += detail::tsallis_term_alpha_derivative(x.am1, q);
    EXPECT_NEAR(detail::negentropy_slope(x.q.data(), 20, x.am1), slope, 1e-13 * std::abs(slope)) << alpha;
    x.z[4] = -kInf;
    x.p[4] = 0;
    x.q[4] = 0;
    EXPECT_LT(detail::fenchel_young_row(x.row()), kInf) << alpha;
    x.q[4] = 0.1;
    EXPECT_EQ(detail::fenchel_young_row(x.row()), kInf) << alpha;
    EXPECT_EQ(detail::cross_omega_row(x.row()), kInf) << alpha;
  }
}

}  // namespace
}  // namespace fenchel
