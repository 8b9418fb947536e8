#pragma once

/// `DotProducts`, `CachedDotProducts`: what attention over keys reads and writes, on the CPU or a GPU.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel {

/// A matrix for each head of each member of a batch: element (i, j) of head h of member b is
///   data[b * batch_stride + h * head_stride + i * row_stride + j * step].
/// A stride of 0 repeats; what is written must not overlap.
template <class T>
struct Matrices {
  T* data = nullptr;
  index_t batch = 0, heads = 0, rows = 0, cols = 0;
  index_t batch_stride = 0, head_stride = 0, row_stride = 0, step = 1;

  /// Matrices that can be written can be read.
  template <class U = T>
  requires(!std::is_const_v<U>) constexpr operator Matrices<const U>() const noexcept {
    return {data, batch, heads, rows, cols, batch_stride, head_stride, row_stride, step};
  }

  [[nodiscard]] FENCHEL_HD constexpr T* row(index_t b, index_t h, index_t i) const noexcept {
    return data + b * batch_stride + h * head_stride + i * row_stride;
  }
};

/// Which keys a query may see, where it is an interval: of a window, of a document among others in a row, of
/// what is not padding. 0 <= origin <= first <= last <= m, and none of the three is less than for the query
/// before it of the same member. The origin is where a sequence begins: that of the query before, or not
/// before its last.
struct KeyRange {
  std::int32_t origin, first, last;
};

/// Attention of each query to the keys [SCD22, Section 4; docs/math.md 2]: with the scores
///   z_j = scale <query, key_j> + bias_j,
/// weights p = entmax_alpha(z) and the output sum_j p_j value_j. query is n x d, key m x d, value m x e, with
/// step 1; heads of keys and values divide those of the queries, and query head h looks at head h / (H / G)
/// of G. mask and bias have the shape of the scores, n x m; a null one is not there. Where the mask is false,
/// where `causal` and j > i, and where the ranges say so, there is no weight. A query without any key has the
/// output 0.
template <class T>
struct DotProducts {
  Matrices<const T> query, key, value;
  PerRow alpha, scale;  ///< one, or one for each head of the queries; alpha is at least 1
  bool causal = false;
  Matrices<const bool> mask = {};
  Matrices<const T> bias = {};
  /// A weight is dropped with this probability, and the others grow by 1 / (1 - dropout); which ones follows
  /// from the seed, member, head, query and key alone.
  double dropout = 0;
  const std::int64_t* seed = nullptr;  ///< in the memory of the tensors; read where dropout is positive
  /// Query i of member b sees the keys j with first <= j < last of ranges[b n + i], and those of the `sinks`
  /// keys from origin on that are before last. In the memory of the tensors; null where there are none, and
  /// otherwise `causal` is false.
  const KeyRange* ranges = nullptr;
  index_t sinks = 0;
};

/// The same for decoding: few queries, those of the last tokens of sequences, and many keys. A page is a
/// matrix of keys, and one of values, for each head; token j of sequence b is row j % R of the page
/// pages[b][j / R], for pages of R rows. One page a sequence is a cache without pages. Sequences may share
/// pages. Pages and lengths are in the memory of the host, for a GPU too.
template <class T>
struct CachedDotProducts {
  Matrices<const T> query;       ///< of the last n tokens of each sequence
  Matrices<const T> key, value;  ///< the batch is that of the pages
  Rows<const std::int32_t> pages;
  std::span<const std::int64_t> lengths;  ///< how many tokens a sequence has, with the last n
  PerRow alpha, scale;                    ///< one, or one for each head of the queries; alpha is at least 1
  /// n x m, where no sequence is longer than m; null where there is none.
  Matrices<const T> bias = {};
  /// A query sees its own token and so many before it, and the first `sinks` tokens of its sequence.
  index_t window = std::numeric_limits<index_t>::max();
  index_t sinks = 0;
  /// Of each page and head of keys: the least number of each column, and the largest. Null where they are not
  /// known. A GPU skips pages that cannot have weight by them, where there is no bias.
  Matrices<const T> bounds = {};
  std::span<std::byte> scratch = {};  ///< on a GPU
};

/// What the forward pass leaves for the backward pass. Row (b H + h) n + i is that of a query.
template <class Real>
struct AttentionRecord {
  /// Two columns. The largest score, and A less it (NaN for no key); on a GPU, which computes in float, the
  /// largest weight in place of A: it keeps its digits where A is nearly 1 / (alpha - 1).
  Rows<Real> normalizers;
  Rows<std::int32_t> support = {};    ///< on a GPU: how many keys have weight, and which
  std::span<std::byte> scratch = {};  ///< on a GPU, for the backward pass alone
};

/// Gradients of <cotangent, output>; those with a null view are not computed. alpha and scale have one
/// column, and a row for each query as the record has.
template <class T, class Real>
struct DotProductGradients {
  Matrices<T> query = {}, key = {}, value = {};
  Rows<Real> alpha = {}, scale = {};
};

}  // namespace fenchel
