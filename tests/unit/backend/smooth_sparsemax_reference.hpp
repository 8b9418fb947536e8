#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "fenchel/backend/cpu/smooth_sparsemax.hpp"
#include "support/grids.hpp"

/// Rows for the tests of smooth sparsemax, and what they are compared with.
namespace fenchel::testing {

inline const std::vector<double> kGammas{0, 1e-8, 1e-3, 0.1, 1, 30, 1e4, 1e8};

template <class Real>
Rows<const Real> one_row(const std::vector<Real>& x) {
  return {x.data(), 1, static_cast<index_t>(x.size())};
}
template <class Real>
Rows<Real> one_row(std::vector<Real>& x) {
  return {x.data(), 1, static_cast<index_t>(x.size())};
}

template <class Real>
double mass(const std::vector<Real>& p) {
  return static_cast<double>(std::accumulate(p.begin(), p.end(), 0.0L));
}

struct SmoothRow {
  std::vector<double> p;
  double tau;
};

inline cpu::Chain weighted(const std::vector<double>& weights) {
  cpu::Chain chain;
  if (!weights.empty()) chain.weights = one_row(weights);
  return chain;
}

inline SmoothRow smooth_row(const std::vector<double>& z, double gamma,
                            const std::vector<double>& weights = {}) {
  SmoothRow row{z, 0};
  cpu::smooth_sparsemax(one_row(z), gamma, one_row(row.p), weighted(weights), &row.tau);
  return row;
}

/// Random rows of n scores: white noise, a random walk, noise with ties, a peak.
inline std::vector<std::vector<double>> random_rows(std::mt19937_64& rng, std::size_t n) {
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> rows(4, std::vector<double>(n));
  double walk = 0;
  for (std::size_t j = 0; j < n; ++j) {
    rows[0][j] = normal(rng);
    rows[1][j] = walk += normal(rng);
    rows[2][j] = std::round(3 * normal(rng));
    rows[3][j] = -0.3 * std::abs(static_cast<double>(j) - static_cast<double>(n / 3));
  }
  return rows;
}

inline std::vector<double> random_weights(std::mt19937_64& rng, std::size_t n) {
  std::uniform_real_distribution<double> exponent(-3, 3);
  std::vector<double> weights(n - 1);
  for (double& w : weights) w = std::pow(10, exponent(rng));
  return weights;
}

/// The multipliers nu of p >= 0 in p + gamma L p = z - tau + nu.
inline std::vector<double> multipliers(const std::vector<double>& z, double gamma,
                                       const std::vector<double>& weights, const SmoothRow& row) {
  const std::vector<double>& p = row.p;
  std::vector<double> nu(p.size());
  for (std::size_t j = 0; j < p.size(); ++j) nu[j] = p[j] - (z[j] - row.tau);
  for (std::size_t k = 0; k + 1 < p.size(); ++k) {
    const double flow = gamma * (weights.empty() ? 1.0 : weights[k]) * (p[k + 1] - p[k]);
    nu[k] -= flow;
    nu[k + 1] += flow;
  }
  return nu;
}

/// p and tau by trying every support: of those without a negative p, the one with the largest tau, each from
/// the dense linear system in (p, tau), by Gaussian elimination in long double.
inline SmoothRow brute_force(const std::vector<double>& z, double gamma, const std::vector<double>& weights) {
  const std::size_t n = z.size();
  SmoothRow best{std::vector<double>(n), -kInf};
  for (std::size_t set = 1; set < (std::size_t{1} << n); ++set) {
    const auto in = [set](std::size_t i) { return ((set >> i) & 1) != 0; };
    using Line = std::vector<long double>;
    std::vector<Line> m(n + 1, Line(n + 2));
    bool masked = false;
    for (std::size_t i = 0; i < n; ++i) {
      m[i][i] = 1;
      if (!in(i)) continue;
      masked = masked || z[i] == -kInf;
      m[i][n] = 1;
      m[i][n + 1] = z[i];
      m[n][i] = 1;
      for (const std::size_t k : {i, i + 1}) {  // the edges to i - 1 and to i + 1
        if (k == 0 || k == n) continue;
        const long double g = gamma * (weights.empty() ? 1.0 : weights[k - 1]);
        m[i][i] += g;
        m[i][k == i ? i - 1 : i + 1] -= g;
      }
    }
    if (masked) continue;
    m[n][n + 1] = 1;
    for (std::size_t c = 0; c <= n; ++c) {
      std::size_t pivot = c;
      for (std::size_t r = c; r <= n; ++r) {
        if (std::abs(m[r][c]) > std::abs(m[pivot][c])) pivot = r;
      }
      std::swap(m[c], m[pivot]);
      for (std::size_t r = 0; r <= n; ++r) {
        if (r == c) continue;
        const long double factor = m[r][c] / m[c][c];
        for (std::size_t k = c; k < n + 2; ++k) m[r][k] -= factor * m[c][k];
      }
    }
    std::vector<double> p(n);
    for (std::size_t i = 0; i < n; ++i) p[i] = static_cast<double>(m[i][n + 1] / m[i][i]);
    const auto tau = static_cast<double>(m[n][n + 1] / m[n][n]);
    if (*std::min_element(p.begin(), p.end()) >= -1e-13 && tau > best.tau) best = {p, tau};
  }
  return best;
}

}  // namespace fenchel::testing
