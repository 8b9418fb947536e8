#include "fenchel/backend/cuda/fusedmax.hpp"

#include <algorithm>
#include <limits>

#include "backend/cuda/device/row_group.cuh"
#include "backend/cuda/device/storage.cuh"
#include "backend/cuda/fusedmax/checks.hpp"
#include "backend/cuda/fusedmax/plateau_descent.hpp"
#include "backend/cuda/launch.cuh"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cuda {
namespace {

using detail::PlateauColumns;
using detail::PlateauThread;
using detail::Side;

constexpr double kLargestGamma = 1e300;  // sums of it stay finite, as on the CPU

/// How many columns a thread owns: odd, so that threads that go through theirs side by side read different
/// banks of shared memory.
FENCHEL_HD constexpr int columns_each(index_t cols, int threads) noexcept {
  return static_cast<int>((cols + threads - 1) / threads) | 1;
}

FENCHEL_HD inline PlateauColumns plateau_columns(unsigned char* memory, std::size_t size, std::size_t first) {
  auto* const x = reinterpret_cast<double*>(memory);
  auto* const column = reinterpret_cast<int*>(x + 2 * size);
  auto* const edges = reinterpret_cast<detail::Edges*>(column + size);
  auto* const side = reinterpret_cast<Side*>(edges + size);
  return {x + first, x + size + first, column + first, edges + first, side + first};
}

/// So many columns are for one warp once those below are dropped.
constexpr int kWarpColumns = 1024;

/// One row of a group.
template <int kThreads>
class PlateauRow {
 public:
  using Group = device::RowGroup<kThreads>;

  __device__ PlateauRow(const Group& group, const PlateauColumns& columns, int cols, double gamma)
      : group_(group), at_(columns), cols_(cols), gamma_(gamma), own_(shares(cols)) {}

  /// From scores in `x` to probabilities there; returns how many columns are left. Few of them are for one
  /// warp, whose scans need no barrier.
  __device__ int map(double top, bool valid) {
    start(top, valid);
    sweep(-kInfinity);
    const int kept = keep_above();
    if constexpr (Group::kInWarp) {
      finish(kept, bound_);
    } else if (kept <= kWarpColumns) {
      if (group_.rank() < device::kWarp) {
        PlateauRow<device::kWarp> alone(device::RowGroup<device::kWarp>(nullptr), at_, cols_, gamma_);
        alone.finish(kept, bound_);
      }
      group_.sync();
    } else {
      finish(kept, bound_);
    }
    return kept;
  }

  /// The same from the columns above a bound of tau, less the largest score.
  __device__ void finish(int kept, double bound) {
    own_ = shares(kept);
    bound_ = bound;
    next_ = static_cast<int>(Side::kAbove);
    descend();
    flatten(kept);
  }

 private:
  [[nodiscard]] __device__ detail::Span shares(int count) const {
    const int each = columns_each(count, kThreads), begin = min(group_.rank() * each, count);
    return {begin, min(begin + each, count)};
  }
  [[nodiscard]] __device__ PlateauThread thread() const { return {at_, own_, gamma_}; }

  /// One component, and the best lower bound of tau by the largest score and by intervals.
  __device__ void start(double top, bool valid) {
    detail::IntervalBound own{0, -1 - 2 * gamma_, own_.end - own_.begin};
    for (int i = own_.begin; i < own_.end; ++i) {
      const double x = valid ? at_.x[i] - top : 0;
      at_.x[i] = x;
      own.sum += x;
      detail::Edges edges;
      if (i == 0) edges.begin(0);
      if (i == cols_ - 1) edges.end(0);
      at_.edges[i] = edges;
    }
    if (group_.rank() == 0) at_.mean[0] = -kInfinity;
    const detail::BestInterval best{gamma_};
    const detail::IntervalBound all = group_.all(best.bounded(own, 2 * gamma_), best);
    constexpr double kRounding = 1e-14;
    bound_ = best.bounded(all, 0).best;
    bound_ -= kRounding * (1 - bound_);
  }

  /// Finds the side of every column, but for those that a decision follows.
  __device__ void sweep(double open_mean) {
    const auto gains =
        group_.before(thread().gains(open_mean, bound_), detail::no_shift(), detail::Compose());
    group_.sync();  // what was cut by the last sides has been
    const int first = thread().decide(gains(0), open_mean, bound_);
    next_ = group_.after(first, 0, detail::FirstDecided());
    group_.sync();
  }

  /// Drops the columns below the bound: what is left of the row are components with lower neighbours.
  __device__ int keep_above() {
    const int above = thread().count_above(next_);
    const int place = group_.before(above, 0, device::Plus());
    const int kept = group_.all(above, device::Plus());
    thread().number_above(place);
    group_.sync();
    // A column moves towards the front, onto columns that have been read.
    for (int first = 0; first < cols_; first += kThreads) {
      const int i = first + group_.rank();
      int to = -1;
      double x = 0;
      detail::Edges edges;
      if (i < cols_ && at_.column[i] >= 0) {
        to = at_.column[i];
        x = at_.x[i];
        if (i == 0 || at_.side[i - 1] == Side::kBelow) edges.begin(i == 0 ? 0 : -1);
        if (i == cols_ - 1 || at_.side[i + 1] == Side::kBelow) edges.end(i == cols_ - 1 ? 0 : -1);
      }
      group_.sync();
      if (to >= 0) {
        at_.x[to] = x;
        at_.column[to] = i;
        at_.edges[to] = edges;
      }
    }
    group_.sync();
    for (int i = group_.rank(); i < kept; i += kThreads) at_.side[i] = Side::kAbove;
    group_.sync();
    return kept;
  }

  /// Cuts components until none is cut.
  __device__ void descend() {
    for (bool done = false, first = true;; first = false) {
      detail::CutColumns cut = thread().cut(next_, bound_);
      const auto open = group_.after(cut.before, detail::OpenSum{0, 0, 0, 0}, detail::JoinOpen());
      if (cut.last.at >= 0) {
        thread().close(cut.last.at, detail::JoinOpen()(cut.last.part, open), bound_, cut.above);
      }
      const detail::Above above = group_.all(cut.above, detail::AddAbove());
      open_mean_ = group_.before(thread().last_mean(), detail::LastMean{0, 0}, detail::LatterMean()).mean;
      done = done || (above.cuts == 0 && !first);
      if (everybody(done)) return;
      // A group that waits for others of its warp stays as it is.
      if (!done && above.count > 0) bound_ = fmax(bound_, (above.sum - 1) / above.count);
      sweep(open_mean_);
    }
  }

  /// sparsemax of the heights, less the highest: what they all share is left behind before p is computed.
  __device__ void flatten(int kept) {
    const double highest = group_.all(thread().flatten(open_mean_), device::Larger());
    double threshold = fmin(fmax(bound_ - highest, -1.0), -0.5 / cols_);
    int last = kept + 1;
    for (bool done = false;;) {
      const detail::Above above = group_.all(thread().above(highest, threshold), detail::AddAbove());
      done = done || above.count >= last || above.count == 0;
      if (everybody(done)) break;
      if (!done) {
        threshold = (above.sum - 1) / above.count;
        last = above.count;
      }
    }
    for (int i = own_.begin; i < own_.end; ++i) at_.x[i] = fmax((at_.x[i] - highest) - threshold, 0.0);
    group_.sync();
  }

  /// The same for all threads of a group; a warp of several goes on until all of them are done.
  static __device__ bool everybody(bool done) {
    if constexpr (Group::kInWarp) return __all_sync(device::kAllLanes, done) != 0;
    return done;
  }

  Group group_;
  PlateauColumns at_;
  int cols_;
  double gamma_;
  detail::Span own_;
  double bound_ = 0, open_mean_ = 0;
  int next_ = 0;
};

constexpr int kSmallBlock = 128;

template <int kThreads>
constexpr int kBlock = std::max(kThreads, kSmallBlock);
template <int kThreads>
constexpr int kRowsABlock = kBlock<kThreads> / kThreads;

/// A row for each group, in shared memory, or in that of `scratch`, a part of which every block has.
template <int kThreads>
__global__ void __launch_bounds__(kBlock<kThreads>)
    fusedmax_kernel(const device::AnyRows scores, const PerRow gammas, const device::AnyRows p,
                    unsigned char* scratch) {
  using Group = device::RowGroup<kThreads>;
  extern __shared__ __align__(16) unsigned char dynamic[];
  __shared__ unsigned words[Group::kSharedWords];
  const int cols = static_cast<int>(scores.cols);
  const std::size_t row_size = std::size_t{kThreads} * columns_each(cols, kThreads);
  const std::size_t size = kRowsABlock<kThreads> * row_size;
  unsigned char* const memory =
      scratch == nullptr ? dynamic : scratch + blockIdx.x * (size * detail::kPlateauColumnBytes);
  const int place = static_cast<int>(threadIdx.x) / kThreads;
  const PlateauColumns columns = plateau_columns(memory, size, place * row_size);
  const Group group(words);
  for (index_t first = index_t{blockIdx.x} * kRowsABlock<kThreads>; first < scores.rows;
       first += index_t{gridDim.x} * kRowsABlock<kThreads>) {
    const bool present = first + place < scores.rows;
    const index_t i = present ? first + place : first;
    const device::AnyRow z = scores.row(i), out = p.row(i);
    double top = -kInfinity;
    group.sync();
    for (int j = group.rank(); j < cols; j += kThreads) {
      const double x = z.get(j);
      columns.x[j] = x;
      top = device::Larger()(top, x);
    }
    top = group.all(top, device::Larger());
    group.sync();
    const double gamma = gammas[i];
    const bool valid = fabs(top) < kInfinity && gamma >= 0 && gamma < kInfinity;
    const double fill = valid ? 0 : std::numeric_limits<double>::quiet_NaN();
    for (int j = group.rank(); j < cols && present; j += kThreads) out.set(j, fill);
    PlateauRow<kThreads> row(group, columns, cols, valid ? fmin(gamma, kLargestGamma) : 0.0);
    const int kept = row.map(top, valid);
    for (int k = group.rank(); k < kept && present && valid; k += kThreads) {
      out.set(columns.column[k], columns.x[k]);
    }
  }
}

/// The longest rows in shared memory, and the blocks that share the scratch memory of longer ones.
constexpr index_t kSharedColumns = 4352, kLongRowBlocks = 264;
constexpr int kLongRowThreads = 512;

template <int kThreads>
std::size_t block_bytes(index_t cols) noexcept {
  return detail::kPlateauColumnBytes * kBlock<kThreads> *
         static_cast<std::size_t>(columns_each(cols, kThreads));
}

template <int kThreads>
void launch_rows(std::string_view where, const device::AnyRows& scores, PerRow gamma,
                 const device::AnyRows& p, void* scratch, Stream stream) {
  const index_t blocks = (scores.rows + kRowsABlock<kThreads> - 1) / kRowsABlock<kThreads>;
  const bool shared = scores.cols <= kSharedColumns;
  const index_t most = shared ? std::numeric_limits<int>::max() : kLongRowBlocks;
  launch(where, fusedmax_kernel<kThreads>, dim3(static_cast<unsigned>(std::min(blocks, most))),
         dim3(kBlock<kThreads>), shared ? block_bytes<kThreads>(scores.cols) : 0, stream, scores, gamma, p,
         shared ? nullptr : static_cast<unsigned char*>(scratch));
}

}  // namespace

template <class T>
std::size_t fusedmax_scratch_bytes(index_t rows, index_t cols) noexcept {
  if (cols <= kSharedColumns || rows < 1) return 0;
  return static_cast<std::size_t>(std::min(rows, kLongRowBlocks)) * block_bytes<kLongRowThreads>(cols);
}

template <class T>
void fusedmax(Input<T> scores, PerRow gamma, DeviceRows<T> p, void* scratch, Stream stream) {
  constexpr std::string_view kWhere = "cuda::fusedmax";
  check_view(kWhere, "scores", scores);
  check_same_shape(kWhere, "p", p, "scores", scores);
  check_gamma(kWhere, gamma, scores.rows);
  if (scores.cols > std::numeric_limits<int>::max() / 2) {
    throw_invalid_argument(kWhere, "scores", "must have fewer than 2^30 columns", scores.cols);
  }
  if (scratch == nullptr && fusedmax_scratch_bytes<T>(scores.rows, scores.cols) > 0) {
    throw_invalid_argument(kWhere, "scratch", "must have fusedmax_scratch_bytes", "a null pointer");
  }
  if (scores.rows == 0) return;
  // About 17 columns a thread: fewer, and the scans cost more than the columns; more, and fewer warps fit.
  const auto rows = scores.cols <= 68               ? launch_rows<4>
                    : scores.cols <= 272            ? launch_rows<16>
                    : scores.cols <= 1056           ? launch_rows<32>
                    : scores.cols <= kSharedColumns ? launch_rows<128>
                                                    : launch_rows<kLongRowThreads>;
  rows(kWhere, scores, gamma, p, scratch, stream);
}

template std::size_t fusedmax_scratch_bytes<double>(index_t, index_t) noexcept;
template std::size_t fusedmax_scratch_bytes<float>(index_t, index_t) noexcept;
template std::size_t fusedmax_scratch_bytes<Half>(index_t, index_t) noexcept;
template std::size_t fusedmax_scratch_bytes<BFloat16>(index_t, index_t) noexcept;
template void fusedmax(Input<double>, PerRow, DeviceRows<double>, void*, Stream);
template void fusedmax(Input<float>, PerRow, DeviceRows<float>, void*, Stream);
template void fusedmax(Input<Half>, PerRow, DeviceRows<Half>, void*, Stream);
template void fusedmax(Input<BFloat16>, PerRow, DeviceRows<BFloat16>, void*, Stream);

}  // namespace fenchel::cuda
