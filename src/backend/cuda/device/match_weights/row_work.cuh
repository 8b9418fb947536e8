#pragma once

#include <limits>

#include "backend/cuda/device/row_group.cuh"
#include "backend/cuda/device/storage.cuh"
#include "backend/cuda/device/sums.cuh"
#include "backend/match_weights/row.hpp"
#include "fenchel/backend/cuda/match_weights.hpp"
#include "fenchel/core/infinity.hpp"

/// Rows of weights matched by groups of threads. In dimensions 1, 2 and 3 every thread keeps the numbers of
/// its row in registers and computes them for itself; in any other, kDim = 0, they are in shared memory,
/// thread k sums entries k, k + kThreads ... of a moment over all columns, and the first thread does the
/// algebra.
namespace fenchel::cuda::device {

/// Points one after the other, or null for the cells of the line; null lengths are full rows.
struct MatchPositions {
  const double* points;
  index_t dimension;
  const index_t* lengths;
};

struct MatchArguments {
  AnyRows weights;
  bool single;  ///< floats, which are summed and written in double
  MatchPositions positions;
  PerRow alpha;
  bool has_floor;
  double floor;               ///< where it is said
  detail::AlphaTerms shared;  ///< of an alpha that rows share
};

/// What is long and called once a row stays out of the loops' code.
__device__ __noinline__ static detail::AlphaTerms alpha_terms(index_t d, double am1) {
  return detail::alpha_terms(d, am1);
}
__device__ __noinline__ static double kappa_curve(index_t d, double am1) {
  return detail::kappa_curve(d, am1);
}
__device__ __noinline__ static double cell_variance(index_t length, index_t d) {
  return detail::cell_variance(length, d);
}

/// A row as the formulas take it.
struct ReadNumbers {
  AnyRow row;
  [[nodiscard]] __device__ double operator[](index_t k) const { return row.get(k); }
};

/// What the threads of a row know of it.
struct MatchState {
  detail::MatchedRow row;
  detail::AlphaTerms alpha;
  detail::MatchGradient gradient;
  detail::MatchCurvature curvature;
  bool good;
};

template <int kDim, int kThreads>
class RowMatching {
 public:
  using Group = RowGroup<kThreads>;
  static constexpr bool kGeneral = kDim == 0;

  __device__ RowMatching(const MatchArguments& arguments, const Group& group, MatchState& state,
                         double* numbers, index_t i)
      : arguments_(arguments), group_(group), state_(state), i_(i), weights_(arguments.weights.row(i)) {
    const index_t cols = arguments.weights.cols;
    length_ = arguments.positions.lengths == nullptr ? cols : arguments.positions.lengths[i];
    good_length_ = length_ >= 1 && length_ <= cols;
    if (!good_length_) length_ = 1;
    width_ = detail::cell_width(length_);
    alone([&] { state_.row = detail::matched_row(length_, dimension(), numbers); });
  }

  [[nodiscard]] __device__ index_t dimension() const {
    return kGeneral ? arguments_.positions.dimension : index_t{kDim};
  }
  [[nodiscard]] __device__ MatchState& state() const { return state_; }
  [[nodiscard]] __device__ const detail::MatchedRow& row() const { return state_.row; }
  [[nodiscard]] __device__ index_t index() const { return i_; }
  [[nodiscard]] __device__ bool first() const { return group_.rank() == 0; }

  /// The algebra of a row.
  template <class Work>
  __device__ void alone(Work work) const {
    if constexpr (kGeneral) {
      group_.sync();
      if (first()) work();
      group_.sync();
    } else {
      work();
    }
  }

  /// work(k) for some numbers below count each.
  template <class Work>
  __device__ void shared_out(index_t count, Work work) const {
    for (index_t k = group_.rank(); k < count; k += kThreads) work(k);
  }

  [[nodiscard]] __device__ double position(index_t l, index_t a) const {
    return arguments_.positions.points == nullptr ? detail::cell_centre(l, width_)
                                                  : arguments_.positions.points[l * dimension() + a];
  }

  /// The position of a column less the mean.
  struct Offset {
    const RowMatching& matching;
    index_t column;
    __device__ double operator[](index_t a) const {
      return matching.position(column, a) - matching.row().mean[a];
    }
  };
  [[nodiscard]] __device__ Offset offset(index_t l) const { return {*this, l}; }

  /// Whether the row has a density: then all of state().row is known.
  __device__ bool match() const {
    const index_t d = dimension();
    sum_weights();
    alone([&] {
      const double alpha = arguments_.alpha[i_], n = static_cast<double>(d);
      const bool good_alpha = alpha > n / (n + 2) && alpha < kInfinity;
      if (!arguments_.alpha.per_row()) {
        state_.alpha = arguments_.shared;
      } else if (good_alpha) {
        state_.alpha = alpha_terms(d, alpha - 1);
      }
      const double floor = arguments_.has_floor ? arguments_.floor : cell_variance(length_, d);
      state_.good = good_length_ && good_alpha && fabs(state_.row.total - 1) <= sum_error() &&
                    detail::invert_covariance(floor, d, state_.row);
      if (!state_.good) return;
      detail::match_scale(state_.alpha, d, state_.row);
      state_.good = arguments_.single ? detail::scale_fits<float>(d, state_.row)
                                      : detail::scale_fits<double>(d, state_.row);
    });
    return state_.good;
  }

  /// How mean, as `shift`, and covariance move along a direction of the weights, and their sum.
  __device__ double move_moments(const AnyRow& direction, double* moved) const {
    const index_t d = dimension();
    const auto change = [=](index_t l) { return direction.get(l); };
    const double total = sum_moments(change, true, state_.row.shift, moved);
    alone([&] { detail::finish_move(total, d, state_.row, moved); });
    return total;
  }

 private:
  [[nodiscard]] __device__ double sum_error() const { return arguments_.single ? 1e-4 : 1e-9; }

  __device__ void sum_weights() const {
    const index_t d = dimension();
    const auto weight = [this](index_t l) {
      const double w = weights_.get(l);
      return detail::is_weight(w) ? w : std::numeric_limits<double>::quiet_NaN();
    };
    const double total = sum_moments(weight, false, state_.row.mean, nullptr);
    alone([&] {
      state_.row.total = total;
      for (index_t a = 0; a < d; ++a) state_.row.mean[a] /= total;
    });
    sum_moments(weight, true, nullptr, state_.row.spread);
    alone([&] {
      for (index_t k = 0; k < d * d; ++k) state_.row.spread[k] /= total;
    });
  }

  /// The sum of `factor` over the columns, and where they are asked for its sums times coordinates and
  /// products of two; of offsets from the mean if `centred`.
  template <class Factor>
  __device__ double sum_moments(const Factor& factor, bool centred, double* first, double* second) const {
    const index_t d = dimension();
    const auto coordinate = [&](index_t l, index_t a) {
      return position(l, a) - (centred ? state_.row.mean[a] : 0.0);
    };
    if constexpr (kGeneral) {
      double sum = 0;
      shared_out(length_, [&](index_t l) { sum += factor(l); });
      const double total = group_.all(sum, Plus());
      if (first != nullptr) {
        shared_out(d, [&](index_t a) {
          first[a] = 0;
          for (index_t l = 0; l < length_; ++l) first[a] += factor(l) * coordinate(l, a);
        });
      }
      if (second != nullptr) {
        shared_out(d * d, [&](index_t k) {
          second[k] = 0;
          for (index_t l = 0; l < length_; ++l) {
            second[k] += factor(l) * coordinate(l, k / d) * coordinate(l, k % d);
          }
        });
      }
      group_.sync();
      return total;
    } else {
      constexpr int kPairs = kDim * (kDim + 1) / 2;
      Sums<1 + kDim> low{};
      Sums<kPairs> high{};
      shared_out(length_, [&](index_t l) {
        const double w = factor(l);
        low.of[0] += w;
        double x[kDim];
#pragma unroll
        for (int a = 0; a < kDim; ++a) {
          x[a] = coordinate(l, a);
          low.of[1 + a] += w * x[a];
#pragma unroll
          for (int b = 0; b <= a; ++b) high.of[a * (a + 1) / 2 + b] += w * x[a] * x[b];
        }
      });
      low = group_.all(low, PlusEach());
      if (second != nullptr) high = group_.all(high, PlusEach());
#pragma unroll
      for (int a = 0; a < kDim; ++a) {
        if (first != nullptr) first[a] = low.of[1 + a];
#pragma unroll
        for (int b = 0; b < kDim; ++b) {
          const int row = a > b ? a : b, col = a > b ? b : a;
          if (second != nullptr) second[a * kDim + b] = high.of[row * (row + 1) / 2 + col];
        }
      }
      return low.of[0];
    }
  }

  const MatchArguments& arguments_;
  Group group_;
  MatchState& state_;
  index_t i_;
  AnyRow weights_;
  index_t length_;
  bool good_length_;
  double width_;
};

}  // namespace fenchel::cuda::device
