#include <algorithm>
#include <memory>

#include "backend/cpu/dot_product/gradients.hpp"
#include "backend/cpu/dot_product/scores.hpp"
#include "backend/dot_product/checks.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

template <class Real>
void clear(detail::Table<Real> sums, index_t rows, index_t cols) noexcept {
  if (sums.data == nullptr) return;
  for (index_t j = 0; j < rows; ++j) std::fill_n(sums.row(j), cols, Real(0));
}

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

  [[nodiscard]] detail::KeySums<Real> sums(index_t unit) const noexcept {
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
                      const detail::KeySums<Real> to = sums(row / m * count_);
                      for (index_t part = 1; part < count_; ++part) {
                        const detail::KeySums<Real> from = sums(row / m * count_ + part);
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
  const detail::Scratch memory(workers, detail::BlockGradients<Real>::bytes(x));
  parallel_rows(parts.units(), workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    detail::BlockGradients<Real> gradients(x, record, cotangent, gradient, part);
    for (index_t unit = begin; unit < end; ++unit) {
      const detail::KeySums<Real> sums = parts.sums(unit);
      clear(sums.key, x.key.rows, x.key.cols);
      clear(sums.value, x.key.rows, x.value.cols);
      parts.for_each_block(unit, [&](const detail::QueryBlock& block) { gradients.add(block, sums); });
    }
  });
  parts.gather();
}

template void attention_vjp(const DotProducts<float>&, const AttentionRecord<float>&, Matrices<const float>,
                            const DotProductGradients<float, float>&);
template void attention_vjp(const DotProducts<double>&, const AttentionRecord<double>&,
                            Matrices<const double>, const DotProductGradients<double, double>&);

}  // namespace fenchel::cpu
