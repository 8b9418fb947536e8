#include <bit>
#include <numeric>
#include <thread>

#include "fenchel/core/parallel.hpp"
#include "laws/bounds.hpp"
#include "laws/grid.hpp"
#include "laws/rows.hpp"
#include "support/certified.hpp"
#include "support/messages.hpp"

/// Batches as nobody should hand them over, and every operation on them: the same bits, and no touch outside.
namespace fenchel::testing {
namespace {

template <class Real>
class Hostile : public ::testing::Test {};
TYPED_TEST_SUITE(Hostile, Reals);

/// Scores, two directions and targets; alpha differs by row.
template <class Real>
struct Batch {
  index_t rows, cols;
  std::vector<Real> z, g, w, q;
  std::vector<double> alphas, weights;
  std::vector<index_t> classes;

  Batch(index_t row_count, index_t col_count)
      : rows(row_count), cols(col_count), z(make(40)), g(make(41)), w(make(42)), q(make(43)) {
    cpu::softmax<Real>({q.data(), rows, cols}, Rows<Real>(q.data(), rows, cols));
    for (index_t i = 0; i < rows; ++i) {
      alphas.push_back(i % 23 == 22 ? kInf : kAlphas[static_cast<std::size_t>(i) % kAlphas.size()]);
      weights.push_back(0.1 * static_cast<double>(i % 7));
      classes.push_back(i % 11 == 5 ? -100 : (i * 3) % cols);
    }
  }
  [[nodiscard]] std::vector<Real> make(unsigned seed) const {
    return normal_row<Real>(static_cast<std::size_t>(rows * cols), 1.5, seed);
  }
  [[nodiscard]] Rows<const Real> view(const std::vector<Real>& x) const { return {x.data(), rows, cols}; }
};

/// All that the operations make of a batch, row by row where it has rows; views say where its numbers lie.
template <class Real>
struct Views {
  Rows<const Real> z, g, w, q;
};

template <class Real>
struct Outputs {
  static constexpr std::size_t kMatrices = 7;
  std::vector<Real> matrices[kMatrices];
  std::vector<double> normalizer, threshold, vjp_alpha, second_alpha, loss_alpha, class_alpha;
  std::vector<index_t> support_size;
  std::vector<Real> loss, class_loss, cross;

  /// The bits of what belongs to row i, so that NaN equals NaN.
  [[nodiscard]] std::vector<std::uint64_t> row_bits(index_t i, index_t cols) const {
    std::vector<std::uint64_t> bits;
    const auto at = static_cast<std::size_t>(i), width = static_cast<std::size_t>(cols);
    const auto put = [&bits](double x) {
      bits.push_back(std::bit_cast<std::uint64_t>(std::isnan(x) ? kNaN : x));
    };
    for (const auto& matrix : matrices) {
      for (std::size_t j = 0; j < width; ++j) put(matrix[at * width + j]);
    }
    for (const auto* values : {&normalizer, &threshold, &vjp_alpha, &second_alpha, &loss_alpha, &class_alpha})
      put((*values)[at]);
    for (const auto* values : {&loss, &class_loss, &cross}) put((*values)[at]);
    bits.push_back(static_cast<std::uint64_t>(support_size[at]));
    return bits;
  }
};

template <class Real>
Outputs<Real> run_everything(const Batch<Real>& batch, const Views<Real>& in) {
  const auto rows = static_cast<std::size_t>(batch.rows);
  const std::span<const double> alpha(batch.alphas);
  Outputs<Real> out;
  for (auto& matrix : out.matrices) matrix.resize(batch.z.size());
  for (auto* values : {&out.normalizer, &out.threshold, &out.vjp_alpha, &out.second_alpha, &out.loss_alpha,
                       &out.class_alpha})
    values->resize(rows);
  out.support_size.resize(rows);
  for (auto* values : {&out.loss, &out.class_loss, &out.cross}) values->resize(rows);
  const auto matrix = [&](std::size_t k) {
    return Rows<Real>(out.matrices[k].data(), batch.rows, batch.cols);
  };
  cpu::entmax<Real>(in.z, alpha, matrix(0),
                    {out.normalizer.data(), out.threshold.data(), out.support_size.data()});
  const Rows<const Real> p = matrix(0);
  cpu::entmax_vjp<Real>(p, alpha, in.g, matrix(1), out.vjp_alpha);
  cpu::entmax_jvp<Real>(p, alpha, in.g, batch.weights, matrix(2));
  cpu::entmax_vjp_vjp<Real>(p, alpha, in.g, in.w, batch.weights, matrix(3), out.second_alpha);
  cpu::entmax_loss<Real>(in.z, alpha, cpu::SoftTargets<Real>{in.q}, {out.loss, matrix(4), out.loss_alpha});
  cpu::entmax_loss<Real>(in.z, alpha, cpu::ClassTargets{batch.classes},
                         {out.class_loss, matrix(5), out.class_alpha});
  cpu::cross_omega<Real>(in.z, alpha, cpu::SoftTargets<Real>{in.q}, {out.cross});
  cpu::entmax_loss_hessian_product<Real>(in.z, alpha, in.g, matrix(6));
  return out;
}

template <class Real>
Outputs<Real> run_everything(const Batch<Real>& batch) {
  return run_everything<Real>(
      batch, {batch.view(batch.z), batch.view(batch.g), batch.view(batch.w), batch.view(batch.q)});
}

template <class Real>
void expect_same(const Batch<Real>& batch, const Outputs<Real>& found, const Outputs<Real>& expected) {
  for (index_t i = 0; i < batch.rows; ++i)
    EXPECT_EQ(found.row_bits(i, batch.cols), expected.row_bits(i, batch.cols)) << "row " << i;
}

TYPED_TEST(Hostile, ThreadsDoNotChangeABit) {
  const Batch<TypeParam> batch(97, 700);
  set_num_threads(1);
  const auto expected = run_everything(batch);
  for (const int threads : {2, 3, 8}) {
    set_num_threads(threads);
    expect_same(batch, run_everything(batch), expected);
  }
  set_num_threads(0);
}

TYPED_TEST(Hostile, CallsFromSeveralThreadsDoNotMeet) {
  using Real = TypeParam;
  const Batch<Real> batch(46, 300);
  const auto expected = run_everything(batch);
  std::vector<Outputs<Real>> found(6);
  {
    std::vector<std::jthread> callers;
    for (auto& outputs : found) callers.emplace_back([&] { outputs = run_everything(batch); });
  }
  for (const auto& outputs : found) expect_same(batch, outputs, expected);
}

/// Rows at every distance and offset, upside down too; what lies between them is NaN.
TYPED_TEST(Hostile, StridesAndOffsetsDoNotChangeABit) {
  using Real = TypeParam;
  for (const index_t cols : {1, 5, 16, 33}) {
    const Batch<Real> batch(23, cols);
    const auto expected = run_everything(batch);
    for (const index_t gap : {0, 1, 2, 3, 7, 15, 16, 17, 31}) {
      for (const bool upside_down : {false, true}) {
        const index_t stride = cols + gap, offset = gap % 5;
        std::vector<std::vector<Real>> memories;
        const auto spread = [&](const std::vector<Real>& x) -> Rows<const Real> {
          auto& memory = memories.emplace_back(static_cast<std::size_t>(offset + batch.rows * stride),
                                               std::numeric_limits<Real>::quiet_NaN());
          for (index_t i = 0; i < batch.rows; ++i) {
            const index_t place = upside_down ? batch.rows - 1 - i : i;
            std::copy_n(x.begin() + i * cols, cols, memory.begin() + offset + place * stride);
          }
          Real* const first = memory.data() + offset;
          if (upside_down) return {first + (batch.rows - 1) * stride, batch.rows, cols, -stride};
          return {first, batch.rows, cols, stride};
        };
        const Views<Real> views{spread(batch.z), spread(batch.g), spread(batch.w), spread(batch.q)};
        expect_same(batch, run_everything(batch, views), expected);
      }
    }
  }
}

TYPED_TEST(Hostile, WritesStayInsideTheRows) {
  using Real = TypeParam;
  constexpr index_t kRows = 9;
  for (const index_t cols : {1, 7, 16, 40}) {
    for (const index_t gap : {1, 5, 64}) {
      const Batch<Real> batch(kRows, cols);
      const std::span<const double> alpha(batch.alphas);
      const Real guard = 12345;
      const auto p = run_everything(batch).matrices[0];
      std::vector<Real> memory(static_cast<std::size_t>((kRows + 2) * (cols + gap)), guard);
      const Rows<Real> out(memory.data() + cols + gap, kRows, cols, cols + gap);
      const auto untouched = [&] {
        auto rest = memory;
        for (index_t i = 0; i < kRows; ++i) std::fill_n(rest.begin() + (i + 1) * (cols + gap), cols, guard);
        return rest == std::vector<Real>(rest.size(), guard);
      };
      cpu::entmax<Real>(batch.view(batch.z), alpha, out);
      EXPECT_TRUE(untouched());
      cpu::entmax_vjp<Real>(batch.view(p), alpha, batch.view(batch.g), out);
      EXPECT_TRUE(untouched());
      cpu::entmax_jvp<Real>(batch.view(p), alpha, batch.view(batch.g), batch.weights, out);
      EXPECT_TRUE(untouched());
      cpu::entmax_vjp_vjp<Real>(batch.view(p), alpha, batch.view(batch.g), batch.view(batch.w), batch.weights,
                                out);
      EXPECT_TRUE(untouched());
      cpu::entmax_loss<Real>(batch.view(batch.z), alpha, cpu::ClassTargets{batch.classes}, {{}, out});
      EXPECT_TRUE(untouched());
      cpu::entmax_loss_hessian_product<Real>(batch.view(batch.z), alpha, batch.view(batch.g), out);
      EXPECT_TRUE(untouched());
    }
  }
}

/// A row with a NaN, a +inf or nothing but masks is NaN in all that is made of it, and its neighbours' bits
/// stay.
TYPED_TEST(Hostile, PoisonStaysInItsRow) {
  using Real = TypeParam;
  constexpr index_t kCols = 37;
  Batch<Real> batch(69, kCols);
  const auto expected = run_everything(batch);
  const auto is_poisoned = [](index_t i) { return i % 3 == 1; };
  for (index_t i = 0; i < batch.rows; ++i) {
    if (!is_poisoned(i)) continue;
    Real* const row = batch.z.data() + i * kCols;
    if (i % 9 == 1) row[i % kCols] = std::numeric_limits<Real>::quiet_NaN();
    if (i % 9 == 4) row[i % kCols] = std::numeric_limits<Real>::infinity();
    if (i % 9 == 7) std::fill_n(row, kCols, -std::numeric_limits<Real>::infinity());
  }
  const auto found = run_everything(batch);
  for (index_t i = 0; i < batch.rows; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!is_poisoned(i)) {
      EXPECT_EQ(found.row_bits(i, kCols), expected.row_bits(i, kCols)) << "row " << i;
      continue;
    }
    for (std::size_t k = 0; k < Outputs<Real>::kMatrices; ++k) {
      if (k == 5 && batch.classes[at] == -100) continue;     // an ignored row has gradient 0
      if (k == 3 && std::isinf(batch.alphas[at])) continue;  // large_alpha_rows_test.cpp
      EXPECT_TRUE(std::isnan(found.matrices[k][at * kCols])) << "matrix " << k << " of row " << i;
    }
    EXPECT_TRUE(std::isnan(found.loss[at]) && std::isnan(found.cross[at]) &&
                std::isnan(found.normalizer[at]));
    EXPECT_TRUE(std::isnan(found.class_loss[at]) || batch.classes[at] == -100);
    EXPECT_EQ(found.support_size[at], 0);
  }
}

TYPED_TEST(Hostile, InPlaceIsOutOfPlace) {
  using Real = TypeParam;
  const Batch<Real> batch(46, 129);
  const auto expected = run_everything(batch);
  const std::span<const double> alpha(batch.alphas);
  const auto p = batch.view(expected.matrices[0]);
  auto memory = batch.z;
  const Rows<Real> rows(memory.data(), batch.rows, batch.cols);
  cpu::entmax<Real>(rows, alpha, rows);
  EXPECT_EQ(memory, expected.matrices[0]);
  memory = batch.g;
  cpu::entmax_jvp<Real>(p, alpha, rows, batch.weights, rows);
  EXPECT_EQ(memory, expected.matrices[2]);
  memory = batch.g;
  cpu::entmax_vjp_vjp<Real>(p, alpha, rows, batch.view(batch.w), batch.weights, rows);
  EXPECT_EQ(memory, expected.matrices[3]);
  memory = batch.z;
  cpu::entmax_loss<Real>(rows, alpha, cpu::SoftTargets<Real>{batch.view(batch.q)}, {{}, rows});
  EXPECT_EQ(memory, expected.matrices[4]);
  memory = batch.g;
  cpu::entmax_loss_hessian_product<Real>(batch.view(batch.z), alpha, rows, rows);
  EXPECT_EQ(memory, expected.matrices[6]);
}

TYPED_TEST(Hostile, AMillionScoresWork) {
  using Real = TypeParam;
  constexpr std::size_t kCount = 1'000'000;
  for (const Pattern pattern : {Pattern::normal, Pattern::ties, Pattern::masked}) {
    const auto z = make_scores<Real>(pattern, kCount, 2, 9);
    for (const double alpha : {0.5, 1.0, 1.3, 1.5, 2.0, 50.0, kInf}) {
      const auto p = entmax_row(alpha, z);
      const Extended sum = std::accumulate(p.begin(), p.end(), Extended(0));
      EXPECT_NEAR(static_cast<double>(sum), 1, cpu::row_sum_error<Real>(static_cast<index_t>(kCount)))
          << alpha << ' ' << pattern;
      if (pattern != Pattern::normal || (alpha != 1.3 && alpha != 2)) continue;
      const auto exact = certified_entmax(alpha, z, p);
      ASSERT_TRUE(exact.proved);
      double worst = 0;
      for (std::size_t i = 0; i < kCount; ++i) {
        worst = std::max(worst, static_cast<double>(std::fabs(p[i] - exact.p[i])) /
                                    probability_bound<Real>(alpha, exact.p[i], -1, exact.edge));
      }
      EXPECT_LE(worst, 1) << alpha;
    }
  }
}

}  // namespace
}  // namespace fenchel::testing
