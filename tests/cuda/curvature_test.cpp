#include <gtest/gtest.h>

#include <sstream>

#include "batch.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"

namespace fenchel {
namespace {

using test::DeviceArray, test::kInf, test::kNan, test::Layout, test::LaidOut;

enum class Target { classes, soft, cross };
constexpr index_t kRows = 6;
constexpr index_t kIgnored = -100, kIgnoredRow = 2;

struct Batch {
  index_t cols;
  std::vector<double> residual, q, direction, d_alpha;
  std::vector<index_t> classes;
};

/// Predictions and targets that T has; what is computed in has their difference.
template <class T>
Batch batch(Target target, index_t cols, double alpha) {
  Batch b{cols, {}, {}, {}, test::normal_numbers(kRows, 1, 5), {}};
  const std::vector<double> z = test::normal_numbers(kRows * cols, 2, 1);
  std::vector<double> p(z.size());
  b.q.resize(z.size());
  cpu::entmax<double>({z.data(), kRows, cols}, alpha, {p.data(), kRows, cols});
  for (index_t i = 0; i < kRows; ++i) {
    b.classes.push_back(i == kIgnoredRow ? kIgnored : i * 7 % cols);
    b.q[test::size_of(i * cols + i % cols)] += 0.5;
    b.q[test::size_of(i * cols + (i + 1) % cols)] += 0.25;
    b.q[test::size_of(i * cols + cols - 1)] += 0.25;
  }
  b.residual = p;
  for (std::size_t k = 0; k < p.size(); ++k) {
    const auto i = k / test::size_of(cols), j = k % test::size_of(cols);
    const double q = target == Target::classes ? b.classes[i] == static_cast<index_t>(j) : b.q[k];
    b.residual[k] = static_cast<double>(static_cast<T>(p[k] - q));
  }
  b.direction = test::rounded<T>(test::normal_numbers(kRows * cols, 1, 3));
  return b;
}

struct Result {
  std::vector<double> product, alpha;
};

template <class Real>
Result on_cpu(Target target, const Batch& b, double alpha, bool with_alpha) {
  const std::vector<Real> residual(b.residual.begin(), b.residual.end()), q(b.q.begin(), b.q.end()),
      direction(b.direction.begin(), b.direction.end());
  std::vector<Real> product(residual.size());
  Result result;
  if (with_alpha) result.alpha.resize(kRows);
  const auto view = [&](const std::vector<Real>& x) { return Rows<const Real>{x.data(), kRows, b.cols}; };
  const cpu::LossCurvature<Real> curvature{
      view(direction), with_alpha ? std::span<const double>(b.d_alpha) : std::span<const double>(),
      Rows<Real>{product.data(), kRows, b.cols}, result.alpha};
  const cpu::SoftTargets<Real> soft{view(q)};
  if (target == Target::classes) {
    cpu::entmax_loss_curvature<Real>(view(residual), alpha, cpu::ClassTargets{b.classes, kIgnored},
                                     curvature);
  } else if (target == Target::soft) {
    cpu::entmax_loss_curvature<Real>(view(residual), alpha, soft, curvature);
  } else {
    cpu::cross_omega_curvature<Real>(view(residual), alpha, soft, curvature);
  }
  result.product.assign(product.begin(), product.end());
  return result;
}

template <class T>
Result on_gpu(Target target, const Batch& b, PerRow alpha, bool with_alpha, Layout layout, bool in_place) {
  const LaidOut<T> residual(layout, b.residual, kRows), q(layout, b.q, kRows);
  LaidOut<T> direction(layout, b.direction, kRows), other(layout, kRows, b.cols);
  LaidOut<T>& product = in_place ? direction : other;
  const DeviceArray<index_t> classes(b.classes);
  const DeviceArray<double> d_alpha(b.d_alpha), found(std::size_t{kRows});
  const cuda::LossCurvature<T> curvature{direction.view(), d_alpha.span_if(with_alpha), product.view(),
                                         found.span_if(with_alpha)};
  const cuda::SoftTargets<T> soft{q.view()};
  if (target == Target::classes) {
    cuda::entmax_loss_curvature(residual.view(), alpha, ClassTargets{classes.span(), kIgnored}, curvature,
                                nullptr);
  } else if (target == Target::soft) {
    cuda::entmax_loss_curvature(residual.view(), alpha, soft, curvature, nullptr);
  } else {
    cuda::cross_omega_curvature(residual.view(), alpha, soft, curvature, nullptr);
  }
  Result result{product.values(), {}};
  if (with_alpha) result.alpha = found.values();
  return result;
}

template <class T>
void compare(Target target, index_t cols, double alpha, Layout layout, bool in_place = false) {
  const Batch b = batch<T>(target, cols, alpha);
  for (const bool with_alpha : {false, true}) {
    const Result exact = on_cpu<double>(target, b, alpha, with_alpha);
    const Result got = on_gpu<T>(target, b, alpha, with_alpha, layout, in_place);
    std::ostringstream what;
    what << "target " << int(target) << " cols " << cols << " alpha " << alpha << " layout " << int(layout)
         << " with alpha " << with_alpha << " bytes " << sizeof(T);
    std::vector<double> scales(kRows, 1), alpha_scales(kRows, 1);
    for (std::size_t k = 0; k < exact.product.size(); ++k) {
      const std::size_t i = k / test::size_of(cols);
      scales[i] = std::max(scales[i], std::abs(exact.product[k]));
      const double target_part =
          target == Target::classes ? b.classes[i] == static_cast<index_t>(k % test::size_of(cols)) : b.q[k];
      for (const double p : {b.residual[k] + target_part, target_part}) {
        if (!(p > 0) || std::isinf(alpha)) continue;
        const double l = std::abs(std::log(p)), power = std::max(1.0, std::pow(p, alpha - 1));
        alpha_scales[i] += std::abs(exact.product[k]) * l * l * power;
        alpha_scales[i] += std::abs(b.d_alpha[i]) * p * (l + l * l + l * l * l) * power;
      }
    }
    // With a direction of alpha all is computed in double.
    const Result baseline = with_alpha ? exact : on_cpu<float>(target, b, alpha, false);
    test::expect_close<T>(got.product, exact.product, baseline.product, scales, what.str());
    if (testing::Test::HasFatalFailure()) return;
    if (!with_alpha) continue;
    test::expect_close<double>(got.alpha, exact.alpha, exact.alpha, alpha_scales, what.str() + " in alpha");
    if (testing::Test::HasFatalFailure()) return;
  }
}

template <class T>
class CudaCurvature : public test::GpuTest {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(CudaCurvature, Types);

TYPED_TEST(CudaCurvature, IsThatOfTheCpu) {
  for (const Target target : {Target::classes, Target::soft, Target::cross}) {
    for (const index_t cols : {1, 2, 33, 1000, 3000}) {
      for (const double alpha : {0.5, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, kInf}) {
        compare<TypeParam>(target, cols, alpha, Layout::dense);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TYPED_TEST(CudaCurvature, EveryLayoutAndInPlace) {
  for (const Layout layout : test::kLayouts) {
    for (const Target target : {Target::classes, Target::soft}) {
      compare<TypeParam>(target, 77, 1.5, layout, false);
      compare<TypeParam>(target, 2000, 1.5, layout, true);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(CudaCurvature, IgnoredRowsAreZeroAndBadTargetsNan) {
  using T = TypeParam;
  for (const index_t cols : {20, 2000}) {
    Batch b = batch<T>(Target::classes, cols, 1.5);
    b.classes[0] = cols;
    b.classes[1] = -1;
    const Result hard = on_gpu<T>(Target::classes, b, 1.5, true, Layout::dense, false);
    Batch s = batch<T>(Target::soft, cols, 1.5);
    s.q[5] = -0.25;
    s.q[test::size_of(cols) + 3] = kNan;
    const Result soft = on_gpu<T>(Target::soft, s, 1.5, true, Layout::dense, false);
    for (index_t j = 0; j < cols; ++j) {
      for (const index_t i : {0, 1}) {
        ASSERT_TRUE(std::isnan(hard.product[test::size_of(i * cols + j)]));
        ASSERT_TRUE(std::isnan(soft.product[test::size_of(i * cols + j)]));
      }
      ASSERT_EQ(hard.product[test::size_of(kIgnoredRow * cols + j)], 0);
      ASSERT_FALSE(std::isnan(soft.product[test::size_of(kIgnoredRow * cols + j)]));
    }
    EXPECT_TRUE(std::isnan(hard.alpha[0]) && std::isnan(hard.alpha[1]) && std::isnan(soft.alpha[0]));
    EXPECT_EQ(hard.alpha[kIgnoredRow], 0);
  }
}

class CudaCurvatureArguments : public test::GpuTest {};

TEST_F(CudaCurvatureArguments, AreChecked) {
  const DeviceArray<float> x(12);
  const auto message = [&](double alpha, const auto& targets) -> std::string {
    try {
      cuda::entmax_loss_curvature<float>(x.rows(3), alpha, targets, {x.rows(3), {}, x.rows(3), {}}, nullptr);
    } catch (const std::exception& error) {
      return error.what();
    }
    return "nothing";
  };
  const cuda::SoftTargets<float> soft{x.rows(4)}, good{x.rows(3)};
  EXPECT_EQ(message(1.5, soft),
            "fenchel::cuda::entmax_loss_curvature: targets must have as many rows as residual, 3, got 4");
  EXPECT_EQ(message(1.5, ClassTargets{}),
            "fenchel::cuda::entmax_loss_curvature: classes.size() must equal the number of rows, 3, got 0");
  EXPECT_EQ(message(0, good), "fenchel::cuda::entmax_loss_curvature: alpha must be positive, got 0");
}

}  // namespace
}  // namespace fenchel
