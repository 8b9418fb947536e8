#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/dot_product/scores.hpp"
#include "backend/cpu/dot_product/weights.hpp"
#include "backend/cpu/entmax/row.hpp"
#include "backend/dot_product/checks.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

/// The outputs of blocks of queries, and the memory of one worker for them.
template <class Real>
class Outputs {
 public:
  static std::size_t bytes(const DotProducts<Real>& x) noexcept {
    const index_t m = x.key.rows;
    return detail::BlockScores<Real>::bytes(x) + detail::entmax_scratch_bytes<Real>(m) +
           2 * detail::scratch_bytes<Real>(detail::padded(m)) +
           detail::scratch_bytes<index_t>(detail::padded(m)) +
           detail::scratch_bytes<double>(kQueries * x.value.cols);
  }

  Outputs(const DotProducts<Real>& x, detail::WorkerScratch& memory) noexcept
      : x_(x),
        scores_(x, memory),
        entmax_(detail::take_entmax_scratch<Real>(memory, x.key.rows)),
        p_(memory.take<Real>(detail::padded(x.key.rows))),
        weights_(memory.take<Real>(detail::padded(x.key.rows))),
        places_(memory.take<index_t>(detail::padded(x.key.rows))),
        sums_{memory.take<double>(kQueries * x.value.cols), x.value.cols} {}

  void write(const detail::QueryBlock& block, const Matrices<Real>& out,
             const AttentionRecord<Real>& record) noexcept {
    scores_.compute(block);
    const auto values = detail::table_of(x_.value, block.b, detail::key_head(x_, block));
    index_t dense[kQueries], dense_count = 0;
    for (index_t i = 0; i < block.count; ++i) {
      const index_t query = block.first + i, row = detail::row_of(x_, block, query), n = scores_.columns(i);
      const Real* z = scores_.rows().row(i);
      Real* to = out.row(block.b, block.h, query);
      const auto found = detail::entmax_row(z, n, x_.alpha[block.h], entmax_, p_);
      record.normalizers.row(row)[0] = static_cast<Real>(found.top);
      record.normalizers.row(row)[1] = static_cast<Real>(found.normalization.offset);
      if (std::isnan(found.top)) {
        const bool no_key = std::all_of(z, z + n, [](Real score) { return score == -Real(kInfinity); });
        std::fill_n(to, out.cols, no_key ? Real(0) : std::numeric_limits<Real>::quiet_NaN());
        continue;
      }
      const index_t count = detail::select_above(p_, n, Real(0), places_, weights_);
      if (detail::is_dense(count, n) && may_be_dense(block)) {
        detail::spread({count, places_, weights_}, scores_.keys().columns(), scores_.rows().row(dense_count));
        dense[dense_count++] = query;
        continue;
      }
      scores_.keys().to_keys(count, places_);
      detail::apply_dropout(x_, row, count, places_, weights_);
      detail::weighted_sum({count, places_, weights_}, values, out.cols, to);
    }
    if (dense_count == 0) return;
    std::fill_n(sums_.data, dense_count * out.cols, 0.0);
    const detail::Table<const Real> weights{scores_.rows().data, scores_.rows().stride};
    for (const detail::KeyRun& run : scores_.keys().runs())
      detail::multiply_rows(weights.from_column(run.column), dense_count, values.from_row(run.first),
                            run.count, out.cols, sums_);
    for (index_t i = 0; i < dense_count; ++i) {
      Real* to = out.row(block.b, block.h, dense[i]);
      for (index_t k = 0; k < out.cols; ++k) to[k] = static_cast<Real>(sums_.row(i)[k]);
    }
  }

 private:
  static constexpr index_t kQueries = detail::QueryBlocks::kQueries;

  /// Weights of 0 are not left out of dense products: the values must be finite.
  bool may_be_dense(const detail::QueryBlock& block) noexcept {
    if (!detail::may_be_dense(x_)) return false;
    const index_t own = detail::key_head(x_, block), head = block.b * x_.key.heads + own;
    if (head != known_head_) {
      known_head_ = head;
      finite_ = detail::are_finite(detail::table_of(x_.value, block.b, own), x_.value.rows, x_.value.cols);
    }
    return finite_;
  }

  const DotProducts<Real>& x_;
  detail::BlockScores<Real> scores_;
  detail::EntmaxScratch<Real> entmax_;
  Real *p_, *weights_;
  index_t* places_;
  detail::Table<double> sums_;
  index_t known_head_ = -1;
  bool finite_ = false;
};

}  // namespace

template <class Real>
void attention(const DotProducts<Real>& x, Matrices<std::type_identity_t<Real>> out,
               const AttentionRecord<std::type_identity_t<Real>>& record) {
  constexpr auto kWhere = "attention";
  detail::check_dot_products(kWhere, x);
  detail::check_output(kWhere, "out", x, out);
  detail::check_query_rows(kWhere, "record.normalizers", x, record.normalizers, 2);
  if (detail::has_no_query(x)) return;
  const detail::QueryBlocks blocks(x.query.heads, x.query.rows);
  const index_t units = x.query.batch * x.query.heads * blocks.blocks;
  const int workers = workers_for(units, detail::work_of_block(x));
  const detail::Scratch memory(workers, Outputs<Real>::bytes(x));
  parallel_rows(units, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    Outputs<Real> outputs(x, part);
    for (index_t u = begin; u < end; ++u) outputs.write(blocks[u], out, record);
  });
}

template void attention(const DotProducts<float>&, Matrices<float>, const AttentionRecord<float>&);
template void attention(const DotProducts<double>&, Matrices<double>, const AttentionRecord<double>&);

}  // namespace fenchel::cpu
