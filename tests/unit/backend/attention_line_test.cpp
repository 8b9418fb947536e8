#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/philox.hpp"
#include "support/attention_line.hpp"
#include "support/golden.hpp"
#include "support/grids.hpp"

/// Expectations of Gaussian functions under densities on the line, against multiprecision.
namespace fenchel {
namespace {

using testing::kInf;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// A line of attention_rows.txt.
struct Pair {
  double alpha, mu, sigma2, mean, covariance;
  double value, slope[3];  // d/dmu, d/dsigma2, d/dalpha
  double scale[3], kappa;  // of the slopes' errors; of the value for a relative change of a length
  [[nodiscard]] double peak() const { return 1 / std::sqrt(2 * std::numbers::pi * covariance); }
};

std::vector<std::vector<Pair>> pairs_by_alpha() {
  std::vector<std::vector<Pair>> all;
  for (const auto& row : testing::golden_rows("attention_rows.txt")) {
    if (all.empty() || all.back().front().alpha != row[0]) all.emplace_back();
    all.back().push_back({row[0],
                          row[1],
                          row[2],
                          row[3],
                          row[4],
                          row[5],
                          {row[6], row[7], row[8]},
                          {row[9], row[10], row[11]},
                          row[12]});
  }
  return all;
}

/// All densities of some pairs with all of their functions: narrow and wide ones side by side.
template <class Real>
class Batch {
 public:
  explicit Batch(const std::vector<Pair>& pairs) : alpha_(pairs.front().alpha) {
    for (const Pair& pair : pairs) {
      mu_.push_back(static_cast<Real>(pair.mu));
      sigma2_.push_back(static_cast<Real>(pair.sigma2));
      mean_.push_back(pair.mean);
      covariance_.push_back(pair.covariance);
    }
  }
  [[nodiscard]] index_t size() const { return std::ssize(mu_); }
  [[nodiscard]] cpu::Densities<Real> densities() const {
    return {alpha_, {mu_.data(), size(), 1}, {sigma2_.data(), size(), 1}};
  }
  [[nodiscard]] cpu::GaussianFunctions functions() const {
    return {{mean_.data(), size(), 1}, {covariance_.data(), size(), 1}};
  }
  /// E of function i under density i, on its own.
  [[nodiscard]] Real alone(index_t i) const {
    Real r{};
    cpu::attend<Real>({alpha_, {mu_.data() + i, 1, 1}, {sigma2_.data() + i, 1, 1}},
                      {{mean_.data() + i, 1, 1}, {covariance_.data() + i, 1, 1}}, {&r, 1, 1});
    return r;
  }
  [[nodiscard]] std::vector<Real> values() const {
    std::vector<Real> r(static_cast<std::size_t>(size() * size()));
    cpu::attend<Real>(densities(), functions(), {r.data(), size(), size()});
    return r;
  }
  /// d/dmu, d/dsigma2, d/dalpha of E of function i under density i.
  [[nodiscard]] std::array<std::vector<Real>, 3> slopes() const {
    const index_t n = size();
    std::vector<Real> identity(static_cast<std::size_t>(n * n));
    for (index_t i = 0; i < n; ++i) identity[static_cast<std::size_t>(i * (n + 1))] = 1;
    std::array<std::vector<Real>, 3> out;
    for (auto& part : out) part.resize(static_cast<std::size_t>(n));
    cpu::attend_vjp<Real>(densities(), functions(), Rows<const Real>(identity.data(), n, n),
                          {out[2], {out[0].data(), n, 1}, {out[1].data(), n, 1}});
    return out;
  }

 private:
  std::vector<Real> mu_, sigma2_;
  std::vector<double> mean_, covariance_;
  double alpha_;
};

template <class Real>
constexpr bool kIsSingle = sizeof(Real) == 4;

/// What rounding the lengths once may do to a value, and what the kernels promise.
template <class Real>
double relative_error(const Pair& pair) {
  return kIsSingle<Real> ? cpu::kAttendFloatError : cpu::kAttendLineError + 8 * kEps * pair.kappa;
}

template <class Real>
void expect_values(const std::vector<Pair>& pairs) {
  const Batch<Real> batch(pairs);
  const auto r = batch.values();
  for (index_t i = 0; i < batch.size(); ++i) {
    const Pair& pair = pairs[static_cast<std::size_t>(i)];
    SCOPED_TRACE(::testing::Message() << "alpha - 1 = " << pair.alpha - 1 << ", pair " << i);
    const Real got = r[static_cast<std::size_t>(i * (batch.size() + 1))];
    EXPECT_NEAR(batch.alone(i), got, 2 * relative_error<Real>(pair) * got);
    EXPECT_GE(got, 0);
    if (pair.value > 1e-30 * pair.peak()) {
      EXPECT_NEAR(got / pair.value, 1, relative_error<Real>(pair));
    } else {  // below what is promised: right, or nothing
      const double loose = kIsSingle<Real> ? 1e-4 : 1e-9 + 8 * kEps * pair.kappa;
      EXPECT_TRUE(got == 0 || std::fabs(got - pair.value) <= loose * pair.value + 2e-45) << got << pair.value;
    }
  }
}

TEST(AttentionLine, ValuesAreThoseOfMultiprecision) {
  const auto all = pairs_by_alpha();
  ASSERT_EQ(all.size(), 18U);
  for (const auto& pairs : all) {
    ASSERT_EQ(pairs.size(), 22U);
    expect_values<double>(pairs);
    expect_values<float>(pairs);
  }
}

template <class Real>
void expect_slopes(const std::vector<Pair>& pairs) {
  const auto slopes = Batch<Real>(pairs).slopes();
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    for (std::size_t k = 0; k < 3; ++k) {
      SCOPED_TRACE(::testing::Message()
                   << "alpha - 1 = " << pair.alpha - 1 << ", pair " << i << ", slope " << k);
      const double got = slopes[k][i];
      EXPECT_TRUE(std::isfinite(got));
      if (pair.value <= 1e-30 * pair.peak()) continue;
      const double error =
          kIsSingle<Real> ? cpu::kAttendFloatError : cpu::kAttendSlopeError + 8 * kEps * pair.kappa;
      // alpha d/dalpha is made of rates as large as 1, however little of them is left at a large alpha
      const double rounding = k == 2 && pair.alpha < kInf ? 8 * kEps * pair.value / pair.alpha : 0;
      EXPECT_NEAR(got, pair.slope[k], error * pair.scale[k] + rounding + (kIsSingle<Real> ? 2e-45 : 0));
    }
  }
}

TEST(AttentionLine, SlopesAreThoseOfMultiprecision) {
  for (const auto& pairs : pairs_by_alpha()) {
    expect_slopes<double>(pairs);
    expect_slopes<float>(pairs);
  }
}

TEST(AttentionLine, GoldenRows) {
  for (const auto& row : testing::kLineAttention) {
    SCOPED_TRACE(::testing::Message() << row.alpha << ", " << row.mean << ", " << row.width);
    const double mu = testing::kLineMu, sigma2 = testing::kLineSigma2;
    const double covariance = row.width * row.width, one = 1;
    const cpu::Densities<double> p{row.alpha, {&mu, 1, 1}, {&sigma2, 1, 1}};
    const cpu::GaussianFunctions psi{{&row.mean, 1, 1}, {&covariance, 1, 1}};
    double r = 0, d_mu = 0, d_sigma2 = 0;
    cpu::attend(p, psi, {&r, 1, 1});
    cpu::attend_vjp(p, psi, {&one, 1, 1}, {.mu = {&d_mu, 1, 1}, .Sigma = {&d_sigma2, 1, 1}});
    EXPECT_NEAR(r / row.value, 1, cpu::kAttendLineError);
    EXPECT_NEAR(d_mu / row.d_mu, 1, 1e-11);
    EXPECT_NEAR(d_sigma2 / row.d_sigma2, 1, 1e-11);
    const float mu_single = 0.3F, sigma2_single = 0.64F;
    float single = 0;
    cpu::attend<float>({row.alpha, {&mu_single, 1, 1}, {&sigma2_single, 1, 1}}, psi, {&single, 1, 1});
    EXPECT_NEAR(single / row.value, 1, cpu::kAttendFloatError);
  }
}

/// docs/math.md 7.1, row 74: the generalized covariances of order 2 - alpha with t and t^2 (not of order 2,
/// E6; with the half that E7 restores) are the derivatives in theta = (mu / sigma2, -1 / (2 sigma2)).
TEST(AttentionLine, GeneralizedCovariancesFollow) {
  const double mu = 0.3, sigma2 = 0.64, mean = 0.9, covariance = 0.4 * 0.4, one = 1;
  double d_mu = 0, d_sigma2 = 0;
  cpu::attend_vjp<double>({2, {&mu, 1, 1}, {&sigma2, 1, 1}}, {{&mean, 1, 1}, {&covariance, 1, 1}},
                          {&one, 1, 1}, {.mu = {&d_mu, 1, 1}, .Sigma = {&d_sigma2, 1, 1}});
  EXPECT_NEAR(sigma2 * d_mu, 0.39980060435774638, 1e-13);
  EXPECT_NEAR(2 * sigma2 * (sigma2 * d_sigma2 + mu * d_mu), 0.24406424154283317, 1e-13);
}

/// 10^u for a uniform u in [-reach, reach].
double decade(Philox& random, double reach) {
  return std::pow(10.0, reach * (2 * static_cast<double>(random() >> 11) * 0x1p-53 - 1));
}

/// 10^5 pairs with lengths from 10^-reach to 10^reach: no value is NaN, negative, or above either peak.
template <class Real>
void expect_bounded(double reach, double function_reach) {
  const double alphas[] = {0.01,     0.4, 0.8,     0.99, 1 - 1e-9, 1.0, std::nextafter(1.0, 2.0),
                           1 + 1e-8, 1.1, 4.0 / 3, 1.5,  1.7,      2.0, 3.0,
                           10.0,     1e6, kInf};
  Philox random(7);
  constexpr index_t kDensities = 1000, kFunctions = 100;
  std::vector<Real> mu(kDensities), sigma2(kDensities), r(kDensities * kFunctions);
  std::vector<double> alpha(kDensities), mean(kFunctions), covariance(kFunctions);
  const auto sign = [&] { return random() % 2 == 0 ? 1.0 : -1.0; };
  for (std::size_t i = 0; i < mu.size(); ++i) {
    alpha[i] = alphas[i % std::size(alphas)];
    sigma2[i] = static_cast<Real>(decade(random, reach));
    mu[i] = static_cast<Real>(sign() * decade(random, reach));
  }
  for (std::size_t j = 0; j < mean.size(); ++j) {
    mean[j] = sign() * decade(random, function_reach);
    covariance[j] = decade(random, function_reach);
  }
  cpu::attend<Real>({alpha, {mu.data(), kDensities, 1}, {sigma2.data(), kDensities, 1}},
                    {{mean.data(), kFunctions, 1}, {covariance.data(), kFunctions, 1}},
                    {r.data(), kDensities, kFunctions});
  for (std::size_t i = 0; i < mu.size(); ++i) {
    const double log_peak = beta_gaussian_constants(1, alpha[i] - 1, std::log(double{sigma2[i]})).log_peak;
    for (std::size_t j = 0; j < mean.size(); ++j) {
      const double got = r[i * kFunctions + j];
      const double top = std::min(std::exp(log_peak), 1 / std::sqrt(2 * std::numbers::pi * covariance[j]));
      ASSERT_TRUE(got >= 0 &&
                  got <= top * (1 + (kIsSingle<Real> ? 2e-5 : 1e-11)) + (kIsSingle<Real> ? 2e-45 : 0))
          << got << " > " << top << ": alpha " << alpha[i] << " mu " << mu[i] << " sigma2 " << sigma2[i]
          << " mean " << mean[j] << " covariance " << covariance[j];
    }
  }
}

TEST(AttentionLine, ExtremeLengthsGiveNeitherNaNNorNegativeValues) {
  expect_bounded<double>(300, 300);
  expect_bounded<double>(20, 20);
  expect_bounded<double>(3, 3);
  expect_bounded<float>(37, 300);
  expect_bounded<float>(3, 3);
}

/// Between the ranges of alpha with rules of their own: alpha, mean, covariance, then E_p[psi] and its slopes
/// for mu = 0 and sigma2 = 1, by tanh-sinh sums with 113 bits.
TEST(AttentionLine, PowersBetweenTheRulesAreAccurate) {
  constexpr double kBetween[][7] = {
      {1.24, 9.5, 0.625, 2.5238552636595272e-22, 2.9356777415304945e-21, 2.9173220775647056e-21,
       -1.0108882408940203e-20},
      {1.21, 20, 4, 9.0868266310524385e-21, 4.1281969586468223e-20, 3.3973801410012783e-20,
       -9.3907421582015572e-20},
      {1.003, 1.0625, 0.0001, 0.22697357967261614, 0.24221038271421644, 0.015163244510398253,
       0.034621635454302503},
      {1.01, 40, 16, 3.2054288423577405e-22, 7.5633713339150142e-22, 8.3704879900422772e-22,
       -2.9951515690663534e-21},
  };
  for (const auto& row : kBetween) {
    const double mu = 0, sigma2 = 1, one = 1;
    double value = 0, slope[3];
    const cpu::Densities<double> p{row[0], {&mu, 1, 1}, {&sigma2, 1, 1}};
    const cpu::GaussianFunctions psi{{row + 1, 1, 1}, {row + 2, 1, 1}};
    cpu::attend(p, psi, {&value, 1, 1});
    cpu::attend_vjp(p, psi, {&one, 1, 1}, {{slope + 2, 1}, {slope, 1, 1}, {slope + 1, 1, 1}});
    EXPECT_NEAR(value, row[3], 1e-12 * row[3]) << row[0];
    for (int k = 0; k < 3; ++k)
      EXPECT_NEAR(slope[k], row[4 + k], 1e-11 * std::abs(row[4 + k])) << row[0] << ", slope " << k;
  }
}

/// Far functions are 0 with all of their slopes, and slopes that are too large for a double are infinite.
TEST(AttentionLine, ExtremeLengthsGiveNoSlopeThatIsNaN) {
  Philox random(8);
  const double alphas[] = {0.01,    0.8, 0.998, 1 - 1e-9, 1.0, std::nextafter(1.0, 2.0), 1.002, 1.1,
                           4.0 / 3, 1.4, 2.0,   3.0,      1e6};
  for (int i = 0; i < 4000; ++i) {
    const double alpha = alphas[static_cast<std::size_t>(i) % std::size(alphas)],
                 reach = i % 2 == 0 ? 300 : 60;
    const double mu = random() % 2 == 0 ? 0 : decade(random, reach), sigma2 = decade(random, reach);
    const double mean = random() % 2 == 0 ? mu : decade(random, 300), covariance = decade(random, 300);
    for (int direction = 0; direction < 5; ++direction) {
      double along[5] = {};
      along[direction] = 1;
      double tangent = 0;
      cpu::attend_jvp<double>({alpha, {&mu, 1, 1}, {&sigma2, 1, 1}}, {{&mean, 1, 1}, {&covariance, 1, 1}},
                              {{along + 2, 1}, {along, 1, 1}, {along + 1, 1, 1}},
                              {{along + 3, 1, 1}, {along + 4, 1, 1}}, {&tangent, 1, 1});
      ASSERT_FALSE(std::isnan(tangent))
          << "slope " << direction << ": alpha " << alpha << " mu " << mu << " sigma2 " << sigma2 << " mean "
          << mean << " covariance " << covariance;
    }
  }
}

/// Student's law of almost no width is as wide as sigma2^{1/(alpha+1)}, also where its square underflows: the
/// slope in sigma2 is that of variance psi'' / 2.
TEST(AttentionLine, TheSlopeOfANarrowStudentGoesOn) {
  for (const double alpha : {0.6, 0.9, 0.99}) {
    const auto slope = [alpha](double sigma2) {
      const double mu = 0.45, mean = 0.3, covariance = 0.04, one = 1;
      double by_mu = 0, by_sigma2 = 0;
      cpu::attend_vjp<double>({alpha, {&mu, 1, 1}, {&sigma2, 1, 1}}, {{&mean, 1, 1}, {&covariance, 1, 1}},
                              {&one, 1, 1}, {{}, {&by_mu, 1, 1}, {&by_sigma2, 1, 1}});
      return by_sigma2;
    };
    const double power = (1 - alpha) / (1 + alpha), near = slope(1e-40);
    for (const double exponent : {-100, -200, -290, -300, -305, -307}) {
      const double expected = near * std::pow(10, power * (exponent + 40));
      EXPECT_NEAR(slope(std::pow(10, exponent)), expected, 1e-9 * std::abs(expected))
          << alpha << " " << exponent;
    }
  }
}

/// A density moved together with the function, or mirrored with it.
TEST(AttentionLine, OnlyRelativePlacesCount) {
  for (const double alpha : {0.8, 1.0, 1.1, 1.5, 2.0, 3.0, kInf}) {
    const double mu[] = {0.25, 0.25 + 64}, sigma2[] = {0.5, 0.5};
    const double mean[] = {0.75, 0.75 + 64}, covariance[] = {0.0625, 0.0625};
    double r[4];
    cpu::attend<double>({alpha, {mu, 2, 1}, {sigma2, 2, 1}}, {{mean, 2, 1}, {covariance, 2, 1}}, {r, 2, 2});
    EXPECT_NEAR(r[3], r[0], 1e-12 * r[0]);
    const double mirrored_mu = -0.25, mirrored_mean = -0.75;
    double mirrored = 0;
    cpu::attend<double>({alpha, {&mirrored_mu, 1, 1}, {sigma2, 1, 1}},
                        {{&mirrored_mean, 1, 1}, {covariance, 1, 1}}, {&mirrored, 1, 1});
    EXPECT_NEAR(mirrored, r[0], 1e-12 * r[0]);
  }
}

}  // namespace
}  // namespace fenchel
