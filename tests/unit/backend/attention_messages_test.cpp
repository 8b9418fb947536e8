#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/error.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

/// Every argument that does not fit is named, before anything is written.
namespace fenchel {
namespace {

using testing::kInf, testing::kNaN, testing::message_of;

/// Four densities and three functions on the line with two value matrices of dimension 2; a test spoils a
/// part.
struct Call {
  std::vector<double> mu{0.1, 0.2, 0.3, 0.4}, sigma2{1, 2, 3, 4}, alpha{1, 1.5, 2, 3};
  std::vector<double> mean{0, 0.5, 1}, covariance{0.1, 0.2, 0.3};
  std::vector<double> numbers = std::vector<double>(64), values = std::vector<double>(12, 1.0);
  cpu::Densities<double> p{alpha, {mu.data(), 4, 1}, {sigma2.data(), 4, 1}};
  cpu::GaussianFunctions psi{{mean.data(), 3, 1}, {covariance.data(), 3, 1}};
  Rows<double> r{numbers.data(), 4, 3}, contexts{numbers.data(), 4, 2};
  cpu::DensityTangents<double> gradient{.mu = {numbers.data() + 16, 4, 1},
                                        .Sigma = {numbers.data() + 20, 4, 1}};
  cpu::DensityTangents<const double> direction{.mu = {numbers.data() + 16, 4, 1},
                                               .Sigma = {numbers.data() + 20, 4, 1}};
  cpu::ValueMatrices<const double> matrices{values.data(), 2, 2};
  cpu::ValueMatrices<double> matrices_gradient{numbers.data() + 32, 2, 2};

  template <class Error>
  [[nodiscard]] std::string attend() const {
    return message_of<Error>([&] { cpu::attend(p, psi, r); });
  }
  [[nodiscard]] std::string vjp() const {
    return message_of<std::invalid_argument>([&] { cpu::attend_vjp(p, psi, r, gradient); });
  }
  [[nodiscard]] std::string jvp() const {
    return message_of<std::invalid_argument>([&] { cpu::attend_jvp(p, psi, direction, {}, r); });
  }
  [[nodiscard]] std::string context() const {
    return message_of<std::invalid_argument>([&] { cpu::attend_context(p, psi, matrices, contexts); });
  }
  [[nodiscard]] std::string context_vjp() const {
    return message_of<std::invalid_argument>(
        [&] { cpu::attend_context_vjp(p, psi, matrices, contexts, gradient, matrices_gradient); });
  }
};

/// What attend says when `spoil` has changed a call, as an error of this type.
template <class Error, class Spoil>
std::string after(Spoil spoil) {
  Call call;
  spoil(call);
  return call.attend<Error>();
}

TEST(AttentionMessages, AGoodCallIsAccepted) {
  const Call call;
  EXPECT_EQ(call.attend<std::exception>(), "(no error)");
  EXPECT_EQ(call.vjp(), "(no error)");
  EXPECT_EQ(call.jvp(), "(no error)");
  EXPECT_EQ(call.context(), "(no error)");
  EXPECT_EQ(call.context_vjp(), "(no error)");
}

TEST(AttentionMessages, DensitiesThatDoNotExist) {
  using Error = std::domain_error;
  EXPECT_EQ(after<Error>([](Call& c) { c.sigma2[2] = -1; }),
            "fenchel::attend: Sigma[2] must be positive and finite, got -1");
  EXPECT_EQ(after<Error>([](Call& c) { c.sigma2[1] = 0; }),
            "fenchel::attend: Sigma[1] must be positive and finite, got 0");
  EXPECT_EQ(after<Error>([](Call& c) { c.sigma2[0] = kNaN; }),
            "fenchel::attend: Sigma[0] must be positive and finite, got nan");
  EXPECT_EQ(after<Error>([](Call& c) { c.sigma2[3] = kInf; }),
            "fenchel::attend: Sigma[3] must be positive and finite, got inf");
  EXPECT_EQ(after<Error>([](Call& c) { c.sigma2[1] = 5e-324; }),
            "fenchel::attend: Sigma[1] must be at least 2.2250738585072014e-308, got 5e-324");
  EXPECT_EQ(after<Error>([](Call& c) { c.mu[1] = kNaN; }), "fenchel::attend: mu[1] must be finite, got nan");
  EXPECT_EQ(after<Error>([](Call& c) { c.mu[1] = -kInf; }),
            "fenchel::attend: mu[1] must be finite, got -inf");
  EXPECT_EQ(after<Error>([](Call& c) { c.alpha[2] = 0; }),
            "fenchel::attend: alpha[2] must be positive, got 0");
  EXPECT_EQ(after<Error>([](Call& c) { c.alpha[2] = kNaN; }),
            "fenchel::attend: alpha[2] must be positive, got nan");
  EXPECT_EQ(after<Error>([](Call& c) { c.p.alpha = -2; }), "fenchel::attend: alpha must be positive, got -2");
}

TEST(AttentionMessages, FunctionsThatDoNotExist) {
  EXPECT_EQ(after<std::domain_error>([](Call& c) { c.covariance[1] = 0; }),
            "fenchel::attend: psi.Sigma[1] must be positive and finite, got 0");
  EXPECT_EQ(after<std::domain_error>([](Call& c) { c.mean[2] = kNaN; }),
            "fenchel::attend: psi.mu[2] must be finite, got nan");
  using Error = std::invalid_argument;
  EXPECT_EQ(after<Error>([](Call& c) { c.psi = {}; }),
            "fenchel::attend: psi.mu.rows must be at least 1, got 0");
  EXPECT_EQ(after<Error>([](Call& c) { c.psi.mu.cols = 2; }),
            "fenchel::attend: psi.mu.cols must be 1, got 2");
  EXPECT_EQ(after<Error>([](Call& c) { c.psi.mu.data = nullptr; }),
            "fenchel::attend: psi.mu.data must not be null, got a null pointer");
  EXPECT_EQ(after<Error>([](Call& c) { c.psi.Sigma.rows = 2; }),
            "fenchel::attend: psi.Sigma.rows must be 3, got 2");
  EXPECT_EQ(after<Error>([](Call& c) { c.psi.Sigma.cols = 4; }),
            "fenchel::attend: psi.Sigma.cols must be 1, got 4");
  EXPECT_EQ(after<Error>([](Call& c) { c.psi.Sigma.data = nullptr; }),
            "fenchel::attend: psi.Sigma.data must not be null, got a null pointer");
}

TEST(AttentionMessages, ShapesThatDoNotFit) {
  using Error = std::invalid_argument;
  EXPECT_EQ(after<Error>([](Call& c) { c.p.mu.data = nullptr; }),
            "fenchel::attend: mu.data must not be null, got a null pointer");
  EXPECT_EQ(after<Error>([](Call& c) { c.p.mu.cols = 0; }),
            "fenchel::attend: mu.cols must be at least 1, got 0");
  EXPECT_EQ(after<Error>([](Call& c) { c.p.mu.rows = -1; }),
            "fenchel::attend: mu.rows must not be negative, got -1");
  EXPECT_EQ(after<Error>([](Call& c) { c.p.Sigma.rows = 3; }),
            "fenchel::attend: Sigma.rows must be 4, got 3");
  EXPECT_EQ(after<Error>([](Call& c) { c.p.Sigma.cols = 2; }),
            "fenchel::attend: Sigma.cols must be 1, got 2");
  EXPECT_EQ(after<Error>([](Call& c) { c.p.Sigma.data = nullptr; }),
            "fenchel::attend: Sigma.data must not be null, got a null pointer");
  EXPECT_EQ(after<Error>([](Call& c) { c.alpha.pop_back(), c.p.alpha = c.alpha; }),
            "fenchel::attend: alpha.size() must equal the number of rows, 4, got 3");
  EXPECT_EQ(after<Error>([](Call& c) { c.r.rows = 3; }), "fenchel::attend: r.rows must be 4, got 3");
  EXPECT_EQ(after<Error>([](Call& c) { c.r.cols = 2; }), "fenchel::attend: r.cols must be 3, got 2");
  EXPECT_EQ(after<Error>([](Call& c) { c.r.stride = 0; }),
            "fenchel::attend: r.stride must be at least cols, so that rows do not overlap, got 0");
  EXPECT_EQ(after<Error>([](Call& c) { c.r.data = nullptr; }),
            "fenchel::attend: r.data must not be null, got a null pointer");
}

TEST(AttentionMessages, TangentsThatDoNotFit) {
  Call call;
  const auto good_gradient = call.gradient;
  const auto good_direction = call.direction;
  call.gradient.mu.rows = 3;
  EXPECT_EQ(call.vjp(), "fenchel::attend_vjp: gradient.mu.rows must be 4, got 3");
  call.gradient = good_gradient;
  call.gradient.Sigma.data = nullptr;
  EXPECT_EQ(call.vjp(), "fenchel::attend_vjp: gradient.Sigma.data must not be null, got a null pointer");
  call.gradient = good_gradient;
  call.gradient.alpha = {call.numbers.data() + 24, 2};
  EXPECT_EQ(call.vjp(), "fenchel::attend_vjp: gradient.alpha.size() must equal the number of rows, 4, got 2");
  call.direction.mu.cols = 2;
  EXPECT_EQ(call.jvp(), "fenchel::attend_jvp: direction.mu.cols must be 1, got 2");
  call.direction = good_direction;
  call.direction.Sigma.rows = 5;
  EXPECT_EQ(call.jvp(), "fenchel::attend_jvp: direction.Sigma.rows must be 4, got 5");
  call.direction = good_direction;
  call.direction.alpha = {call.numbers.data() + 24, 5};
  EXPECT_EQ(call.jvp(),
            "fenchel::attend_jvp: direction.alpha.size() must equal the number of rows, 4, got 5");
  call = Call();
  call.r.rows = 5;
  EXPECT_EQ(call.vjp(), "fenchel::attend_vjp: cotangent.rows must be 4, got 5");
  EXPECT_EQ(call.jvp(), "fenchel::attend_jvp: tangent.rows must be 4, got 5");
}

TEST(AttentionMessages, ValueMatricesThatDoNotFit) {
  Call call;
  call.matrices.count = 3;
  EXPECT_EQ(call.context(),
            "fenchel::attend_context: values.count must divide the number of densities, 4, got 3");
  EXPECT_EQ(call.context_vjp(),
            "fenchel::attend_context_vjp: values.count must divide the number of densities, 4, got 3");
  call.matrices.count = 0;
  EXPECT_EQ(call.context(),
            "fenchel::attend_context: values.count must divide the number of densities, 4, got 0");
  call.matrices = {call.values.data(), 2, 0};
  EXPECT_EQ(call.context(), "fenchel::attend_context: values.dimension must be at least 1, got 0");
  call.matrices = {nullptr, 2, 2};
  EXPECT_EQ(call.context(), "fenchel::attend_context: values.data must not be null, got a null pointer");
  call.matrices = {call.values.data(), 2, 2};
  call.contexts.cols = 3;
  EXPECT_EQ(call.context(), "fenchel::attend_context: context.cols must be 2, got 3");
  EXPECT_EQ(call.context_vjp(), "fenchel::attend_context_vjp: cotangent.cols must be 2, got 3");
  call.contexts.cols = 2;
  call.matrices_gradient.count = 1;
  EXPECT_EQ(
      call.context_vjp(),
      "fenchel::attend_context_vjp: values_gradient must have the count and dimension of values, 2 and 2, "
      "got 1 and 2");
}

/// alpha so close to its lower bound that the radius of every eighth density overflows.
TEST(AttentionMessages, TheFirstDensityThatIsNotResolvedIsNamed) {
  constexpr index_t kRows = 64;
  std::vector<double> mu(3 * kRows), scale(9 * kRows), r(kRows);
  for (std::size_t i = 0; i < 64; ++i) {
    for (std::size_t a = 0; a < 3; ++a) scale[9 * i + 4 * a] = i % 8 == 5 ? 1e-6 : 1;
  }
  const double mean[] = {0.1, 0, 0}, covariance[] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const cpu::Densities<double> p{1.0 / 3 + 1e-4, {mu.data(), kRows, 3}, {scale.data(), kRows, 9}};
  EXPECT_EQ(message_of<ConvergenceError>([&] {
              cpu::attend(p, {{mean, 1, 3}, {covariance, 1, 9}}, Rows<double>(r.data(), kRows, 1));
            }),
            "fenchel::attend: the expectation under density 5 must be resolved, got an integral that is not");
}

TEST(AttentionMessages, TheLowerTriangleOfAScaleIsRead) {
  const double mu[] = {0.1, -0.2}, whole[] = {0.6, 0.2, 0.2, 0.3}, lower[] = {0.6, kNaN, 0.2, 0.3};
  const double mean[] = {0.5, 0.3}, covariance[] = {0.2, -0.05, -0.05, 0.1};
  const auto value = [&](const double* scale) {
    double r = 0;
    cpu::attend<double>({2, {mu, 1, 2}, {scale, 1, 4}}, {{mean, 1, 2}, {covariance, 1, 4}}, {&r, 1, 1});
    return r;
  };
  EXPECT_EQ(value(lower), value(whole));
}

}  // namespace
}  // namespace fenchel
