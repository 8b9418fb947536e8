#include "fenchel/backend/cpu/match_weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kNaN;
using testing::message_of;

template <class Real>
struct Batch {
  index_t rows, cols;
  std::vector<Real> values = std::vector<Real>(static_cast<std::size_t>(rows * cols));
  operator Rows<const Real>() const { return {values.data(), rows, cols}; }
  Rows<Real> out() { return {values.data(), rows, cols}; }
  Real& operator()(index_t i, index_t j) { return values[static_cast<std::size_t>(i * cols + j)]; }
};

/// Weights over the first lengths[i] columns, NaN past them.
template <class Real>
Batch<Real> weights(const std::vector<index_t>& lengths, index_t cols, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> distribution;
  Batch<Real> w{std::ssize(lengths), cols};
  for (index_t i = 0; i < w.rows; ++i) {
    std::vector<double> row(static_cast<std::size_t>(lengths[static_cast<std::size_t>(i)]));
    double total = 0;
    for (double& x : row) total += x = distribution(random);
    for (index_t j = 0; j < cols; ++j) {
      w(i, j) = j < std::ssize(row) ? static_cast<Real>(row[static_cast<std::size_t>(j)] / total)
                                    : static_cast<Real>(kNaN);
    }
  }
  return w;
}

template <class Real>
Batch<Real> normal(index_t rows, index_t cols, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution;
  Batch<Real> x{rows, cols};
  for (Real& value : x.values) value = static_cast<Real>(distribution(random));
  return x;
}

template <class Real>
class MatchWeightsRows : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(MatchWeightsRows, Reals);

/// Every row is as if it stood alone, without its padding.
TYPED_TEST(MatchWeightsRows, DoNotReadPadding) {
  using Real = TypeParam;
  const std::vector<index_t> lengths{5, 9, 1, 2};
  const std::vector<double> alpha{1, 1.5, 2, 1.2};
  auto w = weights<Real>(lengths, 9, 1);
  Batch<Real> mu{4, 1}, scale{4, 1}, gradient{4, 9}, d_mu{4, 1}, d_scale{4, 1};
  const auto g_mu = normal<Real>(4, 1, 2), g_scale = normal<Real>(4, 1, 3), step = normal<Real>(4, 9, 4);
  const std::vector<Real> g_alpha{1, 2, 3, 4};
  std::vector<Real> alpha_gradient(4);
  const cpu::WeightPositions at{.lengths = lengths};
  cpu::match_weights<Real>(alpha, w, at, {}, {.mu = mu.out(), .Sigma = scale.out()});
  cpu::match_weights_vjp<Real>(alpha, w, at, {}, {g_alpha, g_mu, g_scale}, gradient.out(), alpha_gradient);
  cpu::match_weights_jvp<Real>(alpha, w, at, {}, step, g_alpha, {.mu = d_mu.out(), .Sigma = d_scale.out()});
  for (index_t i = 0; i < 4; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Rows<const Real> own(&w(i, 0), 1, lengths[k]);
    Real mu_i = 0, scale_i = 0, alpha_i = 0;
    std::vector<Real> gradient_i(static_cast<std::size_t>(lengths[k]));
    cpu::match_weights<Real>(alpha[k], own, {}, {}, {.mu = {&mu_i, 1, 1}, .Sigma = {&scale_i, 1, 1}});
    cpu::match_weights_vjp<Real>(
        alpha[k], own, {}, {},
        {std::span(&g_alpha[k], 1), {&g_mu.values[k], 1, 1}, {&g_scale.values[k], 1, 1}},
        {gradient_i.data(), 1, lengths[k]}, std::span(&alpha_i, 1));
    EXPECT_EQ(mu(i, 0), mu_i);
    EXPECT_EQ(scale(i, 0), scale_i);
    EXPECT_EQ(alpha_gradient[k], alpha_i);
    EXPECT_TRUE(std::isfinite(d_mu(i, 0)) && std::isfinite(d_scale(i, 0)));
    for (index_t j = 0; j < 9; ++j) {
      EXPECT_EQ(gradient(i, j), j < lengths[k] ? gradient_i[static_cast<std::size_t>(j)] : Real{0});
    }
  }
}

TYPED_TEST(MatchWeightsRows, OnPointsTakeTheFirstOfThem) {
  using Real = TypeParam;
  const std::vector<index_t> lengths{4, 7};
  auto w = weights<Real>(lengths, 7, 13);
  const auto points = normal<double>(7, 2, 14);
  Batch<Real> mu{2, 2}, scale{2, 4};
  cpu::match_weights<Real>(1.5, w, {.points = points, .lengths = lengths}, .1,
                           {.mu = mu.out(), .Sigma = scale.out()});
  for (index_t i = 0; i < 2; ++i) {
    const index_t length = lengths[static_cast<std::size_t>(i)];
    Batch<Real> mu_i{1, 2}, scale_i{1, 4};
    cpu::match_weights<Real>(1.5, Rows<const Real>(&w(i, 0), 1, length),
                             {.points = {points.values.data(), length, 2}}, .1,
                             {.mu = mu_i.out(), .Sigma = scale_i.out()});
    for (index_t a = 0; a < 2; ++a) EXPECT_EQ(mu(i, a), mu_i(0, a));
    for (index_t a = 0; a < 4; ++a) EXPECT_EQ(scale(i, a), scale_i(0, a));
  }
}

/// <cotangent, jvp(direction)> = <vjp(cotangent), direction>.
TYPED_TEST(MatchWeightsRows, ProductsAreAdjoint) {
  using Real = TypeParam;
  const double tolerance = sizeof(Real) == 4 ? 2e-5 : 1e-12;
  for (const index_t d : {1, 2, 3}) {
    const index_t count = 3, cols = 20;
    auto w = weights<Real>({20, 20, 20}, cols, 5);
    auto points = normal<double>(cols, d, 6);
    for (double& x : points.values) x *= .4;
    auto g_mu = normal<Real>(count, d, 7), g_scale = normal<Real>(count, d * d, 8);
    for (index_t i = 0; i < count; ++i) {
      for (index_t a = 0; a < d; ++a) {
        for (index_t b = 0; b < a; ++b) g_scale(i, a * d + b) = g_scale(i, b * d + a);
      }
    }
    const auto step = normal<Real>(count, cols, 9);
    const std::vector<Real> d_alpha{Real(.3), Real(-.2), Real(.1)}, g_alpha{1, 2, 3};
    for (const double alpha : {.8, 1.0, 1 + 1e-8, 1.5, 2.0, 3.0}) {
      const cpu::WeightPositions at{.points = points};
      Batch<Real> d_mu{count, d}, d_scale{count, d * d}, gradient{count, cols};
      std::vector<Real> alpha_gradient(3);
      cpu::match_weights_jvp<Real>(alpha, w, at, .01, step, d_alpha,
                                   {.mu = d_mu.out(), .Sigma = d_scale.out()});
      cpu::match_weights_vjp<Real>(alpha, w, at, .01, {g_alpha, g_mu, g_scale}, gradient.out(),
                                   alpha_gradient);
      double left = 0, right = 0, size = 0;
      const auto add = [&](double& sum, const std::vector<Real>& x, const std::vector<Real>& y) {
        for (std::size_t k = 0; k < x.size(); ++k) {
          sum += double{x[k]} * double{y[k]};
          size += std::abs(double{x[k]} * double{y[k]});
        }
      };
      add(left, g_mu.values, d_mu.values);
      add(left, g_scale.values, d_scale.values);
      add(left, g_alpha, d_alpha);
      add(right, gradient.values, step.values);
      add(right, alpha_gradient, d_alpha);
      EXPECT_NEAR(left, right, tolerance * size) << alpha << " " << d;
    }
  }
}

/// H v is the difference of gradients along v where weights still add up to 1, and <u, H v> = <v, H u>
/// anywhere.
TEST(MatchWeightsRows, HessiansAreDifferencesOfGradients) {
  const index_t count = 3, cols = 6;
  const auto w = weights<double>({6, 6, 6}, cols, 14);
  for (const index_t d : {1, 2, 3}) {
    const auto points = normal<double>(cols, d, 15);
    const auto g_mu = normal<double>(count, d, 16), g_scale = normal<double>(count, d * d, 17);
    auto v = normal<double>(count, cols, 18);
    const auto u = normal<double>(count, cols, 19);
    for (index_t i = 0; i < count; ++i) {
      double total = 0;
      for (index_t l = 0; l < cols; ++l) total += v(i, l);
      for (index_t l = 0; l < cols; ++l) v(i, l) -= total / cols;
    }
    const std::vector<double> v_alpha{.3, -.2, .1}, u_alpha{.5, .4, -.7};
    const cpu::WeightPositions at{.points = points};
    for (const double alpha : {.8, 1.0, 1 + 1e-8, 1.5, 2.0, 5.0}) {
      const std::vector<double> alphas(3, alpha);
      const auto along = [&](const Batch<double>& step, const std::vector<double>& d_alpha) {
        Batch<double> product{count, cols};
        std::vector<double> of_alpha(3);
        cpu::match_weights_vjp_vjp<double>(alphas, w, at, .01, {.mu = g_mu, .Sigma = g_scale}, step, d_alpha,
                                           product.out(), of_alpha);
        product.values.insert(product.values.end(), of_alpha.begin(), of_alpha.end());
        return product.values;
      };
      const double h = 1e-6;
      const auto gradient = [&](double sign) {
        auto moved = w;
        auto orders = alphas;
        for (std::size_t k = 0; k < v.values.size(); ++k) moved.values[k] += sign * h * v.values[k];
        for (std::size_t k = 0; k < 3; ++k) orders[k] += sign * h * v_alpha[k];
        Batch<double> out{count, cols};
        std::vector<double> of_alpha(3);
        cpu::match_weights_vjp<double>(orders, moved, at, .01, {.mu = g_mu, .Sigma = g_scale}, out.out(),
                                       of_alpha);
        out.values.insert(out.values.end(), of_alpha.begin(), of_alpha.end());
        return out.values;
      };
      const auto of_v = along(v, v_alpha), of_u = along(u, u_alpha);
      const auto above = gradient(1), below = gradient(-1);
      double left = 0, right = 0, size = 0;
      const auto whole = [](const Batch<double>& x, const std::vector<double>& y, std::size_t k) {
        return k < x.values.size() ? x.values[k] : y[k - x.values.size()];
      };
      for (std::size_t k = 0; k < of_v.size(); ++k) {
        EXPECT_NEAR(of_v[k], (above[k] - below[k]) / (2 * h), 1e-6 * (1 + std::abs(of_v[k])))
            << alpha << " " << d << " " << k;
        left += whole(u, u_alpha, k) * of_v[k];
        right += whole(v, v_alpha, k) * of_u[k];
        size += std::abs(whole(u, u_alpha, k) * of_v[k]);
      }
      EXPECT_NEAR(left, right, 1e-12 * size) << alpha << " " << d;
    }
  }
}

TEST(MatchWeightsRows, FloatIsDoubleRounded) {
  const auto w = weights<float>({50, 50, 50}, 50, 10);
  Batch<double> exact{3, 50};
  exact.values.assign(w.values.begin(), w.values.end());
  for (index_t i = 0; i < 3; ++i) {  // the double's tolerance is narrower
    double total = 0;
    for (index_t j = 0; j < 50; ++j) total += exact(i, j);
    for (index_t j = 0; j < 50; ++j) exact(i, j) /= total;
  }
  Batch<float> mu{3, 1}, scale{3, 1};
  Batch<double> mu_exact{3, 1}, scale_exact{3, 1};
  for (const double alpha : {1.0, 4.0 / 3, 2.0}) {
    cpu::match_weights<float>(alpha, w, {}, {}, {.mu = mu.out(), .Sigma = scale.out()});
    cpu::match_weights<double>(alpha, exact, {}, {}, {.mu = mu_exact.out(), .Sigma = scale_exact.out()});
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_FLOAT_EQ(mu.values[i], static_cast<float>(mu_exact.values[i]));
      EXPECT_FLOAT_EQ(scale.values[i], static_cast<float>(scale_exact.values[i]));
    }
  }
}

TEST(MatchWeightsRows, DoNotDependOnThreads) {
  const index_t rows = 3000;
  const auto w = weights<double>(std::vector<index_t>(static_cast<std::size_t>(rows), 16), 16, 11);
  Batch<double> mu{rows, 1}, scale{rows, 1}, mu_one{rows, 1}, scale_one{rows, 1};
  cpu::match_weights<double>(1.5, w, {}, {}, {.mu = mu.out(), .Sigma = scale.out()});
  set_num_threads(1);
  cpu::match_weights<double>(1.5, w, {}, {}, {.mu = mu_one.out(), .Sigma = scale_one.out()});
  set_num_threads(0);
  EXPECT_EQ(mu.values, mu_one.values);
  EXPECT_EQ(scale.values, scale_one.values);
}

TEST(MatchWeightsRows, SayWhatIsWrong) {
  Batch<double> mu{2, 1}, scale{2, 1}, wide{2, 3}, long_scale{3, 1};
  const auto message = [&](double bad, std::vector<index_t> lengths) {
    auto w = weights<double>({3, 3}, 3, 12);
    w(1, 2) = bad;
    return [=, &mu, &scale]() mutable {
      cpu::match_weights<double>(1.5, w, {.lengths = lengths}, {}, {.mu = mu.out(), .Sigma = scale.out()});
    };
  };
  EXPECT_EQ(message_of<std::domain_error>(message(-.5, {})),
            "fenchel::match_weights: weights[1][2] must be finite and not negative, got -0.5");
  EXPECT_EQ(message_of<std::domain_error>(message(kNaN, {})),
            "fenchel::match_weights: weights[1][2] must be finite and not negative, got nan");
  EXPECT_EQ(message_of<std::domain_error>(message(testing::kInf, {})),
            "fenchel::match_weights: weights[1][2] must be finite and not negative, got inf");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              const std::vector<double> half{.25, .25};
              cpu::match_weights<double>(
                  1.5, Rows<const double>(half.data(), 1, 2), {}, {},
                  {.mu = {mu.values.data(), 1, 1}, .Sigma = {scale.values.data(), 1, 1}});
            }),
            "fenchel::match_weights: the sum of weights[0] must be 1 within 1e-09, got 0.5");
  EXPECT_EQ(message_of<std::domain_error>([&] {
              const std::vector<float> half{.25, .25};
              float one = 0, two = 0;
              cpu::match_weights<float>(1.5, Rows<const float>(half.data(), 1, 2), {}, {},
                                        {.mu = {&one, 1, 1}, .Sigma = {&two, 1, 1}});
            }),
            "fenchel::match_weights: the sum of weights[0] must be 1 within 1e-04, got 0.5");
  EXPECT_EQ(message_of<std::invalid_argument>(message(.1, {3, 4})),
            "fenchel::match_weights: lengths[1] must be in [1, 3], got 4");
  EXPECT_EQ(message_of<std::invalid_argument>(message(.1, {0, 3})),
            "fenchel::match_weights: lengths[0] must be in [1, 3], got 0");
  EXPECT_EQ(message_of<std::invalid_argument>(message(.1, {3})),
            "fenchel::match_weights: lengths.size() must equal the number of rows, 2, got 1");
  const auto w = weights<double>({3, 3}, 3, 12);
  const auto call = [&](Batch<double>& mu_out, Batch<double>& scale_out, const cpu::WeightPositions& at) {
    return message_of<std::invalid_argument>(
        [&] { cpu::match_weights<double>(1.5, w, at, {}, {.mu = mu_out.out(), .Sigma = scale_out.out()}); });
  };
  EXPECT_EQ(call(wide, scale, {}), "fenchel::match_weights: density.mu.cols must be 1, got 3");
  EXPECT_EQ(call(mu, long_scale, {}), "fenchel::match_weights: density.Sigma.rows must be 2, got 3");
  const std::vector<double> points{0, .5, kNaN};
  EXPECT_EQ(message_of<std::domain_error>([&] {
              cpu::match_weights<double>(1.5, w, {.points = {points.data(), 3, 1}}, {},
                                         {.mu = mu.out(), .Sigma = scale.out()});
            }),
            "fenchel::match_weights: points[2][0] must be finite, got nan");
  const std::vector<double> alpha{1, .1};
  EXPECT_EQ(message_of<std::domain_error>([&] {
              cpu::match_weights<double>(alpha, w, {}, {}, {.mu = mu.out(), .Sigma = scale.out()});
            }),
            "fenchel::match_weights: alpha[1] must be finite and greater than 1/3, got 0.1");
}

TEST(MatchWeightsRows, NoRowsIsNothingToDo) {
  cpu::match_weights<double>(1.5, {}, {}, {}, {.mu = {}, .Sigma = {}});
  cpu::match_weights_vjp<float>(1.5, {}, {}, {}, {}, {});
}

}  // namespace
}  // namespace fenchel
