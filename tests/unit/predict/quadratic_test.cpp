#include "fenchel/predict/quadratic.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "fenchel/domain/finite.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::message_of;

TEST(PredictQuadratic, IsTheBetaGaussianWithTheTemperatureInSigma2) {
  const auto p = predict(Tsallis(1.5, 2), QuadraticScore(0.3, 0.7), Line());
  EXPECT_EQ(p, BetaGaussian(1.5, 0.3, 1.4));
  EXPECT_EQ(predict(Shannon(), QuadraticScore(0.3, 0.7), Line()).alpha(), 1);
  static_assert(Predictable<Tsallis, QuadraticScore, Line>);
  static_assert(!Predictable<Tsallis, QuadraticScore, Finite>);
}

TEST(PredictQuadratic, ErrataE16AlphaZeroAndBelowAThirdHasNoPrediction) {
  EXPECT_EQ(message_of<std::domain_error>(
                [] { static_cast<void>(predict(Tsallis(0.3), QuadraticScore(0, 1), Line())); }),
            "fenchel::predict: alpha must be above 1/3 for a quadratic score on the line, got 0.3");
}

}  // namespace
}  // namespace fenchel
