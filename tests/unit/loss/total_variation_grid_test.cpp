#include "fenchel/loss/total_variation_grid.hpp"

#include <gtest/gtest.h>

#include "fenchel/loss/finite.hpp"
#include "support/grids.hpp"
#include "support/images.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::Image;
using testing::make_image;
using testing::Picture;

TEST(LossTotalVariationGrid, IsConjugateAndRegularizerLessTheMean) {
  const Image f = make_image(Picture::noise, 4, 6, 0.3), q_image = testing::fusedmax(f, 0.4);
  const SparseCategorical q(q_image.pixels);
  for (const double gamma : {0.0, 0.05, 2.0}) {
    for (const double temperature : {1.0, 0.3}) {
      const TotalVariation omega(gamma, temperature);
      const auto loss = fenchel_young(omega, VectorScore(f.pixels), Grid(4, 6), q);
      double expected = conjugate(omega, VectorScore(f.pixels), Grid(4, 6)) +
                        temperature * (gamma * testing::variation(q_image) - 0.5);
      for (std::size_t i = 0; i < f.pixels.size(); ++i) {
        expected += q_image.pixels[i] * (temperature * q_image.pixels[i] / 2 - f.pixels[i]);
      }
      EXPECT_NEAR(loss.value, expected, 1e-14);
      constexpr double kStep = 1e-6;
      const auto value = [&](double at, std::size_t i, double step) {
        Image moved = f;
        moved.pixels[i] += step;
        return fenchel_young(TotalVariation(at, temperature), VectorScore(moved.pixels), Grid(4, 6), q).value;
      };
      for (std::size_t i = 0; i < f.pixels.size(); i += 5) {
        EXPECT_NEAR(loss.gradient[i], (value(gamma, i, kStep) - value(gamma, i, -kStep)) / (2 * kStep), 1e-8);
      }
      if (gamma == 0) continue;
      EXPECT_NEAR(loss.gamma, (value(gamma + kStep, 0, 0) - value(gamma - kStep, 0, 0)) / (2 * kStep), 1e-7);
    }
  }
}

TEST(LossTotalVariationGrid, IsZeroAtThePrediction) {
  const VectorScore f(make_image(Picture::noise, 20, 30, 0.01).pixels);
  for (const double gamma : {0.0, 0.002, 0.1}) {
    const TotalVariation omega(gamma, 0.7);
    EXPECT_EQ(fenchel_young(omega, f, Grid(20, 30), predict(omega, f, Grid(20, 30))).value, 0);
  }
}

TEST(LossTotalVariationGrid, WithoutGammaIsThatOfTsallisOfOrderTwo) {
  const VectorScore f({0.3, 0.5, 0.1, 0.2, 0.9, -0.4});
  const SparseCategorical q(std::vector<double>{0.5, 0, 0, 0.25, 0.25, 0});
  const auto fused = fenchel_young(TotalVariation(0, 0.5), f, Grid(2, 3), q);
  const auto sparse = fenchel_young(Tsallis(2, 0.5), f, Finite(), q);
  EXPECT_NEAR(fused.value, sparse.value, 1e-15);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(fused.gradient[i], sparse.gradient[i], 1e-15);
}

TEST(LossTotalVariationGrid, NamesWhatIsWrong) {
  EXPECT_EQ(testing::message_of<std::invalid_argument>([] {
              (void)fenchel_young(TotalVariation(1), VectorScore({1, 2}), Grid(2, 1),
                                  SparseCategorical(std::vector<double>{1}));
            }),
            "fenchel::fenchel_young: q.size() must be domain.size() = 2, got 1");
}

}  // namespace
}  // namespace fenchel
