#include "fenchel/backend/cpu/fusedmax_grid.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/taut_string.hpp"
#include "support/grids.hpp"
#include "support/images.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::allowed_error;
using testing::distance;
using testing::fusedmax;
using testing::Image;
using testing::kInf;
using testing::kNaN;
using testing::kPictures;
using testing::make_image;
using testing::Picture;

Image sparsemax(Image f) {
  cpu::sparsemax(f.row(), f.row());
  return f;
}

double sum_of(const Image& p) {
  double sum = 0;
  for (const double x : p.pixels) sum += x;
  return sum;
}

TEST(FusedmaxGrid, AgreesWithProjectedGradientsOnTheDual) {
  for (const Picture picture : kPictures) {
    for (const double scale : {0.05, 1.0}) {
      for (const double gamma : {1e-8, 0.01, 0.1, 0.3, 1.0}) {
        for (const auto& [height, width] : std::map<index_t, index_t>{{4, 5}, {6, 6}, {2, 9}}) {
          const Image f = make_image(picture, height, width, scale);
          EXPECT_LT(distance(fusedmax(f, gamma * scale), reference_fusedmax(f, gamma * scale)),
                    allowed_error(f, gamma * scale))
              << static_cast<int>(picture) << ' ' << scale << ' ' << gamma << ' ' << height;
        }
      }
    }
  }
}

TEST(FusedmaxGrid, IsTheMaximiserAmongRandomNeighbours) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  const Image f = make_image(Picture::noise, 12, 17, 0.02);
  for (const double gamma : {0.001, 0.01, 0.1}) {
    const Image p = fusedmax(f, gamma);
    const auto objective = [&](const Image& q) {
      double value = -gamma * testing::variation(q);
      for (std::size_t i = 0; i < q.pixels.size(); ++i) {
        value += q.pixels[i] * (f.pixels[i] - q.pixels[i] / 2);
      }
      return value;
    };
    const double best = objective(p);
    for (int trial = 0; trial < 500; ++trial) {
      Image q = p;
      const double step = std::pow(10.0, -1 - trial % 6);
      for (double& x : q.pixels) x += step * normal(random) * static_cast<double>(trial % 2 == 0 || x > 0);
      q.pixels = testing::simplex_projection(q.pixels);
      EXPECT_LE(objective(q), best + 1e-15);
    }
  }
}

TEST(FusedmaxGrid, AnImageOfOneLineIsFusedmaxOfAChain) {
  for (const Picture picture : kPictures) {
    for (const double gamma : {0.0, 1e-8, 0.01, 0.1, 1.0, 1e8}) {
      Image f = make_image(picture, 1, 60, 0.3);
      Image chain{1, 60, taut_string(f.pixels, std::vector<double>(59, gamma))};
      chain = sparsemax(chain);
      const double allowed = allowed_error(f, gamma < 1e4 ? gamma : 0);
      EXPECT_LE(distance(fusedmax(f, gamma), chain), gamma < 1e4 ? allowed : 1e-7) << gamma;
      std::swap(f.height, f.width);
      EXPECT_LE(distance(fusedmax(f, gamma), chain), gamma < 1e4 ? allowed : 1e-7) << gamma;
    }
  }
}

TEST(FusedmaxGrid, TurnsAndMirrorsWithTheImage) {
  for (const Picture picture : kPictures) {
    for (const double scale : {0.002, 0.1}) {
      const Image f = make_image(picture, 39, 27, scale);
      for (const double gamma : {0.03 * scale, 0.5 * scale, 4 * scale}) {
        const Image p = fusedmax(f, gamma);
        Image turned{27, 39, std::vector<double>(1053)}, mirrored = f, turned_p = turned, mirrored_p = f;
        for (std::size_t r = 0; r < 39; ++r) {
          for (std::size_t c = 0; c < 27; ++c) {
            turned.pixels[c * 39 + r] = f.pixels[r * 27 + c];
            turned_p.pixels[c * 39 + r] = p.pixels[r * 27 + c];
            mirrored.pixels[r * 27 + 26 - c] = f.pixels[r * 27 + c];
            mirrored_p.pixels[r * 27 + 26 - c] = p.pixels[r * 27 + c];
          }
        }
        EXPECT_LE(distance(fusedmax(turned, gamma), turned_p), allowed_error(f, gamma));
        EXPECT_LE(distance(fusedmax(mirrored, gamma), mirrored_p), allowed_error(f, gamma));
      }
    }
  }
}

TEST(FusedmaxGrid, NoPenaltyIsSparsemaxAndALargeOneUniform) {
  for (const Picture picture : kPictures) {
    for (const double scale : {1e-3, 0.1, 1.0, 1e3}) {
      const Image f = make_image(picture, 8, 9, scale);
      EXPECT_LE(distance(fusedmax(f, 0), sparsemax(f)), allowed_error(f, 0));
      EXPECT_LE(distance(fusedmax(f, 1e-300), sparsemax(f)), allowed_error(f, 0));
      for (const double gamma : {1e8, 1e100, 1e308}) {
        for (const double x : fusedmax(f, gamma).pixels) EXPECT_NEAR(x, 1.0 / 72, 1e-16);
      }
    }
  }
}

TEST(FusedmaxGrid, IsADistributionAtEveryScale) {
  for (const Picture picture : kPictures) {
    for (const double scale : {1e-8, 1e-3, 1.0, 1e3, 1e8, 1e30, 1e300}) {
      for (const double gamma : {1e-8, 1e-3, 0.1, 1.0, 10.0, 1e8}) {
        for (const double factor : {1.0, scale}) {
          const Image p = fusedmax(make_image(picture, 16, 11, scale), gamma * factor);
          for (const double x : p.pixels) EXPECT_GE(x, 0);
          EXPECT_NEAR(sum_of(p), 1, cpu::row_sum_error<double>(p.size())) << scale << ' ' << gamma;
        }
      }
    }
  }
}

TEST(FusedmaxGrid, PixelsOfAPlateauGetTheSameNumber) {
  // Noise of 0.01 on blocks of 0.3 and 1.1: gamma removes the noise and keeps the blocks.
  Image f = make_image(Picture::blocks, 32, 32, 1e-3);
  const Image noise = make_image(Picture::noise, 32, 32, 1e-5);
  for (std::size_t i = 0; i < f.pixels.size(); ++i) f.pixels[i] += noise.pixels[i];
  const Image p = fusedmax(f, 5e-5);
  EXPECT_EQ(std::set<double>(p.pixels.begin(), p.pixels.end()).size(), 2U);
  const Image flat = fusedmax(f, 1e-2);
  EXPECT_EQ(std::set<double>(flat.pixels.begin(), flat.pixels.end()), std::set<double>{1.0 / 1024});
  // A level set of four: ties of the score and of the perimeter.
  EXPECT_EQ(fusedmax({2, 2, {1, 1, 1, 1}}, 0.3).pixels, std::vector<double>(4, 0.25));
}

TEST(FusedmaxGrid, NeighboursAreEqualOrApart) {
  // Tenths are not doubles: values that are equal in exact arithmetic come out of different sums. Those at
  // the threshold may be a rounding error above it.
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Image f = make_image(Picture::ties, 8, 8, 0.02, seed);
    for (const double gamma : {0.001, 0.002, 0.01, 0.03}) {
      const Image p = fusedmax(f, gamma);
      testing::for_neighbours(p, [&](std::size_t u, std::size_t v) {
        const double difference = std::abs(p.pixels[u] - p.pixels[v]);
        if (std::min(p.pixels[u], p.pixels[v]) < 1e-12) return;
        EXPECT_TRUE(difference == 0 || difference > 1e-6) << seed << ' ' << gamma << ' ' << difference;
      });
    }
  }
  const Image close = fusedmax({1, 2, {0.5, 0.5 + 1e-11}}, 1e-12);
  EXPECT_NEAR(close.pixels[1] - close.pixels[0], 8e-12, 1e-15);
}

TEST(FusedmaxGrid, ByHand) {
  double threshold = 0;
  // The corner loses 2 gamma, which the other three, one plateau, gain together.
  const Image p = fusedmax({2, 2, {2, 1, 1, 1}}, 0.125, &threshold);
  EXPECT_NEAR(p.pixels[0], 0.75, 1e-15);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_NEAR(p.pixels[i], 1.0 / 12, 1e-15);
  EXPECT_NEAR(threshold, 1, 1e-15);
}

TEST(FusedmaxGrid, TheThresholdIsThatOfTheProximalMap) {
  // Where nothing is fused or cut off, tau is the mean of f less 1 / n.
  const Image f = make_image(Picture::ramp, 3, 4, 0.01);
  double mean = 0, threshold = 0;
  for (const double x : f.pixels) mean += x / 12;
  for (const double x : fusedmax(f, 1e-4, &threshold).pixels) EXPECT_GT(x, 0);
  EXPECT_NEAR(threshold, mean - 1.0 / 12, 1e-15);
}

TEST(FusedmaxGrid, AMaskIsAScoreThatIsLowEnough) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    Image masked = make_image(Picture::noise, 6, 6, 0.3, seed), low = masked;
    for (std::size_t i = seed; i < 36; i += 5) {
      masked.pixels[i] = -kInf;
      low.pixels[i] = -100;
    }
    for (const double gamma : {0.0, 0.01, 0.1, 1.0, 5.0}) {
      const Image p = fusedmax(masked, gamma);
      EXPECT_LT(distance(p, reference_fusedmax(low, gamma)), 1e-12) << gamma;
      for (std::size_t i = seed; i < 36; i += 5) EXPECT_EQ(p.pixels[i], 0);
    }
    for (const double gamma : {1e8, 1e308}) EXPECT_NEAR(sum_of(fusedmax(masked, gamma)), 1, 1e-14);
  }
  EXPECT_EQ(fusedmax({1, 3, {-kInf, 5, -kInf}}, 7).pixels, (std::vector<double>{0, 1, 0}));
}

TEST(FusedmaxGrid, RowsWithoutPredictionBecomeNaNAndLeaveTheOthersAlone) {
  std::vector<double> f = {1, kNaN, 0, 0, 1, 2, 3, 4, kInf, 0, 0, 0, -kInf, -kInf, -kInf, -kInf};
  double threshold[4];
  cpu::fusedmax_grid(Rows<const double>(f.data(), 4, 4), 2, 0.1, Rows<double>(f.data(), 4, 4), threshold);
  const Image alone = fusedmax({2, 2, {1, 2, 3, 4}}, 0.1);
  for (std::size_t i = 0; i < 16; ++i) {
    if (i / 4 == 1) {
      EXPECT_EQ(f[i], alone.pixels[i % 4]);
    } else {
      EXPECT_TRUE(std::isnan(f[i])) << i;
      EXPECT_TRUE(std::isnan(threshold[i / 4]));
    }
  }
}

TEST(FusedmaxGrid, BatchesHaveAGammaForEachRowAndDoNotDependOnThreads) {
  const std::vector<double> gammas = {0, 1e-3, 0.02, 0.1, 1, 1e5};
  Image f = make_image(Picture::noise, 120, 30, 0.05), p = f;
  const Rows<const double> rows(f.pixels.data(), 6, 600);
  for (const int threads : {1, 4}) {
    set_num_threads(threads);
    cpu::fusedmax_grid(rows, 20, gammas, Rows<double>(p.pixels.data(), 6, 600));
    for (index_t i = 0; i < 6; ++i) {
      const Image one{20, 30, {rows.row(i), rows.row(i) + 600}};
      const Image expected = fusedmax(one, gammas[static_cast<std::size_t>(i)]);
      EXPECT_TRUE(std::equal(expected.pixels.begin(), expected.pixels.end(), p.pixels.begin() + i * 600));
    }
  }
  set_num_threads(0);
}

TEST(FusedmaxGrid, FloatIsDoubleRounded) {
  for (const Picture picture : kPictures) {
    for (const double gamma : {0.0, 0.01, 0.3}) {
      Image f = make_image(picture, 7, 8, 0.1);
      std::vector<float> small(f.pixels.begin(), f.pixels.end());
      f.pixels.assign(small.begin(), small.end());
      cpu::fusedmax_grid(Rows<const float>(small.data(), 1, 56), 7, gamma, Rows<float>(small.data(), 1, 56));
      const Image p = fusedmax(f, gamma);
      for (std::size_t i = 0; i < 56; ++i) EXPECT_EQ(small[i], static_cast<float>(p.pixels[i]));
    }
  }
}

TEST(FusedmaxGrid, NamesWhatIsWrong) {
  using testing::message_of;
  std::vector<double> f(12), p(12);
  const Rows<const double> in(f.data(), 2, 6);
  const Rows<double> out(p.data(), 2, 6);
  const auto invalid = [&](index_t height, PerRow gamma, Rows<double> to) {
    return message_of<std::invalid_argument>([&] { cpu::fusedmax_grid(in, height, gamma, to); });
  };
  EXPECT_EQ(invalid(4, 1.0, out), "fenchel::fusedmax_grid: height must divide scores.cols = 6, got 4");
  EXPECT_EQ(invalid(0, 1.0, out), "fenchel::fusedmax_grid: height must be positive, got 0");
  EXPECT_EQ(invalid(2, std::vector<double>{1, 2, 3}, out),
            "fenchel::fusedmax_grid: gamma.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(invalid(2, 1.0, {p.data(), 2, 5}),
            "fenchel::fusedmax_grid: p.cols must equal scores.cols = 6, got 5");
  const auto domain = [&](PerRow gamma) {
    return message_of<std::domain_error>([&] { cpu::fusedmax_grid(in, 2, gamma, out); });
  };
  EXPECT_EQ(domain(-1), "fenchel::fusedmax_grid: gamma must be finite and not negative, got -1");
  EXPECT_EQ(domain(std::vector<double>{1, kNaN}),
            "fenchel::fusedmax_grid: gamma[1] must be finite and not negative, got nan");
  cpu::fusedmax_grid(Rows<const double>(), 1, 1.0, Rows<double>());
}

}  // namespace
}  // namespace fenchel
