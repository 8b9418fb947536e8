#include "fenchel/predict/sobolev_finite.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "fenchel/predict/finite.hpp"
#include "support/messages.hpp"
#include "unit/backend/smooth_sparsemax_reference.hpp"

namespace fenchel {
namespace {

using testing::kGammas;
using testing::kInf;
using testing::message_of;
using testing::random_rows;
using testing::smooth_row;

std::vector<double> probabilities(const SparseCategorical& p) {
  std::vector<double> all(static_cast<std::size_t>(p.size()));
  for (std::size_t k = 0; k < p.support().size(); ++k) {
    all[static_cast<std::size_t>(p.support()[k])] = p.probabilities()[k];
  }
  return all;
}

std::vector<double> random_measure(std::mt19937_64& rng, std::size_t n) {
  std::uniform_real_distribution<double> uniform(0.05, 3);
  std::vector<double> w(n);
  for (double& x : w) x = uniform(rng);
  return w;
}

double negentropy(const Sobolev& omega, const Finite& measure, const std::vector<double>& density) {
  double square = 0, steps = 0;
  for (std::size_t i = 0; i < density.size(); ++i) square += measure.weight(i) * density[i] * density[i];
  for (std::size_t k = 0; k + 1 < density.size(); ++k) {
    steps += (density[k + 1] - density[k]) * (density[k + 1] - density[k]);
  }
  return omega.temperature() * ((square - 1) / 2 + omega.gamma() * steps / 2);
}

TEST(PredictSobolevFinite, IsSmoothSparsemax) {
  std::mt19937_64 rng(31);
  for (const std::size_t n : {1, 2, 9, 80}) {
    for (const auto& f : random_rows(rng, n)) {
      for (const double gamma : kGammas) {
        const auto row = smooth_row(f, gamma);
        const auto p = predict_density(Sobolev(gamma), VectorScore(f), Finite());
        EXPECT_EQ(p.density, row.p) << gamma;
        EXPECT_EQ(p.top + p.threshold_offset, row.tau) << gamma;
        EXPECT_EQ(probabilities(predict(Sobolev(gamma), VectorScore(f), Finite())), row.p) << gamma;
      }
    }
  }
}

TEST(PredictSobolevFinite, IsTsallisWithoutGamma) {
  std::mt19937_64 rng(32);
  for (const auto& f : random_rows(rng, 30)) {
    const Finite measure(random_measure(rng, 30));
    const auto p = predict_density(Sobolev(0, 1.3), VectorScore(f), measure);
    const auto want = predict_density(Tsallis(2, 1.3), VectorScore(f), measure);
    for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(p.density[i], want.density[i], 4e-15) << i;
    EXPECT_NEAR(p.threshold_offset, want.threshold_offset, 4e-15);
    EXPECT_NEAR(conjugate(Sobolev(0, 1.3), VectorScore(f), measure),
                conjugate(Tsallis(2, 1.3), VectorScore(f), measure), 1e-14);
  }
}

TEST(PredictSobolevFinite, IsOptimalForAMeasure) {
  std::mt19937_64 rng(33);
  for (const std::size_t n : {1, 2, 3, 12, 300}) {
    for (const auto& f : random_rows(rng, n)) {
      const Finite measure(random_measure(rng, n));
      for (const double gamma : kGammas) {
        const double temperature = 0.7;
        const auto found = predict_density(Sobolev(gamma, temperature), VectorScore(f), measure);
        const auto& p = found.density;
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const double left = i > 0 ? p[i] - p[i - 1] : 0, right = i + 1 < n ? p[i + 1] - p[i] : 0;
          const double score = (f[i] - found.top - found.threshold_offset) / temperature;
          const double rest = measure.weight(i) * (p[i] - score) + gamma * (left - right);
          EXPECT_NEAR(rest, found.slack[i], 1e-13 * (1 + std::abs(score) + gamma * p[i]))
              << gamma << ' ' << i;
          EXPECT_GE(found.slack[i], 0);
          EXPECT_TRUE(p[i] == 0 || found.slack[i] == 0);
          total += measure.weight(i) * p[i];
        }
        EXPECT_NEAR(total, 1, 1e-14) << gamma;
      }
    }
  }
}

TEST(PredictSobolevFinite, ConjugateIsTheMaximum) {
  std::mt19937_64 rng(34);
  for (const auto& f : random_rows(rng, 8)) {
    const Finite measure(random_measure(rng, 8));
    for (const double gamma : {0.0, 0.3, 10.0, 1e4}) {
      const Sobolev omega(gamma, 1.7);
      const auto value = [&](const std::vector<double>& density) {
        double mean = 0;
        for (std::size_t i = 0; i < 8; ++i) mean += measure.weight(i) * density[i] * f[i];
        return mean - negentropy(omega, measure, density);
      };
      const auto p = predict_density(omega, VectorScore(f), measure).density;
      const double star = conjugate(omega, VectorScore(f), measure);
      EXPECT_NEAR(star, value(p), 1e-13 * (1 + std::abs(star))) << gamma;
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<double> other = random_measure(rng, 8);
        double total = 0;
        for (std::size_t i = 0; i < 8; ++i) total += measure.weight(i) * other[i];
        for (std::size_t i = 0; i < 8; ++i) other[i] = 0.9 * p[i] + 0.1 * other[i] / total;
        EXPECT_LT(value(other), star) << gamma;
      }
    }
  }
}

TEST(PredictSobolevFinite, TemperatureDividesTheScore) {
  const VectorScore f({0.3, -0.4, 0.2, 0.9}), cold({0.6, -0.8, 0.4, 1.8});
  const Finite measure({0.5, 2, 1, 1});
  for (const double gamma : kGammas) {
    EXPECT_EQ(predict(Sobolev(gamma, 0.5), f, measure), predict(Sobolev(gamma), cold, measure)) << gamma;
    EXPECT_NEAR(conjugate(Sobolev(gamma, 0.5), f, measure), conjugate(Sobolev(gamma), cold, measure) / 2,
                1e-15 * (1 + gamma));
  }
}

TEST(PredictSobolevFinite, AtomsOfWeightZeroDoNotExist) {
  const Finite measure({1, 0, 2, 0, 0.5});
  const auto p = predict(Sobolev(0.4), VectorScore({0.1, 7, 0.2, 0.3, 0.4}), measure);
  const auto cut = predict(Sobolev(0.4), VectorScore({0.1, 0.2, 0.4}), Finite({1, 2, 0.5}));
  EXPECT_EQ(p.size(), 5);
  for (index_t k = 0; k < 3; ++k) EXPECT_EQ(pmf(p, 2 * k), pmf(cut, k));
  EXPECT_EQ(pmf(p, 1) + pmf(p, 3), 0);
}

TEST(PredictSobolevFinite, MaskedAtomsDo) {
  const auto p = predict_density(Sobolev(3), VectorScore({0, -kInf, 0}), Finite());
  EXPECT_EQ(p.density, (std::vector<double>{0.5, 0, 0.5}));
  EXPECT_EQ(p.threshold_offset, -2);  // p + 3 p = -tau
  EXPECT_EQ(p.slack, (std::vector<double>{0, kInf, 0}));
}

/// A grid of step h on the line: weights h, gamma / h; or the counting measure, h f and gamma / h^2. The
/// numbers are those of docs/math.md's table, row 68: p = C cosh t - t^2 / 2 - 1 - tau on (-b, b).
TEST(PredictSobolevFinite, IsThatOfTheLineOnAFineGrid) {
  constexpr double kB = 1.984735113399849, kC = 0.55597137577353553, kTau = -0.90845169811011768;
  double last = 0;
  for (const int steps : {20, 40, 80, 160}) {
    const double h = kB / steps;
    std::vector<double> f, scaled, weights;
    for (int k = -2 * steps; k <= 2 * steps; ++k) {
      f.push_back(-k * h * (k * h) / 2);
      scaled.push_back(h * f.back());
      weights.push_back(h);
    }
    const auto found = predict_density(Sobolev(1 / h), VectorScore(f), Finite(weights));
    const auto row = smooth_row(scaled, 1 / (h * h));
    double error = std::abs(found.threshold_offset - kTau);
    for (int k = -2 * steps; k <= 2 * steps; ++k) {
      const auto i = static_cast<std::size_t>(k + 2 * steps);
      const double t = k * h, exact = std::abs(t) < kB ? kC * std::cosh(t) - t * t / 2 - 1 - kTau : 0.0;
      error = std::max(error, std::abs(found.density[i] - exact));
      EXPECT_NEAR(row.p[i], h * found.density[i], 2e-15);
    }
    const auto middle = static_cast<std::size_t>(2 * steps);
    EXPECT_NEAR(found.density[middle], 0.46442307388365321, 0.2 * h * h) << h;
    EXPECT_LT(error, 0.2 * h * h) << h;
    EXPECT_TRUE(last == 0 || (error > last / 4.1 && error < last / 3.9)) << h << ' ' << error << ' ' << last;
    last = error;
  }
}

TEST(PredictSobolevFinite, SaysWhatIsWrong) {
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              (void)predict(Sobolev(1), VectorScore({1, 2}), Finite({1, 1, 1}));
            }),
            "fenchel::predict: domain.weights().size() must be 0 or f.size() = 2, got 3");
  EXPECT_EQ(message_of<std::domain_error>([] {
              (void)predict(Sobolev(1), VectorScore({1, -kInf}), Finite({0, 1}));
            }),
            "fenchel::predict: the largest score of positive weight must be finite, got -inf");
}

}  // namespace
}  // namespace fenchel
