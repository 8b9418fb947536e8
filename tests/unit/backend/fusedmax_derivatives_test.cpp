#include <gtest/gtest.h>

#include <numeric>

#include "fenchel/backend/cpu/fusedmax.hpp"
#include "support/differences.hpp"
#include "support/fused_rows.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using cpu::Chain, testing::kInf, testing::kNaN, testing::make_row, testing::message_of, testing::out_of,
    testing::row_of, testing::slope_of, testing::Vector;

struct Problem {
  std::string name;
  Vector z;
  double gamma;
  Chain chain = {};
};

const Vector kWeights = [] {
  Vector weights = make_row("noise", 59, 4);
  for (double& w : weights) w = std::exp(w / 2);
  return weights;
}();
const std::vector<index_t> kLength{41};

std::vector<Problem> problems() {
  std::vector<Problem> list;
  for (const double gamma : {0.0, 0.05, 0.4, 3.0, 1e3}) {
    for (const auto* kind : {"walk", "noise"}) {
      const std::string name = std::string(kind) + " gamma=" + std::to_string(gamma);
      Vector z = make_row(kind, 60, 31);
      for (double& x : z) x *= 0.3;
      list.push_back({name, z, gamma});
      list.push_back({name + " weights", z, gamma, {.weights = row_of(kWeights)}});
      list.push_back({name + " padding", z, gamma, {.lengths = kLength}});
      z[20] = z[33] = -kInf;
      list.push_back({name + " masks", z, gamma});
    }
  }
  return list;
}

Vector fusedmax(const Problem& problem, const Vector& z, double gamma) {
  Vector p(z.size());
  cpu::fusedmax<double>(row_of(z), gamma, out_of(p), problem.chain);
  return p;
}

Vector moved(const Vector& z, const Vector& direction, double step) {
  Vector result = z;
  for (std::size_t i = 0; i < z.size(); ++i) result[i] += step * direction[i];
  return result;
}

double dot(const Vector& a, const Vector& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(FusedmaxDerivatives, ProductsAreSlopes) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    const Vector p = fusedmax(problem, problem.z, problem.gamma);
    const Vector direction = make_row("noise", 60, 71), weight = make_row("noise", 60, 72);
    const double d_gamma = problem.gamma > 0 ? 0.6 : 0, step = 1e-6;
    Vector tangent(60), cotangent(60);
    double grad_gamma = 0;
    cpu::fusedmax_jvp<double>(row_of(p), problem.gamma, row_of(direction), {&d_gamma, 1}, out_of(tangent),
                              problem.chain);
    cpu::fusedmax_vjp<double>(row_of(p), problem.gamma, row_of(weight), out_of(cotangent), {&grad_gamma, 1},
                              problem.chain);
    const double slope = slope_of(
        [&](double h) {
          return dot(weight, fusedmax(problem, moved(problem.z, direction, h), problem.gamma + h * d_gamma));
        },
        0, step);
    EXPECT_NEAR(dot(weight, tangent), slope, 1e-7 * (1 + std::abs(slope)));
    EXPECT_NEAR(dot(cotangent, direction) + grad_gamma * d_gamma, slope, 1e-7 * (1 + std::abs(slope)));
  }
}

TEST(FusedmaxDerivatives, TheJacobianIsSymmetricAndKeepsTheMass) {
  for (const Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    const Vector p = fusedmax(problem, problem.z, problem.gamma);
    const Vector a = make_row("noise", 60, 81), b = make_row("noise", 60, 82);
    Vector ja(60), jb(60);
    cpu::fusedmax_jvp<double>(row_of(p), problem.gamma, row_of(a), {}, out_of(ja), problem.chain);
    cpu::fusedmax_vjp<double>(row_of(p), problem.gamma, row_of(b), out_of(jb), {}, problem.chain);
    EXPECT_NEAR(dot(ja, b), dot(a, jb), 1e-13);
    EXPECT_GE(dot(a, ja), -1e-15);
    EXPECT_NEAR(std::accumulate(ja.begin(), ja.end(), 0.0), 0, 1e-14);
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (p[i] == 0) {
        EXPECT_EQ(ja[i], 0);
      }
    }
  }
}

/// At gamma = 0 gamma moves p to one side only.
TEST(FusedmaxDerivatives, GammaMovesSparsemaxFromTheRight) {
  const Vector z{0.3, 0.9, 0.5, 0.45, -2}, weight{1, -2, 3, 0.5, 7};
  const Problem problem{"", z, 0};
  const Vector p = fusedmax(problem, z, 0), later = fusedmax(problem, z, 1e-7);
  Vector tangent(5), cotangent(5);
  const double one = 1;
  double grad_gamma = 0;
  cpu::fusedmax_jvp<double>(row_of(p), 0, row_of(Vector(5)), {&one, 1}, out_of(tangent));
  cpu::fusedmax_vjp<double>(row_of(p), 0, row_of(weight), out_of(cotangent), {&grad_gamma, 1});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(tangent[i], (later[i] - p[i]) / 1e-7, 1e-7);
  EXPECT_NEAR(grad_gamma, dot(weight, tangent), 1e-14);
}

TEST(FusedmaxDerivatives, FloatLongRowsAndPlaceOfOutput) {
  const Vector z = make_row("walk", 3000, 6);
  Vector p(3000), g = make_row("noise", 3000, 7), exact(3000);
  cpu::fusedmax<double>(row_of(z), 2, out_of(p));
  cpu::fusedmax_vjp<double>(row_of(p), 2, row_of(g), out_of(exact));
  std::vector<float> narrow_p(p.begin(), p.end()), narrow_g(g.begin(), g.end());
  cpu::fusedmax_vjp<float>({narrow_p.data(), 1, 3000}, 2, {narrow_g.data(), 1, 3000},
                           {narrow_g.data(), 1, 3000});
  for (std::size_t i = 0; i < 3000; ++i) EXPECT_NEAR(double{narrow_g[i]}, exact[i], 1e-6);
}

TEST(FusedmaxDerivatives, NaNRowsStayNaN) {
  const Vector p(4, kNaN), v(4, 1.0);
  const std::vector<index_t> length{2};
  Vector out(4);
  double grad_gamma = 0;
  cpu::fusedmax_vjp<double>(row_of(p), 1, row_of(v), out_of(out), {&grad_gamma, 1}, {.lengths = length});
  for (const double x : out) EXPECT_TRUE(std::isnan(x));
  EXPECT_TRUE(std::isnan(grad_gamma));
}

TEST(FusedmaxDerivatives, NamesWhatIsWrong) {
  const Vector p(4, 0.25), v(4);
  Vector out(4), two(2);
  using std::domain_error, std::invalid_argument;
  EXPECT_EQ(
      message_of<domain_error>([&] { cpu::fusedmax_jvp<double>(row_of(p), -1, row_of(v), {}, out_of(out)); }),
      "fenchel::fusedmax_jvp: gamma must be finite and not negative, got -1");
  EXPECT_EQ(message_of<invalid_argument>(
                [&] { cpu::fusedmax_jvp<double>(row_of(p), 1, row_of(v), two, out_of(out)); }),
            "fenchel::fusedmax_jvp: gamma_direction.size() must equal the number of rows, 1, got 2");
  EXPECT_EQ(message_of<invalid_argument>(
                [&] { cpu::fusedmax_vjp<double>(row_of(p), 1, row_of(two), out_of(out)); }),
            "fenchel::fusedmax_vjp: cotangent.cols must equal p.cols = 4, got 2");
  EXPECT_EQ(message_of<invalid_argument>(
                [&] { cpu::fusedmax_vjp<double>(row_of(p), 1, row_of(v), out_of(out), two); }),
            "fenchel::fusedmax_vjp: gamma_gradient.size() must equal the number of rows, 1, got 2");
}

}  // namespace
}  // namespace fenchel
