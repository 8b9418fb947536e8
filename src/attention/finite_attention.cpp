#include "fenchel/attention/finite_attention.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "attention/check_shape.hpp"
#include "attention/cool.hpp"
#include "backend/cpu/checks.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

using detail::check_shape;

constexpr double kMasked = -kInfinity;

using RowMatrix = decltype(KeyValueAttention::probabilities);

/// a b, rows after rows: a long product is checked in between.
template <class Result = Eigen::MatrixXd, class A, class B>
Result product(const A& a, const B& b) {
  constexpr index_t kTogether = index_t{1} << 27;  // multiplications, some 50 ms
  const index_t rows = std::max<index_t>(1, kTogether / std::max<index_t>(1, a.cols() * b.cols()));
  Result result(a.rows(), b.cols());
  for (index_t i = 0; i < a.rows(); i += rows) {
    checkpoint();
    const index_t count = std::min(rows, a.rows() - i);
    result.middleRows(i, count).noalias() = a.middleRows(i, count) * b;
  }
  return result;
}

Rows<double> rows_of(RowMatrix& m) { return {m.data(), m.rows(), m.cols()}; }

void check_inputs(std::string_view where, const Eigen::MatrixXd& queries, const Eigen::MatrixXd& keys,
                  const Eigen::MatrixXd& values) {
  if (keys.rows() < 1) throw_invalid_argument(where, "keys.rows()", "must be at least 1", 0);
  check_shape(where, "keys", keys, keys.rows(), queries.cols());
  check_shape(where, "values", values, keys.rows(), values.cols());
}

}  // namespace

Eigen::VectorXd attend(const SparseCategorical& p, const Eigen::MatrixXd& psi) {
  check_shape("attend", "psi", psi, psi.rows(), p.size());
  Eigen::VectorXd r = Eigen::VectorXd::Zero(psi.rows());
  for (std::size_t k = 0; k < p.support().size(); ++k) r += p.probabilities()[k] * psi.col(p.support()[k]);
  return r;
}

Eigen::MatrixXd additive_mask(const Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic>& allowed) {
  return allowed.select(Eigen::MatrixXd::Zero(allowed.rows(), allowed.cols()), kMasked);
}

Eigen::MatrixXd additive_mask(std::span<const index_t> lengths, index_t keys) {
  detail::check_lengths("additive_mask", lengths, keys);
  Eigen::MatrixXd mask = Eigen::MatrixXd::Constant(std::ssize(lengths), keys, kMasked);
  for (index_t i = 0; i < mask.rows(); ++i) {
    mask.row(i).head(lengths[static_cast<std::size_t>(i)]).setZero();
  }
  return mask;
}

KeyValueAttention key_value_attention(const Tsallis& omega, const Eigen::MatrixXd& queries,
                                      const Eigen::MatrixXd& keys, const Eigen::MatrixXd& values,
                                      const Eigen::MatrixXd& mask) {
  constexpr auto kWhere = "key_value_attention";
  check_inputs(kWhere, queries, keys, values);
  KeyValueAttention seen{product<RowMatrix>(queries, keys.transpose()), {}};
  RowMatrix& p = seen.probabilities;
  if (mask.size() > 0) {
    check_shape(kWhere, "mask", mask, p.rows(), p.cols());
    p += mask;
  }
  for (index_t i = 0; i < p.rows(); ++i) detail::cool(p.row(i), omega.temperature());
  cpu::entmax(rows_of(p), omega.alpha(), rows_of(p));
  seen.contexts = product(p, values);
  return seen;
}

KeyValueGradient key_value_attention_vjp(const Tsallis& omega, const Eigen::MatrixXd& queries,
                                         const Eigen::MatrixXd& keys, const Eigen::MatrixXd& values,
                                         const KeyValueAttention& attention,
                                         const Eigen::MatrixXd& cotangent) {
  constexpr auto kWhere = "key_value_attention_vjp";
  check_inputs(kWhere, queries, keys, values);
  RowMatrix p = attention.probabilities;
  check_shape(kWhere, "attention.probabilities", p, queries.rows(), keys.rows());
  check_shape(kWhere, "cotangent", cotangent, queries.rows(), values.cols());
  auto scores = product<RowMatrix>(cotangent, values.transpose());
  std::vector<double> alpha(static_cast<std::size_t>(p.rows()));
  cpu::entmax_vjp(rows_of(p), omega.alpha(), rows_of(scores), rows_of(scores), alpha);
  double alpha_sum = 0;
  for (index_t i = 0; i < p.rows(); ++i) {
    if ((cotangent.row(i).array() == 0).all()) {
      p.row(i).setZero();
      scores.row(i).setZero();
    } else {
      alpha_sum += alpha[static_cast<std::size_t>(i)];
    }
  }
  scores /= omega.temperature();
  return {product(scores, keys), product(scores.transpose(), queries), product(p.transpose(), cotangent),
          alpha_sum};
}

}  // namespace fenchel
