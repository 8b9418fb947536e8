#pragma once

/// The concept `Statistics`: values that take rows, merge, and travel as bytes.

#include <concepts>
#include <cstddef>
#include <span>

#include "fenchel/core/rows.hpp"
#include "fenchel/estimate/statistics/processes.hpp"

namespace fenchel {

/// A value that data can be added to, in any split: what fitting needs to know of the data. `update` adds
/// rows with their weights and throws BadEntry for those that it cannot take; `merge` adds what another value
/// of the same make has seen; `to_bytes` writes all of it, `merge_bytes` is merge(what wrote them), and an
/// empty value that merges another one is that one, bit for bit.
template <class S>
concept Statistics = std::copyable<S> &&
    requires(S s, const S& other, Rows<const double> rows, PerRow weights, std::span<const std::byte> bytes) {
  s.update(rows, weights);
  s.merge(other);
  { other.to_bytes() } -> std::same_as<Bytes>;
  s.merge_bytes(bytes);
};

}  // namespace fenchel
