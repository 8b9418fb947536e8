#include <gtest/gtest.h>

#include "fenchel/backend/cpu/reduce_loss.hpp"
#include "support/grids.hpp"
#include "support/images.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using cpu::ClassTargets;
using cpu::LossOutputs;
using cpu::Reduction;
using cpu::SoftTargets;
using testing::fusedmax;
using testing::Image;
using testing::kInf;
using testing::kNaN;
using testing::make_image;
using testing::Picture;

struct Result {
  double loss = 0, grad_gamma = 0;
  Image grad;
};

Result soft_loss(const Image& f, double gamma, const Image& q) {
  Result result{0, 0, f};
  cpu::fusedmax_grid_loss<double>(f.row(), f.height, gamma, SoftTargets<double>{q.row()},
                                  {{&result.loss, 1}, result.grad.row(), {&result.grad_gamma, 1}});
  return result;
}

double regularizer(const Image& p, double gamma) {
  double squares = 0;
  for (const double x : p.pixels) squares += x * x;
  return (squares - 1) / 2 + gamma * testing::variation(p);
}
double dot(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += a.pixels[i] * b.pixels[i];
  return sum;
}
/// By its definition.
double loss_of(const Image& f, double gamma, const Image& q) {
  const Image p = fusedmax(f, gamma);
  return dot(p, f) - regularizer(p, gamma) + regularizer(q, gamma) - dot(f, q);
}
Image target(index_t height, index_t width, unsigned seed) {
  return fusedmax(make_image(Picture::noise, height, width, 0.1, seed), 0.01);
}

TEST(FusedmaxGridLoss, IsItsDefinition) {
  for (const double gamma : {0.0, 0.01, 0.2, 1.0, 100.0}) {
    for (const double scale : {0.05, 1.0, 10.0}) {
      const Image f = make_image(Picture::noise, 5, 6, scale), q = target(5, 6, 9);
      EXPECT_NEAR(soft_loss(f, gamma, q).loss, loss_of(f, gamma, q), 1e-13 * (1 + scale + gamma));
    }
  }
}

TEST(FusedmaxGridLoss, GradientsAreSlopes) {
  constexpr double kStep = 1e-6;
  const Image f = make_image(Picture::noise, 4, 5, 0.1), q = target(4, 5, 9);
  for (const double gamma : {0.01, 0.1, 0.5}) {
    const Result result = soft_loss(f, gamma, q);
    for (std::size_t i = 0; i < f.pixels.size(); ++i) {
      Image up = f, down = f;
      up.pixels[i] += kStep;
      down.pixels[i] -= kStep;
      EXPECT_NEAR(result.grad.pixels[i],
                  (soft_loss(up, gamma, q).loss - soft_loss(down, gamma, q).loss) / (2 * kStep), 1e-8);
    }
    EXPECT_NEAR(result.grad_gamma,
                (soft_loss(f, gamma + kStep, q).loss - soft_loss(f, gamma - kStep, q).loss) / (2 * kStep),
                1e-7);
  }
}

TEST(FusedmaxGridLoss, IsZeroAtThePredictionAndNeverNegative) {
  for (const Picture picture : testing::kPictures) {
    for (const double gamma : {0.0, 1e-8, 0.01, 0.3, 1e8}) {
      for (const double scale : {1e-3, 1.0, 1e4}) {
        const Image f = make_image(picture, 6, 6, scale);
        Image q = fusedmax(f, gamma);
        EXPECT_EQ(soft_loss(f, gamma, q).loss, 0);
        EXPECT_EQ(soft_loss(f, gamma, q).grad_gamma, 0);
        for (double& x : q.pixels) x = 0.999999 * x + 1e-6 / 36;
        const double loss = soft_loss(f, gamma, q).loss;
        EXPECT_GE(loss, 0);
        EXPECT_LT(loss, 1e-4 * (1 + scale));
      }
    }
  }
}

TEST(FusedmaxGridLoss, AClassIsATargetWithAllOnOnePixel) {
  const Image f = make_image(Picture::noise, 4, 4, 0.3);
  for (const index_t label : {0, 5, 15}) {
    Image q{4, 4, std::vector<double>(16)};
    q.pixels[static_cast<std::size_t>(label)] = 1;
    const Result soft = soft_loss(f, 0.05, q);
    Result result{0, 0, f};
    cpu::fusedmax_grid_loss<double>(f.row(), 4, 0.05, ClassTargets{{&label, 1}},
                                    {{&result.loss, 1}, result.grad.row(), {&result.grad_gamma, 1}});
    EXPECT_EQ(result.loss, soft.loss);
    EXPECT_EQ(result.grad.pixels, soft.grad.pixels);
    EXPECT_EQ(result.grad_gamma, soft.grad_gamma);
  }
}

TEST(FusedmaxGridLoss, MasksAndRowsWithoutPrediction) {
  const Image f{2, 2, {0.5, -kInf, 0.4, 0.1}};
  EXPECT_EQ(soft_loss(f, 0.1, {2, 2, {0.5, 0.25, 0.25, 0}}).loss, kInf);
  EXPECT_EQ(soft_loss({2, 2, {0, -1e308, 1e308, 0}}, 0.1, {2, 2, {0.5, 0.5, 0, 0}}).loss, kInf);
  const Image q{2, 2, {0.5, 0, 0.5, 0}};
  const Image low{2, 2, {0.5, -1000, 0.4, 0.1}};
  EXPECT_NEAR(soft_loss(f, 0.1, q).loss, soft_loss(low, 0.1, q).loss, 1e-15);
  const Result bad = soft_loss({2, 2, {0, kNaN, 0, 0}}, 0.1, q);
  EXPECT_TRUE(std::isnan(bad.loss) && std::isnan(bad.grad_gamma) && std::isnan(bad.grad.pixels[0]));
}

TEST(FusedmaxGridLoss, BatchesReduceAndIgnore) {
  const Image f = make_image(Picture::noise, 9, 4, 0.2);
  std::vector<float> scores(f.pixels.begin(), f.pixels.end()), grad(36);
  const std::vector<index_t> classes = {4, -100, 11};
  const std::vector<double> gammas = {0.01, 0.1, 0.5};
  std::vector<float> each(3);
  std::vector<double> grad_gamma(3);
  const cpu::LossOutputs<float> out{each, {grad.data(), 3, 12}, grad_gamma};
  cpu::fusedmax_grid_loss<float>(Rows<const float>(scores.data(), 3, 12), 3, gammas, ClassTargets{classes},
                                 out);
  const float mean = cpu::reduce_loss(Reduction::mean, ClassTargets{classes}, out);
  double expected = 0;
  for (std::size_t i = 0; i < 3; i += 2) {
    Image one{
        3,
        4,
        {scores.begin() + static_cast<index_t>(i) * 12, scores.begin() + static_cast<index_t>(i) * 12 + 12}};
    Image q{3, 4, std::vector<double>(12)};
    q.pixels[static_cast<std::size_t>(classes[i])] = 1;
    const Result row = soft_loss(one, gammas[i], q);
    expected += row.loss / 2;
    EXPECT_NEAR(grad_gamma[i], row.grad_gamma / 2, 1e-5);
    for (std::size_t j = 0; j < 12; ++j) EXPECT_NEAR(grad[i * 12 + j], row.grad.pixels[j] / 2, 1e-6);
  }
  EXPECT_NEAR(mean, expected, 1e-6);
  EXPECT_EQ(grad_gamma[1], 0);
}

TEST(FusedmaxGridLoss, NamesWhatIsWrong) {
  using testing::message_of;
  const Image f = make_image(Picture::noise, 3, 4, 0.2);
  const index_t label = 12, good = 1;
  double loss = 0;
  const auto run = [&](index_t height, double gamma, const index_t& at) {
    cpu::fusedmax_grid_loss<double>(f.row(), height, gamma, ClassTargets{{&at, 1}}, {{&loss, 1}, {}, {}});
  };
  EXPECT_EQ(message_of<std::domain_error>([&] { run(3, 0.1, label); }),
            "fenchel::fusedmax_grid_loss: classes[0] must be in [0, 12) or -100, got 12");
  EXPECT_EQ(message_of<std::domain_error>([&] { run(3, -0.1, good); }),
            "fenchel::fusedmax_grid_loss: gamma must be finite and not negative, got -0.1");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { run(5, 0.1, good); }),
            "fenchel::fusedmax_grid_loss: height must divide scores.cols = 12, got 5");
}

}  // namespace
}  // namespace fenchel
