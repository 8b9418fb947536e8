#include "fenchel/loss/probabilities.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <exception>
#include <vector>

#include "fenchel/core/deformed.hpp"
#include "fenchel/loss/finite.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::message_of;

const std::vector<double> kAlphas{0.3, 0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5,
                                  2.0, 5.0, 1e6};
const std::vector<std::vector<double>> kRows{
    {0.2, 0.3, 0.5}, {1.0 / 3, 1.0 / 3, 1.0 / 3}, {1e-9, 0.4, 0.6 - 1e-9}, {0.25, 0.75, 0}, {1, 0, 0}};

double loss(const std::vector<double>& p, index_t label, double alpha) {
  double value = 0;
  probability_loss({p.data(), 1, static_cast<index_t>(p.size())}, {.classes = {&label, 1}}, alpha,
                   {&value, 1});
  return value;
}

TEST(ProbabilityLoss, IsTheLeastOfAllScoresThatPredictTheProbabilities) {
  for (const double alpha : kAlphas) {
    for (const auto& p : kRows) {
      for (index_t y = 0; y < 3; ++y) {
        std::vector<double> scores;  // the gradient of Omega, where the score of a class outside is largest
        for (const double x : p) scores.push_back(deformed_log(alpha - 1, x));
        const double direct = fenchel_young(Tsallis(alpha), VectorScore(scores), Finite(), y).value;
        if (std::isinf(direct)) {
          EXPECT_EQ(loss(p, y, alpha), kInf);
        } else {
          EXPECT_NEAR(loss(p, y, alpha), direct, 2e-14 * (1 + direct)) << alpha << ' ' << y;
        }
      }
    }
  }
}

TEST(ProbabilityLoss, IsMinusTheLogarithmAtOneAndHalfOfBriersScoreAtTwo) {
  for (const auto& p : kRows) {
    for (index_t y = 0; y < 3; ++y) {
      const double of_class = p[static_cast<std::size_t>(y)];
      double brier = 1 - 2 * of_class;
      for (const double x : p) brier += x * x;
      EXPECT_NEAR(loss(p, y, 2), brier / 2, 1e-15);
      if (of_class > 0) {
        EXPECT_NEAR(loss(p, y, 1), -std::log(of_class), 1e-14);
      } else {
        EXPECT_EQ(loss(p, y, 1), kInf);
        EXPECT_EQ(loss(p, y, 0.5), kInf);
      }
    }
  }
}

TEST(ProbabilityLoss, IsBoundedAboveOneAndZeroForTheTruth) {
  for (const double alpha : kAlphas) {
    EXPECT_EQ(loss({1, 0, 0}, 0, alpha), 0) << alpha;
    if (alpha <= 1) continue;
    EXPECT_NEAR(loss({1, 0, 0}, 1, alpha) * (alpha - 1), 1, 1e-14) << alpha;
  }
}

TEST(ProbabilityLoss, IsOnAverageLeastForTheTrueProbabilities) {
  const std::vector<double> truth{0.1, 0.3, 0.6};
  for (const double alpha : kAlphas) {
    const auto risk = [&](const std::vector<double>& p) {
      double mean = 0;
      for (index_t y = 0; y < 3; ++y) mean += truth[static_cast<std::size_t>(y)] * loss(p, y, alpha);
      return mean;
    };
    if (alpha > 10) continue;  // all of it is below rounding
    for (const auto& p : kRows) EXPECT_GT(risk(p), risk(truth)) << alpha;
    EXPECT_GT(risk({0.11, 0.3, 0.59}), risk(truth)) << alpha;
    EXPECT_GT(risk({0.1, 0.29, 0.61}), risk(truth)) << alpha;
  }
}

TEST(ProbabilityLoss, DividesByTheSumAndIgnores) {
  EXPECT_NEAR(loss({0.20001, 0.3, 0.5}, 1, 1.5),
              loss({0.20001 / 1.00001, 0.3 / 1.00001, 0.5 / 1.00001}, 1, 1.5), 1e-15);
  EXPECT_EQ(loss({0.2, 0.3, 0.5}, -100, 1.5), 0);
}

TEST(ProbabilityLoss, BadArgumentsAreRefused) {
  const auto message = [](const std::vector<double>& p, index_t label, double alpha) {
    return message_of<std::exception>([&] { static_cast<void>(loss(p, label, alpha)); });
  };
  EXPECT_EQ(message({0.5, 0.5}, 0, 0), "fenchel::probability_loss: alpha must be positive and finite, got 0");
  EXPECT_EQ(message({0.5, 0.5}, 0, kInf),
            "fenchel::probability_loss: alpha must be positive and finite, got inf");
  EXPECT_EQ(message({0.5, 0.5}, 2, 2),
            "fenchel::probability_loss: the class of row 0 must be in [0, 2), got 2");
  EXPECT_EQ(message({0.5, 0.6}, 0, 2), "fenchel::probability_loss: the sum of row 0 must be 1, got 1.1");
  EXPECT_EQ(message({1.5, -0.5}, 0, 2),
            "fenchel::probability_loss: the probabilities of row 0 must not be negative, got -0.5");
  double value = 0;
  const std::vector<double> p{0.5, 0.5};
  EXPECT_EQ(message_of<std::exception>([&] {
              probability_loss({p.data(), 1, 2}, {}, 2, {&value, 1});
            }),
            "fenchel::probability_loss: classes and losses must be one for each row, got 0 and 1");
}

}  // namespace
}  // namespace fenchel
