#include "fenchel/backend/cpu/entmax_loss.hpp"

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <vector>

#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "fenchel/core/parallel.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/reference.hpp"

namespace fenchel {
namespace {

using cpu::ClassTargets;
using cpu::LossOutputs;
using cpu::Reduction;
using cpu::SoftTargets;
using testing::Extended;
using testing::kAlphas;
using testing::kInf;
using testing::kNaN;

struct Result {
  double loss, grad_alpha;
  std::vector<double> grad;
};

Rows<const double> row(const std::vector<double>& z) { return {z.data(), 1, static_cast<index_t>(z.size())}; }

template <class Call>
Result run(const std::vector<double>& z, Call call) {
  Result result{0, 0, std::vector<double>(z.size())};
  call(LossOutputs<double>{
      {&result.loss, 1}, {result.grad.data(), 1, static_cast<index_t>(z.size())}, {&result.grad_alpha, 1}});
  return result;
}

Result class_loss(double alpha, const std::vector<double>& z, index_t label) {
  return run(z, [&](const auto& out) { cpu::entmax_loss(row(z), alpha, ClassTargets{{&label, 1}}, out); });
}
Result soft_loss(double alpha, const std::vector<double>& z, const std::vector<double>& q) {
  return run(z, [&](const auto& out) { cpu::entmax_loss(row(z), alpha, SoftTargets<double>{row(q)}, out); });
}
Result cross_loss(double alpha, const std::vector<double>& z, const std::vector<double>& q) {
  return run(z, [&](const auto& out) { cpu::cross_omega(row(z), alpha, SoftTargets<double>{row(q)}, out); });
}
std::vector<double> entmax(double alpha, std::vector<double> z) {
  cpu::entmax(row(z), alpha, Rows<double>(z.data(), 1, static_cast<index_t>(z.size())));
  return z;
}

Extended negentropy(Extended eps, const testing::ExtendedVector& p) {
  Extended sum = 0;
  for (const Extended x : p) {
    if (x > 0) sum += x * (eps == 0 ? std::log(x) : std::expm1(eps * std::log(x)) / eps) / (1 + eps);
  }
  return sum;
}

/// Omega*(z) = <p, z> - Omega(p), by its definition.
Extended conjugate(double alpha, const std::vector<double>& z) {
  const auto p = testing::reference_entmax(alpha, {z.begin(), z.end()});
  Extended sum = -negentropy(Extended(alpha) - 1, p);
  for (std::size_t i = 0; i < z.size(); ++i) sum += p[i] * z[i];
  return sum;
}

class Losses : public ::testing::TestWithParam<double> {
 protected:
  std::vector<double> normal(std::size_t n, double scale = 1) {
    std::normal_distribution<double> distribution(0, scale);
    std::vector<double> values(n);
    for (double& x : values) x = distribution(random_);
    return values;
  }
  std::mt19937 random_{6};
};

TEST_P(Losses, AreTheirDefinition) {
  const double alpha = GetParam();
  for (const std::size_t n : {1u, 2u, 5u, 40u}) {
    const auto z = normal(n), q = entmax(1.2, normal(n, 2));
    const Extended star = conjugate(alpha, z);
    Extended inner = 0;
    for (std::size_t i = 0; i < n; ++i) inner += q[i] * z[i];
    const auto cross = static_cast<double>(star - inner);
    const auto full =
        static_cast<double>(star - inner + negentropy(Extended(alpha) - 1, {q.begin(), q.end()}));
    const double scale = std::abs(static_cast<double>(star)) + 1;
    EXPECT_NEAR(cross_loss(alpha, z, q).loss, cross, 4e-15 * scale);
    EXPECT_NEAR(soft_loss(alpha, z, q).loss, full, 4e-15 * scale);
    for (std::size_t y = 0; y < n; ++y) {
      EXPECT_NEAR(class_loss(alpha, z, static_cast<index_t>(y)).loss, static_cast<double>(star - z[y]),
                  4e-15 * scale);
    }
  }
}

/// A loss that is larger than Omega* has at least its own rounding.
TEST_P(Losses, AreTheirDefinitionForScoresFarApart) {
  const double alpha = GetParam();
  for (const double deviation : {10.0, 30.0, 300.0}) {
    for (const std::size_t n : {2u, 2u, 2u, 3u, 4u, 5u, 40u}) {
      const auto z = normal(n, deviation);
      const Extended star = conjugate(alpha, z);
      for (std::size_t y = 0; y < n; ++y) {
        const auto expected = static_cast<double>(star - z[y]);
        EXPECT_NEAR(class_loss(alpha, z, static_cast<index_t>(y)).loss, expected,
                    1e-15 * (1 + std::abs(static_cast<double>(star)) + expected))
            << deviation << ' ' << n;
      }
    }
  }
}

TEST_P(Losses, AreExactlyZeroAtThePredictionAndPositiveElsewhere) {
  const double alpha = GetParam();
  for (const std::size_t n : {1u, 3u, 100u}) {
    const auto z = normal(n), p = entmax(alpha, z);
    EXPECT_EQ(soft_loss(alpha, z, p).loss, 0);
    if (n == 1) continue;
    auto moved = p;
    const double step = 1e-4 * *std::max_element(p.begin(), p.end());
    *std::max_element(moved.begin(), moved.end()) -= step;
    *std::min_element(moved.begin(), moved.end()) += step;
    EXPECT_GT(soft_loss(alpha, z, moved).loss, 0);
    for (const double g : soft_loss(alpha, z, p).grad) EXPECT_EQ(g, 0);
  }
  // One score far above the rest: a sparse map predicts it, and its class loss is exactly 0.
  const double loss = class_loss(alpha, {5000, 0, 1}, 0).loss;
  if (alpha > 1.01) {
    EXPECT_EQ(loss, 0);
  } else {
    EXPECT_GE(loss, 0);
  }
}

TEST_P(Losses, GradientIsPredictionLessTarget) {
  const double alpha = GetParam();
  const auto z = normal(7), q = entmax(1, normal(7)), p = entmax(alpha, z);
  const auto soft = soft_loss(alpha, z, q), cross = cross_loss(alpha, z, q), one = class_loss(alpha, z, 2);
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(soft.grad[i], p[i] - q[i]);
    EXPECT_EQ(cross.grad[i], p[i] - q[i]);
    EXPECT_EQ(one.grad[i], p[i] - (i == 2));
  }
  // and that is the slope of the value
  if (alpha > 5) return;
  for (std::size_t i = 0; i < 7; ++i) {
    const double h = 1e-5;
    auto above = z, below = z;
    above[i] += h;
    below[i] -= h;
    EXPECT_NEAR((soft_loss(alpha, above, q).loss - soft_loss(alpha, below, q).loss) / (2 * h), soft.grad[i],
                3e-8)
        << i;
  }
}

TEST_P(Losses, AlphaGradientIsTheSlopeInAlpha) {
  const double alpha = GetParam();
  if (alpha > 100) return;
  const auto z = normal(6), q = entmax(1, normal(6));
  const double h = 1e-5 * alpha;
  const auto slope = [&](auto loss) { return (loss(alpha + h) - loss(alpha - h)) / (2 * h); };
  EXPECT_NEAR(soft_loss(alpha, z, q).grad_alpha, slope([&](double a) { return soft_loss(a, z, q).loss; }),
              2e-8);
  EXPECT_NEAR(cross_loss(alpha, z, q).grad_alpha, slope([&](double a) { return cross_loss(a, z, q).loss; }),
              2e-8 * std::max(1.0, 1 / (alpha * alpha * alpha)));
  EXPECT_NEAR(class_loss(alpha, z, 3).grad_alpha, slope([&](double a) { return class_loss(a, z, 3).loss; }),
              2e-8 * std::max(1.0, 1 / (alpha * alpha * alpha)));
}

/// The Hessian times a direction, from p - q: the slope of the gradients, which for the three losses differ.
TEST_P(Losses, CurvatureIsTheSlopeOfTheGradientsInScoresAndAlpha) {
  const double alpha = GetParam();
  if (alpha > 100) return;
  const auto z = normal(6), q = entmax(1, normal(6)), direction = normal(6);
  const index_t label = 2;
  const ClassTargets one{{&label, 1}};
  const SoftTargets<double> soft{row(q)};
  const auto check = [&](auto loss, auto curvature) {
    const double h = 2e-6 * std::min(1.0, alpha), d_alpha = 0.7;
    const auto moved = [&](double step) {
      auto there = z;
      for (std::size_t i = 0; i < z.size(); ++i) there[i] += step * direction[i];
      return loss(alpha + step * d_alpha, there);
    };
    const auto here = loss(alpha, z), above = moved(h), below = moved(-h);
    std::vector<double> product(z.size());
    double product_alpha = 0;
    curvature(row(here.grad),
              cpu::LossCurvature<double>{
                  row(direction), {&d_alpha, 1}, {product.data(), 1, 6}, {&product_alpha, 1}});
    const double slope = (above.grad_alpha - below.grad_alpha) / (2 * h);
    EXPECT_NEAR(product_alpha, slope, 1e-7 * std::max(1.0, std::abs(slope)));
    for (std::size_t i = 0; i < z.size(); ++i) {
      EXPECT_NEAR(product[i], (above.grad[i] - below.grad[i]) / (2 * h), 1e-7) << i;
    }
  };
  check([&](double a, const auto& there) { return class_loss(a, there, label); },
        [&](auto residual, const auto& out) { cpu::entmax_loss_curvature(residual, alpha, one, out); });
  check([&](double a, const auto& there) { return soft_loss(a, there, q); },
        [&](auto residual, const auto& out) { cpu::entmax_loss_curvature(residual, alpha, soft, out); });
  check([&](double a, const auto& there) { return cross_loss(a, there, q); },
        [&](auto residual, const auto& out) { cpu::cross_omega_curvature(residual, alpha, soft, out); });
}

/// Of both kinds of targets, with a row that is ignored and one without prediction.
TEST_P(Losses, VjpIsTheWeightTimesTheResidual) {
  constexpr index_t kRows = 5, kCols = 7;
  auto z = normal(kRows * kCols);
  z[3 * kCols] = kNaN;
  const std::vector<index_t> classes{2, -100, 6, 0, 1};
  const std::vector<unsigned char> ignore{0, 1, 0, 0, 0};
  const std::vector<double> weights{0.3, kNaN, -2, 0, 0};
  std::vector<double> q(z.size(), 1.0 / kCols);
  q[kCols] = -1;  // of the row that is ignored
  const Rows<const double> scores(z.data(), kRows, kCols);
  const auto check = [&](const auto& targets) {
    std::vector<double> residual(z.size()), grad_scores(z.size(), kNaN);
    cpu::entmax_loss(scores, GetParam(), targets,
                     LossOutputs<double>{.residual = {residual.data(), kRows, kCols}});
    cpu::entmax_loss_vjp(scores, GetParam(), targets, weights,
                         Rows<double>(grad_scores.data(), kRows, kCols));
    for (std::size_t k = 0; k < z.size(); ++k) {
      const std::size_t i = k / kCols;
      if (i == 3) {
        EXPECT_TRUE(std::isnan(grad_scores[k])) << k;
      } else {
        EXPECT_EQ(grad_scores[k], i == 1 ? 0 : weights[i] * residual[k]) << k;
      }
    }
    std::vector<double> in_place = z;
    const Rows<double> both(in_place.data(), kRows, kCols);
    cpu::entmax_loss_vjp(both, GetParam(), targets, weights, both);
    for (std::size_t k = 0; k < z.size(); ++k) {
      EXPECT_TRUE(in_place[k] == grad_scores[k] || std::isnan(grad_scores[k])) << k;
    }
  };
  check(ClassTargets{classes});
  check(SoftTargets<double>{{q.data(), kRows, kCols}, ignore});
}

INSTANTIATE_TEST_SUITE_P(Alphas, Losses, ::testing::ValuesIn(kAlphas));

TEST(FenchelYoung, KnownLossesAreRight) {
  const std::vector<double> z{0.5, -1, 2};
  const double logsumexp = std::log(std::exp(0.5) + std::exp(-1) + std::exp(2));
  EXPECT_NEAR(class_loss(1, z, 0).loss, logsumexp - 0.5, 1e-15);
  // Sparsemax predicts (0, 0, 1): Omega* = 2, so the loss of class 0 is 2 - 0.5.
  EXPECT_NEAR(class_loss(2, z, 0).loss, 1.5, 1e-15);
  // KL divergence at alpha = 1.
  const std::vector<double> q{0.2, 0.3, 0.5}, p = entmax(1, z);
  double kl = 0;
  for (std::size_t i = 0; i < 3; ++i) kl += q[i] * std::log(q[i] / p[i]);
  EXPECT_NEAR(soft_loss(1, z, q).loss, kl, 1e-15);
}

TEST(FenchelYoung, TinyLossesKeepTheirDigits) {
  EXPECT_NEAR(class_loss(1, {60, 0}, 0).loss / std::exp(-60), 1, 1e-14) << "log1p(e^-60)";
  EXPECT_NEAR(class_loss(1.5, {1.999, 0}, 0).loss,
              static_cast<double>(conjugate(1.5, {1.999, 0}) - Extended(1.999)), 1e-18);
}

TEST(FenchelYoung, MasksAreSafe) {
  for (const double alpha : kAlphas) {
    const std::vector<double> masked{0.3, -kInf, -0.2}, plain{0.3, -0.2};
    EXPECT_NEAR(class_loss(alpha, masked, 0).loss, class_loss(alpha, plain, 0).loss, 1e-15) << alpha;
    EXPECT_NEAR(soft_loss(alpha, masked, {0.5, 0, 0.5}).loss, soft_loss(alpha, plain, {0.5, 0.5}).loss,
                1e-15);
    EXPECT_EQ(class_loss(alpha, masked, 1).loss, kInf);
    EXPECT_EQ(class_loss(alpha, masked, 1).grad[1], -1);
    EXPECT_EQ(soft_loss(alpha, masked, {0.5, 0.25, 0.25}).loss, kInf);
    EXPECT_EQ(cross_loss(alpha, masked, {0.5, 0.25, 0.25}).loss, kInf);
    EXPECT_TRUE(std::isnan(class_loss(alpha, {kNaN, 1}, 1).loss));
    EXPECT_TRUE(std::isnan(class_loss(alpha, {-kInf, -kInf}, 1).loss));
  }
}

TEST(FenchelYoung, InfiniteAlphaIsTheGapToTheMaximum) {
  EXPECT_EQ(class_loss(kInf, {1, 4, 2}, 2).loss, 2);
  EXPECT_EQ(class_loss(kInf, {1, 4, 2}, 1).loss, 0);
  EXPECT_EQ(soft_loss(kInf, {1, 4, 2}, {0.5, 0.5, 0}).loss, 1.5);
  EXPECT_EQ(soft_loss(kInf, {1, 4, 2}, {0.5, 0.5, 0}).grad_alpha, 0);
}

TEST(FenchelYoung, LargeScoresDoNotDrownTheLoss) {
  EXPECT_NEAR(class_loss(1.5, {1e15, 1e15 - 1}, 1).loss, class_loss(1.5, {0, -1}, 1).loss, 1e-15);
  EXPECT_NEAR(class_loss(1.0, {1e15, 1e15 - 1}, 1).loss, class_loss(1.0, {0, -1}, 1).loss, 1e-15);
}

TEST(FenchelYoung, TheMeanOfManyRowsIsThatOfOne) {
  constexpr std::size_t kRows = 100000;
  const std::vector<index_t> classes(kRows, 0);
  std::vector<double> each(kRows, 0.1);
  const LossOutputs<double> out{each};
  EXPECT_NEAR(cpu::reduce_loss(Reduction::mean, ClassTargets{classes}, out), 0.1, 1e-16);
  each[7] = kInfinity;  // a loss may be infinite, and others come after it
  EXPECT_EQ(cpu::reduce_loss(Reduction::mean, ClassTargets{classes}, out), kInfinity);
}

TEST(FenchelYoung, ReductionsSkipIgnoredRows) {
  const std::vector<double> z{1, 0, 0.5, 0.25, -1, 2};
  const std::vector<index_t> classes{0, -100, 1};
  const Rows<const double> scores(z.data(), 3, 2);
  std::vector<double> each(3), grad(6), grad_alpha(3);
  const LossOutputs<double> out{each, {grad.data(), 3, 2}, grad_alpha};
  cpu::entmax_loss(scores, 1.5, ClassTargets{classes}, out);
  EXPECT_EQ(each[1], 0);
  EXPECT_EQ(grad[2], 0);
  EXPECT_EQ(grad_alpha[1], 0);
  EXPECT_GT(each[0], 0);

  const double sum = cpu::reduce_loss(Reduction::sum, ClassTargets{classes}, out);
  EXPECT_EQ(sum, each[0] + each[2]);
  std::vector<double> mean_grad = grad;
  const LossOutputs<double> mean_out{each, {mean_grad.data(), 3, 2}};
  EXPECT_EQ(cpu::reduce_loss(Reduction::mean, ClassTargets{classes}, mean_out), sum / 2);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(mean_grad[i], grad[i] / 2);

  const std::vector<index_t> sevens{7, 7, 7};
  const ClassTargets all_ignored{sevens, 7};
  std::vector<double> none(3);
  cpu::entmax_loss(scores, 1.5, all_ignored, LossOutputs<double>{none});
  EXPECT_EQ(cpu::reduce_loss(Reduction::mean, all_ignored, LossOutputs<double>{none}), 0);

  const std::vector<double> q{0.5, 0.5, kNaN, 3, 0, 1};
  const std::vector<unsigned char> ignore{0, 1, 0};
  std::vector<double> soft(3);
  cpu::entmax_loss(scores, 1.5, SoftTargets<double>{{q.data(), 3, 2}, ignore}, LossOutputs<double>{soft});
  EXPECT_EQ(soft[1], 0) << "an ignored target is not even checked";
  EXPECT_EQ(soft[2], each[2]) << "a class is a soft target on one column";
}

TEST(FenchelYoung, ThreadsAndPlaceDoNotChangeTheResult) {
  std::mt19937 random(9);
  std::normal_distribution<float> normal;
  constexpr index_t kRows = 200, kCols = 500;
  std::vector<float> z(kRows * kCols), grad(z.size());
  for (float& x : z) x = normal(random);
  std::vector<index_t> classes(kRows);
  for (index_t i = 0; i < kRows; ++i) classes[static_cast<std::size_t>(i)] = (i * 7) % kCols;
  std::vector<float> each(kRows);
  const auto mean_loss = [&](int threads, std::vector<float>& gradient) {
    const LossOutputs<float> out{each, {gradient.data(), kRows, kCols}};
    set_num_threads(threads);
    cpu::entmax_loss({z.data(), kRows, kCols}, 1.5, ClassTargets{classes}, out);
    return cpu::reduce_loss(Reduction::mean, ClassTargets{classes}, out);
  };
  const float one = mean_loss(1, grad), many = mean_loss(3, z);
  set_num_threads(0);
  EXPECT_EQ(one, many);
  EXPECT_EQ(grad, z) << "the gradient may be written over the scores";
}

TEST(FenchelYoung, HessianProductIsTheSlopeOfTheGradient) {
  const std::vector<double> z{0.1, 0.4, -0.3, 0.2}, direction{1, -2, 0.5, 0.3};
  for (const double alpha : {0.7, 1.0, 1 + 1e-8, 1.5, 2.0, 3.0}) {
    std::vector<double> product(4);
    cpu::entmax_loss_hessian_product(row(z), alpha, row(direction), Rows<double>(product.data(), 1, 4));
    const double h = 1e-6;
    auto above = z, below = z;
    for (std::size_t i = 0; i < 4; ++i) {
      above[i] += h * direction[i];
      below[i] -= h * direction[i];
    }
    const auto p_above = entmax(alpha, above), p_below = entmax(alpha, below);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_NEAR(product[i], (p_above[i] - p_below[i]) / (2 * h), 1e-9) << alpha;
  }
}

TEST(FenchelYoung, CurvatureOfRowsThatDoNotMove) {
  const std::vector<double> residual{0, 0, 0.25, -0.25, kNaN, kNaN}, direction{1, 2, 3, 5, 7, 11},
      d_alpha{1, 1, 1};
  const std::vector<index_t> classes{-100, 1, 0};
  std::vector<double> product(6), product_alpha(3);
  const cpu::LossCurvature<double> out{
      {direction.data(), 3, 2}, d_alpha, {product.data(), 3, 2}, product_alpha};
  cpu::entmax_loss_curvature({residual.data(), 3, 2}, 2.0, ClassTargets{classes}, out);
  EXPECT_EQ(product[0], 0) << "ignored";
  EXPECT_EQ(product[1], 0);
  EXPECT_EQ(product_alpha[0], 0);
  EXPECT_LT(product[2], 0);
  EXPECT_EQ(product[2], -product[3]);
  EXPECT_TRUE(std::isnan(product[4])) << "no prediction";
  EXPECT_TRUE(std::isnan(product_alpha[2]));
  cpu::entmax_loss_curvature({residual.data(), 3, 2}, kInf, ClassTargets{classes}, out);
  EXPECT_EQ(product[2], 0) << "uniform over the maxima, whatever alpha";
  EXPECT_EQ(product_alpha[1], 0);
}

TEST(FenchelYoung, BadInputIsNamed) {
  const std::vector<double> z{1, 2, 3, 4};
  const Rows<const double> scores(z.data(), 2, 2);
  std::vector<double> loss(2);
  using testing::message_of;
  const auto with_classes = [&](std::vector<index_t> classes) {
    return message_of<std::logic_error>(
        [&] { cpu::entmax_loss(scores, 1.5, ClassTargets{classes}, LossOutputs<double>{loss}); });
  };
  EXPECT_EQ(with_classes({0, 2}), "fenchel::entmax_loss: classes[1] must be in [0, 2) or -100, got 2");
  EXPECT_EQ(with_classes({-1, 0}), "fenchel::entmax_loss: classes[0] must be in [0, 2) or -100, got -1");
  EXPECT_EQ(with_classes({0}),
            "fenchel::entmax_loss: classes.size() must equal the number of rows, 2, got 1");
  const auto with_targets = [&](std::vector<double> q) {
    return message_of<std::domain_error>([&] {
      cpu::cross_omega(scores, 1.5, SoftTargets<double>{{q.data(), 2, 2}}, LossOutputs<double>{loss});
    });
  };
  EXPECT_EQ(with_targets({0.5, 0.5, 1.5, -0.5}),
            "fenchel::cross_omega: targets[1][1] must not be negative, got -0.5");
  EXPECT_EQ(with_targets({0.5, 0.25, 0.5, 0.5}),
            "fenchel::cross_omega: the sum of targets[0] must be 1, got 0.75");
  EXPECT_EQ(with_targets({kNaN, 0.25, 0.5, 0.5}),
            "fenchel::cross_omega: targets[0][0] must not be negative, got nan");
  double one = 0;
  const std::vector<index_t> classes{0, 1};
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              cpu::entmax_loss(scores, 1.5, ClassTargets{classes}, LossOutputs<double>{{&one, 1}});
            }),
            "fenchel::entmax_loss: loss.size() must equal the number of rows, 2, got 1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              cpu::entmax_loss_curvature(scores, 1.5, ClassTargets{classes},
                                         cpu::LossCurvature<double>{scores, {&one, 1}, {loss.data(), 2, 2}});
            }),
            "fenchel::entmax_loss_curvature: alpha_direction.size() must equal the number of rows, 2, got 1");
  const auto with_gradient = [&](std::span<const double> weights, Rows<double> grad_scores, index_t label) {
    const std::vector<index_t> labels{0, label};
    return message_of<std::logic_error>(
        [&] { cpu::entmax_loss_vjp(scores, 1.5, ClassTargets{labels}, weights, grad_scores); });
  };
  std::vector<double> gradient(4);
  EXPECT_EQ(with_gradient({&one, 1}, {gradient.data(), 2, 2}, 1),
            "fenchel::entmax_loss_vjp: cotangent.size() must equal the number of rows, 2, got 1");
  EXPECT_EQ(with_gradient(loss, {gradient.data(), 2, 1}, 1),
            "fenchel::entmax_loss_vjp: gradient.cols must equal scores.cols = 2, got 1");
  EXPECT_EQ(with_gradient(loss, {nullptr, 2, 2}, 1),
            "fenchel::entmax_loss_vjp: gradient.data must not be null, got a null pointer");
  EXPECT_EQ(with_gradient(loss, {gradient.data(), 2, 2}, 2),
            "fenchel::entmax_loss_vjp: classes[1] must be in [0, 2) or -100, got 2");
}

}  // namespace
}  // namespace fenchel
