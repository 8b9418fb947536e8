#pragma once

#include "backend/cuda/device/entmax/kind.hpp"
#include "backend/cuda/device/entmax/powers.cuh"
#include "backend/cuda/device/entmax/support.cuh"

/// entmax of the row that a team holds: a functor from d = z - max z to E = p / P, not yet normalised.
namespace fenchel::cuda::device {

template <class Real, Kind kKind>
class Prediction;
template <class Real>
class Prediction<Real, Kind::softmax> : public ExponentialPower<Real> {
 public:
  __device__ Prediction(double, index_t) {}
};
template <class Real>
class Prediction<Real, Kind::whole> : public WholePower<Real> {
  using WholePower<Real>::WholePower;
};
template <class Real>
class Prediction<Real, Kind::any> : public AnyPower<Real> {
  using AnyPower<Real>::AnyPower;
};

/// Newton's iteration with one reduction a step: sums_of() is what this thread adds to the sums.
template <class Power, class Team, class SumsOf>
__device__ inline void iterate(Power& power, Team& team, bool mine, const SumsOf& sums_of) {
  bool done = !mine;
#pragma unroll 1
  for (int step = 0; step < kMostSteps; ++step) {
    const auto sums = team.reduce(sums_of(), Plus());
    if (!done) done = power.advance(sums, step);
    if (!team.any(!done)) return;
  }
}

/// Starts from a lower bound of the root: that of a few scores, the largest of each thread of a warp, which
/// have less mass than all. Newton's steps without Halley's lengthening stay below it.
template <class Power, class Row, class Team>
__device__ inline void start_below(Power& power, typename Row::Real top, Team& team) {
  constexpr int kSteps = Power::kCheap ? 3 : 2;
  WarpTeam<kWarp, (Team::kSize < kWarp ? Team::kSize : kWarp)> alone;
#pragma unroll 1
  for (int step = 0; step < kSteps; ++step) {
    using Sums = typename Power::template Sums<typename Row::Real>;
    const Sums sums = alone.reduce(Sums(power.terms(top)), Plus());
    if (sums.value > 0) power.advance(sums, kHalleySteps);
  }
  auto bound = power.bound();
  if constexpr (!Team::kInWarp) bound = team.reduce(bound, Larger());
  power.start(bound);
}

/// What is summed over a row once it is solved: E, and where there is a class E^alpha, both without its
/// column.
using Tally = TwoPowerSums<double>;

/// The class of a row, if it has one, and where this thread has its column: -1 where it has not.
struct OwnColumn {
  bool exists = false;
  int place = -1;
};

/// Solves a row in memory, if it is `mine`.
template <class Prediction, class Row, class Team>
__device__ inline void solve_in_memory(Prediction& prediction, const Row& row, Team& team, bool mine) {
  using Real = typename Row::Real;
  if constexpr (!std::is_base_of_v<ExponentialPower<Real>, Prediction>) {
    iterate(prediction, team, mine, [&] {
      CarefulSums<PowerTerms<double>> sums;
      row.for_each([&](Real d, index_t) { sums.add(PowerTerms<double>(prediction.terms(d))); });
      return typename Prediction::template Sums<double>(sums.sums());
    });
  }
}

/// A row in registers and its prediction, solved if the row is `mine`. Where powers are dear, where there are
/// two bytes a number, and so many of them, and where barriers cost much, a list of what can have mass is
/// solved. Rows are solved in registers else, and where powers are cheap and the list is long. Where
/// kKeepsScores, E does not take the place of the scores.
template <class Prediction, class Row, class Team, bool kKeepsScores>
class Solution {
 public:
  using Real = typename Row::Real;
  static constexpr bool kExponential = std::is_base_of_v<ExponentialPower<Real>, Prediction>;

  [[nodiscard]] static constexpr std::size_t shared_bytes() {
    if constexpr (kLists) return List::bytes();
    return 0;
  }

  __device__ Solution(Prediction& prediction, Row& row, Team& team, bool mine, const OwnColumn& own)
      : prediction_(prediction), row_(row), team_(team), own_(own), list_(listed()), tally_(solve(mine)) {}

  /// What has a sum of one by its making, and no class, is not summed.
  [[nodiscard]] __device__ const Tally& tally() const { return tally_; }

  /// E of a score.
  [[nodiscard]] __device__ Real value(Real d) const {
    if constexpr (kExponential && !Row::kStoresReal) return prediction_.quick_value(d);
    return prediction_.value(d);
  }

  /// Writes scale E.
  __device__ void write(const AnyRow& out, Real scale) {
    row_.compute_anew();
    row_.write(out, [&](int v) {
      auto numbers = powers(v);
#pragma unroll
      for (Real& x : numbers.values) x *= scale;
      return numbers;
    });
  }

 private:
  using PackNumbers = Numbers<typename Row::Stored>;
  static constexpr bool kLists = [] {
    if (kExponential || Row::kPacks == 1) return false;
    return !Prediction::kCheap || !Row::kStoresReal || Team::kBlockThreads >= 512;
  }();
  /// E takes the place of the scores.
  static constexpr bool kReplaces = !kLists && !kKeepsScores && Row::kStoresReal;
  /// Numbers of a row that a block has room for.
  static constexpr int kRoom = [] {
    constexpr int kAll = Row::kItems * (Team::kSize / Team::kBlocks);
    return !Prediction::kCheap ? kAll : Team::kInWarp ? kAll / 4 : std::min(kAll, kFewNumbers);
  }();
  struct NoList {
    static constexpr bool kHoldsAll = false;
  };
  using List = std::conditional_t<kLists, Support<Row, Team, kRoom>, NoList>;

  /// Where powers are cheap, what can have mass at first; if that is too much, what can have it above a better
  /// bound.
  __device__ List listed() {
    if constexpr (kLists) {
      if constexpr (Prediction::kCheap) {
        List list(row_, prediction_.cut(), own_.place, team_);
        if (!team_.any(!list.is_whole())) return list;
      }
      start_below<Prediction, Row>(prediction_, row_.largest_value(), team_);
      return List(row_, prediction_.cut(), own_.place, team_);
    } else {
      return {};
    }
  }

  __device__ Tally solve(bool mine) {
    if constexpr (kLists) {
      if constexpr (Team::kInWarp) {
        if (List::kHoldsAll || !team_.any(!list_.is_whole())) {
          return solve_list(team_, team_.rank(), Team::kSize, mine);
        }
      } else {
        if (list_.is_whole() && list_.count() * Row::kSize <= kFewNumbers) return solve_by_one_warp(mine);
        if constexpr (List::kHoldsAll) {
          return solve_list(team_, static_cast<int>(threadIdx.x), Team::kBlockThreads, mine);
        }
      }
    }
    if constexpr (!List::kHoldsAll) return solve_in_place(mine);
  }
  __device__ Tally solve_in_place(bool mine) {
    is_in_place_ = true;
    if constexpr (!kExponential) {
      if constexpr (Team::kInWarp && !kLists && Row::kPacks > 1) {
        start_below<Prediction, Row>(prediction_, row_.largest_value(), team_);
      }
      iterate(prediction_, team_, mine, [&] { return sums_in_place(); });
    }
    if constexpr (kReplaces) {
      row_.replace([&](Real d) { return value(d); });
      return tally_in_place([](Real e) { return e; });
    } else {
      return tally_in_place([&](Real d) { return value(d); });
    }
  }

  /// Each thread has every stride-th number or pack of the list, from the rank-th on; E takes their place.
  template <class Group>
  __device__ Tally solve_list(Group& group, int rank, int stride, bool mine) {
    Real* const list = list_.numbers();
    const int count = list_.count() * Row::kSize;
    if constexpr (!Row::kStoresReal) {
      for (int k = rank; k < list_.count(); k += stride) {
        const auto pack = list_.template at<Pack<typename Row::Stored>>(k);
        list_.template at<PackNumbers>(k) = row_.values(pack);
      }
      group.sync();
    }
    iterate(prediction_, group, mine, [&] {
      CarefulSums<typename Prediction::Terms> sums;
#pragma unroll 2
      for (int k = rank; k < count; k += stride) sums.add(prediction_.terms(list[k]));
      return typename Prediction::template Sums<Real>(sums.sums());
    });
    CarefulSums<TwoPowerSums<Real>> tally;
    for (int k = rank; k < count; k += stride) {
      const Real e = prediction_.value(list[k]);
      tally.add(tally_of(e, k == list_.own()));
      list[k] = e;
    }
    group.sync();
    return reduced(group, Tally(tally.sums()));
  }

  /// By a warp of each block, with no barrier between steps.
  __device__ Tally solve_by_one_warp(bool mine) {
    __shared__ __align__(16) unsigned char found[sizeof(Prediction) + sizeof(Tally)];
    if (threadIdx.x < kWarp) {
      WarpTeam<kWarp, kWarp> alone;
      const Tally tally = solve_list(alone, static_cast<int>(threadIdx.x), kWarp, mine);
      if (threadIdx.x == 0) {
        memcpy(found, &prediction_, sizeof prediction_);
        memcpy(found + sizeof prediction_, &tally, sizeof tally);
      }
    }
    __syncthreads();
    memcpy(&prediction_, found, sizeof prediction_);
    Tally tally;
    memcpy(&tally, found + sizeof prediction_, sizeof tally);
    return tally;
  }

  /// E of the numbers of a pack.
  [[nodiscard]] __device__ PackNumbers powers(int v) const {
    if constexpr (kReplaces) return row_.values(v);
    if constexpr (kLists) {
      if (!list_.has(v)) return {};
      if (!is_in_place_) return list_.template at<PackNumbers>(list_.place_of(v));
    }
    PackNumbers numbers = row_.values(v);
#pragma unroll
    for (Real& x : numbers.values) x = value(x);
    return numbers;
  }

  [[nodiscard]] __device__ auto sums_in_place() {
    row_.compute_anew();
    return typename Prediction::template Sums<Real>(
        row_.sum([&](Real d, int) { return prediction_.terms(d); }));
  }

  [[nodiscard]] __device__ TwoPowerSums<Real> tally_of(Real e, bool own) const {
    if (!own_.exists) return {e, Real(0)};
    return own ? TwoPowerSums<Real>() : TwoPowerSums<Real>(e, prediction_.powered(e));
  }
  /// e_of(x) is E of what the row has.
  template <class Value>
  [[nodiscard]] __device__ Tally tally_in_place(Value e_of) {
    if (Prediction::kNormalized && !own_.exists) return {1, 0};
    row_.compute_anew();
    return reduced(team_, Tally(row_.sum(
                              [&](Real x, int place) { return tally_of(e_of(x), place == own_.place); })));
  }
  template <class Group>
  [[nodiscard]] __device__ Tally reduced(Group& group, const Tally& mine) const {
    if (own_.exists) return group.reduce(mine, Plus());
    return {Prediction::kNormalized ? 1.0 : group.reduce(mine.value, Plus()), 0};
  }

  Prediction& prediction_;
  Row& row_;
  Team& team_;
  OwnColumn own_;
  bool is_in_place_ = !kLists;
  List list_;
  Tally tally_;
};

}  // namespace fenchel::cuda::device
