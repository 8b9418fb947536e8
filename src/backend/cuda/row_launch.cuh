#pragma once

#include "backend/cuda/device/team.cuh"
#include "backend/cuda/launch.cuh"

namespace fenchel::cuda {

/// Gives a kernel to as many teams as there are rows.
template <class Team, class... Params>
void launch_teams(std::string_view where, void (*kernel)(Params...), index_t rows, Stream stream,
                  const std::type_identity_t<Params>&... params) {
  const index_t blocks = (rows + Team::kRows - 1) / Team::kRows * Team::kBlocks;
  launch_clusters(where, kernel, grid_of(where, blocks), dim3(Team::kBlockThreads), 0, stream, Team::kBlocks,
                  params...);
}

/// Calls use.operator()<Team>() with the team for rows that are read anew at each step, one row a warp at
/// least.
template <class Use>
void with_reading_team(index_t cols, const Use& use) {
  if (cols <= 1024) return use.template operator()<device::WarpTeam<128, device::kWarp>>();
  if (cols <= 65536 || !has_clusters()) return use.template operator()<device::BlockTeam<256>>();
  use.template operator()<device::BlockTeam<512, 8>>();
}

}  // namespace fenchel::cuda
