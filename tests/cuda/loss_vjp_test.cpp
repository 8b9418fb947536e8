#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/backend/cuda/entmax_loss.hpp"
#include "gpu.hpp"
#include "loss_batch.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using test::Batch;
using test::DeviceArray;
using test::kAlphas;
using test::kNaN;
using test::on_cpu;
using test::widened;

template <class T>
class CudaLossVjp : public test::GpuTest {};
using Types = ::testing::Types<double, float, cuda::Half, cuda::BFloat16>;
TYPED_TEST_SUITE(CudaLossVjp, Types);

/// The gradient of the losses times weights, 0 in row 1: that row is ignored. Scores and gradient lie along
/// rows, or across them.
template <class T>
std::vector<double> vjp_on_gpu(const Batch<T>& batch, PerRow alpha, const std::vector<double>& weights,
                               bool across = false) {
  const auto place = [&](index_t i, index_t j) {
    return static_cast<std::size_t>(across ? j * batch.rows + i : i * batch.cols + j);
  };
  const auto rows_of = [&](const DeviceArray<T>& x) {
    cuda::DeviceRows<T> rows = x.rows(batch.rows);
    if (across) rows.stride = 1, rows.step = batch.rows;
    return rows;
  };
  std::vector<T> laid(batch.scores.size());
  for (index_t i = 0; i < batch.rows; ++i) {
    for (index_t j = 0; j < batch.cols; ++j) {
      laid[place(i, j)] = batch.scores[static_cast<std::size_t>(i * batch.cols + j)];
    }
  }
  std::vector<index_t> labels = batch.classes;
  std::vector<unsigned char> ignored(labels.size(), 0);
  labels[1] = -100, ignored[1] = 1;
  const DeviceArray<T> z(laid), gradient(laid.size()),
      soft(batch.soft.empty() ? std::vector<T>(1) : batch.soft);
  const DeviceArray<index_t> classes(labels);
  const DeviceArray<unsigned char> ignore(ignored);
  const DeviceArray<cuda::Computed<T>> grad_loss(
      std::vector<cuda::Computed<T>>(weights.begin(), weights.end()));
  if (batch.soft.empty()) {
    cuda::entmax_loss_vjp<T>(rows_of(z), alpha, ClassTargets{classes.span()}, grad_loss.span(),
                             rows_of(gradient), nullptr);
  } else {
    cuda::entmax_loss_vjp<T>(rows_of(z), alpha, {soft.rows(batch.rows), ignore.span()}, grad_loss.span(),
                             rows_of(gradient), nullptr);
  }
  const std::vector<double> found = widened(gradient.values());
  std::vector<double> result(found.size());
  for (index_t i = 0; i < batch.rows; ++i) {
    for (index_t j = 0; j < batch.cols; ++j) {
      result[static_cast<std::size_t>(i * batch.cols + j)] = found[place(i, j)];
    }
  }
  return result;
}

/// What rounding to T adds: of normal numbers relative, and of the smallest ones absolute.
template <class T>
double rounded(double x) {
  if constexpr (std::is_same_v<T, cuda::Half>) return 0x1p-11 * x + 0x1p-25;
  return std::is_same_v<T, cuda::BFloat16> ? 0x1p-8 * x : 0.0;
}

const std::vector<double> kWeights = {0.3125, kNaN, -2, 0, 0x1p-10};  // exact in every type

/// The residual in double times the weight: to twice what the CPU errs in the same precision, a few roundings
/// and that to the storage type.
template <class T>
void expect_vjp_as_on_cpu(const Batch<T>& batch, double alpha, bool across = false) {
  using Real = cuda::Computed<T>;
  const std::vector<double> exact = on_cpu<double>(batch, alpha, false).residual;
  const double error = 2 * test::worst_difference(on_cpu<Real>(batch, alpha, false).residual, exact) +
                       8 * double{std::numeric_limits<Real>::epsilon()};
  const std::vector<double> got = vjp_on_gpu(batch, alpha, kWeights, across);
  const auto cols = static_cast<std::size_t>(batch.cols);
  double worst = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    const std::size_t row = k / cols;
    const double weight = row == 1 ? 0.0 : kWeights[row], expected = weight * exact[k];
    const double allowed = std::abs(weight) * error;
    if (weight == 0 && got[k] != 0) worst = kInfinity;
    const double excess = std::abs(got[k] - expected) - allowed - rounded<T>(std::abs(expected) + allowed);
    worst = std::isnan(excess) ? kInfinity : std::max(worst, excess);
  }
  EXPECT_EQ(worst, 0) << "alpha " << alpha << " cols " << batch.cols
                      << (batch.soft.empty() ? " classes" : " soft") << (across ? " across" : "");
}

TYPED_TEST(CudaLossVjp, IsTheWeightTimesTheResidual) {
  for (const double alpha : kAlphas) {
    for (const index_t cols : {1, 2, 33, 500, 1000, 4097}) {
      expect_vjp_as_on_cpu(Batch<TypeParam>(5, cols, 1, false, 9), alpha);
      expect_vjp_as_on_cpu(Batch<TypeParam>(5, cols, 1, true, 10), alpha);
    }
    expect_vjp_as_on_cpu(Batch<TypeParam>(5, 300, 1, false, 11), alpha, true);
    expect_vjp_as_on_cpu(Batch<TypeParam>(5, 300, 1, true, 12), alpha, true);
  }
  for (const index_t cols : {20000, 40000, 140001}) {
    for (const double alpha : {1.0, 1.5, 1.7, 2.0}) {
      expect_vjp_as_on_cpu(Batch<TypeParam>(5, cols, 1, false, 13), alpha);
      expect_vjp_as_on_cpu(Batch<TypeParam>(5, cols, 1, true, 14), alpha);
    }
  }
}

TYPED_TEST(CudaLossVjp, OfAlphaOfEachRow) {
  const Batch<TypeParam> batch(static_cast<index_t>(kAlphas.size()), 700, 1, false, 15);
  const DeviceArray<double> alphas(kAlphas);
  const std::vector<double> weights(kAlphas.size(), 0.5), got = vjp_on_gpu(batch, alphas.span(), weights);
  for (std::size_t i = 0; i < kAlphas.size(); ++i) {
    const std::vector<double> same = vjp_on_gpu(batch, kAlphas[i], weights);
    for (std::size_t k = i * 700; k < (i + 1) * 700; ++k) {
      EXPECT_NEAR(got[k], same[k],
                  2 * rounded<TypeParam>(std::abs(same[k])) + (sizeof(TypeParam) == 8 ? 1e-14 : 1e-6))
          << kAlphas[i];
    }
  }
}

TYPED_TEST(CudaLossVjp, OfMasksAndRowsWithoutPrediction) {
  Batch<TypeParam> batch(5, 300, 1, false, 16);
  batch.scores[static_cast<std::size_t>(batch.classes[0])] = test::stored<TypeParam>(-kInfinity);
  batch.scores[300] = test::stored<TypeParam>(kNaN);      // ignored
  batch.scores[2 * 300] = test::stored<TypeParam>(kNaN);  // of weight -2
  batch.scores[3 * 300] = test::stored<TypeParam>(kNaN);  // of weight 0
  batch.classes[4] = 300;                                 // no class
  for (const double alpha : {1.0, 1.25, 1.5, 2.0, 3.0}) {
    const std::vector<double> got = vjp_on_gpu(batch, alpha, kWeights);
    EXPECT_EQ(got[static_cast<std::size_t>(batch.classes[0])], -0.3125);
    for (std::size_t j = 0; j < 300; ++j) {
      EXPECT_TRUE(std::isfinite(got[j]));
      EXPECT_EQ(got[300 + j], 0);
      for (const std::size_t i : {2u, 3u, 4u}) EXPECT_TRUE(std::isnan(got[i * 300 + j])) << i;
    }
  }
}

TYPED_TEST(CudaLossVjp, Errors) {
  const DeviceArray<TypeParam> z(12);
  const cuda::SoftTargets<TypeParam> targets{{z.data(), 3, 4}};
  const DeviceArray<cuda::Computed<TypeParam>> weights(3);
  const DeviceArray<TypeParam> gradient(12), short_rows(9);
  const auto vjp_message = [&](std::size_t count, cuda::DeviceRows<TypeParam> grad_scores, double alpha) {
    return testing::message_of<std::logic_error>([&] {
      cuda::entmax_loss_vjp<TypeParam>(z.rows(3), alpha, targets, weights.span().first(count), grad_scores,
                                       nullptr);
    });
  };
  EXPECT_EQ(vjp_message(3, short_rows.rows(3), 1.5),
            "fenchel::cuda::entmax_loss_vjp: gradient must have as many columns as scores, 4, got 3");
  EXPECT_NE(vjp_message(2, gradient.rows(3), 1.5).find("fenchel::cuda::entmax_loss_vjp: cotangent"),
            std::string::npos);
  EXPECT_EQ(vjp_message(3, gradient.rows(3), -1),
            "fenchel::cuda::entmax_loss_vjp: alpha must be positive, got -1");
}

}  // namespace
}  // namespace fenchel
