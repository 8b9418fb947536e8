#pragma once

#include "backend/cuda/device/entmax/beyond_two.cuh"
#include "backend/cuda/device/entmax/solver.cuh"
#include "backend/cuda/device/row.cuh"
#include "backend/cuda/device/team.cuh"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/packed.hpp"
#include "backend/cuda/row_launch.cuh"

/// The kernels of entmax and of its losses, and which team takes a row. What is done with a prediction is an
/// epilogue, which has
///   load(i): what it needs of row i besides the scores, read while they are on their way;
///   held(row, team, i, loaded, prediction, valid, wanted) solves a row in registers;
///   read(row, team, i, top, prediction, valid, wanted) has a row in memory whose prediction is solved.
/// p is E = prediction.value(d) over its sum, NaN where not valid, and nothing is written where not wanted.
namespace fenchel::cuda {

namespace device {

/// Rows of alpha up to 2, or of none.
template <class Team, class Row, Kind kKind, class Epilogue>
__global__ void __launch_bounds__(Team::kBlockThreads)
    entmax_rows_kernel(const __grid_constant__ AnyRows scores, const PerRow alpha,
                       const __grid_constant__ Epilogue epilogue) {
  using Real = typename Row::Real;
  Team team;
  const bool in_batch = team.row() < scores.rows;
  const index_t i = in_batch ? team.row() : scores.rows - 1;
  Row row(scores.row(i), scores.cols, team.rank());
  const auto loaded = epilogue.load(i);
  team.meet();
  const Real top = team.reduce(row.largest(), Larger());
  const double am1 = kKind == Kind::softmax ? 0.0 : alpha[i] - 1;
  const bool here = am1 > -1 && am1 <= 1;
  const bool valid = abs(top) <= std::numeric_limits<Real>::max() && here, wanted = in_batch && !(am1 > 1);
  row.centre(valid ? top : Real(0));
  Prediction<Real, kKind> prediction(here ? am1 : 1.0, scores.cols);
  if constexpr (Row::kKeeps) {
    epilogue.held(row, team, i, top, loaded, prediction, valid, wanted);
  } else {
    solve_in_memory(prediction, row, team, valid);
    epilogue.read(row, team, i, top, prediction, valid, wanted);
  }
}

/// Rows of alpha beyond 2.
template <class Team, class Row, class Epilogue>
__global__ void __launch_bounds__(Team::kBlockThreads)
    entmax_beyond_two_kernel(const __grid_constant__ AnyRows scores, const PerRow alpha,
                             const __grid_constant__ Epilogue epilogue) {
  using Real = typename Row::Real;
  Team team;
  team.meet();
  const index_t i = team.row();
  if (i >= scores.rows || !(alpha[i] > 2)) return;
  Row row(scores.row(i), scores.cols, team.rank());
  const Real top = team.reduce(row.largest(), Larger());
  const bool valid = abs(top) <= std::numeric_limits<Real>::max();
  row.centre(top);
  BeyondTwo<Real> prediction(alpha[i] - 1);
  prediction.solve(row, team, valid);
  epilogue.read(row, team, i, top, prediction, valid, true);
}

}  // namespace device

/// The threads of a row and how it is held, by its length: use.operator()<Team, Row>() launches. A thread has
/// up to 128 bytes of numbers in registers, and twice as many of rows that are too long else, of those GPUs
/// that have clusters: others have no shared memory for it.
template <class T, class Use>
void choose_team(const DeviceRows<const T>& z, const Use& use) {
  using device::BlockTeam, device::WarpTeam;
  const auto from_memory = [&]<class Team>() {
    use.template operator()<Team, device::MemoryRow<Computed<T>, Team::kSize>>();
  };
  const bool aligned = is_packed(z);
  const auto fits = [&]<class Team, int kPacks>() {
    using Row = device::RegisterRow<device::Payload<T>, Team::kSize, kPacks>;
    if (z.cols > Row::kCapacity - (aligned ? 0 : Row::kSize - 1)) return false;
    use.template operator()<Team, Row>();
    return true;
  };
  if (z.step != 1 && z.cols > 1) {
    const bool neighbours = z.stride == 1 && z.inner >= device::kWarp;
    if (neighbours) return from_memory.template operator()<device::ColumnTeam<16>>();
    if (z.cols <= 1024) return from_memory.template operator()<WarpTeam<128, 32>>();
    return from_memory.template operator()<BlockTeam<1024>>();
  }
  if (fits.template operator()<WarpTeam<128, 8>, 1>()) return;
  if (fits.template operator()<WarpTeam<128, 8>, 4>()) return;
  if (fits.template operator()<WarpTeam<128, 16>, 4>()) return;
  if (fits.template operator()<WarpTeam<128, 32>, 4>()) return;
  if (fits.template operator()<WarpTeam<128, 32>, 8>()) return;
  if (fits.template operator()<BlockTeam<64>, 8>()) return;
  if (fits.template operator()<BlockTeam<128>, 8>()) return;
  if (fits.template operator()<BlockTeam<256>, 8>()) return;
  if (fits.template operator()<BlockTeam<512>, 8>()) return;
  if (!has_clusters()) return from_memory.template operator()<BlockTeam<1024>>();
  if (fits.template operator()<BlockTeam<512>, 16>()) return;
  if (fits.template operator()<BlockTeam<512, 8>, 8>()) return;
  from_memory.template operator()<BlockTeam<1024, 8>>();
}

/// The same for rows that are read at each visit.
template <class Real, class Use>
void choose_reading_team(index_t cols, const Use& use) {
  const auto from_memory = [&]<class Team>() {
    use.template operator()<Team, device::MemoryRow<Real, Team::kSize>>();
  };
  if (cols <= 1024) return from_memory.template operator()<device::WarpTeam<128, 32>>();
  if (cols <= 65536 || !has_clusters()) return from_memory.template operator()<device::BlockTeam<256>>();
  from_memory.template operator()<device::BlockTeam<1024, 8>>();
}

inline device::Kind kind_of(const PerRow& alpha) {
  if (alpha.per_row()) return device::Kind::any;
  if (alpha[0] == 1) return device::Kind::softmax;
  return alpha[0] == 2 || alpha[0] == 1.5 ? device::Kind::whole : device::Kind::any;
}

/// Calls use.operator()<kKind>().
template <class Use>
void with_kind(device::Kind kind, const Use& use) {
  using device::Kind;
  if (kind == Kind::softmax) return use.template operator()<Kind::softmax>();
  if (kind == Kind::whole) return use.template operator()<Kind::whole>();
  use.template operator()<Kind::any>();
}

/// Rows of alpha beyond 2, if there may be some; false if there are no others.
template <class Real, class Epilogue>
bool launch_beyond_two(std::string_view where, const device::AnyRows& scores, PerRow alpha, const Epilogue& epilogue,
                       Stream stream) {
  const bool one_alpha = !alpha.per_row();
  if (one_alpha && !(alpha[0] > 2)) return true;
  choose_reading_team<Real>(scores.cols, [&]<class Team, class Row>() {
    launch_teams<Team>(where, device::entmax_beyond_two_kernel<Team, Row, Epilogue>, scores.rows, stream,
                       scores, alpha, epilogue);
  });
  return !one_alpha;
}

/// Rows in memory.
template <class Real, class Epilogue>
void launch_reading(std::string_view where, const device::AnyRows& scores, PerRow alpha, const Epilogue& epilogue,
                    Stream stream) {
  if (!launch_beyond_two<Real>(where, scores, alpha, epilogue, stream)) return;
  choose_reading_team<Real>(scores.cols, [&]<class Team, class Row>() {
    launch_teams<Team>(where, device::entmax_rows_kernel<Team, Row, device::Kind::any, Epilogue>,
                       scores.rows, stream, scores, alpha, epilogue);
  });
}

/// Rows of storage type T, in registers where they fit.
template <class T, class Epilogue>
void launch_entmax_rows(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                        const Epilogue& epilogue, Stream stream) {
  const device::AnyRows scores(z);
  if (!launch_beyond_two<Computed<T>>(where, scores, alpha, epilogue, stream)) return;
  with_kind(kind_of(alpha), [&]<device::Kind kKind>() {
    choose_team(z, [&]<class Team, class Row>() {
      std::size_t bytes = 0;
      if constexpr (Row::kKeeps) {
        using Prediction = device::Prediction<Computed<T>, kKind>;
        bytes = device::Solution<Prediction, Row, Team, Epilogue::kUse>::shared_bytes();
      }
      const index_t groups = (z.rows + Team::kRows - 1) / Team::kRows;
      launch_clusters(where, device::entmax_rows_kernel<Team, Row, kKind, Epilogue>,
                      grid_of(where, groups * Team::kBlocks), dim3(Team::kBlockThreads), bytes, stream,
                      Team::kBlocks, scores, alpha, epilogue);
    });
  });
}

}  // namespace fenchel::cuda
