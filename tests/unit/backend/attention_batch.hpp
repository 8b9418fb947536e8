#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include "fenchel/backend/cpu/attention.hpp"
#include "support/grids.hpp"

/// Batches of densities and functions whose parameters are one vector.
namespace fenchel::testing {

using cpu::BasisTangents, cpu::Densities, cpu::DensityTangents, cpu::GaussianFunctions;
using Numbers = std::vector<double>;

inline const Numbers kBatchAlphas{0.7,      0.99,  0.9995, 1 - 1e-9, 1.0,     std::nextafter(1.0, 2.0),
                                  1 + 1e-8, 1.002, 1.01,   1.1,      4.0 / 3, 1.5,
                                  2.0,      3.0,   5.0,    1e6,      kInf};

/// All parameters of a batch in one vector: mu, Sigma, alpha, mean, covariance.
struct Batch {
  index_t rows, count, dimension;
  Numbers at;

  [[nodiscard]] index_t square() const { return dimension * dimension; }
  [[nodiscard]] index_t scale() const { return rows * dimension; }
  [[nodiscard]] index_t alpha() const { return scale() + rows * square(); }
  [[nodiscard]] index_t mean() const { return alpha() + rows; }
  [[nodiscard]] index_t covariance() const { return mean() + count * dimension; }
  [[nodiscard]] index_t size() const { return covariance() + count * square(); }

  [[nodiscard]] Densities<double> densities(const Numbers& x) const {
    return {std::span<const double>(x.data() + alpha(), static_cast<std::size_t>(rows)),
            {x.data(), rows, dimension},
            {x.data() + scale(), rows, square()}};
  }
  [[nodiscard]] GaussianFunctions functions(const Numbers& x) const {
    return {{x.data() + mean(), count, dimension}, {x.data() + covariance(), count, square()}};
  }
  template <class Real, class Vector>
  [[nodiscard]] DensityTangents<Real> tangents(Vector& x) const {
    return {std::span<Real>(x.data() + alpha(), static_cast<std::size_t>(rows)),
            {x.data(), rows, dimension},
            {x.data() + scale(), rows, square()}};
  }
  template <class Real, class Vector>
  [[nodiscard]] BasisTangents<Real> basis(Vector& x) const {
    return {{x.data() + mean(), count, dimension}, {x.data() + covariance(), count, square()}};
  }

  [[nodiscard]] Numbers gradient(const Numbers& x, const Numbers& cotangent) const {
    Numbers out(static_cast<std::size_t>(size()));
    cpu::attend_vjp<double>(densities(x), functions(x), {cotangent.data(), rows, count},
                            tangents<double>(out), basis<double>(out));
    return out;
  }
  [[nodiscard]] Numbers hessian(const Numbers& cotangent, const Numbers& direction) const {
    Numbers out(static_cast<std::size_t>(size()));
    cpu::attend_vjp_vjp<double>(densities(at), functions(at), {cotangent.data(), rows, count},
                                tangents<const double>(direction), basis<const double>(direction),
                                tangents<double>(out), basis<double>(out));
    return out;
  }
};

inline double normal(std::mt19937_64& rng) { return std::normal_distribution<double>()(rng); }

/// I + noise noise^T, times a size.
inline void add_matrix(std::mt19937_64& rng, index_t d, double size, Numbers& to) {
  Numbers noise(static_cast<std::size_t>(d * d));
  for (double& x : noise) x = 0.5 * normal(rng);
  for (index_t a = 0; a < d; ++a) {
    for (index_t b = 0; b < d; ++b) {
      double sum = a == b;
      for (index_t k = 0; k < d; ++k)
        sum += noise[static_cast<std::size_t>(a * d + k)] * noise[static_cast<std::size_t>(b * d + k)];
      to.push_back(size * sum);
    }
  }
}

/// Functions of widths around `width`, within the support of a density of size one and a little outside.
inline Batch make_batch(index_t rows, index_t count, index_t d, double alpha, double width,
                        std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  Batch batch{rows, count, d, {}};
  for (index_t k = 0; k < rows * d; ++k) batch.at.push_back(0.3 * normal(rng));
  for (index_t i = 0; i < rows; ++i) add_matrix(rng, d, 0.5 + 0.2 * static_cast<double>(i), batch.at);
  for (index_t i = 0; i < rows; ++i) batch.at.push_back(alpha);
  for (index_t k = 0; k < count * d; ++k) batch.at.push_back(0.7 * normal(rng));
  for (index_t j = 0; j < count; ++j) add_matrix(rng, d, width * width, batch.at);
  return batch;
}

/// Symmetric in matrices; those of covariances in proportion to them.
inline Numbers random_direction(const Batch& batch, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  Numbers direction;
  const index_t d = batch.dimension;
  for (index_t k = 0; k < batch.size(); ++k) direction.push_back(normal(rng));
  const auto symmetrise = [&](index_t begin, index_t matrices) {
    for (index_t m = 0; m < matrices; ++m) {
      for (index_t a = 0; a < d; ++a) {
        for (index_t b = 0; b <= a; ++b) {
          const auto at = [&](index_t i, index_t k) {
            return static_cast<std::size_t>(begin + (m * d + i) * d + k);
          };
          const double size = std::sqrt(batch.at[at(a, a)] * batch.at[at(b, b)]);
          direction[at(a, b)] = direction[at(b, a)] = 0.3 * size * direction[at(a, b)];
        }
      }
    }
  };
  symmetrise(batch.scale(), batch.rows);
  symmetrise(batch.covariance(), batch.count);
  return direction;
}

inline Numbers random_numbers(index_t count, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  Numbers x(static_cast<std::size_t>(count));
  for (double& v : x) v = normal(rng);
  return x;
}

inline double dot(const Numbers& x, const Numbers& y) {
  double sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

/// Differences of the eighth order of f along a direction.
inline Numbers difference(const std::function<Numbers(const Numbers&)>& f, const Numbers& at,
                          const Numbers& direction, double step) {
  constexpr double kWeights[] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
  Numbers sum;
  for (int k = 1; k <= 4; ++k) {
    for (int sign : {1, -1}) {
      Numbers moved = at;
      for (std::size_t m = 0; m < at.size(); ++m)
        if (direction[m] != 0) moved[m] += sign * k * step * direction[m];
      const Numbers values = f(moved);
      sum.resize(values.size());
      for (std::size_t m = 0; m < values.size(); ++m) sum[m] += sign * kWeights[k - 1] / step * values[m];
    }
  }
  return sum;
}

struct Part {
  const char* name;
  index_t begin, end;
};
inline std::vector<Part> parts_of(const Batch& b) {
  return {{"mu", 0, b.scale()},
          {"scale", b.scale(), b.alpha()},
          {"alpha", b.alpha(), b.mean()},
          {"mean", b.mean(), b.covariance()},
          {"covariance", b.covariance(), b.size()}};
}

inline double largest(const Numbers& x, const Part& part) {
  double most = 0;
  for (index_t k = part.begin; k < part.end; ++k)
    most = std::max(most, std::abs(x[static_cast<std::size_t>(k)]));
  return most;
}

/// The part of a direction that moves one kind of parameter.
inline Numbers only(const Numbers& direction, const Part& part) {
  Numbers out(direction.size());
  std::copy(direction.begin() + part.begin, direction.begin() + part.end, out.begin() + part.begin);
  return out;
}

}  // namespace fenchel::testing
