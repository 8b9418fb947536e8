#include <gtest/gtest.h>

#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "support/differences.hpp"
#include "support/fused_rows.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using cpu::Chain, cpu::ClassTargets, cpu::LossOutputs, cpu::Reduction, cpu::SoftTargets, testing::kInf,
    testing::kNaN, testing::make_row, testing::message_of, testing::out_of, testing::row_of,
    testing::slope_of, testing::Vector;

struct Result {
  double loss, grad_gamma;
  Vector grad;
};

template <class Targets>
Result loss_of(const Vector& z, double gamma, const Targets& targets, const Chain& chain = {}) {
  Result result{0, 0, Vector(z.size())};
  cpu::fusedmax_loss<double>(row_of(z), gamma, targets,
                             {{&result.loss, 1}, out_of(result.grad), {&result.grad_gamma, 1}}, chain);
  return result;
}
Result soft_loss(const Vector& z, double gamma, const Vector& q, const Chain& chain = {}) {
  return loss_of(z, gamma, SoftTargets<double>{row_of(q)}, chain);
}
Vector fusedmax(const Vector& z, double gamma, const Chain& chain = {}) {
  Vector p(z.size());
  cpu::fusedmax<double>(row_of(z), gamma, out_of(p), chain);
  return p;
}

/// Omega(p) by its definition; E10: (|p|^2 - 1) / 2, not |p|^2 / 2 - 1.
double omega(const Vector& p, double gamma) {
  double sum = -0.5;
  for (std::size_t i = 0; i < p.size(); ++i) {
    sum += p[i] * p[i] / 2 + (i > 0 ? gamma * std::abs(p[i] - p[i - 1]) : 0.0);
  }
  return sum;
}
double by_definition(const Vector& z, double gamma, const Vector& q) {
  const Vector p = fusedmax(z, gamma);
  double sum = omega(q, gamma) - omega(p, gamma);
  for (std::size_t i = 0; i < z.size(); ++i) sum += z[i] == -kInf ? 0 : (p[i] - q[i]) * z[i];
  return sum;
}

TEST(FusedmaxLoss, IsTheDefinition) {
  for (const auto* kind : {"walk", "noise", "ties", "alternating"}) {
    for (const double gamma : {0.0, 1e-8, 0.1, 1.0, 30.0, 1e8}) {
      const Vector z = make_row(kind, 50, 3);
      for (const Vector& q : {testing::sparsemax_of(make_row("noise", 50, 4)), Vector(50, 0.02)}) {
        const double expected = by_definition(z, gamma, q);
        EXPECT_NEAR(soft_loss(z, gamma, q).loss, expected, 1e-12 * (1 + gamma)) << kind << " " << gamma;
      }
      const index_t label = 7;
      Vector one(50);
      one[7] = 1;
      EXPECT_NEAR(loss_of(z, gamma, ClassTargets{{&label, 1}}).loss, by_definition(z, gamma, one),
                  1e-12 * (1 + gamma));
    }
  }
}

TEST(FusedmaxLoss, IsTheDefinitionBetweenMasks) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Vector z = make_row("noise", 12, seed), other = make_row("walk", 12, 1000 + seed);
    z[seed % 12] = z[(seed * 5 + 3) % 12] = -kInf;
    for (std::size_t i = 0; i < 12; ++i) {
      if (z[i] == -kInf) other[i] = -1e9;
    }
    const Vector q = testing::sparsemax_of(other);
    for (const double gamma : {0.05, 0.5, 5.0}) {
      EXPECT_NEAR(soft_loss(z, gamma, q).loss, by_definition(z, gamma, q), 1e-13 * (1 + gamma)) << seed;
    }
  }
}

TEST(FusedmaxLoss, IsZeroAtThePredictionAndNeverNegative) {
  for (const auto& kind : testing::kRowKinds) {
    for (const double gamma : {0.0, 1e-8, 0.2, 5.0, 1e8}) {
      const Vector z = make_row(kind, 90, 13), p = fusedmax(z, gamma);
      EXPECT_EQ(soft_loss(z, gamma, p).loss, 0) << kind << " " << gamma;
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        Vector q = p;
        q[seed] += 1e-9;
        EXPECT_GE(soft_loss(z, gamma, q).loss, 0);
        EXPECT_LT(soft_loss(z, gamma, q).loss, 1e-7 * (1 + gamma));
      }
    }
    Vector z = make_row(kind, 90, 13);
    for (double& x : z) x *= 1e30;
    EXPECT_EQ(soft_loss(z, 3e30, fusedmax(z, 3e30)).loss, 0) << kind;
  }
}

TEST(FusedmaxLoss, GradientIsTheDifferenceOfMoments) {
  const Vector z = make_row("noise", 30, 23), q = testing::sparsemax_of(make_row("walk", 30, 24));
  const double gamma = 0.3;
  const Vector p = fusedmax(z, gamma);
  const Result result = soft_loss(z, gamma, q);
  for (std::size_t i = 0; i < z.size(); ++i) {
    EXPECT_EQ(result.grad[i], p[i] - q[i]);
    const auto along = [&](double x) {
      Vector moved = z;
      moved[i] = x;
      return soft_loss(moved, gamma, q).loss;
    };
    EXPECT_NEAR(result.grad[i], slope_of(along, z[i], 1e-5), 1e-8);
  }
  EXPECT_NEAR(result.grad_gamma, slope_of([&](double g) { return soft_loss(z, g, q).loss; }, gamma, 1e-5),
              1e-8);
}

TEST(FusedmaxLoss, MasksAndPadding) {
  Vector z = make_row("noise", 20, 5), q(20);
  z[4] = -kInf;
  q[4] = 1;
  EXPECT_EQ(soft_loss(z, 0.5, q).loss, kInf);
  q = Vector(20);
  q[5] = 1;
  Vector low = z;
  low[4] = -1e5;
  EXPECT_NEAR(soft_loss(z, 0.5, q).loss, soft_loss(low, 0.5, q).loss, 1e-10);

  const std::vector<index_t> length{12};
  const Chain chain{.lengths = length};
  EXPECT_NEAR(soft_loss(z, 0.5, q, chain).loss,
              soft_loss({z.begin(), z.begin() + 12}, 0.5, {q.begin(), q.begin() + 12}).loss, 1e-14);
  q[5] = 0;
  q[12] = 1;
  EXPECT_EQ(soft_loss(z, 0.5, q, chain).loss, kInf);
  EXPECT_TRUE(std::isnan(soft_loss({1, kNaN}, 0.5, {1, 0}).loss));
}

TEST(FusedmaxLoss, WeightsCount) {
  const Vector z{0.2, 1, 0.4, 0.9}, q{0.1, 0.2, 0.3, 0.4}, weights{2, 0.5, 3};
  const Chain chain{.weights = row_of(weights)};
  const double gamma = 0.1;
  const Vector p = fusedmax(z, gamma, chain);
  double expected = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    expected += (q[i] * q[i] - p[i] * p[i]) / 2 + (p[i] - q[i]) * z[i];
    if (i > 0) expected += gamma * weights[i - 1] * (std::abs(q[i] - q[i - 1]) - std::abs(p[i] - p[i - 1]));
  }
  EXPECT_NEAR(soft_loss(z, gamma, q, chain).loss, expected, 1e-15);
  EXPECT_NEAR(soft_loss(z, gamma, q, chain).grad_gamma,
              slope_of([&](double g) { return soft_loss(z, g, q, chain).loss; }, gamma, 1e-5), 1e-9);
}

TEST(FusedmaxLoss, ReducesAndIgnores) {
  std::vector<float> z(3 * 5);
  for (std::size_t i = 0; i < z.size(); ++i) z[i] = static_cast<float>(i % 7) / 3;
  const std::vector<index_t> classes{1, -100, 4};
  std::vector<float> each(3), grad(15);
  const Rows<const float> rows(z.data(), 3, 5);
  const cpu::LossOutputs<float> out{each, {grad.data(), 3, 5}};
  cpu::fusedmax_loss<float>(rows, 0.2, ClassTargets{classes}, out);
  const float mean = cpu::reduce_loss(Reduction::mean, ClassTargets{classes}, out);
  EXPECT_EQ(each[1], 0);
  EXPECT_FLOAT_EQ(mean, (each[0] + each[2]) / 2);
  for (std::size_t j = 5; j < 10; ++j) EXPECT_EQ(grad[j], 0);
  std::vector<float> p(15);
  cpu::fusedmax<float>(rows, 0.2, {p.data(), 3, 5});
  EXPECT_FLOAT_EQ(grad[1], (p[1] - 1) / 2);
}

TEST(FusedmaxLoss, NamesWhatIsWrong) {
  const Vector z(4);
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)soft_loss(z, -1, Vector(4, 0.25)); }),
            "fenchel::fusedmax_loss: gamma must be finite and not negative, got -1");
  EXPECT_EQ(message_of<std::domain_error>([&] { (void)soft_loss(z, 1, Vector(4, 0.5)); }),
            "fenchel::fusedmax_loss: the sum of targets[0] must be 1, got 2");
  const index_t label = 4;
  EXPECT_EQ(message_of<std::domain_error>([&] {
              (void)loss_of(z, 1, ClassTargets{{&label, 1}});
            }),
            "fenchel::fusedmax_loss: classes[0] must be in [0, 4) or -100, got 4");
}

}  // namespace
}  // namespace fenchel
