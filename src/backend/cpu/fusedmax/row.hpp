#pragma once

#include "backend/cpu/fusedmax/chain_checks.hpp"
#include "core/scratch.hpp"
#include "core/taut_string.hpp"

namespace fenchel::detail {

/// Neighbouring columns [begin, end).
struct Run {
  index_t begin, end;
};

/// Memory for one row; every thread has its own.
struct FusedScratch {
  double* sums;         ///< of blocks of columns
  double* x;            ///< the prox on the level set, run after run
  Run *runs, *subruns;  ///< the level set, and the next one in it
  StringScratch string;
};

inline std::size_t fused_scratch_bytes(index_t cols) noexcept {
  return 2 * scratch_bytes<double>(padded(cols)) + 2 * scratch_bytes<Run>(cols / 2 + 1) +
         2 * scratch_bytes<StringPiece>(cols);
}

inline FusedScratch take_fused_scratch(WorkerScratch& memory, index_t cols) noexcept {
  const auto reals = [&] { return memory.take<double>(padded(cols)); };
  const auto runs = [&] { return memory.take<Run>(cols / 2 + 1); };
  const auto pieces = [&] { return memory.take<StringPiece>(cols); };
  return {reals(), reals(), runs(), runs(), {pieces(), pieces()}};
}

/// fusedmax of one row of n >= 1 columns; p may be z. Compiled for several instruction sets.
MappedRow fusedmax_row(const float* z, index_t n, const EdgeGammas& gammas, const FusedScratch& scratch,
                       float* p) noexcept;
MappedRow fusedmax_row(const double* z, index_t n, const EdgeGammas& gammas, const FusedScratch& scratch,
                       double* p) noexcept;

}  // namespace fenchel::detail
