#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/fenchel_young_term.hpp"
#include "core/tsallis_term.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"
#include "gpu.hpp"
#include "loss_batch.hpp"

namespace fenchel {
namespace {

using test::Batch;
using test::DeviceArray;
using test::kAlphas;
using test::kNaN;
using test::Losses;
using test::on_cpu;
using test::widened;
using test::worst_difference;

/// The losses in double with sums that lose nothing: the CPU's of a few thousand columns are off by some
/// 4e-15, which a comparison of two sums in double must not count as the GPU's. P is the CPU's.
template <class T>
void sum_again(const Batch<T>& batch, double alpha, bool cross, Losses& losses) {
  const double am1 = alpha - 1;
  const std::vector<double> z = widened(batch.scores), soft = widened(batch.soft);
  for (index_t i = 0; i < batch.rows; ++i) {
    const auto first = static_cast<std::size_t>(i * batch.cols);
    const auto last = first + static_cast<std::size_t>(batch.cols);
    const auto q_of = [&](std::size_t k) {
      const auto label = static_cast<std::size_t>(batch.classes[static_cast<std::size_t>(i)]);
      return soft.empty() ? (k - first == label ? 1.0 : 0.0) : soft[k];
    };
    const std::size_t top = static_cast<std::size_t>(
        std::max_element(z.begin() + i * batch.cols, z.begin() + (i + 1) * batch.cols) - z.begin());
    const double peak = losses.residual[top] + q_of(top);
    const double level = std::isinf(alpha) ? 0.0 : deformed_log(am1, peak);
    long double loss = 0, slope = 0;
    for (std::size_t k = first; k < last; ++k) {
      const double q = q_of(k), p = losses.residual[k] + q, u = z[k] - z[top] + level;
      loss += cross ? detail::cross_omega_term(am1, q, p, u) : detail::fenchel_young_term(am1, q, p, u);
      slope -= detail::tsallis_term_alpha_derivative(am1, p);
      if (!cross) slope += detail::tsallis_term_alpha_derivative(am1, q);
    }
    losses.loss[static_cast<std::size_t>(i)] = static_cast<double>(loss);
    losses.slope[static_cast<std::size_t>(i)] = static_cast<double>(slope);
  }
}

template <class T>
Losses on_gpu(const Batch<T>& batch, PerRow alpha, bool cross, bool with_slope = true) {
  const DeviceArray<T> z(batch.scores);
  const DeviceArray<index_t> classes(batch.classes);
  const DeviceArray<T> soft(batch.soft.empty() ? std::vector<T>(1) : batch.soft);
  const DeviceArray<cuda::Computed<T>> loss(static_cast<std::size_t>(batch.rows)),
      residual(batch.scores.size());
  const DeviceArray<double> slope(static_cast<std::size_t>(batch.rows));
  const cuda::LossOutputs<T> outputs{loss.span(), residual.rows(batch.rows), slope.span_if(with_slope)};
  const cuda::SoftTargets<T> q{{soft.data(), batch.rows, batch.cols}};
  const cuda::DeviceRows<const T> scores = z.rows(batch.rows);
  if (batch.soft.empty()) {
    cuda::entmax_loss(scores, alpha, ClassTargets{classes.span()}, outputs, nullptr);
  } else if (cross) {
    cuda::cross_omega(scores, alpha, q, outputs, nullptr);
  } else {
    cuda::entmax_loss(scores, alpha, q, outputs, nullptr);
  }
  return {widened(loss.values()), widened(residual.values()), slope.values()};
}

/// At most twice what the CPU errs in the same precision, and a few roundings.
template <class T>
void expect_as_on_cpu(const Batch<T>& batch, double alpha, bool cross) {
  using Real = cuda::Computed<T>;
  Losses exact = on_cpu<double>(batch, alpha, cross);
  const Losses baseline = on_cpu<Real>(batch, alpha, cross);
  sum_again(batch, alpha, cross, exact);
  const double rounding = 8 * double{std::numeric_limits<Real>::epsilon()};
  const std::string what = "alpha " + std::to_string(alpha) + " cols " + std::to_string(batch.cols) +
                           (batch.soft.empty() ? " classes"
                            : cross            ? " cross"
                                               : " soft");
  for (const bool with_slope : {true, false}) {  // two kernels, where the targets are classes
    const Losses got = on_gpu(batch, alpha, cross, with_slope);
    const auto compare = [&](const char* name, const auto& of) {
      EXPECT_LE(worst_difference(of(got), of(exact)),
                2 * worst_difference(of(baseline), of(exact)) + rounding)
          << name << ' ' << what << (with_slope ? " with slope" : "");
    };
    compare("loss", [](const Losses& x) { return x.loss; });
    compare("residual", [](const Losses& x) { return x.residual; });
    if (with_slope) compare("slope", [](const Losses& x) { return x.slope; });
    if (cross) continue;
    for (const double loss : got.loss) EXPECT_GE(loss, 0) << what;
  }
}

template <class T>
class CudaLoss : public test::GpuTest {};
using Types = testing::Types<double, float, cuda::Half, cuda::BFloat16>;
TYPED_TEST_SUITE(CudaLoss, Types);

TYPED_TEST(CudaLoss, IsThatOfTheCpu) {
  for (const double alpha : kAlphas) {
    for (const index_t cols : {1, 2, 33, 500, 1000, 4097}) {
      expect_as_on_cpu(Batch<TypeParam>(5, cols, 1, false, 1), alpha, false);
      expect_as_on_cpu(Batch<TypeParam>(5, cols, 1, true, 2), alpha, false);
      expect_as_on_cpu(Batch<TypeParam>(5, cols, 1, true, 3), alpha, true);
    }
  }
}

TYPED_TEST(CudaLoss, LongRows) {
  for (const index_t cols : {20000, 40000, 140001}) {
    for (const double alpha : {1.0, 1.5, 2.0}) {
      expect_as_on_cpu(Batch<TypeParam>(2, cols, 1, false, 4), alpha, false);
    }
  }
}

TYPED_TEST(CudaLoss, MasksIgnoredRowsAndBadTargets) {
  for (const double alpha : {1.0, 1.25, 1.5, 2.0, 3.0}) {
    Batch<TypeParam> batch(7, 300, 1, false, 5);
    const auto at = [&](index_t i, index_t j) -> TypeParam& {
      return batch.scores[static_cast<std::size_t>(i * batch.cols + j)];
    };
    at(0, batch.classes[0]) = test::stored<TypeParam>(-kInfinity);  // +inf
    at(1, 3) = test::stored<TypeParam>(kNaN);
    batch.classes[2] = -100;  // ignored
    at(2, 3) = test::stored<TypeParam>(kNaN);
    batch.classes[3] = 300;  // no class
    batch.classes[4] = -1;
    for (index_t j = 0; j < 300; ++j) {  // a row that is sure of its class
      at(5, j) = test::stored<TypeParam>(j == batch.classes[5] ? 200.0 : 0.0);
    }
    for (const bool with_slope : {true, false}) {
      const Losses got = on_gpu(batch, alpha, false, with_slope);
      EXPECT_EQ(got.loss[0], kInfinity);
      EXPECT_TRUE(std::isnan(got.loss[1]));
      EXPECT_EQ(got.loss[2], 0);
      if (with_slope) {
        EXPECT_TRUE(std::isnan(got.slope[1]));
        EXPECT_EQ(got.slope[2], 0);
      }
      EXPECT_TRUE(std::isnan(got.loss[3]) && std::isnan(got.loss[4]));
      const double sure = alpha == 1 && sizeof(TypeParam) == 8 ? 299 * std::exp(-200.0) : 0.0;
      EXPECT_NEAR(got.loss[5], sure, 1e-12 * sure);
      EXPECT_TRUE(std::isfinite(got.loss[6]) && got.loss[6] > 0);
      for (std::size_t j = 0; j < 300; ++j) {
        EXPECT_TRUE(std::isfinite(got.residual[j]));
        EXPECT_TRUE(std::isnan(got.residual[300 + j]));
        EXPECT_EQ(got.residual[600 + j], 0);
        EXPECT_TRUE(std::isnan(got.residual[900 + j]) && std::isnan(got.residual[1200 + j]));
      }
    }
    Batch<TypeParam> soft(2, 300, 1, true, 6);
    soft.soft[5] = test::stored<TypeParam>(-0.25);
    const Losses bad = on_gpu(soft, alpha, false);
    EXPECT_TRUE(std::isnan(bad.loss[0]) && std::isnan(bad.residual[17]) && std::isfinite(bad.loss[1]));
  }
}

TYPED_TEST(CudaLoss, AlphaOfEachRow) {
  const Batch<TypeParam> batch(static_cast<index_t>(kAlphas.size()), 700, 1, true, 7);
  const DeviceArray<double> alphas(kAlphas);
  const Losses got = on_gpu(batch, alphas.span(), false);
  for (std::size_t i = 0; i < kAlphas.size(); ++i) {
    const double exact = on_cpu<double>(batch, kAlphas[i], false).loss[i];
    EXPECT_NEAR(got.loss[i], exact, (sizeof(TypeParam) == 8 ? 1e-13 : 2e-6) * std::max(1.0, exact))
        << kAlphas[i];
  }
}

TYPED_TEST(CudaLoss, IgnoredDistributionsAreNotRead) {
  Batch<TypeParam> batch(3, 300, 1, true, 8);
  batch.soft[300] = test::stored<TypeParam>(-1);
  const DeviceArray<TypeParam> z(batch.scores), soft(batch.soft);
  const DeviceArray<unsigned char> ignore(std::vector<unsigned char>{0, 1, 0});
  const DeviceArray<cuda::Computed<TypeParam>> loss(3), residual(900);
  const DeviceArray<double> slope(3);
  const cuda::LossOutputs<TypeParam> outputs{loss.span(), residual.rows(3), slope.span()};
  cuda::entmax_loss<TypeParam>(z.rows(3), 1.5, {soft.rows(3), ignore.span()}, outputs, nullptr);
  const Losses got{widened(loss.values()), widened(residual.values()), slope.values()},
      all = on_gpu(batch, 1.5, false);
  EXPECT_TRUE(std::isnan(all.loss[1]));
  EXPECT_EQ(got.loss[1], 0);
  EXPECT_EQ(got.slope[1], 0);
  for (std::size_t k = 0; k < 900; ++k) EXPECT_EQ(got.residual[k], k / 300 == 1 ? 0 : all.residual[k]);
  for (const std::size_t i : {0u, 2u}) EXPECT_EQ(got.loss[i], all.loss[i]);
}

TYPED_TEST(CudaLoss, Errors) {
  const DeviceArray<TypeParam> z(12);
  const DeviceArray<cuda::Computed<TypeParam>> residual(9);
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "";
  };
  const cuda::SoftTargets<TypeParam> narrow{{z.data(), 3, 3}}, targets{{z.data(), 3, 4}};
  EXPECT_EQ(message([&] { cuda::entmax_loss<TypeParam>(z.rows(3), 1.5, narrow, {}, nullptr); }),
            "fenchel::cuda::entmax_loss: targets must have as many columns as scores, 4, got 3");
  cuda::LossOutputs<TypeParam> outputs;
  outputs.residual = residual.rows(3);
  EXPECT_EQ(message([&] { cuda::entmax_loss<TypeParam>(z.rows(3), 1.5, targets, outputs, nullptr); }),
            "fenchel::cuda::entmax_loss: residual must have as many columns as scores, 4, got 3");
  EXPECT_EQ(message([&] { cuda::entmax_loss<TypeParam>(z.rows(3), -1.0, targets, {}, nullptr); }),
            "fenchel::cuda::entmax_loss: alpha must be positive, got -1");
}

}  // namespace
}  // namespace fenchel
