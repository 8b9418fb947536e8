#include <gtest/gtest.h>

#include <stdexcept>

#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "support/differences.hpp"
#include "support/messages.hpp"
#include "unit/backend/smooth_sparsemax_reference.hpp"

namespace fenchel {
namespace {

using cpu::Chain;
using cpu::ClassTargets;
using cpu::LossOutputs;
using cpu::Reduction;
using cpu::SoftTargets;
using testing::kGammas;
using testing::kInf;
using testing::kNaN;
using testing::message_of;
using testing::one_row;
using testing::smooth_row;

struct Result {
  double loss, grad_gamma;
  std::vector<double> grad;
};

template <class Targets>
Result loss_of(const std::vector<double>& z, double gamma, const Targets& targets, const Chain& chain = {}) {
  Result result{0, 0, std::vector<double>(z.size())};
  cpu::smooth_sparsemax_loss(
      one_row(z), gamma, targets,
      LossOutputs<double>{{&result.loss, 1}, one_row(result.grad), {&result.grad_gamma, 1}}, chain);
  return result;
}
Result soft_loss(const std::vector<double>& z, double gamma, const std::vector<double>& q,
                 const std::vector<double>& weights = {}) {
  return loss_of(z, gamma, SoftTargets<double>{one_row(q)}, testing::weighted(weights));
}

/// |p|^2 / 2 + (gamma / 2) sum_k w_k (p_{k+1} - p_k)^2.
long double omega(const std::vector<double>& p, double gamma, const std::vector<double>& weights) {
  long double sum = 0;
  for (const double x : p) sum += static_cast<long double>(x) * x;
  for (std::size_t k = 0; k + 1 < p.size(); ++k) {
    const long double step = static_cast<long double>(p[k + 1]) - p[k];
    sum += gamma * (weights.empty() ? 1.0L : weights[k]) * step * step;
  }
  return sum / 2;
}

long double dot(const std::vector<double>& x, const std::vector<double>& y) {
  long double sum = 0;
  for (std::size_t j = 0; j < x.size(); ++j) sum += static_cast<long double>(x[j]) * y[j];
  return sum;
}

/// A sparse distribution.
std::vector<double> random_target(std::mt19937_64& rng, std::size_t n) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> q(n);
  for (double& x : q) x = std::max(0.0, uniform(rng));
  q[0] += 0.1;
  const double total = testing::mass(q);
  for (double& x : q) x /= total;
  return q;
}

template <class Check>
void for_each_case(Check check) {
  std::mt19937_64 rng(21);
  for (const std::size_t n : {1, 2, 3, 10, 100}) {
    for (const auto& z : testing::random_rows(rng, n)) {
      const auto weights = testing::random_weights(rng, n);
      const auto q = random_target(rng, n);
      for (const double gamma : kGammas) {
        check(z, gamma, std::vector<double>{}, q);
        check(z, gamma, weights, q);
      }
    }
  }
}

TEST(SmoothSparsemaxLoss, IsItsDefinition) {
  for_each_case([](const auto& z, double gamma, const auto& weights, const auto& q) {
    const auto p = smooth_row(z, gamma, weights).p;
    const long double of_q = omega(q, gamma, weights);
    const auto want = static_cast<double>(dot(p, z) - omega(p, gamma, weights) + of_q - dot(q, z));
    const double scale = 1 + static_cast<double>(of_q) + *std::max_element(z.begin(), z.end()) -
                         *std::min_element(z.begin(), z.end());
    const Result got = soft_loss(z, gamma, q, weights);
    EXPECT_NEAR(got.loss, want, 4e-15 * scale) << z.size() << ' ' << gamma;
    EXPECT_GE(got.loss, 0);
    for (std::size_t j = 0; j < z.size(); ++j) EXPECT_EQ(got.grad[j], p[j] - q[j]) << gamma << ' ' << j;
  });
}

TEST(SmoothSparsemaxLoss, IsExactlyZeroAtThePrediction) {
  for_each_case([](const auto& z, double gamma, const auto& weights, const auto&) {
    const Result got = soft_loss(z, gamma, smooth_row(z, gamma, weights).p, weights);
    EXPECT_EQ(got.loss, 0) << gamma;
    EXPECT_EQ(got.grad_gamma, 0) << gamma;
    for (const double g : got.grad) EXPECT_EQ(g, 0) << gamma;

    const std::vector<float> scores(z.begin(), z.end());
    std::vector<float> p(z.size());
    float loss = 1;
    cpu::smooth_sparsemax(one_row(scores), gamma, one_row(p));
    cpu::smooth_sparsemax_loss(one_row(scores), gamma, SoftTargets<float>{one_row(std::as_const(p))},
                               LossOutputs<float>{{&loss, 1}});
    EXPECT_EQ(loss, 0) << gamma;
  });
}

TEST(SmoothSparsemaxLoss, GradientsAgreeWithDifferences) {
  std::mt19937_64 rng(22);
  for (const auto& z : testing::random_rows(rng, 9)) {
    const auto weights = testing::random_weights(rng, 9);
    const auto q = random_target(rng, 9);
    for (const double gamma : {0.05, 1.0, 20.0}) {
      const Result got = soft_loss(z, gamma, q, weights);
      const double scale = 1 + got.loss;
      const auto at_gamma = [&](double x) { return soft_loss(z, x, q, weights).loss; };
      EXPECT_NEAR(got.grad_gamma, testing::slope_of(at_gamma, gamma, 1e-4 * gamma), 1e-7 * scale / gamma);
      for (std::size_t j = 0; j < z.size(); ++j) {
        const auto at_score = [&](double x) {
          std::vector<double> moved = z;
          moved[j] = x;
          return soft_loss(moved, gamma, q, weights).loss;
        };
        EXPECT_NEAR(got.grad[j], testing::slope_of(at_score, z[j], 1e-4), 1e-7 * scale) << gamma << ' ' << j;
      }
    }
  }
}

TEST(SmoothSparsemaxLoss, InFloatIsThatInDouble) {
  std::mt19937_64 rng(24);
  for (const auto& row : testing::random_rows(rng, 50)) {
    const std::vector<float> z(row.begin(), row.end());
    const index_t label = 17;
    for (const double gamma : kGammas) {
      float loss = 0;
      cpu::smooth_sparsemax_loss(one_row(z), gamma, ClassTargets{{&label, 1}},
                                 LossOutputs<float>{{&loss, 1}});
      const double want = loss_of({z.begin(), z.end()}, gamma, ClassTargets{{&label, 1}}).loss;
      EXPECT_NEAR(double{loss}, want, 2e-7 * want) << gamma;
    }
  }
}

TEST(SmoothSparsemaxLoss, OfAClassIsThatOfItsIndicator) {
  std::mt19937_64 rng(23);
  for (const auto& z : testing::random_rows(rng, 8)) {
    for (const double gamma : kGammas) {
      for (index_t label = 0; label < 8; ++label) {
        std::vector<double> q(8);
        q[static_cast<std::size_t>(label)] = 1;
        const Result one = loss_of(z, gamma, ClassTargets{{&label, 1}}), soft = soft_loss(z, gamma, q);
        EXPECT_EQ(one.loss, soft.loss);
        EXPECT_EQ(one.grad, soft.grad);
        EXPECT_EQ(one.grad_gamma, soft.grad_gamma);
      }
    }
  }
}

TEST(SmoothSparsemaxLoss, IsInfiniteOffTheDomain) {
  const std::vector<double> z{0, -kInf, 1, 3};
  const index_t length = 3, masked = 1, padding = 3;
  const Chain chain{{&length, 1}};
  const auto p = smooth_row({0, -kInf, 1}, 0.5).p;
  const Result on_mask = loss_of(z, 0.5, ClassTargets{{&masked, 1}}, chain);
  EXPECT_EQ(on_mask.loss, kInf);
  EXPECT_EQ(on_mask.grad, (std::vector<double>{p[0], -1, p[2], 0}));
  const Result on_padding = loss_of(z, 0.5, ClassTargets{{&padding, 1}}, chain);
  EXPECT_EQ(on_padding.loss, kInf);
  EXPECT_EQ(on_padding.grad, (std::vector<double>{p[0], 0, p[2], -1}));
  const index_t inside = 2;
  const Result cut = loss_of({0, -kInf, 1}, 0.5, ClassTargets{{&inside, 1}});
  EXPECT_EQ(loss_of(z, 0.5, ClassTargets{{&inside, 1}}, chain).loss, cut.loss);
  EXPECT_LT(cut.loss, kInf);
}

TEST(SmoothSparsemaxLoss, ReducesAndIgnores) {
  std::vector<double> z{1, 2, 0, 0, 0, 3, 5, 1, 1}, each(3), gradient(9), along(3);
  const std::vector<index_t> classes{0, -100, 2};
  const std::vector<double> gamma{0.5, 1, 2};
  const Rows<const double> scores(z.data(), 3, 3);
  const LossOutputs<double> outputs{each, {gradient.data(), 3, 3}, along};
  cpu::smooth_sparsemax_loss(scores, gamma, ClassTargets{classes}, outputs);
  const auto gradient_each = gradient, along_each = along;
  EXPECT_EQ(each[0], loss_of({1, 2, 0}, 0.5, ClassTargets{{classes.data(), 1}}).loss);
  EXPECT_EQ(each[1], 0);
  EXPECT_EQ(along[1], 0);
  EXPECT_EQ(gradient[4], 0);
  EXPECT_EQ(cpu::reduce_loss(Reduction::sum, ClassTargets{classes}, outputs), each[0] + each[2]);
  EXPECT_EQ(gradient, gradient_each);
  EXPECT_EQ(cpu::reduce_loss(Reduction::mean, ClassTargets{classes}, outputs), (each[0] + each[2]) / 2);
  for (std::size_t j = 0; j < 9; ++j) EXPECT_EQ(gradient[j], gradient_each[j] / 2);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(along[i], along_each[i] / 2);
  cpu::smooth_sparsemax_loss(scores, gamma, ClassTargets{classes},
                             LossOutputs<double>{{}, {z.data(), 3, 3}, {}});
  EXPECT_EQ(z, gradient_each);
}

TEST(SmoothSparsemaxLoss, BadRowsAreNaN) {
  const index_t label = 0;
  const Result bad = loss_of({1, kNaN, 0}, 1, ClassTargets{{&label, 1}});
  EXPECT_TRUE(std::isnan(bad.loss));
  EXPECT_TRUE(std::isnan(bad.grad_gamma));
  for (const double g : bad.grad) EXPECT_TRUE(std::isnan(g));
}

TEST(SmoothSparsemaxLoss, SaysWhatIsWrong) {
  const auto message = [](double gamma, index_t label, const Chain& chain, std::span<double> along) {
    const std::vector<double> z{1, 2};
    return message_of<std::logic_error>([&] {
      cpu::smooth_sparsemax_loss(one_row(z), gamma, ClassTargets{{&label, 1}},
                                 LossOutputs<double>{{}, {}, along}, chain);
    });
  };
  const index_t length = 0;
  const double weight = -1;
  std::vector<double> two(2);
  EXPECT_EQ(message(kNaN, 0, {}, {}),
            "fenchel::smooth_sparsemax_loss: gamma must be finite and not negative, got nan");
  EXPECT_EQ(message(1, 2, {}, {}),
            "fenchel::smooth_sparsemax_loss: classes[0] must be in [0, 2) or -100, got 2");
  EXPECT_EQ(message(1, 0, {{&length, 1}}, {}),
            "fenchel::smooth_sparsemax_loss: lengths[0] must be in [1, 2], got 0");
  EXPECT_EQ(message(1, 0, {{}, {&weight, 1, 1}}, {}),
            "fenchel::smooth_sparsemax_loss: weights[0][0] must be positive and finite, got -1");
  EXPECT_EQ(message(1, 0, {}, two),
            "fenchel::smooth_sparsemax_loss: slope.size() must equal the number of rows, 1, got 2");
}

}  // namespace
}  // namespace fenchel
