#include <algorithm>

#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "laws/bounds.hpp"
#include "laws/grid.hpp"
#include "laws/rows.hpp"
#include "support/certified.hpp"

/// What the Fenchel-Young losses promise of every alpha, row and target [SCD22, Section 4.2].
namespace fenchel::testing {
namespace {

template <class Real>
class LossLaws : public ::testing::Test {};
TYPED_TEST_SUITE(LossLaws, Reals);

constexpr std::array<std::size_t, 9> kLossLengths{1, 2, 3, 7, 17, 100, 256, 1000, 4097};

template <class Real, class Check>
void for_each_target(const Check& check) {
  for (const double alpha : kAlphas) {
    for (const std::size_t n : kLossLengths) {
      for (const double peakedness : {0.7, 1.3, 2.0}) {
        const auto z = normal_row<Real>(n, 1.5, 30), q = make_target<Real>(n, peakedness, 31);
        SCOPED_TRACE(::testing::Message() << "alpha = " << alpha << ", n = " << n << ", q by " << peakedness);
        check(alpha, z, q);
      }
    }
  }
}

/// Omega_alpha in long double.
template <class Number>
Extended negentropy(double alpha, const std::vector<Number>& p) {
  const Extended eps = static_cast<Extended>(alpha) - 1;
  detail::ExtendedSum sum;
  for (const Extended x : p) {
    if (x > 0) sum += x * (eps == 0 ? std::log(x) : std::expm1(eps * std::log(x)) / eps) / (1 + eps);
  }
  return sum;
}

TYPED_TEST(LossLaws, LossIsExactlyZeroAtThePrediction) {
  using Real = TypeParam;
  for_each_case(100'000, 40, [](const Case& c) {
    const auto z = c.scores<Real>(), p = entmax_row(c.alpha, z);
    const auto loss = soft_loss(c.alpha, z, p);
    EXPECT_EQ(loss.value, 0);
    EXPECT_EQ(loss.gradient, std::vector<Real>(c.n));
    // d Omega(q) / d alpha - d Omega(p) / d alpha, one sum less the other
    const std::vector<double> wide(p.begin(), p.end());
    const double size = 1 + std::fabs(tsallis_negentropy_alpha_gradient(c.alpha, wide));
    EXPECT_LE(std::fabs(loss.alpha_gradient), 0x1p-50 * std::sqrt(static_cast<double>(c.n)) * size);
  });
}

TYPED_TEST(LossLaws, LossIsItsDefinition) {
  using Real = TypeParam;
  for_each_target<Real>([](double alpha, const std::vector<Real>& z, const std::vector<Real>& q) {
    const auto exact = certified_entmax(alpha, z, entmax_row(alpha, z));
    ASSERT_TRUE(exact.proved);
    Extended mean = 0, largest = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      mean += (exact.p[i] - q[i]) * z[i];
      largest = std::max(largest, std::fabs(Extended{z[i]}));
    }
    const Extended omega_p = negentropy(alpha, exact.p), omega_q = negentropy(alpha, q);
    // The targets' own sum is only one to rounding, and the loss takes it for one: that costs 1/alpha.
    const Extended size =
        std::fabs(omega_p) + std::fabs(omega_q) + largest + 1 / static_cast<Extended>(alpha);
    const double bound = loss_bound<Real>(z.size(), size);
    EXPECT_NEAR(soft_loss(alpha, z, q).value, static_cast<double>(mean - omega_p + omega_q), bound);
    EXPECT_NEAR(cross_loss(alpha, z, q).value, static_cast<double>(mean - omega_p), bound);
    EXPECT_GE(soft_loss(alpha, z, q).value, 0);
    const std::vector<double> wide(q.begin(), q.end());
    EXPECT_NEAR(tsallis_negentropy(alpha, wide), static_cast<double>(omega_q),
                loss_bound<double>(z.size(), size));
  });
}

TYPED_TEST(LossLaws, GradientIsPredictionLessTarget) {
  using Real = TypeParam;
  for_each_target<Real>([](double alpha, const std::vector<Real>& z, const std::vector<Real>& q) {
    const auto p = entmax_row(alpha, z);
    auto expected = p;
    for (std::size_t i = 0; i < z.size(); ++i) expected[i] -= q[i];
    EXPECT_EQ(soft_loss(alpha, z, q).gradient, expected);
    EXPECT_EQ(cross_loss(alpha, z, q).gradient, expected);
  });
}

/// A class is the soft target that is one there.
TYPED_TEST(LossLaws, AClassIsATargetOnOneColumn) {
  using Real = TypeParam;
  for_each_target<Real>([](double alpha, const std::vector<Real>& z, const std::vector<Real>&) {
    const std::size_t label = z.size() / 2;
    std::vector<Real> q(z.size());
    q[label] = 1;
    const auto one = class_loss(alpha, z, static_cast<index_t>(label)), soft = soft_loss(alpha, z, q);
    EXPECT_NEAR(one.value, soft.value, loss_bound<Real>(z.size(), one.value));
    EXPECT_EQ(one.gradient, soft.gradient);
    EXPECT_NEAR(one.alpha_gradient, soft.alpha_gradient,
                loss_bound<double>(z.size(), std::fabs(one.alpha_gradient)));
    EXPECT_NEAR(one.value, cross_loss(alpha, z, q).value,
                loss_bound<Real>(z.size(), one.value + 1 / alpha + 10));
  });
}

/// L((1 - t) x + t y) <= (1 - t) L(x) + t L(y), to the rounding of the three.
TYPED_TEST(LossLaws, LossIsConvexInTheScores) {
  using Real = TypeParam;
  for_each_target<Real>([](double alpha, const std::vector<Real>& x, const std::vector<Real>& q) {
    const auto y = normal_row<Real>(x.size(), 2, 32);
    const double at_x = soft_loss(alpha, x, q).value, at_y = soft_loss(alpha, y, q).value;
    for (const double t : {0.1, 0.5, 0.75}) {
      auto between = x;
      for (std::size_t i = 0; i < x.size(); ++i) between[i] = static_cast<Real>((1 - t) * x[i] + t * y[i]);
      EXPECT_LE(soft_loss(alpha, between, q).value,
                (1 - t) * at_x + t * at_y + loss_bound<Real>(x.size(), at_x + at_y + 10));
    }
  });
}

/// The Hessian is symmetric, not negative, and the Jacobian of the prediction.
TYPED_TEST(LossLaws, HessianIsTheJacobianOfThePrediction) {
  using Real = TypeParam;
  for_each_target<Real>([](double alpha, const std::vector<Real>& z, const std::vector<Real>&) {
    const auto v = normal_row<Real>(z.size(), 1, 33), w = normal_row<Real>(z.size(), 1, 34);
    const auto hessian_product = [&](const std::vector<Real>& direction) {
      std::vector<Real> product(z.size());
      cpu::entmax_loss_hessian_product(row_of(z), alpha, row_of(direction), row_of(product));
      return product;
    };
    const auto hv = hessian_product(v), hw = hessian_product(w);
    EXPECT_EQ(hv, vjp_row(alpha, entmax_row(alpha, z), v).scores);
    const auto ulps =
        static_cast<double>(40 * Bounds<Real>::kUnit * (dot_size(w, v) + dot_size(w, hv) + dot_size(hw, v)));
    EXPECT_NEAR(static_cast<double>(dot(w, hv) - dot(hw, v)), 0, ulps);
    EXPECT_GE(static_cast<double>(dot(v, hv)), -ulps);
  });
}

TEST(LossInAlpha, GradientMatchesDifferences) {
  for_each_target<double>([](double alpha, const std::vector<double>& z, const std::vector<double>& q) {
    if (alpha > 100) return;
    const double h = 1e-4 * std::min(1.0, alpha);
    const auto slope = [&](auto loss) {
      return (8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h))) / (12 * h);
    };
    const auto soft = soft_loss(alpha, z, q), cross = cross_loss(alpha, z, q);
    const double size = std::max(1.0, std::fabs(soft.alpha_gradient) + std::fabs(cross.alpha_gradient));
    EXPECT_NEAR(soft.alpha_gradient, slope([&](double t) { return soft_loss(alpha + t, z, q).value; }),
                1e-9 * size);
    EXPECT_NEAR(cross.alpha_gradient, slope([&](double t) { return cross_loss(alpha + t, z, q).value; }),
                1e-9 * size);
    // The two losses differ by Omega(q).
    EXPECT_NEAR(soft.alpha_gradient - cross.alpha_gradient, tsallis_negentropy_alpha_gradient(alpha, q),
                1e-13 * size);
  });
}

TYPED_TEST(LossLaws, ReductionsAddUpTheRowsThatCount) {
  using Real = TypeParam;
  constexpr index_t kRows = 37, kCols = 19;
  const auto z = normal_row<Real>(kRows * kCols, 1, 35);
  std::vector<Real> q(kRows * kCols);
  cpu::softmax<Real>({z.data(), kRows, kCols}, Rows<Real>(q.data(), kRows, kCols));
  std::vector<double> alphas(kRows);
  std::vector<unsigned char> ignore(kRows);
  std::vector<index_t> classes(kRows);
  for (index_t i = 0; i < kRows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    alphas[at] = kAlphas[at % kAlphas.size()];
    ignore[at] = i % 5 == 2;
    classes[at] = ignore[at] != 0 ? -100 : i % kCols;
  }
  const index_t counted = kRows - std::count(ignore.begin(), ignore.end(), 1);
  const auto run = [&](int which, std::optional<cpu::Reduction> reduction, std::vector<Real>& loss) {
    std::vector<Real> grad(z.size(), 7);
    std::vector<double> grad_alpha(kRows, 7);
    loss.resize(kRows);
    const cpu::LossOutputs<Real> out{loss, {grad.data(), kRows, kCols}, grad_alpha};
    const Rows<const Real> scores(z.data(), kRows, kCols);
    const cpu::SoftTargets<Real> soft{{q.data(), kRows, kCols}, ignore};
    const std::span<const double> alpha(alphas);
    const cpu::ClassTargets hard{classes};
    if (which == 0) cpu::entmax_loss(scores, alpha, soft, out);
    if (which == 1) cpu::cross_omega(scores, alpha, soft, out);
    if (which == 2) cpu::entmax_loss(scores, alpha, hard, out);
    if (reduction) {
      loss = {which == 2 ? cpu::reduce_loss(*reduction, hard, out) : cpu::reduce_loss(*reduction, soft, out)};
    }
    return std::pair(grad, grad_alpha);
  };
  for (const int which : {0, 1, 2}) {
    std::vector<Real> each, sum, mean;
    const auto [grad, grad_alpha] = run(which, {}, each);
    const auto [sum_grad, sum_grad_alpha] = run(which, cpu::Reduction::sum, sum);
    const auto [mean_grad, mean_grad_alpha] = run(which, cpu::Reduction::mean, mean);
    EXPECT_EQ(sum_grad, grad);
    EXPECT_EQ(sum_grad_alpha, grad_alpha);
    long double exact_total = 0;
    double size = 0;
    const double share = 1.0 / static_cast<double>(counted), unit = Bounds<Real>::kUnit;
    for (std::size_t i = 0; i < kRows; ++i) {
      exact_total += each[i];
      size += std::fabs(each[i]);
      if (ignore[i] != 0) {
        EXPECT_EQ(each[i], 0);
        EXPECT_EQ(grad_alpha[i], 0);
      }
      EXPECT_NEAR(mean_grad_alpha[i], share * grad_alpha[i], 0x1p-51 * std::fabs(grad_alpha[i]));
      for (std::size_t j = i * kCols; j < (i + 1) * kCols; ++j) {
        if (ignore[i] != 0) {
          EXPECT_EQ(grad[j], 0);
        }
        EXPECT_NEAR(mean_grad[j], share * grad[j], 4 * unit * std::fabs(grad[j]));
      }
    }
    const auto total = static_cast<double>(exact_total);
    EXPECT_NEAR(sum[0], total, 4 * unit * size);
    EXPECT_NEAR(mean[0], share * total, 4 * unit * size);
  }
}

}  // namespace
}  // namespace fenchel::testing
