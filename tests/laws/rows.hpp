#pragma once

#include <gtest/gtest.h>

#include <random>
#include <span>
#include <vector>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"

/// The batched operations on one row, as functions of vectors.
namespace fenchel::testing {

using Reals = ::testing::Types<float, double>;

template <class Real>
Rows<const Real> row_of(const std::vector<Real>& values) {
  return {values.data(), 1, static_cast<index_t>(values.size())};
}
template <class Real>
Rows<Real> row_of(std::vector<Real>& values) {
  return {values.data(), 1, static_cast<index_t>(values.size())};
}

template <class Real>
struct Prediction {
  std::vector<Real> p;
  double normalizer = 0, threshold = 0;
  index_t support_size = 0;
};

template <class Real>
Prediction<Real> predict_row(double alpha, const std::vector<Real>& z) {
  Prediction<Real> out{std::vector<Real>(z.size())};
  cpu::entmax(row_of(z), alpha, row_of(out.p), {&out.normalizer, &out.threshold, &out.support_size});
  return out;
}

template <class Real>
std::vector<Real> entmax_row(double alpha, std::vector<Real> z) {
  cpu::entmax<Real>(row_of(z), alpha, row_of(z));
  return z;
}

template <class Real>
struct Gradient {
  std::vector<Real> scores;
  double alpha = 0;
};

template <class Real>
Gradient<Real> vjp_row(double alpha, const std::vector<Real>& p, const std::vector<Real>& grad_p) {
  Gradient<Real> out{std::vector<Real>(p.size())};
  cpu::entmax_vjp(row_of(p), alpha, row_of(grad_p), row_of(out.scores), {&out.alpha, 1});
  return out;
}

template <class Real>
std::vector<Real> jvp_row(double alpha, const std::vector<Real>& p, const std::vector<Real>& d_scores,
                          double d_alpha = 0) {
  std::vector<Real> out(p.size());
  cpu::entmax_jvp(row_of(p), alpha, row_of(d_scores), {&d_alpha, 1}, row_of(out));
  return out;
}

template <class Real>
struct RowLoss {
  Real value = 0;
  std::vector<Real> gradient;
  double alpha_gradient = 0;

  explicit RowLoss(std::size_t n) : gradient(n) {}
  cpu::LossOutputs<Real> outputs() { return {{&value, 1}, row_of(gradient), {&alpha_gradient, 1}}; }
};

template <class Real>
RowLoss<Real> soft_loss(double alpha, const std::vector<Real>& z, const std::vector<Real>& q) {
  RowLoss<Real> loss(z.size());
  cpu::entmax_loss(row_of(z), alpha, cpu::SoftTargets<Real>{row_of(q)}, loss.outputs());
  return loss;
}

template <class Real>
RowLoss<Real> cross_loss(double alpha, const std::vector<Real>& z, const std::vector<Real>& q) {
  RowLoss<Real> loss(z.size());
  cpu::cross_omega(row_of(z), alpha, cpu::SoftTargets<Real>{row_of(q)}, loss.outputs());
  return loss;
}

template <class Real>
RowLoss<Real> class_loss(double alpha, const std::vector<Real>& z, index_t label) {
  RowLoss<Real> loss(z.size());
  cpu::entmax_loss(row_of(z), alpha, cpu::ClassTargets{{&label, 1}}, loss.outputs());
  return loss;
}

template <class Real>
std::vector<Real> normal_row(std::size_t n, double scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, scale);
  std::vector<Real> values(n);
  for (Real& x : values) x = static_cast<Real>(normal(random));
  return values;
}

/// A target with zeros, and without a positive entry that is small against 1/n.
template <class Real>
std::vector<Real> make_target(std::size_t n, double peakedness, unsigned seed) {
  auto q = entmax_row(peakedness, normal_row<Real>(n, 1, seed));
  double sum = 0;
  for (Real& x : q) {
    x = x * static_cast<Real>(n) < Real(0.05) ? 0 : x;
    sum += x;
  }
  for (Real& x : q) x = static_cast<Real>(x / sum);
  return q;
}

template <class Real>
long double dot(const std::vector<Real>& a, const std::vector<Real>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
  return sum;
}

/// sum |a_i b_i|: what the rounding of dot(a, b) is measured by.
template <class Real>
long double dot_size(const std::vector<Real>& a, const std::vector<Real>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::fabs(static_cast<long double>(a[i]) * b[i]);
  return sum;
}

}  // namespace fenchel::testing
