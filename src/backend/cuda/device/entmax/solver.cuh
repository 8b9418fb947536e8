#pragma once

#include "backend/cuda/device/entmax/candidates.cuh"
#include "backend/cuda/device/entmax/powers.cuh"

/// entmax of the row that a team holds: a functor from d = z - max z to E = p / P, not yet normalised.
namespace fenchel::cuda::device {

/// What the host knows of alpha when it chooses a kernel.
enum class Kind { softmax, sparsemax, three_halves, any };

/// Newton's iteration with one reduction a step; visit(f) calls f for every number of the row that can have
/// mass and is this thread's.
template <class Sum, class Power, class Team, class Visit>
__device__ inline void iterate(Power& power, Team& team, bool mine, const Visit& visit) {
  bool done = !mine;
#pragma unroll 1
  for (int step = 0; step < kMostSteps; ++step) {
    typename Power::template Sums<Sum> sums;
    visit([&](auto d) { power.add(sums, d); });
    sums = team.reduce(sums, Plus());
    if (!done) done = power.advance(sums, step);
    if (!team.any(!done)) return;
  }
}

/// Starts from a lower bound of the root: that of a few scores, the largest of each thread of a warp, which
/// have less mass than all. Newton's steps without Halley's lengthening stay below it.
template <class Power, class Row, class Team>
__device__ inline void start_below(Power& power, const Row& row, Team& team) {
  constexpr int kSteps = Power::kCheap ? 3 : 2;
  const auto top = row.largest();
  WarpTeam<kWarp, (Team::kSize < kWarp ? Team::kSize : kWarp)> alone;
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) {
    typename Power::template Sums<typename Row::Real> sums;
    power.add(sums, top);
    sums = alone.reduce(sums, Plus());
    if (sums.value > 0) power.advance(sums, kHalleySteps);
  }
  auto bound = power.bound();
  if constexpr (Team::kSize > kWarp) bound = team.reduce(bound, Larger());
  power.start(bound);
}

/// Rows of which a thread holds few numbers are solved where they are, and where powers are cheap all those
/// of blocks whose barriers cost less than gathering candidates does.
template <class Power, class Row, class Team>
inline constexpr bool kUsesCandidates = [] {
  if constexpr (Row::kKeeps && Team::kSize >= kWarp) {
    return Row::kItems > 4 && (!Power::kCheap || Team::kBlockThreads >= 512);
  }
  return false;
}();

/// The shared memory of a block for them.
template <class Power, class Row, class Team>
constexpr std::size_t candidate_bytes() {
  if constexpr (kUsesCandidates<Power, Row, Team>) {
    return Candidates<typename Row::Real, Row::kItems>::bytes(Team::kBlockThreads);
  }
  return 0;
}

/// Steps on an eighth of many candidates, as if the others were like them: the next is near the root, from
/// whichever side.
template <class Power, class Real, int kItems, class Team>
__device__ inline void start_on_part(Power& power, const Candidates<Real, kItems>& list, Team& team,
                                     bool mine) {
  constexpr int kSteps = 2, kPart = 8;
  if (Team::kSize == kWarp && list.count() < kPart * kWarp) return;
  const int turns = (list.count() + kWarp - 1) / kWarp, visited = (turns + kPart - 1) / kPart;
  const Real weight = visited == 0 ? Real(0) : quotient(static_cast<Real>(turns), static_cast<Real>(visited));
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) {
    typename Power::template Sums<Real> sums;
    list.template for_each<kPart>([&](Real d) { power.add(sums, d); });
    sums = team.reduce(sums.times(weight), Plus());
    if (mine && sums.value > 1) power.advance(sums, step);
  }
}

/// Few candidates are solved by a warp of each block, with no barrier between steps; many by all of them.
template <class Power, class Real, int kItems, class Team>
__device__ inline void solve_by_one_warp(Power& power, const Candidates<Real, kItems>& list, Team& team,
                                         bool mine) {
  constexpr int kWarps = Team::kSize / kWarp, kFew = 1024;
  __shared__ int counts[kWarps];
  __shared__ Real few[kFew];
  __shared__ __align__(16) unsigned char solved[sizeof(Power)];
  const int warp = team.rank() / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane == 0) team.store(counts + warp, list.count());
  team.sync();
  int all = 0, before = 0;
  for (int w = lane; w < kWarps; w += kWarp) {
    all += counts[w];
    before += w < warp ? counts[w] : 0;
  }
  all = warp_reduce(all, Plus());
  before = warp_reduce(before, Plus());
  if (all > kFew) {
    if constexpr (!Power::kCheap) start_on_part(power, list, team, mine);
    return iterate<Real>(power, team, mine, [&](auto f) { list.for_each(f); });
  }
  list.for_each_place([&](Real d, int k) { team.store(few + before + k, d); });
  team.sync();
  if (threadIdx.x < kWarp) {
    WarpTeam<kWarp, kWarp> alone;
    iterate<Real>(power, alone, mine, [&](auto f) {
#pragma unroll 2
      for (int k = lane; k < all; k += kWarp) f(few[k]);
    });
    if (lane == 0) memcpy(solved, &power, sizeof power);
  }
  __syncthreads();
  memcpy(&power, solved, sizeof power);
}

template <class Power, class Real, int kItems, class Team>
__device__ inline void solve(Power& power, const Candidates<Real, kItems>& list, Team& team, bool mine) {
  if constexpr (Team::kSize == kWarp) {
    if constexpr (!Power::kCheap) start_on_part(power, list, team, mine);
    iterate<Real>(power, team, mine, [&](auto f) { list.for_each(f); });
  } else {
    solve_by_one_warp(power, list, team, mine);
  }
}

/// Rows in registers that are solved where they are: those of one warp start near the root.
template <class Power, class Row, class Team>
__device__ inline void solve(Power& power, const Row& row, Team& team, bool mine) {
  if constexpr (Row::kKeeps && Team::kSize <= kWarp) {
    if constexpr (Row::kItems > 4) start_below(power, row, team);
  }
  iterate<typename Row::Sum>(power, team, mine, [&](auto f) { row.for_each(f); });
}

/// Solves, and keeps E in place of the row's values; this thread's part of the sum of E, in four parts, as
/// many equal numbers would all round the same way.
template <class Power, class Row, class Team>
__device__ inline typename Row::Sum solve_and_replace(Power& power, Row& row, Team& team, bool mine) {
  using Real = typename Row::Real;
  const auto value = [&](Real d) { return power.value(d); };
  if constexpr (kUsesCandidates<Power, Row, Team> && !std::is_base_of_v<ExponentialPower<Real>, Power>) {
    start_below(power, row, team);
    const Real cut = power.cut();
    const Candidates<Real, Row::kItems> list(row, cut);
    solve(power, list, team, mine);
    if constexpr (Power::kCheap) {
      row.replace(value);
    } else {
      list.replace(row, cut, value);
    }
  } else {
    power.solve(row, team, mine);
    if constexpr (Row::kKeeps) row.replace(value);
  }
  if constexpr (Row::kKeeps) {
    Real parts[4] = {0, 0, 0, 0};
    row.for_each_place([&](Real e, int place) { parts[place % 4] += e; });
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
  } else {
    typename Row::Sum sum = 0;
    row.for_each([&](Real d) { sum += power.value(d); });
    return sum;
  }
}

template <class Real, Kind kKind>
class Prediction;

template <class Real>
class Prediction<Real, Kind::softmax> : public ExponentialPower<Real> {
 public:
  __device__ Prediction(double, index_t) {}
  template <class Row, class Team>
  __device__ void solve(const Row&, Team&, bool) {}
};

/// A power with its solver.
template <class Power>
class PowerPrediction : public Power {
 public:
  using Power::Power;
  template <class Row, class Team>
  __device__ void solve(const Row& row, Team& team, bool valid) {
    device::solve(static_cast<Power&>(*this), row, team, valid);
  }
};
template <class Real>
class Prediction<Real, Kind::sparsemax> : public PowerPrediction<WholePower<Real, 1>> {
  using PowerPrediction<WholePower<Real, 1>>::PowerPrediction;
};
template <class Real>
class Prediction<Real, Kind::three_halves> : public PowerPrediction<WholePower<Real, 2>> {
  using PowerPrediction<WholePower<Real, 2>>::PowerPrediction;
};
template <class Real>
class Prediction<Real, Kind::any> : public PowerPrediction<AnyPower<Real>> {
  using PowerPrediction<AnyPower<Real>>::PowerPrediction;
};

}  // namespace fenchel::cuda::device
