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
  using Power = ExponentialPower<Real>;
  __device__ Prediction(double, index_t) {}
};
template <class Real>
class Prediction<Real, Kind::sparsemax> : public WholePower<Real, 1> {
 public:
  using Power = WholePower<Real, 1>;
  using WholePower<Real, 1>::WholePower;
};
template <class Real>
class Prediction<Real, Kind::three_halves> : public WholePower<Real, 2> {
 public:
  using Power = WholePower<Real, 2>;
  using WholePower<Real, 2>::WholePower;
};
template <class Real>
class Prediction<Real, Kind::any> : public AnyPower<Real> {
 public:
  using Power = AnyPower<Real>;
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

/// What is done with a solved row: it is written; or compared with a class, if it has one; or with another
/// row.
enum class Use { map, classes, soft };

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
/// two bytes a number, and so many of them, where more than E is summed, and where barriers cost much, a list
/// of what can have mass is solved; other rows are solved where they are.
template <class Prediction, class Row, class Team, Use kUse>
class Solution {
 public:
  using Real = typename Row::Real;
  static constexpr bool kExponential = std::is_base_of_v<ExponentialPower<Real>, Prediction>;

  [[nodiscard]] static constexpr std::size_t shared_bytes() {
    if constexpr (kLists) return List::bytes();
    return 0;
  }

  __device__ Solution(Prediction& prediction, Row& row, Team& team, bool mine, const OwnColumn& own)
      : prediction_(prediction),
        row_(row),
        team_(team),
        own_(own),
        list_(listed()),
        packs_(packs_of(list_)),
        tally_(solve(mine)) {}

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
    row_.template write<kUse == Use::classes>(out, [&](int v) {
      auto numbers = powers(v);
#pragma unroll
      for (Real& x : numbers.values) x *= scale;
      return numbers;
    });
  }

 private:
  using Stored = typename Row::Stored;
  using PackNumbers = Numbers<Stored>;
  static constexpr bool kLists = [] {
    if (kExponential || Row::kPacks == 1) return false;
    const bool sums_more = kUse == Use::classes && Team::kSize >= 16;
    return !Prediction::kCheap || !Row::kStoresReal || sums_more || Team::kBlockThreads >= 512;
  }();
  /// E takes the place of the scores.
  static constexpr bool kReplaces = !kLists && kUse != Use::soft && Row::kStoresReal;
  struct NoList {};
  /// E takes the place of the list's numbers where powers are dear.
  using List = std::conditional_t<
      kLists, Support<Row, Team, std::conditional_t<Prediction::kCheap, Stored, Real>, kUse == Use::classes>,
      NoList>;

  /// Where powers are cheap, what can have mass at first; if that is much, what can have it above a better
  /// bound.
  __device__ List listed() {
    if constexpr (kLists) {
      if constexpr (Prediction::kCheap) {
        constexpr int kMany = Team::kInWarp ? 8 * Team::kSize : kFewNumbers;
        const List list(row_, prediction_.cut(), own_.place, team_);
        if (!team_.any(list.count() * Row::kSize > kMany || !list.is_whole())) return list;
      }
      start_below<Prediction, Row>(prediction_, row_.largest_value(), team_);
      return List(row_, prediction_.cut(), own_.place, team_);
    } else {
      return {};
    }
  }

  __device__ static unsigned packs_of(const List& list) {
    if constexpr (kLists) return list.packs();
    return ~0u;
  }

  __device__ Tally solve(bool mine) {
    if constexpr (kLists && Team::kInWarp) {
      return solve_list(team_, team_.rank(), Team::kSize, mine);
    } else if constexpr (kLists) {
      if (list_.is_whole() && list_.count() * Row::kSize <= kFewNumbers) return solve_by_one_warp(mine);
      return solve_list(team_, static_cast<int>(threadIdx.x), Team::kBlockThreads, mine);
    } else {
      if constexpr (!kExponential) {
        if constexpr (Team::kInWarp && Row::kPacks > 1) {
          start_below<Prediction, Row>(prediction_, row_.largest_value(), team_);
        }
        packs_ = row_.above(prediction_.cut());
        iterate(prediction_, team_, mine, [&] { return sums_in_place(); });
      }
      if constexpr (kReplaces) {
        row_.replace(packs_, [&](Real d) { return value(d); });
        return tally_in_place([](Real e) { return e; });
      } else {
        return tally_in_place([&](Real d) { return value(d); });
      }
    }
  }

  /// Each thread has every stride-th number or pack of the list, from the rank-th on.
  template <class Group>
  __device__ Tally solve_list(Group& group, int rank, int stride, bool mine) {
    auto* const list = list_.numbers();
    const int count = list_.count() * Row::kSize;
    if constexpr (!Prediction::kCheap && !Row::kStoresReal) {
      for (int k = rank; k < list_.count(); k += stride) {
        const uint4 words = list_.template at<uint4>(k);
        list_.template at<PackNumbers>(k) = row_.values(words);
      }
      group.sync();
    }
    const auto number = [&](int k) {
      if constexpr (Prediction::kCheap) return row_.value(list[k]);
      if constexpr (!Prediction::kCheap) return list[k];
    };
    iterate(prediction_, group, mine, [&] {
      CarefulSums<typename Prediction::Terms> sums;
#pragma unroll 2
      for (int k = rank; k < count; k += stride) sums.add(prediction_.terms(number(k)));
      return typename Prediction::template Sums<Real>(sums.sums());
    });
    CarefulSums<TwoPowerSums<Real>> tally;
    if (!Prediction::kCheap || has_class()) {
      for (int k = rank; k < count; k += stride) {
        const Real e = prediction_.value(number(k));
        tally.add(tally_of(e, k == list_.own()));
        if constexpr (!Prediction::kCheap) list[k] = e;
      }
      group.sync();
    }
    return reduced(group, tally.sums());
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
    if constexpr (kReplaces) {
      return row_.values(v);
    } else {
      if constexpr (!kExponential) {
        if ((packs_ >> v & 1) == 0) return {};
      }
      if constexpr (kLists) {
        if constexpr (!Prediction::kCheap) return list_.template at<PackNumbers>(list_.place_of(v));
      }
      PackNumbers numbers = row_.values(v);
#pragma unroll
      for (Real& x : numbers.values) x = value(x);
      return numbers;
    }
  }

  [[nodiscard]] __device__ auto sums_in_place() {
    row_.compute_anew();
    return typename Prediction::template Sums<Real>(
        row_.sum(packs_, [&](Real d, int) { return prediction_.terms(d); }));
  }

  [[nodiscard]] __device__ bool has_class() const { return kUse == Use::classes && own_.exists; }
  [[nodiscard]] __device__ TwoPowerSums<Real> tally_of(Real e, bool own) const {
    if (!has_class()) return {e, Real(0)};
    return own ? TwoPowerSums<Real>() : TwoPowerSums<Real>(e, prediction_.powered(e));
  }
  /// e_of(x) is E of what the row has.
  template <class Value>
  [[nodiscard]] __device__ Tally tally_in_place(Value e_of) {
    if (Prediction::kNormalized && !has_class()) return {1, 0};
    row_.compute_anew();
    const auto sums =
        row_.sum(packs_, [&](Real x, int place) { return tally_of(e_of(x), place == own_.place); });
    return reduced(team_, sums);
  }
  /// Sums of one by their making are as good in Real; at alpha = 1 both sums are the same.
  template <class Group>
  [[nodiscard]] __device__ Tally reduced(Group& group, const TwoPowerSums<Real>& mine) const {
    if constexpr (Prediction::kNormalized) {
      if (!has_class()) return {1, 0};
      return Tally(group.reduce(mine, Plus()));
    } else {
      if (!kExponential && has_class()) return group.reduce(Tally(mine), Plus());
      return {group.reduce(double{mine.value}, Plus()), 0};
    }
  }

  Prediction& prediction_;
  Row& row_;
  Team& team_;
  OwnColumn own_;
  List list_;
  unsigned packs_;  ///< those that can have mass, a bit each
  Tally tally_;
};

}  // namespace fenchel::cuda::device
