#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "support/golden.hpp"

namespace fenchel::testing {

inline const std::vector<double> kIntegerAlphas{
    1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.01, 4.0 / 3, 1.5, 2.0, 5.0, 1e6, kInfinity};

/// Of every accessor against mpmath.
inline constexpr double kIntegerAccuracy = 1e-13;

struct NamedTable {
  std::string name;
  IntegerTable table;
};

/// Members of both families, small and large, with and without ties at the mode.
inline std::vector<NamedTable> integer_tables() {
  std::vector<NamedTable> tables;
  for (const double alpha : kIntegerAlphas) {
    const std::string at = " alpha " + std::to_string(alpha);
    for (const double mu : {1e-300, 0.3, 3.0, 7.3, 2e4})
      tables.push_back({"poisson mu " + std::to_string(mu) + at, SparsePoisson(alpha, mu).table()});
    tables.push_back({"poisson temperature 3" + at, SparsePoisson(alpha, 2.2, 3).table()});
    for (const double sigma2 : {1e-300, 0.2, 1.0, 1e5})
      for (const double mu : {0.5, -3.4})
        tables.push_back({"gaussian mu " + std::to_string(mu) + " sigma2 " + std::to_string(sigma2) + at,
                          SparseIntegerGaussian(alpha, mu, sigma2).table()});
  }
  return tables;
}

/// Compares a distribution with a block of integers.txt; logarithms to kIntegerAccuracy + 1e-15 |log|, and
/// near the edge of the support to what an ulp of the score is there.
inline void expect_golden(const IntegerTable& p, double found_normalizer, double found_threshold,
                          GoldenBlock& golden) {
  const auto& c = golden["case"];
  const auto name = ::testing::Message() << "alpha " << c[1] << " mu " << c[2] << " scale " << c[3];
  const auto close = [&](double found, double expected, double scale, const char* what) {
    EXPECT_NEAR(found, expected, kIntegerAccuracy * scale) << what << " " << name;
  };
  const double top = golden["normalizer"][0];
  close(found_normalizer, top, std::max(1.0, std::abs(top)), "normalizer");
  if (golden.contains("threshold")) {
    const double tau = golden["threshold"][0];
    close(found_threshold, tau, std::max(1.0, std::abs(tau)), "threshold");
    EXPECT_EQ(static_cast<double>(support(p).first), golden["support"][0]) << name;
    EXPECT_EQ(static_cast<double>(support(p).last), golden["support"][1]) << name;
  }
  const auto& moments = golden["moments"];
  const double spread = std::sqrt(moments[1]);
  close(mean(p), moments[0], std::max(std::abs(moments[0]), spread), "mean");
  close(variance(p), moments[1], moments[1], "variance");
  if (moments.size() > 2) {
    close(skewness(p), moments[2], 3 + std::abs(moments[2]), "skewness");
    close(kurtosis(p), moments[3], moments[3], "kurtosis");
  }
  const double orders[] = {1, 1.5, 0.5};
  for (std::size_t i = 0; i < 3; ++i) {
    const double expected = golden["entropy"][i];
    close(tsallis_entropy(p, orders[i]), expected, std::max(1.0, expected), "entropy");
  }
  close(mean(escort(p, 0.5)), golden["escort"][0], std::max(1.0, std::abs(golden["escort"][0])), "escort");
  const double am1 = c[1] - 1;
  const auto logs = [&](const char* what, index_t shift, auto accessor) {
    for (std::size_t i = 0; i < golden[what].size(); ++i) {
      const double expected = golden[what][i];
      const auto t = static_cast<index_t>(golden["points"][i]);
      const double depth = log_pmf(p, mode(p)) - log_pmf(p, t + shift);
      const double edge = am1 > 0.1 ? 0.01 * std::exp(am1 * depth) / am1 : 0.0;  // f - tau cancels there
      close(accessor(p, t), expected, 1 + std::abs(expected) / 100 + edge, what);
    }
  };
  logs("log_pmf", 0, [](const IntegerTable& q, index_t t) { return log_pmf(q, t); });
  logs("log_cdf", 0, [](const IntegerTable& q, index_t t) { return log_cdf(q, t); });
  logs("log_survival", 1, [](const IntegerTable& q, index_t t) { return log_survival(q, t); });
}

/// Below alpha = 1: of every accessor, relative to its scale.
inline constexpr double kHeavyAccuracy = 2e-13;

/// The same with a block of heavy_integers.txt, in which moments are those that exist.
inline void expect_heavy_golden(const IntegerTable& p, double found_normalizer, GoldenBlock& golden) {
  const auto& c = golden["case"];
  const auto name = ::testing::Message()
                    << "family " << c[0] << " alpha " << c[1] << " mu " << c[2] << " scale " << c[3];
  const auto close = [&](double found, double expected, double scale, const char* what) {
    EXPECT_NEAR(found, expected, kHeavyAccuracy * scale) << what << " " << name;
  };
  const double top = golden["normalizer"][0];
  close(found_normalizer, top, std::max(1.0, std::abs(top)), "normalizer");
  const auto& moments = golden["moments"];
  if (moments.empty()) {
    EXPECT_EQ(mean(p), kInfinity) << name;
  } else {
    close(mean(p), moments[0], std::max(1.0, std::abs(moments[0])), "mean");
  }
  for (int n = 2; n <= 4; ++n) {
    if (moments.size() >= static_cast<std::size_t>(n)) {
      const double expected = moments[static_cast<std::size_t>(n - 1)];
      close(central_moment(p, n), expected, std::max(1.0, std::abs(expected)), "moment");
    } else if (n != 3) {
      EXPECT_EQ(central_moment(p, n), kInfinity) << name;
    } else {
      EXPECT_FALSE(std::isfinite(central_moment(p, n))) << name;
    }
  }
  close(entropy(p), golden["entropy"][0], std::max(1.0, golden["entropy"][0]), "entropy");
  close(tsallis_entropy(p, 1.5), golden["entropy"][1], 1, "Tsallis entropy");
  if (golden.contains("escort")) {
    const double expected = golden["escort"][0];
    close(mean(escort(p, 1.25)), expected, std::max(1.0, std::abs(expected)), "escort");
  }
  const auto logs = [&](const char* where, const char* what, auto accessor) {
    for (std::size_t i = 0; i < golden[what].size(); ++i) {
      const double expected = golden[what][i];
      close(accessor(p, static_cast<index_t>(golden[where][i])), expected, 1 + std::abs(expected) / 100,
            what);
    }
  };
  logs("points", "log_pmf", [](const IntegerTable& q, index_t t) { return log_pmf(q, t); });
  logs("points", "log_survival", [](const IntegerTable& q, index_t t) { return log_survival(q, t); });
  logs("lower", "log_cdf", [](const IntegerTable& q, index_t t) { return log_cdf(q, t); });
  for (const double t : golden["points"]) {  // quantiles find the way back
    const auto at = static_cast<index_t>(t);
    const double left = survival(p, at), room = 1e-11 * (t + 1);  // what an ulp of the tail is in t
    if (left < 1e-300) continue;
    EXPECT_NEAR(static_cast<double>(survival_quantile(p, left * (1 + 1e-14))), t, room) << name;
  }
}

/// Compares P with all cases of integers.txt that carry this family's number, and counts them.
template <class P>
int expect_golden_cases(double family) {
  int count = 0;
  for (auto& golden : golden_blocks("integers.txt")) {
    const auto& c = golden["case"];
    if (c[0] != family) continue;
    ++count;
    const P p(c[1], c[2], c[3]);
    expect_golden(p.table(), normalizer(p), threshold(p), golden);
  }
  return count;
}

/// The same of heavy_integers.txt.
template <class P>
int expect_heavy_cases(double family) {
  int count = 0;
  for (auto& golden : golden_blocks("heavy_integers.txt")) {
    const auto& c = golden["case"];
    if (c[0] != family) continue;
    ++count;
    const P p(c[1], c[2], c[3]);
    expect_heavy_golden(p.table(), normalizer(p), golden);
  }
  return count;
}

}  // namespace fenchel::testing
