#include "fenchel/estimate/density/bandwidth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::message_of;

const std::vector<double> kSixteen{-1.9, -1.2, -0.7, -0.4, -0.1, 0.0, 0.2, 0.3,
                                   0.8,  1.1,  1.7,  2.9,  4.5,  4.6, 5.2, 6.0};

/// c(qnorm((1:100 - .5) / 100), 4 + qnorm((1:50 - .5) / 50) / 2)
std::vector<double> two_groups() {
  std::vector<double> out;
  const BetaGaussian normal = BetaGaussian::gaussian();
  for (int i = 1; i <= 100; ++i) out.push_back(quantile(normal, (i - 0.5) / 100));
  for (int i = 1; i <= 50; ++i) out.push_back(4 + quantile(normal, (i - 0.5) / 50) / 2);
  return out;
}

Rows<const double> column(const std::vector<double>& x) { return {x.data(), std::ssize(x), 1}; }

// R 4.2: bw.nrd0(x).
TEST(Bandwidth, SilvermanIsThatOfR) {
  EXPECT_NEAR(silverman_bandwidth(column(kSixteen), 1)[0], 1.26882885125589, 1e-13);
  EXPECT_NEAR(silverman_bandwidth(column(two_groups()), 1)[0], 0.68700289175659, 1e-13);
}

// The equation of R's bw.SJ(method = "ste") solved in R 4.2 with sums over all pairs, by outer(), in place of
// bins: uniroot(function(h) (1 / (2 sqrt(pi)) / (n p4(r h^(5/7))))^.2 - h, c(.01, 4), tol = 1e-15). bw.SJ(x,
// nb = 200000, tol = 1e-13) itself gives 0.94575874, and 0.38713668 with nb = 2000000: its bins round.
TEST(Bandwidth, SheatherJonesIsThatOfR) {
  EXPECT_NEAR(sheather_jones_bandwidth(kSixteen, 1), 0.945774708650158, 1e-9);
  EXPECT_NEAR(sheather_jones_bandwidth(two_groups(), 1), 0.387136917031885, 1e-9);
}

TEST(Bandwidth, SumsOverBoxesAreThoseOverPairs) {
  // Larger data are summed by boxes: repeated they have the same estimate as with weights.
  std::vector<double> many, weights;
  for (int k = 0; k < 10; ++k)
    for (const double x : two_groups()) many.push_back(x);
  weights.assign(150, 10);
  EXPECT_NEAR(sheather_jones_bandwidth(many, 1), sheather_jones_bandwidth(two_groups(), 1, weights), 1e-9);
  EXPECT_NEAR(silverman_bandwidth(column(many), 1)[0],
              silverman_bandwidth(column(two_groups()), 1, weights)[0], 1e-12);
}

TEST(Bandwidth, OtherKernelsTakeTheirRoughness) {
  // R(K) of the Epanechnikov kernel of variance 1 is 3 / (5 sqrt 5), of the normal density 1 / (2 sqrt pi).
  const double share = std::pow(3 / (5 * std::sqrt(5.0)) * 2 * std::sqrt(std::acos(-1.0)), 0.2);
  EXPECT_NEAR(silverman_bandwidth(column(kSixteen), 2)[0],
              share * silverman_bandwidth(column(kSixteen), 1)[0], 1e-14);
  EXPECT_NEAR(silverman_bandwidth(column(kSixteen), 1 + 1e-8)[0], silverman_bandwidth(column(kSixteen), 1)[0],
              1e-8);
  // The uniform kernel of variance 1: 1 / (2 sqrt 3).
  const double uniform = std::pow(std::sqrt(std::acos(-1.0)) / std::sqrt(3.0), 0.2);
  EXPECT_NEAR(silverman_bandwidth(column(kSixteen), kInf)[0],
              uniform * silverman_bandwidth(column(kSixteen), 1)[0], 1e-14);
}

TEST(Bandwidth, SilvermanInSpace) {
  const std::vector<double> points{0, 0, 1, 10, 2, 5, 4, 1};
  const std::vector<double> got = silverman_bandwidth({points.data(), 4, 2}, 1);
  const double factor = std::pow(4.0, -1.0 / 6);  // (4 / ((2 + 2) 4))^{1/6}
  EXPECT_NEAR(got[0], factor * std::sqrt(8.75 / 3), 1e-14);
  EXPECT_NEAR(got[1], factor * std::sqrt(62.0 / 3), 1e-14);
}

TEST(Bandwidth, CrossValidationsAreBestAmongAll) {
  std::mt19937_64 rng(3);
  std::vector<double> x(150);
  for (double& value : x) value = standard_normal(rng) + (rng() % 3 == 0 ? 5 : 0);
  for (const double alpha : {1.0, 1.7, 2.0}) {
    const SelectedDensity likelihood = select_bandwidth(BandwidthRule::likelihood, column(x), alpha);
    const SelectedDensity squares = select_bandwidth(BandwidthRule::least_squares, column(x), alpha);
    EXPECT_FALSE(likelihood.at_end);
    EXPECT_FALSE(squares.at_end);
    // The search is on a grid first, so that a better one is near a value of the grid, or nowhere.
    for (double factor = 0.3; factor < 3; factor *= 1.2) {
      EXPECT_LE(likelihood.density.scaled(factor).likelihood_score(),
                likelihood.density.likelihood_score() + 1e-9);
      EXPECT_GE(squares.density.scaled(factor).least_squares_score(),
                squares.density.least_squares_score() - 1e-9);
    }
  }
}

TEST(Bandwidth, LikelihoodReachesFarRows) {
  std::vector<double> x = kSixteen;
  x.push_back(300);
  const SelectedDensity found = select_bandwidth(BandwidthRule::likelihood, column(x), 2);
  EXPECT_GT(found.density.likelihood_score(), -kInf);
  EXPECT_GT(found.density.bandwidth(0) * found.density.radius(), 294);
}

TEST(Bandwidth, TiesLeadLeastSquaresToTheEnd) {
  const std::vector<double> x{1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4};
  EXPECT_TRUE(select_bandwidth(BandwidthRule::least_squares, column(x), 2).at_end);
}

TEST(Bandwidth, InThePlane) {
  std::mt19937_64 rng(4);
  std::vector<double> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = standard_normal(rng) * (i % 2 == 0 ? 1 : 100);
  for (const BandwidthRule rule : {BandwidthRule::likelihood, BandwidthRule::least_squares}) {
    const SelectedDensity found = select_bandwidth(rule, {x.data(), 100, 2}, 2);
    EXPECT_NEAR(found.density.bandwidth(1) / found.density.bandwidth(0), 100, 20);
    EXPECT_GT(found.density.bandwidth(0), 0.1);
    EXPECT_LT(found.density.bandwidth(0), 1.5);
  }
}

TEST(Bandwidth, Errors) {
  const std::vector<double> same{2, 2, 2}, one{1}, two{1, 2};
  const auto error = [&](const std::vector<double>& x, double alpha) {
    return message_of<std::domain_error>([&] { static_cast<void>(silverman_bandwidth(column(x), alpha)); });
  };
  EXPECT_EQ(error(same, 2), "fenchel::bandwidth: the values of a column must not all be the same, got 2");
  EXPECT_EQ(error(one, 2), "fenchel::bandwidth: the sum of the weights must be above 1, got 1");
  EXPECT_EQ(error(two, 0.5), "fenchel::bandwidth: alpha must be at least 1, got 0.5");
  EXPECT_THROW(static_cast<void>(select_bandwidth(BandwidthRule::sheather_jones, {kSixteen.data(), 8, 2}, 2)),
               std::invalid_argument);
}

}  // namespace
}  // namespace fenchel
