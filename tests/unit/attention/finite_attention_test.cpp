#include "fenchel/attention/finite_attention.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "fenchel/predict/finite.hpp"
#include "support/differences.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"
#include "support/normal_matrix.hpp"

namespace fenchel {
namespace {

using testing::message_of;
using testing::normal_matrix;
using testing::slope_of;

struct Inputs {
  Eigen::MatrixXd queries = normal_matrix(4, 3, 1), keys = normal_matrix(6, 3, 2),
                  values = normal_matrix(6, 2, 3);
};

TEST(FiniteAttention, IsTheExpectationUnderThePrediction) {
  const Inputs in;
  for (const double alpha : testing::kAlphas) {
    const Tsallis omega(alpha, std::sqrt(3));
    const KeyValueAttention seen = key_value_attention(omega, in.queries, in.keys, in.values);
    for (index_t i = 0; i < 4; ++i) {
      const Eigen::VectorXd scores = in.keys * in.queries.row(i).transpose();
      const SparseCategorical p = predict(omega, VectorScore({scores.begin(), scores.end()}), Finite());
      EXPECT_LE((seen.contexts.row(i).transpose() - attend(p, in.values.transpose())).norm(), 1e-13) << alpha;
      for (index_t l = 0; l < 6; ++l) EXPECT_NEAR(seen.probabilities(i, l), pmf(p, l), 1e-14);
    }
  }
}

/// The scores over such temperatures are beyond the largest number.
TEST(FiniteAttention, NearTemperatureZeroTheBestKeyIsSeen) {
  const Inputs in;
  const Eigen::MatrixXd w = normal_matrix(4, 2, 7),
                        hidden = additive_mask(std::vector<index_t>{6, 2, 3, 5}, 6);
  for (const double temperature : {5e-324, 1e-310, 1e-300}) {
    for (const double alpha : testing::kAlphas) {
      SCOPED_TRACE(::testing::Message() << alpha << " " << temperature);
      const Tsallis omega(alpha, temperature);
      const auto seen = key_value_attention(omega, in.queries, in.keys, in.values, hidden);
      const auto found = key_value_attention_vjp(omega, in.queries, in.keys, in.values, seen, w);
      for (index_t i = 0; i < 4; ++i) {
        index_t best = 0;
        (in.keys * in.queries.row(i).transpose() + hidden.row(i).transpose()).maxCoeff(&best);
        EXPECT_LE((seen.contexts.row(i) - in.values.row(best)).norm(), 1e-14);
        EXPECT_NEAR(seen.probabilities(i, best), 1, 1e-14);
      }
      EXPECT_TRUE(found.queries.allFinite() && found.keys.allFinite() && found.values.allFinite());
      EXPECT_TRUE(std::isfinite(found.alpha));
    }
  }
}

TEST(FiniteAttention, MasksHideKeysExactly) {
  const Inputs in;
  const std::vector<index_t> lengths{6, 1, 3, 4};
  const Eigen::MatrixXd mask = additive_mask(lengths, 6);
  Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic> allowed(4, 6);
  for (index_t i = 0; i < 4; ++i) {
    for (index_t l = 0; l < 6; ++l) allowed(i, l) = l < lengths[static_cast<std::size_t>(i)];
  }
  EXPECT_TRUE((additive_mask(allowed).array() == mask.array()).all());
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const Tsallis omega(alpha);
    const auto seen = key_value_attention(omega, in.queries, in.keys, in.values, mask);
    for (index_t i = 0; i < 4; ++i) {
      const index_t length = lengths[static_cast<std::size_t>(i)];
      const auto own =
          key_value_attention(omega, in.queries.row(i), in.keys.topRows(length), in.values.topRows(length));
      EXPECT_LE((seen.contexts.row(i) - own.contexts.row(0)).norm(), 1e-14);
      EXPECT_TRUE((seen.probabilities.row(i).tail(6 - length).array() == 0).all());
    }
  }
}

TEST(FiniteAttention, GradientsMatchDifferences) {
  const Inputs in, step{normal_matrix(4, 3, 4), normal_matrix(6, 3, 5), normal_matrix(6, 2, 6)};
  const Eigen::MatrixXd w = normal_matrix(4, 2, 7), mask = additive_mask(std::vector<index_t>{6, 2, 3, 5}, 6);
  for (const double alpha : {.5, 1.0, 1 + 1e-8, 4.0 / 3, 1.5, 1.7, 2.0, 3.0}) {
    const double temperature = 1.7;
    const auto loss = [&](double a, double q, double k, double v) {
      return key_value_attention(Tsallis(a, temperature), in.queries + q * step.queries,
                                 in.keys + k * step.keys, in.values + v * step.values, mask)
          .contexts.cwiseProduct(w)
          .sum();
    };
    const Tsallis omega(alpha, temperature);
    const auto seen = key_value_attention(omega, in.queries, in.keys, in.values, mask);
    const auto found = key_value_attention_vjp(omega, in.queries, in.keys, in.values, seen, w);
    const double h = 1e-4, tolerance = 1e-9;
    EXPECT_NEAR(found.queries.cwiseProduct(step.queries).sum(),
                slope_of([&](double x) { return loss(alpha, x, 0, 0); }, 0, h), tolerance)
        << alpha;
    EXPECT_NEAR(found.keys.cwiseProduct(step.keys).sum(),
                slope_of([&](double x) { return loss(alpha, 0, x, 0); }, 0, h), tolerance)
        << alpha;
    EXPECT_NEAR(found.values.cwiseProduct(step.values).sum(),
                slope_of([&](double x) { return loss(alpha, 0, 0, x); }, 0, h), tolerance)
        << alpha;
    EXPECT_NEAR(found.alpha, slope_of([&](double a) { return loss(a, 0, 0, 0); }, alpha, h), tolerance)
        << alpha;
  }
}

TEST(FiniteAttention, AQueryWithoutKeysIsNaNAloneAndCountsForNothingIfUnused) {
  const Inputs in;
  Eigen::MatrixXd mask = Eigen::MatrixXd::Zero(4, 6);
  mask.row(2).setConstant(-testing::kInf);
  for (const double alpha : {1.0, 1.5, 2.0}) {
    const Tsallis omega(alpha);
    const auto seen = key_value_attention(omega, in.queries, in.keys, in.values, mask);
    const auto plain = key_value_attention(omega, in.queries, in.keys, in.values);
    EXPECT_TRUE(seen.contexts.row(2).array().isNaN().all());
    Eigen::MatrixXd w = normal_matrix(4, 2, 8);
    w.row(2).setZero();
    for (const index_t i : {0, 1, 3}) EXPECT_EQ(seen.contexts.row(i), plain.contexts.row(i));
    const auto found = key_value_attention_vjp(omega, in.queries, in.keys, in.values, seen, w);
    const auto expected = key_value_attention_vjp(omega, in.queries, in.keys, in.values, plain, w);
    EXPECT_EQ(found.queries, expected.queries);
    EXPECT_EQ(found.keys, expected.keys);
    EXPECT_EQ(found.values, expected.values);
    EXPECT_EQ(found.alpha, expected.alpha);
  }
}

TEST(FiniteAttention, SaysWhatIsWrong) {
  const Inputs in;
  const Tsallis omega(1.5);
  const auto call = [&](const Inputs& bad, const Eigen::MatrixXd& mask) {
    return message_of<std::invalid_argument>(
        [&] { (void)key_value_attention(omega, bad.queries, bad.keys, bad.values, mask); });
  };
  EXPECT_EQ(call({.keys = normal_matrix(6, 4, 1)}, {}),
            "fenchel::key_value_attention: keys.cols() must be 3, got 4");
  EXPECT_EQ(call({.keys = normal_matrix(0, 3, 1)}, {}),
            "fenchel::key_value_attention: keys.rows() must be at least 1, got 0");
  EXPECT_EQ(call({.values = normal_matrix(5, 2, 1)}, {}),
            "fenchel::key_value_attention: values.rows() must be 6, got 5");
  EXPECT_EQ(call({}, normal_matrix(4, 5, 1)), "fenchel::key_value_attention: mask.cols() must be 6, got 5");
  const auto seen = key_value_attention(omega, in.queries, in.keys, in.values);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              (void)key_value_attention_vjp(omega, in.queries, in.keys, in.values, seen,
                                            normal_matrix(3, 2, 1));
            }),
            "fenchel::key_value_attention_vjp: cotangent.rows() must be 4, got 3");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              (void)additive_mask(std::vector<index_t>{3, 7}, 6);
            }),
            "fenchel::additive_mask: lengths[1] must be in [1, 6], got 7");
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              (void)attend(SparseCategorical(std::vector<double>{.5, .5}), normal_matrix(3, 3, 1));
            }),
            "fenchel::attend: psi.cols() must be 2, got 3");
}

}  // namespace
}  // namespace fenchel
