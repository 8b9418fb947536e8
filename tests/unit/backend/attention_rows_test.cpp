#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "support/grids.hpp"

/// What the functions of a batch have to do with each other, on the line.
namespace fenchel {
namespace {

using cpu::Densities, cpu::DensityTangents, cpu::GaussianFunctions, cpu::ValueMatrices;
using testing::kInf, testing::kNaN;

const std::vector<double> kRowAlphas{
    0.4, 0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.1, 4.0 / 3, 1.5, 1.7, 2.0, 3.0, 10.0, 1e6, kInf};

template <class Real>
std::vector<Real> uniform(std::size_t count, double lo, double hi, std::uint64_t stream) {
  Philox random(11, stream);
  std::vector<Real> x(count);
  for (Real& v : x) v = static_cast<Real>(lo + (hi - lo) * (static_cast<double>(random() >> 11) * 0x1p-53));
  return x;
}

/// Densities in and around [0, 1] with another alpha in each row, and functions of three widths.
template <class Real>
struct Problem {
  index_t rows, count, dimension = 3;
  std::vector<Real> mu, sigma2;
  std::vector<double> alpha, mean, covariance;

  Problem(index_t row_count, index_t function_count)
      : rows(row_count),
        count(function_count),
        mu(uniform<Real>(static_cast<std::size_t>(rows), -0.2, 1.2, 0)),
        sigma2(uniform<Real>(static_cast<std::size_t>(rows), 0.001, 0.3, 1)),
        mean(uniform<double>(static_cast<std::size_t>(count), 0, 1, 2)) {
    for (index_t i = 0; i < rows; ++i)
      alpha.push_back(kRowAlphas[static_cast<std::size_t>(i) % kRowAlphas.size()]);
    for (index_t j = 0; j < count; ++j)
      covariance.push_back(std::pow(10.0, static_cast<double>(-4 + 2 * (j % 3))));
  }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(rows); }
  [[nodiscard]] std::size_t pairs() const { return static_cast<std::size_t>(rows * count); }
  [[nodiscard]] Densities<Real> densities() const {
    return {alpha, {mu.data(), rows, 1}, {sigma2.data(), rows, 1}};
  }
  [[nodiscard]] GaussianFunctions functions() const {
    return {{mean.data(), count, 1}, {covariance.data(), count, 1}};
  }
};

template <class Real>
struct Gradient {
  std::vector<Real> mu, sigma2, alpha;
  explicit Gradient(std::size_t rows) : mu(rows), sigma2(rows), alpha(rows) {}
  Gradient(std::vector<Real> m, std::vector<Real> s, std::vector<Real> a)
      : mu(std::move(m)), sigma2(std::move(s)), alpha(std::move(a)) {}
  [[nodiscard]] DensityTangents<Real> out() {
    return {alpha, {mu.data(), std::ssize(mu), 1}, {sigma2.data(), std::ssize(mu), 1}};
  }
  [[nodiscard]] DensityTangents<const Real> in() const {
    return {alpha, {mu.data(), std::ssize(mu), 1}, {sigma2.data(), std::ssize(mu), 1}};
  }
  bool operator==(const Gradient&) const = default;
};

template <class Real>
std::vector<Real> attend(const Problem<Real>& problem) {
  std::vector<Real> r(problem.pairs());
  cpu::attend<Real>(problem.densities(), problem.functions(), {r.data(), problem.rows, problem.count});
  return r;
}

template <class Real>
Gradient<Real> attend_vjp(const Problem<Real>& problem, const std::vector<Real>& cotangent) {
  Gradient<Real> gradient(problem.size());
  cpu::attend_vjp<Real>(problem.densities(), problem.functions(),
                        Rows<const Real>(cotangent.data(), problem.rows, problem.count), gradient.out());
  return gradient;
}

template <class Real>
std::vector<Real> attend_jvp(const Problem<Real>& problem, const DensityTangents<const Real>& direction) {
  std::vector<Real> tangent(problem.pairs());
  cpu::attend_jvp<Real>(problem.densities(), problem.functions(), direction, {},
                        {tangent.data(), problem.rows, problem.count});
  return tangent;
}

template <class Real>
void expect_adjoint(double error) {
  const Problem<Real> problem(28, 19);
  const Gradient<Real> direction{uniform<Real>(28, -1, 1, 3), uniform<Real>(28, -0.1, 0.1, 4),
                                 uniform<Real>(28, -1, 1, 5)};
  const auto cotangent = uniform<Real>(problem.pairs(), -1, 1, 6);
  const auto gradient = attend_vjp(problem, cotangent);
  const auto tangent = attend_jvp(problem, direction.in());
  for (std::size_t i = 0; i < 28; ++i) {
    double forward = 0, size = 0;
    for (std::size_t j = i * 19; j < (i + 1) * 19; ++j) {
      forward += double{cotangent[j]} * double{tangent[j]};
      size += std::fabs(double{cotangent[j]} * double{tangent[j]});
    }
    const double backward = double{gradient.mu[i]} * double{direction.mu[i]} +
                            double{gradient.sigma2[i]} * double{direction.sigma2[i]} +
                            double{gradient.alpha[i]} * double{direction.alpha[i]};
    size += std::fabs(double{gradient.sigma2[i]} * double{direction.sigma2[i]});
    EXPECT_GT(size, 0);
    EXPECT_NEAR(forward, backward, error * size) << "alpha " << problem.alpha[i];
  }
}

TEST(AttentionRows, ProductsAreAdjoint) {
  expect_adjoint<double>(1e-13);
  expect_adjoint<float>(2e-6);
}

TEST(AttentionRows, WithoutAlphaItsPartIsZero) {
  const Problem<double> problem(28, 19);
  Gradient<double> direction{uniform<double>(28, -1, 1, 3), uniform<double>(28, -0.1, 0.1, 4),
                             std::vector<double>(28)};
  const auto cotangent = uniform<double>(problem.pairs(), -1, 1, 6);
  const auto with = attend_jvp(problem, direction.in());
  auto without_alpha = direction.in();
  without_alpha.alpha = {};
  const auto without = attend_jvp(problem, without_alpha);
  for (std::size_t k = 0; k < with.size(); ++k)
    EXPECT_NEAR(without[k], with[k], 1e-11 * (1 + std::fabs(with[k])));
  const auto gradient = attend_vjp(problem, cotangent);
  Gradient<double> less(28);
  auto out = less.out();
  out.alpha = {};
  cpu::attend_vjp<double>(problem.densities(), problem.functions(), {cotangent.data(), 28, 19}, out);
  for (std::size_t i = 0; i < 28; ++i) {
    EXPECT_NEAR(less.mu[i], gradient.mu[i], 1e-11 * (1 + std::fabs(gradient.mu[i])));
    EXPECT_NEAR(less.sigma2[i], gradient.sigma2[i], 1e-11 * (1 + std::fabs(gradient.sigma2[i])));
    EXPECT_EQ(less.alpha[i], 0);
  }
}

TEST(AttentionRows, SingleIsDoubleRounded) {
  const Problem<float> single(56, 33);
  Problem<double> twice(56, 33);
  for (std::size_t i = 0; i < 56; ++i) {
    twice.mu[i] = single.mu[i];
    twice.sigma2[i] = single.sigma2[i];
  }
  const auto r = attend(single);
  const auto exact = attend(twice);
  for (std::size_t k = 0; k < r.size(); ++k) EXPECT_NEAR(r[k], exact[k], 2e-5 * exact[k] + 1e-37);
}

TEST(AttentionRows, ARowDependsOnThatRowAlone) {
  const Problem<double> problem(28, 19);
  const auto r = attend(problem);
  for (index_t i = 0; i < problem.rows; ++i) {
    std::vector<double> row(19);
    const auto k = static_cast<std::size_t>(i);
    cpu::attend<double>({problem.alpha[k], {&problem.mu[k], 1, 1}, {&problem.sigma2[k], 1, 1}},
                        problem.functions(), {row.data(), 1, 19});
    EXPECT_TRUE(std::equal(row.begin(), row.end(), r.begin() + 19 * i)) << "alpha " << problem.alpha[k];
  }
}

TEST(AttentionRows, StridesDoNotMatter) {
  const Problem<double> problem(28, 19);
  const auto r = attend(problem);
  std::vector<double> mu(28 * 3, kNaN), sigma2(28 * 2, kNaN), mean(19 * 2, kNaN), covariance(19 * 4, kNaN);
  for (std::size_t i = 0; i < 28; ++i) {
    mu[3 * (27 - i)] = problem.mu[i];
    sigma2[2 * i] = problem.sigma2[i];
  }
  for (std::size_t j = 0; j < 19; ++j) {
    mean[2 * j] = problem.mean[j];
    covariance[4 * j] = problem.covariance[j];
  }
  std::vector<double> out(28 * 21, -7);
  cpu::attend<double>({problem.alpha, {mu.data() + 81, 28, 1, -3}, {sigma2.data(), 28, 1, 2}},
                      {{mean.data(), 19, 1, 2}, {covariance.data(), 19, 1, 4}}, {out.data(), 28, 19, 21});
  for (std::size_t i = 0; i < 28; ++i) {
    for (std::size_t j = 0; j < 19; ++j) EXPECT_EQ(out[21 * i + j], r[19 * i + j]);
    EXPECT_EQ(out[21 * i + 19], -7);
    EXPECT_EQ(out[21 * i + 20], -7);
  }
  std::vector<double> repeated(3 * 19);
  cpu::attend<double>(
      {problem.alpha[9], {problem.mu.data() + 9, 3, 1, 0}, {problem.sigma2.data() + 9, 3, 1, 0}},
      problem.functions(), {repeated.data(), 3, 19});
  for (std::size_t k = 0; k < repeated.size(); ++k) EXPECT_EQ(repeated[k], r[9 * 19 + k % 19]);
}

/// Two value matrices, each for half of the densities.
template <class Real>
struct Contexts {
  Problem<Real> problem;
  std::vector<Real> values, cotangent;
  explicit Contexts(index_t rows, index_t count)
      : problem(rows, count),
        values(uniform<Real>(static_cast<std::size_t>(2 * problem.dimension * count), -1, 1, 7)),
        cotangent(uniform<Real>(static_cast<std::size_t>(rows * problem.dimension), -1, 1, 8)) {}

  [[nodiscard]] ValueMatrices<const Real> matrices() const { return {values.data(), 2, problem.dimension}; }
  [[nodiscard]] Real value(std::size_t i, std::size_t m, std::size_t j) const {
    const auto count = static_cast<std::size_t>(problem.count),
               d = static_cast<std::size_t>(problem.dimension);
    return values[((i / (problem.size() / 2)) * d + m) * count + j];
  }
  [[nodiscard]] std::vector<Real> contexts() const {
    std::vector<Real> c(cotangent.size());
    cpu::attend_context<Real>(problem.densities(), problem.functions(), matrices(),
                              {c.data(), problem.rows, problem.dimension});
    return c;
  }
  [[nodiscard]] Gradient<Real> vjp(std::vector<Real>* values_gradient) const {
    Gradient<Real> gradient(problem.size());
    cpu::attend_context_vjp<Real>(
        problem.densities(), problem.functions(), matrices(),
        Rows<const Real>(cotangent.data(), problem.rows, problem.dimension), gradient.out(),
        {values_gradient ? values_gradient->data() : nullptr, 2, problem.dimension});
    return gradient;
  }
};

template <class Real>
void expect_contexts(double error) {
  const Contexts<Real> all(28, 19);
  const auto& problem = all.problem;
  const auto r = attend(problem);
  const auto c = all.contexts();
  std::vector<Real> pulled(problem.pairs()), values_gradient(all.values.size(), -7);
  std::vector<double> expected_values(all.values.size());
  for (std::size_t i = 0; i < 28; ++i) {
    for (std::size_t m = 0; m < 3; ++m) {
      double sum = 0, size = 0;
      for (std::size_t j = 0; j < 19; ++j) {
        const double weight = all.cotangent[3 * i + m], value = all.value(i, m, j),
                     expectation = r[19 * i + j];
        sum += value * expectation;
        size += std::fabs(value * expectation);
        pulled[19 * i + j] += static_cast<Real>(weight * value);
        expected_values[((i / 14) * 3 + m) * 19 + j] += weight * expectation;
      }
      EXPECT_NEAR(c[3 * i + m], sum, error * size);
    }
  }
  const auto gradient = all.vjp(&values_gradient), expected = attend_vjp(problem, pulled);
  for (std::size_t i = 0; i < 28; ++i) {
    const auto expect_near = [&](Real got, Real wanted) {
      EXPECT_NEAR(got, wanted, 20 * error * (1 + std::fabs(double{wanted}))) << "alpha " << problem.alpha[i];
    };
    expect_near(gradient.mu[i], expected.mu[i]);
    expect_near(gradient.sigma2[i], expected.sigma2[i]);
    expect_near(gradient.alpha[i], expected.alpha[i]);
  }
  for (std::size_t k = 0; k < expected_values.size(); ++k) {
    EXPECT_NEAR(values_gradient[k], expected_values[k], 20 * error * (1 + std::fabs(expected_values[k])));
  }
  EXPECT_EQ(all.vjp(nullptr), gradient);
}

TEST(AttentionRows, ContextsAreValueMatricesTimesExpectations) {
  expect_contexts<double>(1e-14);
  expect_contexts<float>(1e-6);
}

template <class Real>
void expect_the_same_on_any_number_of_threads() {
  const Contexts<Real> all(2000, 40);
  const auto everything = [&] {
    std::vector<Real> values_gradient(all.values.size());
    auto gradient = all.vjp(&values_gradient);
    return std::tuple(attend(all.problem), all.contexts(), values_gradient,
                      attend_jvp(all.problem, gradient.in()), gradient,
                      attend_vjp(all.problem, uniform<Real>(all.problem.pairs(), -1, 1, 6)));
  };
  set_num_threads(1);
  const auto one = everything();
  set_num_threads(3);
  const auto three = everything();
  set_num_threads(0);
  EXPECT_TRUE(one == three);
}

TEST(AttentionRows, ThreadsDoNotChangeResults) {
  expect_the_same_on_any_number_of_threads<double>();
  expect_the_same_on_any_number_of_threads<float>();
}

/// Another call between a prediction and its derivative changes nothing.
TEST(AttentionRows, ThereIsNoHiddenState) {
  const Problem<double> first(28, 19), second(14, 5);
  const auto weight = uniform<double>(first.pairs(), -1, 1, 6);
  const auto alone = attend_vjp(first, weight);
  (void)attend(first);
  (void)attend(second);
  EXPECT_EQ(attend_vjp(first, weight), alone);
}

TEST(AttentionRows, NoRowsIsNothingToDo) {
  const Problem<double> problem(1, 3);
  const Densities<double> none{1.5, {}, {}};
  EXPECT_NO_THROW(cpu::attend(none, problem.functions(), {}));
  EXPECT_NO_THROW(cpu::attend_vjp(none, problem.functions(), {}, {}));
  EXPECT_NO_THROW(cpu::attend_jvp(none, problem.functions(), {}, {}, {}));
  EXPECT_NO_THROW(cpu::attend_context(none, problem.functions(), {}, {}));
  EXPECT_NO_THROW(cpu::attend_context_vjp(none, problem.functions(), {}, {}, {}));
}

}  // namespace
}  // namespace fenchel
