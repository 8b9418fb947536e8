#pragma once

#include "backend/cuda/device/entmax/solver.cuh"
#include "backend/cuda/device/row.cuh"
#include "backend/cuda/device/team.cuh"
#include "backend/cuda/entmax/tasks.hpp"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/packed.hpp"

/// The kernel of rows in registers, and which team takes a row.
namespace fenchel::cuda {
namespace device {

/// A row's scores with what is known of them, for what is done with its prediction.
template <class Real>
struct ScoredRow {
  index_t i;
  Real top;
  double am1;
  bool valid;   ///< else p is NaN
  bool wanted;  ///< else nothing is written
};

/// So many threads of a multiprocessor have rows on their way at once: with more registers each, fewer.
template <class Row, Use kUse>
inline constexpr int kThreadsAtOnce = [] {
  if (Row::kPacks > 8) return 512;
  if (kUse == Use::map && sizeof(typename Row::Real) == 4) return Row::kPacks > 4 ? 1024 : 1152;
  return Row::kPacks > 4 ? 768 : 1024;
}();

/// A row of alpha up to 2, or of none. `loaded` is what do_task.load(i, team) has read besides the scores,
/// and do_task(row, team, scored, loaded, prediction, when_solved) solves, calls when_solved() and writes.
template <Kind kKind, class Team, class Row, class DoTask, class Loaded, class WhenSolved>
__device__ inline void do_row(Team& team, Row& row, index_t i, bool in_batch, index_t cols,
                              const PerRow& alpha, const DoTask& do_task, const Loaded& loaded,
                              const WhenSolved& when_solved) {
  using Real = typename Row::Real;
  team.meet();
  const Real top = team.reduce(row.largest(), Larger());
  const double am1 = kKind == Kind::any ? alpha[i] - 1 : kAm1Of<kKind>;
  const bool here = am1 > -1 && am1 <= 1, valid = abs(top) <= std::numeric_limits<Real>::max() && here;
  row.centre(valid ? top : -kLowest<Real>);  // a row without prediction is masked
  Prediction<Real, kKind> prediction(here ? am1 : 1.0, cols);
  do_task(row, team, ScoredRow<Real>{i, top, am1, valid, in_batch && !(am1 > 1)}, loaded, prediction,
          when_solved);
}

/// Whether a block takes many rows one after the other, and each is fetched while the one before is written:
/// where there is one block a multiprocessor, nobody else would use the memory meanwhile.
template <Kind kKind, class Row, class DoTask>
inline constexpr bool kFetches = Row::kPacks > 8 && kKind != Kind::any&& DoTask::kUse != Use::soft;

template <class Team, class Row, Kind kKind, class DoTask>
__global__ void __launch_bounds__(Team::kBlockThreads,
                                  (kThreadsAtOnce<Row, DoTask::kUse> - 1) / Team::kBlockThreads + 1)
    entmax_rows_kernel(const __grid_constant__ AnyRows scores, const PerRow alpha,
                       const __grid_constant__ DoTask do_task) {
  Team team;
  const index_t last = scores.rows - 1, begin = team.row() < last ? team.row() : last;
  if constexpr (kFetches<kKind, Row, DoTask>) {
    extern __shared__ __align__(16) unsigned char lists[];  // the same memory as that of a solver's list
    Row::fetch(scores.row(begin), scores.cols, team.rank(), lists);
    auto loaded = do_task.load(begin, team);
#pragma unroll 1
    for (index_t i = begin, next; i <= last; i = next) {
      next = i + gridDim.x;
      Row row(scores.row(i), scores.cols, team.rank(), lists);
      const auto of_this = loaded;
      do_row<kKind>(team, row, i, true, scores.cols, alpha, do_task, of_this, [&] {
        if (next > last) return;
        Row::fetch(scores.row(next), scores.cols, team.rank(), lists);
        loaded = do_task.load(next, team);
      });
    }
  } else {
    Row row(scores.row(begin), scores.cols, team.rank());
    const auto loaded = do_task.load(begin, team);
    do_row<kKind>(team, row, begin, team.row() <= last, scores.cols, alpha, do_task, loaded, [] {});
  }
}

}  // namespace device

/// The threads of a row by its length: true where use.operator()<Team, Row>() launched. A thread has up to
/// 128 bytes of numbers in registers, and twice as many of rows that are too long else. Rows of double, and
/// those of kFew, have fewer teams; where powers are dear (kDear), shared memory has no room for some.
template <class T, bool kFew, bool kDear, int kParts, class Use>
bool with_team(const DeviceRows<const T>& z, const Use& use) {
  using device::BlockTeam, device::WarpTeam;
  constexpr bool kAll = sizeof(T) < 8 && !kFew;
  const bool aligned = is_packed(z);
  const auto fits = [&]<class Team, int kCount>() {
    using Row = device::RegisterRow<T, Team::kSize, kCount, kParts>;
    if (z.cols > Row::kCapacity - (aligned ? 0 : Row::kSize - 1)) return false;
    use.template operator()<Team, Row>();
    return true;
  };
  if (z.step != 1 && z.cols > 1) return false;
  if constexpr (kAll) {
    if (fits.template operator()<WarpTeam<128, 8>, 1>()) return true;
    if (fits.template operator()<WarpTeam<128, 4>, 4>()) return true;
    if (fits.template operator()<WarpTeam<128, 4>, 8>()) return true;
  }
  if (fits.template operator()<WarpTeam<128, 8>, 8>()) return true;
  if constexpr (kAll) {
    if (fits.template operator()<WarpTeam<128, 16>, 8>()) return true;
  }
  if (fits.template operator()<WarpTeam<128, 32>, 8>()) return true;
  if constexpr (kAll) {
    if (fits.template operator()<BlockTeam<64>, 8>()) return true;
  }
  if (fits.template operator()<BlockTeam<128>, 8>()) return true;
  if constexpr (kAll) {
    if (fits.template operator()<BlockTeam<256>, 8>()) return true;
  }
  if constexpr (kDear && sizeof(T) == 4) {
    if (has_clusters() && fits.template operator()<BlockTeam<256>, 16>()) return true;
  }
  constexpr bool kLarge = kDear && sizeof(T) == 2;  // 128 KiB of shared memory
  if ((!kLarge || has_clusters()) && fits.template operator()<BlockTeam<512>, 8>()) return true;
  if (!has_clusters()) return false;
  if constexpr (sizeof(T) > 2 || !kDear) {
    if (fits.template operator()<BlockTeam<512>, 16>()) return true;
  }
  if constexpr (kFew && !kDear) return false;
  return fits.template operator()<BlockTeam<512, 8>, 8>();
}

/// Gives the rows of one kind to their teams, if they fit.
template <device::Kind kKind, bool kFew, class T, class DoTask>
bool launch_kind(std::string_view where, const DeviceRows<const T>& z, PerRow alpha, const DoTask& do_task,
                 Stream stream) {
  using device::Kind;
  constexpr int kParts = sizeof(T) == 2 && DoTask::kUse == device::Use::classes && kKind != Kind::any ? 2 : 1;
  return with_team<T, kFew, kKind == Kind::any, kParts>(z, [&]<class Team, class Row>() {
    using Prediction = device::Prediction<Computed<T>, kKind>;
    std::size_t shared = device::Solution<Prediction, Row, Team, DoTask::kUse>::shared_bytes();
    index_t groups = (z.rows + Team::kRows - 1) / Team::kRows;
    if constexpr (device::kFetches<kKind, Row, DoTask>) {
      shared = std::max(shared, Row::kStageBytes);
      groups = std::min(groups, multiprocessors());
    }
    launch_clusters(where, device::entmax_rows_kernel<Team, Row, kKind, DoTask>,
                    grid_of(where, groups * Team::kBlocks), dim3(Team::kBlockThreads), shared, stream,
                    Team::kBlocks, device::AnyRows(z), alpha, do_task);
  });
}

}  // namespace fenchel::cuda
