#include "fenchel/predict/total_variation_grid.hpp"

#include <gtest/gtest.h>

#include "fenchel/predict/finite.hpp"
#include "support/grids.hpp"
#include "support/images.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::Image;
using testing::kInf;
using testing::make_image;
using testing::message_of;
using testing::Picture;

std::vector<double> dense(const SparseCategorical& p) {
  std::vector<double> all(static_cast<std::size_t>(p.size()));
  for (std::size_t k = 0; k < p.support().size(); ++k) {
    all[static_cast<std::size_t>(p.support()[k])] = p.probabilities()[k];
  }
  return all;
}

TEST(PredictTotalVariationGrid, IsFusedmaxOfTheScoresOverTheTemperature) {
  const Image f = make_image(Picture::noise, 5, 7, 0.2);
  for (const double temperature : {1.0, 0.25, 8.0}) {
    Image scaled = f;
    for (double& x : scaled.pixels) x /= temperature;
    const Image p = testing::fusedmax(scaled, 0.03);
    const Image got{5, 7,
                    dense(predict(TotalVariation(0.03, temperature), VectorScore(f.pixels), Grid(5, 7)))};
    EXPECT_LT(distance(got, p), 1e-15);
  }
}

TEST(PredictTotalVariationGrid, WithoutGammaIsTsallisOfOrderTwo) {
  const VectorScore f({0.3, -kInf, 0.1, 0.2, 0.9, -0.4});
  const Image fused{2, 3, dense(predict(TotalVariation(0, 0.5), f, Grid(2, 3)))};
  const Image sparse{2, 3, dense(predict(Tsallis(2, 0.5), f, Finite()))};
  EXPECT_LT(distance(fused, sparse), 1e-15);
  EXPECT_NEAR(conjugate(TotalVariation(0, 0.5), f, Grid(2, 3)), conjugate(Tsallis(2, 0.5), f, Finite()),
              1e-15);
}

TEST(PredictTotalVariationGrid, TheConjugateIsTheMaximum) {
  for (const double offset : {0.0, 7.0}) {
    Image f = make_image(Picture::noise, 4, 6, 0.3);
    for (double& x : f.pixels) x += offset;
    for (const double gamma : {0.0, 0.05, 2.0}) {
      for (const double temperature : {1.0, 0.3}) {
        const TotalVariation omega(gamma, temperature);
        const Image p{4, 6, dense(predict(omega, VectorScore(f.pixels), Grid(4, 6)))};
        double expected = temperature * (0.5 - gamma * testing::variation(p));
        for (std::size_t i = 0; i < p.pixels.size(); ++i) {
          expected += p.pixels[i] * (f.pixels[i] - temperature * p.pixels[i] / 2);
        }
        EXPECT_NEAR(conjugate(omega, VectorScore(f.pixels), Grid(4, 6)), expected, 1e-14 * (1 + offset));
      }
    }
  }
}

TEST(PredictTotalVariationGrid, NamesWhatIsWrong) {
  EXPECT_EQ(message_of<std::domain_error>([] { (void)Grid(0, 3); }),
            "fenchel::grid: height must be positive, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] { (void)Grid(3, -1); }),
            "fenchel::grid: width must be positive, got -1");
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              (void)predict(TotalVariation(1), VectorScore({1, 2, 3}), Grid(2, 2));
            }),
            "fenchel::predict: f.size() must be domain.size() = 4, got 3");
}

}  // namespace
}  // namespace fenchel
