#include "fenchel/predict/finite.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "support/golden.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kAlphas;
using testing::kInf;

static_assert(Predictable<Tsallis, VectorScore, Finite>);
static_assert(Predictable<Shannon, VectorScore, Finite>);
static_assert(!Predictable<Tsallis, Finite, VectorScore>, "a triple that means nothing has no prediction");

TEST(PredictFinite, MatchesTheTable) {
  for (auto& block : testing::golden_blocks("entmax.txt")) {
    const Tsallis omega(block["alpha"][0]);
    const VectorScore f(block["scores"]);
    SCOPED_TRACE(::testing::Message() << "alpha = " << omega.alpha());
    const SparseCategorical p = predict(omega, f, Finite());
    for (index_t i = 0; i < p.size(); ++i) {
      const double expected = block["p"][static_cast<std::size_t>(i)];
      EXPECT_NEAR(pmf(p, i), expected, 2e-14 * expected + 4e-16);
    }
    const double a = block["normalizer"][0], star = block["conjugate"][0];
    EXPECT_NEAR(normalizer(omega, f, Finite()), a, 1e-14 * std::abs(a) + 1e-15);
    EXPECT_NEAR(conjugate(omega, f, Finite()), star, 2e-14 * std::abs(star) + 1e-15);
  }
}

TEST(PredictFinite, ShannonIsAlphaOne) {
  const VectorScore f({0.3, -kInf, 1, 0.7});
  EXPECT_EQ(predict(Shannon(), f, Finite()), predict(Tsallis(1), f, Finite()));
  EXPECT_EQ(predict(Shannon(0.5), f, Finite()),
            predict(Shannon(), VectorScore({0.6, -kInf, 2, 1.4}), Finite()))
      << "temperature divides the score";
}

/// A_T(f) = T A(f / T), Omega*_T(f) = T Omega*(f / T).
TEST(PredictFinite, TemperatureScalesTheNormaliserAndTheConjugate) {
  for (const double alpha : kAlphas) {
    const VectorScore f({0.3, -0.4, 0.2}), cold({0.6, -0.8, 0.4});
    EXPECT_NEAR(normalizer(Tsallis(alpha, 0.5), f, Finite()),
                0.5 * normalizer(Tsallis(alpha), cold, Finite()), 1e-15);
    EXPECT_NEAR(conjugate(Tsallis(alpha, 0.5), f, Finite()), 0.5 * conjugate(Tsallis(alpha), cold, Finite()),
                1e-14);
  }
}

/// Omega*(f) = max_p <p, f> - Omega(p) is what the prediction attains, and nothing else exceeds it.
TEST(PredictFinite, IsTheMaximum) {
  const VectorScore f({0.2, 0.1, -0.3});
  for (const double alpha : kAlphas) {
    const Tsallis omega(alpha);
    const double star = conjugate(omega, f, Finite());
    for (int a = 0; a <= 20; ++a) {
      for (int b = 0; a + b <= 20; ++b) {
        const std::vector<double> q{a / 20.0, b / 20.0, (20 - a - b) / 20.0};
        const double value = q[0] * 0.2 + q[1] * 0.1 - q[2] * 0.3 - tsallis_negentropy(alpha, q);
        EXPECT_LE(value, star + 1e-14) << alpha;
      }
    }
  }
}

class Measures : public ::testing::TestWithParam<double> {
 protected:
  const std::vector<double> scores_{0.2, -0.1, 0.35, 0.05};
  const Finite domain_{std::vector<double>{0.5, 1.5, 0.7, 2}};
  const Tsallis omega_{GetParam(), 0.8};

  [[nodiscard]] double moved(std::size_t i, double step, std::size_t j = 0, double other = 0) const {
    auto f = scores_;
    f[i] += step;
    f[j] += other;
    return normalizer(omega_, VectorScore(f), domain_);
  }
};

TEST_P(Measures, DensityHasMassOneAndItsNormaliser) {
  const auto p = predict_density(omega_, VectorScore(scores_), domain_);
  double mass = 0;
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    mass += domain_.weight(i) * p.density[i];
    const double u = (scores_[i] - p.top - p.normalizer_offset) / 0.8;
    EXPECT_NEAR(deformed_exp(omega_.alpha() - 1, u), p.density[i], 1e-13);
  }
  EXPECT_NEAR(mass, 1, 4e-16);
}

TEST_P(Measures, GradientAndHessianOfTheNormaliserAreItsSlopes) {
  const VectorScore f(scores_);
  const auto gradient = normalizer_gradient(omega_, f, domain_);
  double hessian[16];
  normalizer_hessian(omega_, f, domain_, Rows<double>(hessian, 4, 4));
  const double h = 1e-4;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(gradient[i], (moved(i, h) - moved(i, -h)) / (2 * h), 2e-7);
    for (std::size_t j = 0; j < 4; ++j) {
      const double slope =
          (moved(i, h, j, h) - moved(i, h, j, -h) - moved(i, -h, j, h) + moved(i, -h, j, -h)) / (4 * h * h);
      EXPECT_NEAR(hessian[4 * i + j], slope, 1e-6) << i << ' ' << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, Measures,
                         ::testing::Values(0.5, 0.9, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.25, 4.0 / 3,
                                           1.5, 1.7, 2.0, 2.5, 3.0));

TEST(PredictFinite, AtomsOfWeightZeroAreNotThere) {
  const VectorScore f({5, 1, 2});
  const auto p = predict(Tsallis(1.5), f, Finite({0, 1, 1}));
  EXPECT_EQ(pmf(p, 0), 0);
  EXPECT_EQ(pmf(p, 2), pmf(predict(Tsallis(1.5), VectorScore({1, 2}), Finite()), 1));
}

TEST(PredictFinite, BadInputIsNamed) {
  using testing::message_of;
  EXPECT_EQ(message_of<std::domain_error>([] {
              VectorScore({1, testing::kNaN});
            }),
            "fenchel::vector_score: values[1] must be finite or -inf, got nan");
  EXPECT_EQ(message_of<std::domain_error>([] { VectorScore({kInf}); }),
            "fenchel::vector_score: values[0] must be finite or -inf, got inf");
  EXPECT_EQ(message_of<std::domain_error>([] {
              VectorScore({-kInf, -kInf});
            }),
            "fenchel::vector_score: the largest value must be finite, got -inf");
  EXPECT_EQ(message_of<std::invalid_argument>([] { VectorScore({}); }),
            "fenchel::vector_score: values.size() must be at least 1, got 0");
  EXPECT_EQ(message_of<std::domain_error>([] {
              Finite({1, -2});
            }),
            "fenchel::finite: weights[1] must be finite and not negative, got -2");
  EXPECT_EQ(message_of<std::domain_error>([] {
              Finite({0, 0});
            }),
            "fenchel::finite: the largest weight must be positive, got 0");
  const VectorScore f({1, -kInf});
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              static_cast<void>(predict(Tsallis(2), f, Finite({1, 1, 1})));
            }),
            "fenchel::predict: domain.weights().size() must be 0 or f.size() = 2, got 3");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              static_cast<void>(predict(Tsallis(2), f, Finite({0, 1})));
            }),
            "fenchel::predict: the largest score of positive weight must be finite, got -inf");
}

}  // namespace
}  // namespace fenchel
