#pragma once

#include "backend/cuda/device/product_rows.cuh"
#include "backend/cuda/device/row_group.cuh"
#include "backend/fusedmax/plateau_terms.hpp"

/// The Jacobian of fusedmax on one row: average over each plateau, then subtract the mean over the support
/// (src/backend/cpu/fusedmax/plateau_row.cpp). All sums are in double.
namespace fenchel::cuda::device {

/// A stretch of columns that ends in a run: how many runs began in it, and the last one's sum and length.
struct Runs {
  double sum;
  int length, begun;
};
struct Follow {
  __device__ Runs operator()(const Runs& x, const Runs& y) const {
    if (y.begun > 0) return {y.sum, y.length, x.begun + y.begun};
    return {x.sum + y.sum, x.length + y.length, x.begun};
  }
};

/// What a group needs to know of all columns before it can write one.
struct SupportSums {
  double sum, size, pulls, along;
};
struct PlusSupport {
  __device__ SupportSums operator()(const SupportSums& x, const SupportSums& y) const {
    return {x.sum + y.sum, x.size + y.size, x.pulls + y.pulls, x.along + y.along};
  }
};
struct Least {
  __device__ index_t operator()(index_t x, index_t y) const { return x < y ? x : y; }
};

/// Shared memory of a group for the runs of one tile.
template <int kThreads>
struct PlateauMemory {
  static constexpr int kEach = 8, kTile = kThreads * kEach;  ///< consecutive columns of a thread, of a group
  double value[kTile];                                       ///< of each run, as it is written
  unsigned short run[kTile];                                 ///< of each column
  Runs open;                                                 ///< the tile's last run, as far as the tile goes
  unsigned words[RowGroup<kThreads>::kSharedWords];
};

template <int kThreads, class Row>
class PlateauProduct {
 public:
  using Real = typename Row::Real;
  using Memory = PlateauMemory<kThreads>;

  __device__ PlateauProduct(const Row& row, double d_gamma, Memory& memory)
      : row_(row), n_(row.cols()), d_gamma_(d_gamma), memory_(memory), group_(memory.words) {}

  /// out = J v + dp/dgamma d_gamma; gives <v, dp/dgamma> to all threads.
  __device__ double write(bool fused) {
    SupportSums own{};
    for (index_t j = group_.rank(); j < n_; j += kThreads) {
      if (row_.p(j) == 0) continue;
      const double edges = left(j) + right(j + 1);
      own.sum += row_.v(j);
      own.size += 1;
      own.pulls += edges;
      if (!fused && edges != 0) own.along += edges * row_.v(j);
    }
    const SupportSums all = group_.all(own, PlusSupport());
    const double mean = all.sum / all.size;
    shift_ = mean + d_gamma_ * all.pulls / all.size;
    if (!fused) {
      write_columns();
      return all.along - all.pulls * mean;
    }
    for (index_t begin = 0; begin < n_;) begin = write_tile(begin);
    const SupportSums found = group_.all(SupportSums{0, 0, 0, along_}, PlusSupport());
    return found.along - all.pulls * mean;
  }
  __device__ void fill(Real value) const {
    for (index_t j = group_.rank(); j < n_; j += kThreads) row_.set(j, value);
  }

 private:
  static constexpr int kEach = Memory::kEach;

  /// Whether a run begins at column j.
  [[nodiscard]] __device__ bool changes(index_t j) const { return row_.p(j) != row_.p(j - 1); }
  [[nodiscard]] __device__ double left(index_t begin) const {
    return begin == 0 || !changes(begin) ? 0.0 : detail::pull(row_.p(begin), row_.p(begin - 1), 1);
  }
  [[nodiscard]] __device__ double right(index_t end) const {
    return end == n_ || !changes(end) ? 0.0 : detail::pull(row_.p(end - 1), row_.p(end), 1);
  }

  /// Plateaus of one column.
  __device__ void write_columns() const {
    for (index_t j = group_.rank(); j < n_; j += kThreads) {
      const bool inside = row_.p(j) != 0;
      const double moved = inside && d_gamma_ != 0 ? d_gamma_ * (left(j) + right(j + 1)) : 0.0;
      row_.set(j, inside ? static_cast<Real>(double(row_.v(j)) + moved - shift_) : Real(0));
    }
  }

  /// What is written for a run of `length` columns, 0 off the support.
  __device__ double value_of(index_t end, index_t length, double sum) {
    const index_t begin = end - length;
    if (row_.p(begin) == 0) return 0;
    const double size = static_cast<double>(length), mean = sum / size, edges = left(begin) + right(end);
    along_ += edges * mean;
    return mean + d_gamma_ * edges / size - shift_;
  }

  /// The columns from the beginning of a run on, a tile and what is left of its last run; returns where the
  /// next run begins.
  __device__ index_t write_tile(index_t begin) {
    const index_t end = begin + Memory::kTile < n_ ? begin + Memory::kTile : n_;
    const index_t first = begin + index_t{group_.rank()} * kEach;
    Real p[kEach + 1];
    double v[kEach];
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      if (first + e < end) {
        p[e] = row_.p(first + e);
        v[e] = row_.v(first + e);
      }
    }
    if (first + kEach < end) p[kEach] = row_.p(first + kEach);
    const bool begins = first == begin || (first < end && changes(first));
    Runs own{};
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      if (first + e >= end) break;
      if (e == 0 ? begins : p[e] != p[e - 1]) own = {0, 0, own.begun + 1};
      own.sum += v[e];
      ++own.length;
    }
    Runs run = group_.before(own, Runs{}, Follow());
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const index_t j = first + e;
      if (j >= end) break;
      if (e == 0 ? begins : p[e] != p[e - 1]) run = {0, 0, run.begun + 1};
      run.sum += v[e];
      ++run.length;
      memory_.run[j - begin] = static_cast<unsigned short>(run.begun - 1);
      if (j + 1 == end) {
        memory_.open = run;
      } else if (p[e + 1] != p[e]) {
        memory_.value[run.begun - 1] = value_of(j + 1, run.length, run.sum);
      }
    }
    group_.sync();
    const Runs open = memory_.open;
    double sum = open.sum;
    const index_t stop = run_end(end, sum);
    if (group_.rank() == 0) {
      memory_.value[open.begun - 1] = value_of(stop, open.length + (stop - end), sum);
    }
    group_.sync();
    for (index_t j = begin + group_.rank(); j < stop; j += kThreads) {
      const int k = j < end ? memory_.run[j - begin] : open.begun - 1;
      row_.set(j, static_cast<Real>(memory_.value[k]));
    }
    group_.sync();
    return stop;
  }

  /// Where the run of column end - 1 ends, and its sum from `end` on; a run off the support may end anywhere.
  __device__ index_t run_end(index_t end, double& sum) const {
    const Real level = row_.p(end - 1);
    while (level != 0 && end < n_) {
      const index_t j = end + group_.rank(), next = end + kThreads < n_ ? end + kThreads : n_;
      const index_t stop = group_.all(j < next && row_.p(j) == level ? next : min(j, next), Least());
      const SupportSums more = group_.all(SupportSums{j < stop ? double(row_.v(j)) : 0.0}, PlusSupport());
      sum += more.sum;
      end = stop;
      if (stop < next) break;
    }
    return end;
  }

  Row row_;
  index_t n_;
  double d_gamma_, shift_ = 0, along_ = 0;
  Memory& memory_;
  RowGroup<kThreads> group_;
};

}  // namespace fenchel::cuda::device
