#include "fenchel/backend/cuda/weighted_entmax.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "batch.hpp"
#include "fenchel/backend/cpu/weighted_entmax.hpp"
#include "gpu.hpp"

namespace fenchel::test {
namespace {

const double kAlphas[] = {0.5, 1, std::nextafter(1.0, 2.0), 1 + 1e-8, 4.0 / 3, 1.5, 1.7, 2, 3, 1e6, kInf};

/// Numbers for scores, weights and alpha, on one of the machines.
struct Slopes {
  std::vector<double> scores, weights, alpha;
};

/// Rows of scores with masks and nodes of weight 0, rounded to a type, and what derivatives are given.
struct NodeBatch {
  index_t rows, cols;
  std::vector<double> z, w, g, d_z, d_w, d_alpha;

  template <class T>
  static NodeBatch make(index_t rows, index_t cols, unsigned seed) {
    const auto numbers = [&](unsigned k) { return rounded<T>(normal_numbers(rows * cols, 1, seed + k)); };
    NodeBatch batch{rows, cols, numbers(0), numbers(1), numbers(2), numbers(3), numbers(4), {}};
    for (double& x : batch.w) x = std::exp(x);
    batch.w = rounded<T>(batch.w);
    for (std::size_t k = 0; k < batch.z.size(); k += 7) batch.z[k] = -kInf;
    for (std::size_t k = 3; k < batch.z.size(); k += 11) batch.w[k] = batch.d_w[k] = 0;
    batch.z[1] = batch.z[static_cast<std::size_t>(rows * cols) - 1] = 0.5;
    batch.d_alpha = normal_numbers(rows, 1, seed + 5);
    return batch;
  }
  [[nodiscard]] Rows<const double> view(const std::vector<double>& x) const { return {x.data(), rows, cols}; }
  [[nodiscard]] Rows<double> view(std::vector<double>& x) const { return {x.data(), rows, cols}; }
  [[nodiscard]] Slopes room() const { return {g, g, d_alpha}; }
  [[nodiscard]] cpu::NodeGradient<double> views(Slopes& to) const {
    return {view(to.scores), view(to.weights), to.alpha};
  }
  [[nodiscard]] cpu::NodeDirection<double> direction() const { return {view(d_z), view(d_w), d_alpha}; }
};

/// The same on the GPU.
template <class T>
struct DeviceNodes {
  const NodeBatch& batch;
  DeviceArray<T> z{all_stored<T>(batch.z)}, w{all_stored<T>(batch.w)}, g{all_stored<T>(batch.g)},
      d_z{all_stored<T>(batch.d_z)}, d_w{all_stored<T>(batch.d_w)};
  DeviceArray<double> d_alpha{batch.d_alpha};
  DeviceArray<T> in_scores{batch.z.size()}, in_weights{batch.z.size()};
  DeviceArray<double> in_alpha{batch.d_alpha.size()};

  [[nodiscard]] cuda::NodeGradient<T> gradient() const {
    return {in_scores.rows(batch.rows), in_weights.rows(batch.rows), in_alpha.span()};
  }
  [[nodiscard]] cuda::NodeDirection<T> direction() const {
    return {d_z.rows(batch.rows), d_w.rows(batch.rows), d_alpha.span()};
  }
  [[nodiscard]] Slopes slopes() const {
    return {all_widened(in_scores.values()), all_widened(in_weights.values()), in_alpha.values()};
  }
};

/// What a difference of numbers of size one may leave, where it should be 0.
constexpr double kCancelled = 1e-14;

/// Close to a bound relative to the largest number of its row, or both beyond what can be told.
void expect_close(const std::vector<double>& got, const std::vector<double>& expected, index_t cols,
                  double bound, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size());
  const auto width = static_cast<std::size_t>(cols);
  for (std::size_t first = 0; first < got.size(); first += width) {
    double scale = 0;
    for (std::size_t j = first; j < first + width; ++j)
      scale = std::max(scale, std::isfinite(expected[j]) ? std::abs(expected[j]) : 0.0);
    for (std::size_t j = first; j < first + width; ++j) {
      if (std::isnan(expected[j]) || std::abs(expected[j]) > 1e30) continue;
      ASSERT_NEAR(got[j], expected[j], bound * scale + kCancelled) << what << ", column " << j - first;
    }
  }
}

template <class T>
class WeightedEntmax : public GpuTest {};
using Types = ::testing::Types<double, float, cuda::Half, cuda::BFloat16>;
TYPED_TEST_SUITE(WeightedEntmax, Types);

TYPED_TEST(WeightedEntmax, IsThatOfTheCpu) {
  using T = TypeParam;
  for (const index_t cols : {2, 31, 33, 1024, 1025, 3000}) {
    const index_t rows = cols > 100 ? 2 : 5;
    const auto batch = NodeBatch::make<T>(rows, cols, 1);
    const DeviceNodes<T> device{batch};
    for (const double alpha : kAlphas) {
      const std::string what = "alpha " + std::to_string(alpha) + ", cols " + std::to_string(cols);
      std::vector<double> p(batch.z.size());
      cpu::weighted_entmax(batch.view(batch.z), batch.view(batch.w), alpha, batch.view(p));
      cuda::weighted_entmax<T>(device.z.rows(rows), device.w.rows(rows), alpha, device.in_scores.rows(rows),
                               nullptr);
      const auto got = all_widened(device.in_scores.values());
      for (std::size_t k = 0; k < p.size(); ++k) {
        ASSERT_NEAR(got[k], p[k], (kRounding<T> + 2e-14) * p[k] + 1e-15 + kSubnormal<T>) << what << ' ' << k;
        if (batch.w[k] == 0 || std::isinf(batch.z[k])) {
          ASSERT_EQ(got[k], 0) << what;
        }
      }
    }
  }
}

TYPED_TEST(WeightedEntmax, DerivativesAreThoseOfTheCpu) {
  using T = TypeParam;
  constexpr double kBound = 4 * kRounding<T> + 1e-11;
  for (const index_t cols : {2, 33, 1500}) {
    const index_t rows = 3;
    const auto batch = NodeBatch::make<T>(rows, cols, 9);
    const DeviceNodes<T> device{batch};
    for (const double alpha : {0.5, 1.0, 1 + 1e-8, 1.5, 1.7, 2.0, 3.0, kInf}) {
      const std::string what = "alpha " + std::to_string(alpha) + ", cols " + std::to_string(cols);
      std::vector<double> p(batch.z.size()), tangent(p.size());
      cpu::weighted_entmax(batch.view(batch.z), batch.view(batch.w), alpha, batch.view(p));
      p = rounded<T>(p);
      const DeviceArray<T> device_p(all_stored<T>(p));
      const Rows<const double> masses = batch.view(std::as_const(p)), w = batch.view(batch.w),
                               g = batch.view(batch.g);
      const auto p_rows = device_p.rows(rows), w_rows = device.w.rows(rows), g_rows = device.g.rows(rows);

      cpu::weighted_entmax_jvp(masses, w, alpha, batch.direction(), batch.view(tangent));
      cuda::weighted_entmax_jvp<T>(p_rows, w_rows, alpha, device.direction(), device.in_scores.rows(rows),
                                   nullptr);
      expect_close(all_widened(device.in_scores.values()), tangent, cols, kBound, what + ", jvp");

      Slopes expected = batch.room();
      cpu::weighted_entmax_vjp(masses, w, alpha, g, batch.views(expected));
      cuda::weighted_entmax_vjp<T>(p_rows, w_rows, alpha, g_rows, device.gradient(), nullptr);
      Slopes got = device.slopes();
      expect_close(got.scores, expected.scores, cols, kBound, what + ", vjp");
      expect_close(got.weights, expected.weights, cols, kBound, what + ", vjp in weights");
      expect_close(got.alpha, expected.alpha, 1, 1e-9, what + ", vjp in alpha");

      cpu::weighted_entmax_vjp_vjp(masses, w, alpha, g, batch.direction(), batch.views(expected));
      cuda::weighted_entmax_vjp_vjp<T>(p_rows, w_rows, alpha, g_rows, device.direction(), device.gradient(),
                                       nullptr);
      got = device.slopes();
      expect_close(got.scores, expected.scores, cols, 10 * kBound, what + ", vjp_vjp");
      expect_close(got.weights, expected.weights, cols, 10 * kBound, what + ", vjp_vjp in weights");
      expect_close(got.alpha, expected.alpha, 1, 1e-7, what + ", vjp_vjp in alpha");
    }
  }
}

template <class Real>
class WeightedLoss : public GpuTest {};
using Reals = ::testing::Types<double, float>;
TYPED_TEST_SUITE(WeightedLoss, Reals);

/// Of the CPU in the same precision, which rounds p before it is compared with the target.
TYPED_TEST(WeightedLoss, IsThatOfTheCpu) {
  using Real = TypeParam;
  constexpr double kBound = 100 * kRounding<Real>;
  for (const index_t cols : {5, 1100}) {
    const index_t rows = 4;
    auto batch = NodeBatch::make<Real>(rows, cols, 20);
    const DeviceNodes<Real> device{batch};
    const std::vector<Real> z = all_stored<Real>(batch.z), w = all_stored<Real>(batch.w);
    const auto view = [&](const std::vector<Real>& x) { return Rows<const Real>(x.data(), rows, cols); };
    std::vector<Real> q(z.size());
    cpu::weighted_entmax<Real>(view(all_stored<Real>(batch.g)), view(w), 1.5, {q.data(), rows, cols});
    const DeviceArray<Real> device_q(q);
    const std::vector<index_t> labels{1, -100, 2, 1};
    const DeviceArray<index_t> device_labels(labels);
    const cpu::SoftTargets<Real> soft{view(q)};
    const cuda::SoftTargets<Real> device_soft{device_q.rows(rows)};
    const ClassTargets classes{labels}, device_classes{device_labels.span()};
    const DeviceArray<Real> device_loss(static_cast<std::size_t>(rows));
    for (const double alpha : {0.5, 1.0, 1.5, 2.0, 3.0, kInf}) {
      const auto compare = [&](const auto& targets, const auto& device_targets, bool cross,
                               const std::string& kind) {
        const std::string what = kind + ", alpha " + std::to_string(alpha) + ", cols " + std::to_string(cols);
        std::vector<Real> loss(static_cast<std::size_t>(rows)), residual(z.size()), in_weights(z.size());
        std::vector<double> in_alpha(loss.size());
        const cpu::WeightedLossOutputs<Real> outputs{
            loss, {{residual.data(), rows, cols}, {in_weights.data(), rows, cols}, in_alpha}};
        const cuda::WeightedLossOutputs<Real> device_outputs{device_loss.span(), device.gradient()};
        const auto order = PerRow(alpha);
        if (cross) {
          cpu::weighted_cross_omega<Real>(view(z), view(w), order, targets, outputs);
          cuda::weighted_cross_omega<Real>(device.z.rows(rows), device.w.rows(rows), order, device_targets,
                                           device_outputs, nullptr);
        } else {
          cpu::weighted_entmax_loss<Real>(view(z), view(w), order, targets, outputs);
          cuda::weighted_entmax_loss<Real>(device.z.rows(rows), device.w.rows(rows), order, device_targets,
                                           device_outputs, nullptr);
        }
        const auto got_loss = device_loss.values();
        for (std::size_t i = 0; i < loss.size(); ++i) {
          if (std::isinf(loss[i])) {
            EXPECT_EQ(got_loss[i], loss[i]) << what;
          } else {
            EXPECT_NEAR(got_loss[i], loss[i], kBound * (1 + std::abs(loss[i]))) << what << ' ' << i;
          }
        }
        const Slopes got = device.slopes();
        expect_close(got.scores, all_widened(residual), cols, kBound, what + ", residual");
        expect_close(got.weights, all_widened(in_weights), cols, kBound, what + ", in weights");
        expect_close(got.alpha, in_alpha, 1, 1e-6, what + ", in alpha");

        Slopes expected{std::vector<double>(z.size()), std::vector<double>(z.size()),
                        std::vector<double>(loss.size())};
        std::vector<Real> product(z.size()), product_weights(z.size());
        const std::vector<Real> d_z = all_stored<Real>(batch.d_z), d_w = all_stored<Real>(batch.d_w);
        const cpu::NodeDirection<Real> direction{view(d_z), view(d_w), batch.d_alpha};
        const cpu::NodeGradient<Real> to{
            {product.data(), rows, cols}, {product_weights.data(), rows, cols}, expected.alpha};
        const DeviceArray<Real> device_residual(residual);
        if (cross) {
          cpu::weighted_cross_omega_curvature<Real>(view(residual), view(w), order, targets, direction, to);
          cuda::weighted_cross_omega_curvature<Real>(device_residual.rows(rows), device.w.rows(rows), order,
                                                     device_targets, device.direction(), device.gradient(),
                                                     nullptr);
        } else {
          cpu::weighted_entmax_loss_curvature<Real>(view(residual), view(w), order, targets, direction, to);
          cuda::weighted_entmax_loss_curvature<Real>(device_residual.rows(rows), device.w.rows(rows), order,
                                                     device_targets, device.direction(), device.gradient(),
                                                     nullptr);
        }
        const Slopes products = device.slopes();
        expect_close(products.scores, all_widened(product), cols, kBound, what + ", curvature");
        expect_close(products.weights, all_widened(product_weights), cols, kBound,
                     what + ", curvature in weights");
        expect_close(products.alpha, expected.alpha, 1, 1e-6, what + ", curvature in alpha");
      };
      for (const bool cross : {false, true}) {
        compare(soft, device_soft, cross, cross ? "cross, soft" : "soft");
        compare(classes, device_classes, cross, cross ? "cross, classes" : "classes");
      }
    }
  }
}

class WeightedRows : public GpuTest {};

/// Weights that rows share, alphas of their own, rows at a step; bad numbers make NaN of their row alone.
TEST_F(WeightedRows, StridesAndBadNumbers) {
  const index_t rows = 6, cols = 4;
  const auto batch = NodeBatch::make<double>(rows, cols, 3);
  std::vector<double> z = normal_numbers(rows * cols, 1, 4), w(z.size(), 1.0);
  const std::vector<double> alphas{1, 1.5, 2, 3, -1, kNan};
  z[4] = kNan;   // row 1
  w[9] = -1;     // row 2
  z[12] = kInf;  // row 3, of weight 0
  w[12] = 0;
  const DeviceArray<double> device_z(z), device_w(w), device_alpha(alphas), p(z.size());
  cuda::weighted_entmax<double>(device_z.rows(rows), device_w.rows(rows),
                                std::span<const double>(device_alpha.span()), p.rows(rows), nullptr);
  const auto got = p.values();
  for (std::size_t k = 0; k < got.size(); ++k) {
    const std::size_t i = k / 4;
    EXPECT_EQ(std::isnan(got[k]), i != 0 && i != 3) << k;
  }
  EXPECT_EQ(got[12], 0);
  EXPECT_NEAR(got[13] + got[14] + got[15], 1, 1e-15);

  cuda::DeviceRows<const double> shared(device_w.data(), rows, cols, 0);
  cuda::weighted_entmax<double>(device_z.rows(rows), shared, 1.5, p.rows(rows), nullptr);
  const auto again = p.values();
  for (std::size_t i = 0; i < 6; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 4; ++j) sum += again[4 * i + j];
    EXPECT_EQ(std::isnan(sum), i == 1 || i == 3) << i;
    if (!std::isnan(sum)) {
      EXPECT_NEAR(sum, 1, 1e-14);
    }
  }

  // Across memory: the transposed batch.
  const auto transposed = [&](const double* data) {
    cuda::DeviceRows<const double> x(data, cols, rows, 1);
    x.step = cols;
    return x;
  };
  const std::vector<double> z_back = normal_numbers(rows * cols, 1, 5);
  const DeviceArray<double> scores(z_back), weights(std::vector<double>(z_back.size(), 0.5)),
      q(z_back.size());
  cuda::weighted_entmax<double>(transposed(scores.data()), transposed(weights.data()), 1.7, q.rows(cols),
                                nullptr);
  std::vector<double> z_forth(z_back.size()), expected(z_back.size());
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 6; ++j) z_forth[6 * i + j] = z_back[4 * j + i];
  const std::vector<double> half(z_back.size(), 0.5);
  cpu::weighted_entmax<double>({z_forth.data(), cols, rows}, {half.data(), cols, rows}, 1.7,
                               {expected.data(), cols, rows});
  const auto across = q.values();
  for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(across[k], expected[k], 1e-14);
}

}  // namespace
}  // namespace fenchel::test
