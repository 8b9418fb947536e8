#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "fenchel/attention/concatenated_basis.hpp"
#include "fenchel/attention/fourier_basis.hpp"
#include "fenchel/attention/function_basis.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/polynomial_basis.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::kNaN;
using testing::message_of;

TEST(LineBases, PolynomialsArePowersOfAShiftedVariable) {
  const PolynomialBasis psi(4, 2, 0.5);
  ASSERT_EQ(psi.size(), 5);
  const Eigen::VectorXd values = evaluate(psi, 3.5);
  for (int k = 0; k <= 4; ++k) EXPECT_EQ(values[k], std::pow(3, k));
  EXPECT_EQ(evaluate(PolynomialBasis(0), 7), Eigen::VectorXd::Ones(1));
  EXPECT_TRUE(std::isnan(evaluate(psi, kNaN)[1]));
}

TEST(LineBases, WavesComeInPairsAfterTheConstant) {
  const FourierBasis psi(2, 3);
  ASSERT_EQ(psi.size(), 5);
  const Eigen::VectorXd values = evaluate(psi, 0.4);
  const double angle = 2 * std::numbers::pi * 0.4 / 3;
  const double want[] = {1, std::cos(angle), std::sin(angle), std::cos(2 * angle), std::sin(2 * angle)};
  for (index_t j = 0; j < 5; ++j) {
    EXPECT_NEAR(values[j], want[j], 1e-15);
    EXPECT_EQ(line_function(psi, j).value(0.4), values[j]);
  }
}

TEST(LineBases, WavesGoOnToTheLargestNumbers) {
  const FourierBasis psi(2, 3);
  EXPECT_EQ(evaluate(psi, 3 * 0x1p40 + 0.375), evaluate(psi, 0.375));
  EXPECT_EQ(evaluate(psi, 3 * 0x1p1022), evaluate(psi, 0));
  EXPECT_EQ(line_function(psi, 1).value(3 * 0x1p1022), 1);
  EXPECT_TRUE(std::isnan(evaluate(psi, kInf)[1]));
}

TEST(LineBases, CallablesAreEvaluatedAsTheyAre) {
  const FunctionBasis psi({[](double t) { return t * t; }, [](double t) { return t > 1 ? 1.0 : 0.0; }}, {1});
  EXPECT_EQ(evaluate(psi, 3), Eigen::Vector2d(9, 1));
  EXPECT_EQ(line_function(psi, 1).cuts, std::vector<double>{1});
}

TEST(LineBases, ConcatenationPutsPartsAfterEachOther) {
  const PolynomialBasis first(2);
  const GaussianBasis second({0, 1}, {1, 2});
  const FourierBasis third(1, 2);
  const ConcatenatedBasis psi(first, second, third);
  static_assert(LineBasis<std::remove_const_t<decltype(psi)>>);
  ASSERT_EQ(psi.size(), 8);
  Eigen::VectorXd want(8);
  want << evaluate(first, 0.3), evaluate(second, 0.3), evaluate(third, 0.3);
  EXPECT_EQ(evaluate(psi, 0.3), want);
  for (index_t j = 0; j < 8; ++j) EXPECT_NEAR(line_function(psi, j).value(0.3), want[j], 1e-15);
  EXPECT_EQ(line_function(psi, 4).cuts, line_function(second, 1).cuts);
  const std::vector<double> positions = {0.1, 0.3};
  EXPECT_EQ(Eigen::VectorXd(design_matrix(psi, positions).col(1)), want);
  EXPECT_EQ(evaluate(ConcatenatedBasis(first), 0.3), evaluate(first, 0.3));
}

TEST(LineBases, BadInputIsNamed) {
  const auto invalid = [](auto call) { return message_of<std::invalid_argument>(call); };
  const auto domain = [](auto call) { return message_of<std::domain_error>(call); };
  EXPECT_EQ(invalid([] { PolynomialBasis(-1); }),
            "fenchel::polynomial_basis: degree must not be negative, got -1");
  EXPECT_EQ(domain([] { PolynomialBasis(1, kNaN); }),
            "fenchel::polynomial_basis: centre must be finite, got nan");
  EXPECT_EQ(domain([] { PolynomialBasis(1, 0, 0); }),
            "fenchel::polynomial_basis: width must be positive and finite, got 0");
  EXPECT_EQ(domain([] { (void)GaussianBasis::linearly_spaced(4, 0, kInf, std::vector{0.1}); }),
            "fenchel::gaussian_basis::linearly_spaced: upper must be finite, got inf");
  EXPECT_EQ(invalid([] { FourierBasis(-2, 1); }),
            "fenchel::fourier_basis: count must not be negative, got -2");
  EXPECT_EQ(domain([] { FourierBasis(1, kInf); }),
            "fenchel::fourier_basis: period must be positive and finite, got inf");
  EXPECT_EQ(domain([] { FourierBasis(1, 5e-324); }),
            "fenchel::fourier_basis: period must leave 2 pi count / period finite, got 5e-324");
  EXPECT_EQ(invalid([] { FunctionBasis({}); }),
            "fenchel::function_basis: functions must not be empty, got 0");
  EXPECT_EQ(invalid([] {
              FunctionBasis({[](double t) { return t; }, nullptr});
            }),
            "fenchel::function_basis: functions[1] must be callable, got an empty function");
  EXPECT_EQ(domain([] { FunctionBasis({[](double t) { return t; }}, {kInf}); }),
            "fenchel::function_basis: cuts[0] must be finite, got inf");
}

TEST(GaussianBasis, IsSpacedEvenlyAndNamesBadInput) {
  const auto invalid = [](auto call) { return message_of<std::invalid_argument>(call); };
  const auto domain = [](auto call) { return message_of<std::domain_error>(call); };
  const auto spaced = GaussianBasis::linearly_spaced(4, 0, 1, {0.1, 0.5});
  EXPECT_EQ(std::vector<double>(spaced.mu().begin(), spaced.mu().end()), (std::vector<double>{0, 1, 0, 1}));
  EXPECT_EQ(std::vector<double>(spaced.sigma().begin(), spaced.sigma().end()),
            (std::vector<double>{0.1, 0.1, 0.5, 0.5}));
  EXPECT_EQ(invalid([] { GaussianBasis({}, {}); }), "fenchel::gaussian_basis: mu must not be empty, got 0");
  EXPECT_EQ(invalid([] {
              GaussianBasis({1, 2}, {1});
            }),
            "fenchel::gaussian_basis: sigma.size() must equal mu.size() = 2, got 1");
  EXPECT_EQ(domain([] {
              GaussianBasis({0, kNaN}, {1, 1});
            }),
            "fenchel::gaussian_basis: mu[1] must be finite, got nan");
  EXPECT_EQ(domain([] {
              GaussianBasis({0, 1}, {1, 0});
            }),
            "fenchel::gaussian_basis: sigma[1] must be positive and finite, got 0");
  EXPECT_EQ(domain([] { GaussianBasis({0}, {1e-170}); }),
            "fenchel::gaussian_basis: sigma^2[0] must be positive and finite, got 0");
  EXPECT_EQ(invalid([] {
              (void)GaussianBasis::linearly_spaced(3, 0, 1, {0.1, 0.5});
            }),
            "fenchel::gaussian_basis::linearly_spaced: count must be a positive multiple of the number of "
            "sigma, 2, got 3");
  EXPECT_EQ(invalid([] { (void)GaussianBasis::linearly_spaced(3, 0, 1, {}); }),
            "fenchel::gaussian_basis::linearly_spaced: sigma must not be empty, got 0");
}

}  // namespace
}  // namespace fenchel
