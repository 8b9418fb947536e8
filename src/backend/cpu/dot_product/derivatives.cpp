#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "backend/cpu/dot_product/checks.hpp"
#include "backend/cpu/dot_product/scores.hpp"
#include "backend/cpu/entmax/alpha_direction.hpp"
#include "backend/cpu/entmax/jacobian_row.hpp"
#include "backend/cpu/entmax/row.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

/// A number that every score of the support exceeds, from what `attention` has recorded: a little less than
/// tau, for its rounding. -inf where nothing is known.
template <class Real>
Real below_support(double alpha, const Real* normalizers) noexcept {
  using Limits = std::numeric_limits<Real>;
  const double top = normalizers[0], offset = normalizers[1], reach = 1 / (alpha - 1);
  const double margin = 4 * double{Limits::epsilon()} * (std::abs(top) + std::abs(offset) + reach);
  const double cut = top + offset - reach - margin;
  return cut > double{Limits::lowest()} ? static_cast<Real>(cut) : -Limits::infinity();
}

/// Sums over the queries of one head of keys; without data where they are not wanted.
template <class Real>
struct KeySums {
  detail::Table<Real> key, value;
};

template <class Real>
void clear(detail::Table<Real> sums, index_t rows, index_t cols) noexcept {
  if (sums.data == nullptr) return;
  for (index_t j = 0; j < rows; ++j) std::fill_n(sums.row(j), cols, Real(0));
}

/// The gradients of blocks of queries, and the memory of one worker for them.
template <class Real>
class Gradients {
 public:
  static std::size_t bytes(const DotProducts<Real>& x) noexcept {
    const index_t m = x.key.rows;
    return detail::BlockScores<Real>::bytes(x) + detail::entmax_scratch_bytes<Real>(m) +
           detail::jacobian_scratch_bytes<Real>(m) + 3 * detail::scratch_bytes<Real>(detail::padded(m)) +
           detail::scratch_bytes<index_t>(detail::padded(m)) + detail::scratch_bytes<Real>(x.key.cols);
  }

  Gradients(const DotProducts<Real>& x, detail::WorkerScratch& memory) noexcept
      : x_(x),
        scores_(x, memory),
        entmax_(detail::take_entmax_scratch<Real>(memory, x.key.rows)),
        jacobian_(detail::take_jacobian_scratch<Real>(memory, x.key.rows)),
        p_(memory.take<Real>(detail::padded(x.key.rows))),
        weights_(memory.take<Real>(detail::padded(x.key.rows))),
        slopes_(memory.take<Real>(detail::padded(x.key.rows))),
        places_(memory.take<index_t>(detail::padded(x.key.rows))),
        sum_(memory.take<Real>(x.key.cols)) {}

  void add(const detail::QueryBlock& block, const AttentionRecord<Real>& record,
           const Matrices<const Real>& cotangent, const DotProductGradients<Real, Real>& gradient,
           const KeySums<Real>& sums) noexcept {
    scores_.compute(block);
    for (index_t i = 0; i < block.count; ++i) {
      const index_t query = block.first + i;
      const index_t row = (block.b * x_.query.heads + block.h) * x_.query.rows + query;
      const Real cut = below_support(x_.alpha[block.h], record.normalizers.row(row));
      const index_t count = detail::select_above(scores_.row(i), scores_.keys(query), cut, places_, p_);
      const Real* own = cotangent.row(block.b, block.h, query);
      differentiate_weights(block, row, count, own);
      add_query(block, query, row, count, gradient, sums.key);
      if (sums.value.data == nullptr) continue;
      std::copy_n(p_, count, weights_);
      detail::apply_dropout(x_, row, count, places_, weights_);
      detail::add_multiples({count, places_, weights_}, own, cotangent.cols, sums.value);
    }
  }

 private:
  /// From the scores in p_, the weights; and the slopes in the scores.
  void differentiate_weights(const detail::QueryBlock& block, index_t row, index_t count,
                             const Real* cotangent) noexcept {
    const double alpha = x_.alpha[block.h];
    detail::entmax_row(p_, count, alpha, entmax_, p_);
    detail::dots({count, places_, nullptr}, detail::table_of(x_.value, block.b, key_head(block)),
                 x_.value.cols, cotangent, slopes_);
    detail::apply_dropout(x_, row, count, places_, slopes_);
    detail::jacobian_row(p_, count, alpha, slopes_, jacobian_, slopes_);
  }

  void add_query(const detail::QueryBlock& block, index_t query, index_t row, index_t count,
                 const DotProductGradients<Real, Real>& gradient, detail::Table<Real> key_sums) noexcept {
    const index_t d = x_.key.cols;
    const double alpha = x_.alpha[block.h], scale = x_.scale[block.h];
    const Real* own = x_.query.row(block.b, block.h, query);
    if (gradient.alpha.data != nullptr) {
      gradient.alpha.row(row)[0] = static_cast<Real>(0.0 - detail::along_alpha(alpha, p_, slopes_, count));
    }
    if (gradient.query.data != nullptr || gradient.scale.data != nullptr) {
      detail::weighted_sum({count, places_, slopes_}, detail::table_of(x_.key, block.b, key_head(block)), d,
                           sum_);
      if (gradient.scale.data != nullptr) {
        double slope = 0;
        for (index_t k = 0; k < d; ++k) slope += double{sum_[k]} * double{own[k]};
        gradient.scale.row(row)[0] = static_cast<Real>(slope);
      }
      if (gradient.query.data != nullptr) {
        Real* to = gradient.query.row(block.b, block.h, query);
        for (index_t k = 0; k < d; ++k) to[k] = static_cast<Real>(scale * double{sum_[k]});
      }
    }
    if (key_sums.data == nullptr) return;
    for (index_t k = 0; k < count; ++k) weights_[k] = static_cast<Real>(scale * double{slopes_[k]});
    detail::add_multiples({count, places_, weights_}, own, d, key_sums);
  }

  [[nodiscard]] index_t key_head(const detail::QueryBlock& block) const noexcept {
    return block.h / (x_.query.heads / x_.key.heads);
  }

  const DotProducts<Real>& x_;
  detail::BlockScores<Real> scores_;
  detail::EntmaxScratch<Real> entmax_;
  detail::JacobianScratch<Real> jacobian_;
  Real *p_, *weights_, *slopes_;
  index_t* places_;
  Real* sum_;
};

/// The queries of a head of keys are cut into parts, whose sums are added in their order: units of work for
/// several threads, where there are few heads. The first part sums where the gradient is, the others aside.
template <class Real>
class Parts {
 public:
  Parts(const DotProducts<Real>& x, const DotProductGradients<Real, Real>& gradient)
      : x_(x),
        gradient_(gradient),
        blocks_(x.query.heads, x.query.rows),
        heads_(x.key.batch * x.key.heads),
        blocks_of_head_(heads_ == 0 ? 0 : x.query.heads / x.key.heads * blocks_.blocks),
        count_(heads_ == 0 ? 1
                           : std::clamp<index_t>(kUnits / heads_, 1,
                                                 std::max<index_t>(1, blocks_of_head_ / kLeastBlocks))),
        aside_(std::make_unique_for_overwrite<Real[]>(
            static_cast<std::size_t>(heads_ * (count_ - 1) * (key_size() + value_size())))) {}

  [[nodiscard]] index_t units() const noexcept { return heads_ * count_; }
  [[nodiscard]] index_t blocks_of_unit() const noexcept { return blocks_of_head_ / count_ + 1; }

  /// Calls visit(block) for the blocks of a unit.
  template <class Visit>
  void for_each_block(index_t unit, const Visit& visit) const noexcept {
    const index_t head = unit / count_, part = unit % count_, first = head * blocks_of_head_;
    const index_t end = first + blocks_of_head_ * (part + 1) / count_;
    for (index_t u = first + blocks_of_head_ * part / count_; u < end; ++u) visit(blocks_[u]);
  }

  [[nodiscard]] KeySums<Real> sums(index_t unit) const noexcept {
    const index_t head = unit / count_, part = unit % count_;
    if (part == 0) return {table(gradient_.key, head), table(gradient_.value, head)};
    Real* own = aside_.get() + (head * (count_ - 1) + part - 1) * (key_size() + value_size());
    return {{gradient_.key.data == nullptr ? nullptr : own, x_.key.cols},
            {gradient_.value.data == nullptr ? nullptr : own + key_size(), x_.value.cols}};
  }

  /// Adds what lies aside to the gradient.
  void gather() const {
    if (count_ == 1) return;
    const index_t m = x_.key.rows, cols = x_.key.cols + x_.value.cols;
    parallel_rows(heads_ * m, workers_for(heads_ * m, count_ * cols / 4),
                  [&](index_t begin, index_t end, int) noexcept {
                    for (index_t row = begin; row < end; ++row) {
                      const KeySums<Real> to = sums(row / m * count_);
                      for (index_t part = 1; part < count_; ++part) {
                        const KeySums<Real> from = sums(row / m * count_ + part);
                        add_row(from.key, x_.key.cols, row % m, to.key);
                        add_row(from.value, x_.value.cols, row % m, to.value);
                      }
                    }
                  });
  }

 private:
  static constexpr index_t kUnits = 16, kLeastBlocks = 4;

  [[nodiscard]] index_t key_size() const noexcept {
    return gradient_.key.data == nullptr ? 0 : x_.key.rows * x_.key.cols;
  }
  [[nodiscard]] index_t value_size() const noexcept {
    return gradient_.value.data == nullptr ? 0 : x_.key.rows * x_.value.cols;
  }
  [[nodiscard]] detail::Table<Real> table(const Matrices<Real>& of, index_t head) const noexcept {
    if (of.data == nullptr) return {};
    return detail::table_of(of, head / x_.key.heads, head % x_.key.heads);
  }
  static void add_row(detail::Table<Real> from, index_t cols, index_t row, detail::Table<Real> to) noexcept {
    if (to.data == nullptr) return;
    for (index_t k = 0; k < cols; ++k) to.row(row)[k] += from.row(row)[k];
  }

  const DotProducts<Real>& x_;
  const DotProductGradients<Real, Real>& gradient_;
  detail::QueryBlocks blocks_;
  index_t heads_, blocks_of_head_, count_;
  std::unique_ptr<Real[]> aside_;
};

}  // namespace

template <class Real>
void attention_vjp(
    const DotProducts<Real>& x, const AttentionRecord<std::type_identity_t<Real>>& record,
    Matrices<const std::type_identity_t<Real>> cotangent,
    const DotProductGradients<std::type_identity_t<Real>, std::type_identity_t<Real>>& gradient) {
  constexpr auto kWhere = "attention_vjp";
  detail::check_dot_products(kWhere, x);
  detail::check_query_rows(kWhere, "record.normalizers", x, record.normalizers, 2);
  detail::check_output(kWhere, "cotangent", x, cotangent);
  const auto check_gradient = [&](std::string_view name, const Matrices<Real>& view, std::string_view of_name,
                                  const Matrices<const Real>& of) {
    if (view.data != nullptr) detail::check_as(kWhere, name, view, of_name, of);
  };
  check_gradient("gradient.query", gradient.query, "query", x.query);
  check_gradient("gradient.key", gradient.key, "key", x.key);
  check_gradient("gradient.value", gradient.value, "value", x.value);
  const auto check_slopes = [&](std::string_view name, Rows<Real> view) {
    if (view.data != nullptr) detail::check_query_rows(kWhere, name, x, view, 1);
  };
  check_slopes("gradient.alpha", gradient.alpha);
  check_slopes("gradient.scale", gradient.scale);
  const Parts<Real> parts(x, gradient);
  const int workers = workers_for(parts.units(), parts.blocks_of_unit() * detail::work_of_block(x));
  const detail::Scratch memory(workers, Gradients<Real>::bytes(x));
  parallel_rows(parts.units(), workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    Gradients<Real> gradients(x, part);
    for (index_t unit = begin; unit < end; ++unit) {
      const KeySums<Real> sums = parts.sums(unit);
      clear(sums.key, x.key.rows, x.key.cols);
      clear(sums.value, x.key.rows, x.value.cols);
      parts.for_each_block(unit, [&](const detail::QueryBlock& block) {
        gradients.add(block, record, cotangent, gradient, sums);
      });
    }
  });
  parts.gather();
}

template void attention_vjp(const DotProducts<float>&, const AttentionRecord<float>&, Matrices<const float>,
                            const DotProductGradients<float, float>&);
template void attention_vjp(const DotProducts<double>&, const AttentionRecord<double>&,
                            Matrices<const double>, const DotProductGradients<double, double>&);

}  // namespace fenchel::cpu
