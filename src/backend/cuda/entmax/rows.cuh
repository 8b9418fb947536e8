#pragma once

#include "backend/cuda/device/entmax/beyond_two.cuh"
#include "backend/cuda/device/entmax/solver.cuh"
#include "backend/cuda/device/row.cuh"
#include "backend/cuda/device/team.cuh"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/packed.hpp"
#include "backend/cuda/row_launch.cuh"

/// The kernels of entmax and of its losses, and which team takes a row. What is done with a prediction is an
/// epilogue: epilogue(row, team, i, top, prediction, valid, wanted) has the prediction solved, where p is
/// E = prediction.value(d) over its sum, NaN where not valid, and writes nothing where not wanted.
namespace fenchel::cuda {

/// Rows of scores whose numbers can be read 16 bytes at a time where `packed`.
template <class T>
struct ScoreRows {
  DeviceRows<const T> rows;
  bool packed;
};

namespace device {

/// Rows of alpha up to 2, or of none.
template <class T, class Team, class Row, Kind kKind, class Epilogue>
__global__ void __launch_bounds__(Team::kBlockThreads)
    entmax_rows_kernel(const __grid_constant__ ScoreRows<T> scores, const PerRow alpha,
                       const __grid_constant__ Epilogue epilogue) {
  using Real = Computed<T>;
  Team team;
  const DeviceRows<const T>& z = scores.rows;
  const bool in_batch = team.row() < z.rows;
  const index_t i = in_batch ? team.row() : z.rows - 1;
  Row row(z.row(i), z.cols, z.step, scores.packed, team.rank());
  team.meet();
  const Real top = team.reduce(row.largest(), Larger());
  const double am1 = kKind == Kind::any ? alpha[i] - 1 : 0.0;
  const bool here = am1 > -1 && am1 <= 1;
  const bool valid = abs(top) <= std::numeric_limits<Real>::max() && here;
  row.centre(top);
  Prediction<Real, kKind> prediction(here ? am1 : 1.0, z.cols);
  epilogue(row, team, i, top, prediction, valid, in_batch && !(am1 > 1));
}

/// Rows of alpha beyond 2.
template <class T, class Team, class Epilogue>
__global__ void __launch_bounds__(Team::kBlockThreads)
    entmax_beyond_two_kernel(const __grid_constant__ ScoreRows<T> scores, const PerRow alpha,
                             const __grid_constant__ Epilogue epilogue) {
  using Real = Computed<T>;
  Team team;
  team.meet();
  const DeviceRows<const T>& z = scores.rows;
  const index_t i = team.row();
  if (i >= z.rows || !(alpha[i] > 2)) return;
  MemoryRow<T, Team::kSize> row(z.row(i), z.cols, z.step, false, team.rank());
  const Real top = team.reduce(row.largest(), Larger());
  row.centre(top);
  BeyondTwo<Real> prediction(alpha[i] - 1);
  epilogue(row, team, i, top, prediction, abs(top) <= std::numeric_limits<Real>::max(), true);
}

}  // namespace device

/// How many kernels are compiled for a use of them: all kinds and teams; fewer teams; where speed is not what
/// matters, few teams and one kind for every alpha; or one kind that reads rows again at each visit.
enum class Variety { full, fewer_teams, one_kind, reading };

/// The threads of a row and how it is held, by its length: use.operator()<Team, Row>() launches. A thread has
/// up to 256 bytes of numbers to compute with in registers, twice as many where a warp has much to do for a
/// row besides (kGeneral), and a block without clusters, which are of those GPUs that have the memory for it,
/// at most 64 KiB.
template <class T, Variety kVariety, bool kGeneral, class Use>
void choose_team(const ScoreRows<T>& scores, const Use& use) {
  using device::BlockTeam, device::WarpTeam;
  const DeviceRows<const T>& z = scores.rows;
  const auto from_memory = [&]<class Team>() {
    use.template operator()<Team, device::MemoryRow<T, Team::kSize>>();
  };
  const auto fits = [&]<class Team, int kQuarters>() {
    constexpr int kPacks = sizeof(T) == 2 && kQuarters > 1 ? kQuarters / 2 : kQuarters;
    using Row = device::RegisterRow<T, Team::kSize, kPacks>;
    if (z.cols > Row::kCapacity) return false;
    use.template operator()<Team, Row>();
    return true;
  };
  if constexpr (kVariety == Variety::reading) {
    if (z.cols <= 1024) return from_memory.template operator()<WarpTeam<128, 32>>();
    if (z.cols <= 65536 || !has_clusters()) return from_memory.template operator()<BlockTeam<256>>();
    return from_memory.template operator()<BlockTeam<1024, 8>>();
  } else {
    constexpr bool kFull = kVariety == Variety::full, kFew = kVariety == Variety::one_kind;
    if (z.step != 1 && z.stride == 1 && z.inner >= device::kWarp) {
      return from_memory.template operator()<device::ColumnTeam<16>>();
    }
    if constexpr (kFull) {
      if (fits.template operator()<WarpTeam<128, 8>, 1>()) return;
      if (fits.template operator()<WarpTeam<128, 4>, 4>()) return;
      if (fits.template operator()<WarpTeam<128, 8>, 4>()) return;
      if (fits.template operator()<WarpTeam<128, 16>, 4>()) return;
    }
    if (fits.template operator()<WarpTeam<128, 32>, 4>()) return;
    if (fits.template operator()<WarpTeam<128, 32>, 8>()) return;
    if constexpr (kFull && kGeneral) {
      if (fits.template operator()<WarpTeam<128, 32>, 16>()) return;
      if (fits.template operator()<BlockTeam<64>, 16>()) return;
      if (fits.template operator()<BlockTeam<128>, 16>()) return;
      if (fits.template operator()<BlockTeam<256>, 16>()) return;
    } else {
      if constexpr (kFull) {
        if (fits.template operator()<BlockTeam<64>, 8>()) return;
      }
      if (fits.template operator()<BlockTeam<128>, 8>()) return;
      if constexpr (!kFew) {
        if (fits.template operator()<BlockTeam<256>, 8>()) return;
      }
      if (fits.template operator()<BlockTeam<512>, 8>()) return;
    }
    if (!has_clusters()) return from_memory.template operator()<BlockTeam<1024>>();
    if constexpr (!kFew) {
      if (fits.template operator()<BlockTeam<512>, 16>()) return;
      if (fits.template operator()<BlockTeam<512, 8>, 8>()) return;
    }
    from_memory.template operator()<BlockTeam<1024, 8>>();
  }
}

inline device::Kind kind_of(const PerRow& alpha) {
  if (alpha.per_row()) return device::Kind::any;
  if (alpha[0] == 1) return device::Kind::softmax;
  if (alpha[0] == 1.5) return device::Kind::three_halves;
  return alpha[0] == 2 ? device::Kind::sparsemax : device::Kind::any;
}

template <Variety kVariety, class T, class Epilogue>
void launch_entmax_rows(std::string_view where, const ScoreRows<T>& scores, PerRow alpha,
                        const Epilogue& epilogue, Stream stream) {
  using device::Kind;
  const index_t rows = scores.rows.rows;
  const bool one_alpha = !alpha.per_row();
  if (!one_alpha || alpha[0] > 2) {
    choose_team<T, Variety::reading, true>(scores, [&]<class Team, class Row>() {
      launch_teams<Team>(where, device::entmax_beyond_two_kernel<T, Team, Epilogue>, rows, stream, scores,
                         alpha, epilogue);
    });
    if (one_alpha) return;
  }
  const auto with_kind = [&]<Kind kKind>() {
    choose_team<T, kVariety, kKind == Kind::any>(scores, [&]<class Team, class Row>() {
      using Prediction = device::Prediction<Computed<T>, kKind>;
      const std::size_t bytes = kKind == Kind::softmax ? 0 : device::candidate_bytes<Prediction, Row, Team>();
      const index_t groups = (rows + Team::kRows - 1) / Team::kRows;
      launch_clusters(where, device::entmax_rows_kernel<T, Team, Row, kKind, Epilogue>,
                      grid_of(where, groups * Team::kBlocks), dim3(Team::kBlockThreads), bytes, stream,
                      Team::kBlocks, scores, alpha, epilogue);
    });
  };
  if constexpr (kVariety == Variety::full || kVariety == Variety::fewer_teams) {
    const Kind kind = kind_of(alpha);
    if (kind == Kind::softmax) return with_kind.template operator()<Kind::softmax>();
    if (kind == Kind::sparsemax) return with_kind.template operator()<Kind::sparsemax>();
    if (kind == Kind::three_halves) return with_kind.template operator()<Kind::three_halves>();
  }
  with_kind.template operator()<Kind::any>();
}

}  // namespace fenchel::cuda
