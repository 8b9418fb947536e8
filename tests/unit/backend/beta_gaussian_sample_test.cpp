#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "fenchel/backend/cpu/beta_gaussian.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "support/beta_gaussian_params.hpp"
#include "support/grids.hpp"
#include "support/reference_cdf.hpp"

namespace fenchel {
namespace {

using reference::beta_cdf, reference::gamma_cdf, reference::kolmogorov_smirnov;
using testing::BetaGaussianCase;
using testing::kBetaGaussianAlphas;

constexpr long double kAccepted = 1.95L;
constexpr std::uint64_t kSeed = 12;
constexpr std::size_t kSampleSize = 40'000;

template <class Real = double>
std::vector<Real> draws(const BetaGaussianCase& p, std::size_t count = kSampleSize, std::uint64_t first = 0) {
  std::vector<Real> out(count * p.size());
  cpu::sample_rows(p.params(), kSeed, first,
                   Rows<Real>(out.data(), static_cast<index_t>(count), static_cast<index_t>(p.size())));
  return out;
}

/// W (t - mu) of draw k.
std::vector<double> whitened(const BetaGaussianCase& p, const double* t) {
  std::vector<double> z(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) z[i] += p.whitening(i, j) * (t[j] - p.mu(j));
  }
  return z;
}

std::vector<double> squared_norms(const BetaGaussianCase& p, const std::vector<double>& t) {
  std::vector<double> q;
  for (std::size_t k = 0; k < t.size(); k += p.size()) {
    q.push_back(0);
    for (const double z : whitened(p, t.data() + k)) q.back() += z * z;
  }
  return q;
}

/// P(q <= x) = I(n/2, b) in x / radius2, and in w / (1 + w) for w = -x / radius2 of heavy tails (docs/math.md
/// 4); the Gaussian's also for alpha so close to 1 that the expansions of the beta function do not reach.
long double radial_cdf(const BetaGaussianConstants& c, long double x) {
  const long double half = static_cast<long double>(c.dimension) / 2;
  if (std::abs(c.am1) < 1e-7) return gamma_cdf(half, std::log(x / 2));
  if (c.am1 > 0)
    return beta_cdf(half, 1 + 1 / static_cast<long double>(c.am1), std::min(1 - 1e-18L, x / c.radius2));
  const long double w = -x / c.radius2;
  return beta_cdf(half, -1 / static_cast<long double>(c.am1) - half, w / (1 + w));
}

TEST(BetaGaussianSample, RadiiFollowTheirLaw) {
  for (const double alpha : kBetaGaussianAlphas) {
    for (const index_t n : {1, 2, 3, 16}) {
      if (alpha <= 1 - 2.0 / static_cast<double>(n)) continue;
      SCOPED_TRACE(::testing::Message() << "alpha - 1 = " << alpha - 1 << ", n = " << n);
      const BetaGaussianCase p(alpha, n);
      const auto q = squared_norms(p, draws(p, 20'000));
      const auto distance = [&](long double scale) {
        return kolmogorov_smirnov(q, [&](long double x) { return radial_cdf(p.constants(), scale * x); });
      };
      EXPECT_LT(distance(1), kAccepted);
      EXPECT_GT(distance(0.85L), kAccepted);
    }
  }
}

TEST(BetaGaussianSample, RadiiInThePlaneFollowTheClosedForm) {
  for (const double alpha : {0.1, 0.55, 0.9, 4.0 / 3, 2.0, 5.0, 1e6}) {
    const BetaGaussianCase p(alpha, 2);
    const BetaGaussianConstants& c = p.constants();
    const auto q = squared_norms(p, draws(p));
    const auto cdf = [&](long double x) {
      return -std::expm1((1 + 1 / c.am1) * std::log1p(std::max(-1.0L, -x / c.radius2)));
    };
    EXPECT_LT(kolmogorov_smirnov(q, cdf), kAccepted) << alpha;
  }
}

TEST(BetaGaussianSample, DirectionsAreUniformAndApartFromTheRadius) {
  for (const double alpha : {0.55, 1.0, 2.0}) {
    for (const index_t n : {2, 3}) {
      const BetaGaussianCase p(alpha, n);
      const auto t = draws(p);
      const auto q = squared_norms(p, t);
      auto sorted = q;
      std::ranges::sort(sorted);
      const double median = sorted[kSampleSize / 2];
      std::vector<double> angles, inner;
      for (std::size_t k = 0; k < kSampleSize; ++k) {
        const auto z = whitened(p, t.data() + k * p.size());
        angles.push_back(std::atan2(z[1], z[0]));
        if (q[k] < median) inner.push_back(angles.back());
      }
      const auto uniform = [](long double a) { return 0.5L + a / (2 * std::numbers::pi_v<long double>); };
      EXPECT_LT(kolmogorov_smirnov(angles, uniform), kAccepted) << alpha;
      EXPECT_LT(kolmogorov_smirnov(inner, uniform), kAccepted) << alpha;
    }
  }
}

TEST(BetaGaussianSample, MeanAndCovarianceAreTheirs) {
  for (const double alpha : {0.9, 1.0, std::nextafter(1.0, 2.0), 1.5, 5.0, testing::kInf}) {
    for (const index_t n : {1, 2, 3, 16}) {
      const BetaGaussianCase p(alpha, n);
      if (n == 16 && alpha < 1) continue;  // too few moments
      const auto t = draws(p);
      for (std::size_t i = 0; i < p.size(); ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          double mean = 0, moment = 0, sigma = 0, scale_i = 0, scale_j = 0;
          for (std::size_t k = 0; k < t.size(); k += p.size()) {
            mean += t[k + i] - p.mu(i);
            moment += (t[k + i] - p.mu(i)) * (t[k + j] - p.mu(j));
          }
          for (std::size_t l = 0; l < p.size(); ++l) {
            sigma += p.factor(i, l) * p.factor(j, l);
            scale_i += p.factor(i, l) * p.factor(i, l);
            scale_j += p.factor(j, l) * p.factor(j, l);
          }
          const double v = p.constants().variance_factor, size = std::sqrt(scale_i * scale_j) * v;
          EXPECT_NEAR(mean / kSampleSize, 0, 4.5 * std::sqrt(v * scale_i / kSampleSize));
          EXPECT_NEAR(moment / kSampleSize, v * sigma, 0.05 * size) << alpha << ", n = " << n;
        }
      }
    }
  }
}

TEST(BetaGaussianSample, APairIsTheDocumentedFunctionOfItsBits) {
  for (const double alpha : kBetaGaussianAlphas) {
    for (const index_t n : {1, 2}) {
      const BetaGaussianCase p(alpha, n);
      const BetaGaussianConstants& c = p.constants();
      const auto t = draws(p, 1000, 77);
      for (std::size_t k = 0; k < 1000; ++k) {
        Philox rng(kSeed, 77 + k);
        const long double log_u = std::log(static_cast<long double>(uniform01(rng)));
        const std::uint64_t bits = rng();
        const long double quarter = static_cast<long double>(bits >> 62);
        const long double angle =
            (quarter + uniform01(bits << 2) - 0.5L) * std::numbers::pi_v<long double> / 2;
        const long double am1 = c.am1, power = std::isinf(c.am1) ? 2.0L / n : 2 * am1 / (2 + n * am1);
        const long double q = am1 == 0 ? -2 * log_u : -c.radius2 * std::expm1(power * log_u);
        const long double r = std::sqrt(q), x = r * std::cos(angle), y = r * std::sin(angle);
        EXPECT_NEAR(t[k * p.size()], static_cast<double>(p.mu(0) + p.factor(0, 0) * x),
                    1e-15 * static_cast<double>(1 + r));
        if (n == 1) continue;
        EXPECT_NEAR(t[2 * k + 1], static_cast<double>(p.mu(1) + p.factor(1, 0) * x + p.factor(1, 1) * y),
                    2e-15 * static_cast<double>(1 + r));
      }
    }
  }
}

TEST(BetaGaussianSample, IsContinuousThroughOne) {
  for (const index_t n : {1, 2, 3}) {
    const auto one = draws(BetaGaussianCase(1, n), 1000);
    for (const double am1 : {-1e-8, -1e-16, 1e-15, 1e-8}) {
      const auto near = draws(BetaGaussianCase(1 + am1, n), 1000);
      for (std::size_t k = 0; k < one.size(); ++k) {
        EXPECT_NEAR(near[k], one[k],
                    n < 3 ? 100 * std::abs(am1) + 4e-15 : 20 * std::sqrt(std::abs(am1)) + 4e-15);
      }
    }
  }
}

TEST(BetaGaussianSample, ARowDependsOnItsStreamAlone) {
  for (const index_t n : {1, 2, 5}) {
    const BetaGaussianCase p(1.4, n);
    set_num_threads(1);
    const auto one = draws(p, 20'000);
    set_num_threads(3);
    const auto three = draws(p, 20'000), later = draws(p, 100, 37);
    set_num_threads(0);
    EXPECT_EQ(one, three);
    for (std::size_t k = 0; k < later.size(); ++k) EXPECT_EQ(later[k], one[37 * p.size() + k]);
    const auto rounded = draws<float>(p, 100);
    for (std::size_t k = 0; k < rounded.size(); ++k) EXPECT_EQ(rounded[k], static_cast<float>(one[k]));
  }
}

TEST(BetaGaussianSample, StaysOnTheImageOfASingularScale) {
  const double mu[] = {1, 2}, factor[] = {0.6, 0.8}, whitening[] = {0.6, 0.8};
  const cpu::BetaGaussianParams p{beta_gaussian_constants(1, 1, 0), mu, {whitening, 1, 2}, {factor, 2, 1}};
  std::vector<double> out(300, -7);
  cpu::sample_rows(p, 1, 0, Rows<double>(out.data(), 100, 2, 3));
  for (std::size_t k = 0; k < 300; k += 3) {
    EXPECT_NEAR((out[k] - 1) * 0.8, (out[k + 1] - 2) * 0.6, 1e-15);
    EXPECT_EQ(out[k + 2], -7);
  }
}

}  // namespace
}  // namespace fenchel
