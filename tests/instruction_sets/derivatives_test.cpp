#include "instruction_sets/batch.hpp"
#include "laws/bounds.hpp"

/// Products with the Jacobian of entmax over rows of every length, on one instruction set.
namespace fenchel::testing {
namespace {

template <class Real>
class DerivativeLengths : public ::testing::Test {};
TYPED_TEST_SUITE(DerivativeLengths, Reals);

/// (x e^x - e^x + 1) / x^2, by its series about 0: D = d/dalpha log_{2-alpha}(p) = l^2 times this of am1 l,
/// l = log p.
double alpha_factor(double x) {
  if (std::fabs(x) > 1) return (x * std::exp(x) - std::expm1(x)) / (x * x);
  double sum = 0, power = 1, factorial = 2;
  for (int k = 0; k < 20; ++k) {
    sum += power * (k + 1) / factorial;
    power *= x;
    factorial *= k + 3;
  }
  return sum;
}

/// A product J v of one row in double, with the size of its terms before they cancel. docs/math.md 2.
struct Product {
  std::vector<double> value, size;
};

struct Escort {
  std::vector<double> s;
  double sum = 0;

  template <class Real>
  Escort(double alpha, std::span<const Real> p) : s(p.size()) {
    for (std::size_t j = 0; j < s.size(); ++j) {
      s[j] = p[j] > 0 && std::isfinite(alpha) ? std::pow(double{p[j]}, 2 - alpha) : 0.0;
      sum += s[j];
    }
  }
  [[nodiscard]] Product times(const std::vector<double>& v, const std::vector<double>& v_size) const {
    double mean = 0, mean_size = 0;
    for (std::size_t j = 0; j < s.size(); ++j) {
      mean += s[j] * v[j];
      mean_size += s[j] * v_size[j];
    }
    Product product{v, v_size};
    for (std::size_t j = 0; j < s.size(); ++j) {
      product.value[j] = s[j] == 0 ? 0 : s[j] * (v[j] - mean / sum);
      product.size[j] = s[j] == 0 ? 0 : s[j] * (v_size[j] + mean_size / sum);
    }
    return product;
  }
};

/// The largest error in bounds; s may be subnormal, and so coarse.
template <class Real>
double worst_error(std::span<const Real> found, const Product& exact) {
  constexpr double kCoarse = 8 * double{std::numeric_limits<Real>::denorm_min()};
  double worst = 0;
  for (std::size_t j = 0; j < found.size(); ++j) {
    const double error = std::fabs(found[j] - exact.value[j]);
    const double bound = kProductUlps * Bounds<Real>::kUnit * exact.size[j] + kCoarse;
    worst = std::isnan(error) ? kInf : error <= bound ? worst : std::max(worst, error / bound);
  }
  return worst;
}

/// How the scores would have to move for what a step in alpha does, -D, and its size before it cancels.
template <class Real>
std::pair<std::vector<double>, std::vector<double>> alpha_move(double alpha, std::span<const Real> p) {
  std::vector<double> move(p.size()), size(p.size());
  for (std::size_t j = 0; j < p.size(); ++j) {
    if (!(p[j] > 0) || std::isinf(alpha)) continue;
    const double l = std::log(double{p[j]});
    move[j] = -l * l * alpha_factor((alpha - 1) * l);
    size[j] = l * l * (1 + std::exp((alpha - 1) * l));
  }
  return {move, size};
}

/// The step in alpha of a Jacobian-vector product.
constexpr double kStep = 0.7;

/// The gradient, the slope in alpha and the tangent of one row.
template <class Real>
void expect_row(double alpha, std::span<const Real> p, std::span<const Real> v,
                std::span<const Real> gradient, double slope, std::span<const Real> tangent) {
  const Escort escort(alpha, p);
  std::vector<double> direction(v.begin(), v.end()), size = direction;
  for (double& x : size) x = std::fabs(x);
  EXPECT_LE(worst_error(gradient, escort.times(direction, size)), 1) << "times the bound on a gradient";

  const auto [move, move_size] = alpha_move(alpha, p);
  const Product moved = escort.times(move, move_size);
  double expected = 0, expected_size = 0;
  for (std::size_t j = 0; j < v.size(); ++j) {
    expected += direction[j] * moved.value[j];
    expected_size += size[j] * moved.size[j];
    direction[j] += kStep * move[j];
    size[j] += kStep * move_size[j];
  }
  EXPECT_NEAR(slope, expected, kProductUlps * Bounds<Real>::kUnit * expected_size);
  EXPECT_LE(worst_error(tangent, escort.times(direction, size)), 1) << "times the bound on a tangent";
}

TYPED_TEST(DerivativeLengths, ProductsAreThoseOfTheFormula) {
  using Real = TypeParam;
  for_each_length(1, [](double alpha, std::size_t cols) {
    if (alpha > 5 && std::isfinite(alpha)) return;  // p^{2-alpha} is no number
    auto p = make_scores<Real>(alpha, cols);
    Table<Real> v(cols), gradient(cols), tangent(cols);
    cpu::entmax<Real>(p.rows(), alpha, p.rows());
    for (std::size_t i = 0; i < p.size(); ++i) {
      for (std::size_t j = 0; j < cols; ++j) v[i][j] = static_cast<Real>(normal_at(1, {i, cols}, j));
    }
    std::vector<double> slope(p.size());
    const std::vector<double> steps(p.size(), kStep);
    cpu::entmax_vjp(p.rows(), alpha, v.rows(), gradient.rows(), slope);
    cpu::entmax_jvp(p.rows(), alpha, v.rows(), steps, tangent.rows());
    EXPECT_TRUE(gradient.keeps_its_room() && tangent.keeps_its_room());
    for (std::size_t i = 0; i < p.size(); ++i) {
      SCOPED_TRACE(::testing::Message() << "row " << i);
      if (Place{i, cols}.kind() == kBad) {
        EXPECT_TRUE(std::isnan(gradient[i][0]) && std::isnan(tangent[i][0]));
      } else {
        expect_row<Real>(alpha, p[i], v[i], gradient[i], slope[i], tangent[i]);
      }
    }
  });
}

}  // namespace
}  // namespace fenchel::testing
