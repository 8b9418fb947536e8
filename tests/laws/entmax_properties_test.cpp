#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iomanip>

#include "laws/bounds.hpp"
#include "laws/rows.hpp"
#include "support/certified.hpp"
#include "support/generators.hpp"

/// Properties of the maps, their derivatives and their losses on rows that RapidCheck makes up and shrinks.
namespace fenchel::testing {
namespace {

/// One seed for all, so that a run can be repeated; RC_PARAMS in the environment chooses another.
[[maybe_unused]] const int kSeeded = setenv("RC_PARAMS", "seed=2022 max_success=300", 0);

template <class Real>
class EntmaxProperties : public ::testing::Test {};
TYPED_TEST_SUITE(EntmaxProperties, Reals);

/// RapidCheck shows six digits, which do not tell 2 from its neighbours.
double draw_alpha() {
  const double alpha = *any_alpha();
  RC_LOG() << "alpha - 1 = " << std::setprecision(17) << alpha - 1 << '\n';
  return alpha;
}

template <class Property>
void expect_property(Property property) {
  rc::detail::checkGTest(property);
}

TYPED_TEST(EntmaxProperties, RowsAreTheExactPredictions) {
  using Real = TypeParam;
  expect_property([] {
    const double alpha = draw_alpha();
    const auto z = *any_row<Real>();
    const auto p = entmax_row(alpha, z);
    Extended sum = 0;
    for (const Real x : p) {
      RC_ASSERT(x >= 0);
      sum += x;
    }
    RC_ASSERT(std::fabs(static_cast<double>(sum - 1)) <=
              cpu::row_sum_error<Real>(static_cast<index_t>(z.size())));
    if (std::isinf(alpha)) return;
    const auto exact = certified_entmax(alpha, z, p);
    RC_ASSERT(exact.proved);
    const Real top = *std::max_element(z.begin(), z.end());
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double error = std::fabs(static_cast<double>(p[i] - exact.p[i]));
      RC_ASSERT(error <= probability_bound<Real>(alpha, exact.p[i], Extended{z[i]} - top, exact.edge));
      if (std::isinf(z[i])) RC_ASSERT(p[i] == 0);
    }
  });
}

TYPED_TEST(EntmaxProperties, LargerScoresHaveNoLess) {
  using Real = TypeParam;
  expect_property([] {
    const double alpha = draw_alpha();
    const auto z = *any_row<Real>(), p = entmax_row(alpha, z);
    for (std::size_t i = 0; i < z.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (z[i] == z[j]) RC_ASSERT(p[i] == p[j]);
        if (z[i] > z[j]) RC_ASSERT(p[i] >= p[j] * (1 - Bounds<Real>::kMonotone));
        if (z[i] < z[j]) RC_ASSERT(p[j] >= p[i] * (1 - Bounds<Real>::kMonotone));
      }
    }
  });
}

/// A batch is its rows: the neighbours, the stride and the place in memory do not matter, bit for bit.
TYPED_TEST(EntmaxProperties, ABatchIsItsRows) {
  using Real = TypeParam;
  expect_property([] {
    const auto rows = *rc::gen::inRange<index_t>(1, 6), cols = *rc::gen::inRange<index_t>(1, 40),
               gap = *rc::gen::inRange<index_t>(0, 5), offset = *rc::gen::inRange<index_t>(0, 4);
    const index_t stride = cols + gap;
    const auto size = static_cast<std::size_t>(rows * stride + offset);
    auto memory = *rc::gen::container<std::vector<Real>>(size, any_score<Real>());
    const auto alphas = *rc::gen::container<std::vector<double>>(static_cast<std::size_t>(rows), any_alpha());
    const auto original = memory;
    const Rows<Real> batch(memory.data() + offset, rows, cols, stride);
    cpu::entmax<Real>(batch, std::span<const double>(alphas), batch);
    std::vector<bool> written(size, false);
    for (index_t i = 0; i < rows; ++i) {
      const auto first = original.begin() + offset + i * stride;
      const auto expected = entmax_row<Real>(alphas[static_cast<std::size_t>(i)], {first, first + cols});
      for (index_t j = 0; j < cols; ++j) {
        const Real found = batch.row(i)[j], alone = expected[static_cast<std::size_t>(j)];
        RC_ASSERT(found == alone || (std::isnan(found) && std::isnan(alone)));
        written[static_cast<std::size_t>(offset + i * stride + j)] = true;
      }
    }
    for (std::size_t k = 0; k < size; ++k) {
      if (!written[k]) RC_ASSERT(memory[k] == original[k]);
    }
  });
}

/// The map is monotone as an operator, <x - y, p(x) - p(y)> >= 0: it is the gradient of a convex function.
TYPED_TEST(EntmaxProperties, TheMapIsAMonotoneOperator) {
  using Real = TypeParam;
  expect_property([] {
    const double alpha = draw_alpha();
    const auto n = *rc::gen::inRange<std::size_t>(1, 60);
    const auto x = *moderate_row<Real>(n), y = *moderate_row<Real>(n);
    const auto p = entmax_row(alpha, x), q = entmax_row(alpha, y);
    Extended inner = 0, bound = 0;
    for (std::size_t i = 0; i < n; ++i) {
      inner += (Extended{x[i]} - y[i]) * (Extended{p[i]} - q[i]);
      bound += std::fabs(Extended{x[i]} - y[i]) *
               (probability_bound<Real>(alpha, p[i], -6, -6) + probability_bound<Real>(alpha, q[i], -6, -6));
    }
    RC_ASSERT(inner >= -bound);
  });
}

TYPED_TEST(EntmaxProperties, LossesAreNotNegativeAndZeroAtThePrediction) {
  using Real = TypeParam;
  expect_property([] {
    const double alpha = draw_alpha();
    const auto z = *any_row<Real>(), p = entmax_row(alpha, z);
    RC_ASSERT(soft_loss(alpha, z, p).value == 0);
    const auto label = *rc::gen::inRange<std::size_t>(0, z.size());
    const auto loss = class_loss(alpha, z, static_cast<index_t>(label));
    RC_ASSERT(loss.value >= 0);
    RC_ASSERT(std::isinf(loss.value) || !std::isinf(z[label]));
    for (std::size_t i = 0; i < z.size(); ++i) RC_ASSERT(loss.gradient[i] == p[i] - (i == label));
  });
}

/// The loss lies above its tangents: L(y) >= L(x) + <p(x) - q, y - x>.
TYPED_TEST(EntmaxProperties, LossesLieAboveTheirTangents) {
  using Real = TypeParam;
  expect_property([] {
    const double alpha = std::min(3.0, draw_alpha());
    const auto n = *rc::gen::inRange<std::size_t>(1, 60);
    const auto x = *moderate_row<Real>(n), y = *moderate_row<Real>(n);
    const auto label = *rc::gen::inRange<index_t>(0, static_cast<index_t>(n));
    const auto at_x = class_loss(alpha, x, label), at_y = class_loss(alpha, y, label);
    Extended tangent = at_x.value, size = 10 + at_x.value + at_y.value + 1 / alpha;
    for (std::size_t i = 0; i < n; ++i) tangent += at_x.gradient[i] * (Extended{y[i]} - x[i]);
    RC_ASSERT(at_y.value >= tangent - 32 * Bounds<Real>::kUnit * size);
  });
}

TYPED_TEST(EntmaxProperties, ProductsAreAdjointAndPositive) {
  using Real = TypeParam;
  expect_property([] {
    const double alpha = std::min(3.0, draw_alpha());
    const auto n = *rc::gen::inRange<std::size_t>(1, 60);
    const auto p = entmax_row(std::min(alpha, 2.0), *moderate_row<Real>(n));
    const auto v = *moderate_row<Real>(n), w = *moderate_row<Real>(n);
    const auto jv = jvp_row(alpha, p, v);
    const auto jw = vjp_row(alpha, p, w);
    Extended steep = 1;
    for (const Real x : p) steep = std::max(steep, x > 0 ? std::pow(Extended{x}, 2 - Extended{alpha}) : 0.0L);
    const Extended bound = 100 * Bounds<Real>::kUnit * 9 * steep * static_cast<Extended>(n);
    RC_ASSERT(std::fabs(dot(w, jv) - dot(jw.scores, v)) <= bound);
    RC_ASSERT(dot(v, jv) >= -bound);
  });
}

}  // namespace
}  // namespace fenchel::testing
