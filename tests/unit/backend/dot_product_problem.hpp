#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

#include "backend/dot_product/dropout.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "support/grids.hpp"
#include "support/reference.hpp"

/// Attention over keys, and plain loops in long double that say what it is.
namespace fenchel::testing {

inline std::size_t index_of(index_t i) { return static_cast<std::size_t>(i); }

struct Shape {
  index_t batch = 1, heads = 1, key_heads = 1, n = 1, m = 1, d = 1, e = 1;
};

/// Matrices without gaps, and their numbers.
template <class T>
struct Filled {
  index_t batch, heads, rows, cols;
  std::vector<T> numbers = std::vector<T>(index_of(batch * heads * rows * cols));

  [[nodiscard]] Matrices<T> view() { return view_of(numbers.data()); }
  [[nodiscard]] Matrices<const T> view() const { return view_of(numbers.data()); }

 private:
  template <class Pointed>
  [[nodiscard]] Matrices<Pointed> view_of(Pointed* data) const {
    return {data, batch, heads, rows, cols, heads * rows * cols, rows * cols, cols, 1};
  }
};

template <class T>
T& element(const Matrices<T>& of, index_t b, index_t h, index_t i, index_t j) {
  return of.row(b, h, i)[j * of.step];
}

/// What attention reads and writes. The numbers are normal; as quarters where they shall be exact, so that
/// scores have no rounding when the scale is a power of 2.
template <class Real>
struct Problem {
  Shape shape;
  Filled<Real> query{shape.batch, shape.heads, shape.n, shape.d},
      key{shape.batch, shape.key_heads, shape.m, shape.d},
      value{shape.batch, shape.key_heads, shape.m, shape.e}, out{shape.batch, shape.heads, shape.n, shape.e},
      cotangent = out, query_gradient = query, key_gradient = key, value_gradient = value;
  index_t rows = shape.batch * shape.heads * shape.n;
  std::vector<Real> normalizers = std::vector<Real>(index_of(2 * rows)),
                    alpha_gradient = std::vector<Real>(index_of(rows)), scale_gradient = alpha_gradient;

  explicit Problem(const Shape& of, bool exact = false, unsigned seed = 1) : shape(of) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (auto* numbers : {&query.numbers, &key.numbers, &value.numbers, &cotangent.numbers}) {
      for (Real& x : *numbers)
        x = static_cast<Real>(exact ? std::round(4 * normal(random)) / 4 : normal(random));
    }
  }

  [[nodiscard]] DotProducts<Real> products(PerRow alpha, PerRow scale) const {
    return {query.view(), key.view(), value.view(), alpha, scale};
  }
  [[nodiscard]] AttentionRecord<Real> record() { return {{normalizers.data(), rows, 2}}; }
  [[nodiscard]] DotProductGradients<Real, Real> gradients() {
    return {query_gradient.view(),
            key_gradient.view(),
            value_gradient.view(),
            {alpha_gradient.data(), rows, 1},
            {scale_gradient.data(), rows, 1}};
  }
  void run(const DotProducts<Real>& x) { cpu::attention(x, out.view(), record()); }
  void run_vjp(const DotProducts<Real>& x) {
    run(x);
    cpu::attention_vjp(x, record(), cotangent.view(), gradients());
  }
};

inline ExtendedVector plain_entmax(double alpha, const ExtendedVector& z) {
  if (std::isfinite(alpha)) return reference_entmax(alpha, z);
  const Extended top = *std::max_element(z.begin(), z.end());
  ExtendedVector p;
  for (const Extended score : z) p.push_back(score == top ? 1 : 0);
  return normalized(p);
}

/// <v, J g> by formula: J = diag(s) - s s^T / sum(s), s = p^{2-alpha}.
inline ExtendedVector plain_vjp(double alpha, const ExtendedVector& p, const ExtendedVector& v) {
  ExtendedVector s(p.size()), out(p.size());
  if (!std::isfinite(alpha)) return out;
  Extended total = 0, moment = 0;
  for (std::size_t j = 0; j < p.size(); ++j) {
    s[j] = power(p[j], 2 - Extended(alpha));
    total += s[j];
    moment += s[j] * v[j];
  }
  for (std::size_t j = 0; j < p.size(); ++j) out[j] = s[j] * (v[j] - moment / total);
  return out;
}

/// Whether a query may see a key, but for the mask and the bias.
template <class Real>
bool is_in_sight(const DotProducts<Real>& x, index_t b, index_t i, index_t j) {
  if (x.causal && j > i) return false;
  if (x.ranges == nullptr) return true;
  const auto [origin, first, last] = x.ranges[b * x.query.rows + i];
  return j < last && (j >= first || (j >= origin && j < origin + x.sinks));
}

/// The output, the gradients of <cotangent, output>, and those of each query in alpha and the scale.
struct Expected {
  Filled<Extended> out, query, key, value;
  ExtendedVector alpha, scale;
};

/// Plain loops. The gradient in alpha is by complex steps and takes long.
template <class Real>
Expected expected_of(const DotProducts<Real>& x, const Matrices<const std::type_identity_t<Real>>& cotangent,
                     bool in_alpha = false) {
  const index_t B = x.query.batch, H = x.query.heads, n = x.query.rows, m = x.key.rows, d = x.key.cols,
                e = x.value.cols;
  const index_t group = H / x.key.heads;
  Expected result{{B, H, n, e}, {B, H, n, d}, {B, x.key.heads, m, d}, {B, x.key.heads, m, e}, {}, {}};
  const auto out = result.out.view(), query = result.query.view(), key = result.key.view(),
             value = result.value.view();
  for (index_t row = 0; row < B * H * n; ++row) {
    const index_t b = row / (H * n), h = row / n % H, i = row % n, g = h / group;
    std::vector<index_t> keys;
    ExtendedVector z, products, v, factors;
    for (index_t j = 0; j < m; ++j) {
      if (!is_in_sight(x, b, i, j)) continue;
      if (x.mask.data != nullptr && !element(x.mask, b, h, i, j)) continue;
      const Extended bias = x.bias.data == nullptr ? 0.0L : element(x.bias, b, h, i, j);
      if (bias == -Extended(kInf)) continue;
      keys.push_back(j);
      products.push_back(0);
      v.push_back(0);
      for (index_t k = 0; k < d; ++k)
        products.back() += Extended(element(x.query, b, h, i, k)) * element(x.key, b, g, j, k);
      for (index_t k = 0; k < e; ++k)
        v.back() += Extended(element(cotangent, b, h, i, k)) * element(x.value, b, g, j, k);
      z.push_back(x.scale[h] * products.back() + bias);
      factors.push_back(x.dropout == 0 ? 1.0L : detail::dropout_factor(*x.seed, row, j, x.dropout));
      v.back() *= factors.back();
    }
    result.alpha.push_back(0);
    result.scale.push_back(0);
    if (keys.empty()) continue;
    const ExtendedVector p = plain_entmax(x.alpha[h], z), slopes = plain_vjp(x.alpha[h], p, v);
    for (std::size_t s = 0; s < keys.size(); ++s) {
      const Extended weight = p[s] * factors[s], slope = slopes[s] * x.scale[h];
      for (index_t k = 0; k < e; ++k) {
        element(out, b, h, i, k) += weight * element(x.value, b, g, keys[s], k);
        element(value, b, g, keys[s], k) += weight * element(cotangent, b, h, i, k);
      }
      for (index_t k = 0; k < d; ++k) {
        element(query, b, h, i, k) += slope * element(x.key, b, g, keys[s], k);
        element(key, b, g, keys[s], k) += slope * element(x.query, b, h, i, k);
      }
      result.scale.back() += slopes[s] * products[s];
    }
    if (!in_alpha) continue;
    const ExtendedVector along = reference_derivative(x.alpha[h], z, ExtendedVector(z.size()), 1);
    result.alpha.back() = std::inner_product(v.begin(), v.end(), along.begin(), 0.0L);
  }
  return result;
}

/// The largest |got - expected| over the largest |expected|, or over 1 where that is less; NaN if any is.
template <class Real>
double error_of(const std::vector<Real>& got, const ExtendedVector& expected) {
  Extended worst = 0, largest = 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Extended error = std::abs(got[i] - expected[i]);
    worst = error <= worst ? worst : error;  // NaN stays
    if (std::isnan(error)) return kNaN;
    largest = std::max(largest, std::abs(expected[i]));
  }
  return static_cast<double>(worst / largest);
}

}  // namespace fenchel::testing
