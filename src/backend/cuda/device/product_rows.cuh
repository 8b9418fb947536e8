#pragma once

#include <limits>

#include "backend/cuda/device/storage.cuh"
#include "backend/entmax/terms.hpp"
#include "fenchel/backend/cuda/views.hpp"

/// Two rows that are read, p and v, and one that is written, as a team sees them. In each of these,
///   each(body)   calls body(p, v, j) for every column of a thread;
///   write(value) writes value(p, v, j).
/// Columns past the end have p = 0.
namespace fenchel::cuda::device {

/// The views behind a product of a Jacobian. out may be v.
template <class T>
struct ProductViews {
  DeviceRows<const T> p, v;
  DeviceRows<T> out;
};

/// Row i of them.
template <class T>
struct RowAt {
  const ProductViews<T>& views;
  index_t i;
};

template <class T>
class StoredRow {
 public:
  using Real = Computed<T>;

  __device__ StoredRow(const RowAt<T>& at)
      : p_(at.views.p.row(at.i)),
        v_(at.views.v.row(at.i)),
        out_(at.views.out.row(at.i)),
        p_step_(at.views.p.step),
        v_step_(at.views.v.step),
        out_step_(at.views.out.step),
        cols_(at.views.p.cols) {}

  [[nodiscard]] __device__ index_t cols() const { return cols_; }
  [[nodiscard]] __device__ Real p(index_t j) const { return widened(p_[j * p_step_]); }
  [[nodiscard]] __device__ Real v(index_t j) const { return widened(v_[j * v_step_]); }
  __device__ void set(index_t j, Real x) const { out_[j * out_step_] = stored<T>(x); }
  /// The largest number that they hold.
  [[nodiscard]] __device__ double largest() const {
    static_assert(std::is_same_v<T, Real>);
    return std::numeric_limits<T>::max();
  }

 private:
  const T *p_, *v_;
  T* out_;
  index_t p_step_, v_step_, out_step_, cols_;
};

/// D of a column, far from the loops that call it: it has as many instructions as all of them.
__device__ __noinline__ inline double alpha_direction(double alpha, double p) {
  return detail::alpha_direction(alpha, p);
}

/// A row of any type, in double, with v - step D for v as alpha moves by `step`: D is up to log(p)^2 / 2,
/// more than v by far, and what is left of it after the mean would show its rounding.
class ShiftedRow {
 public:
  using Real = double;
  __device__ ShiftedRow(const AnyRow& p, const AnyRow& v, const AnyRow& out, index_t cols, double alpha,
                        double step)
      : p_(p), v_(v), out_(out), cols_(cols), alpha_(alpha), step_(step) {}

  [[nodiscard]] __device__ index_t cols() const { return cols_; }
  [[nodiscard]] __device__ double p(index_t j) const { return p_.get(j); }
  [[nodiscard]] __device__ double v(index_t j) const {
    const double own = v_.get(j);
    return step_ == 0 ? own : own - step_ * alpha_direction(alpha_, p(j));
  }
  __device__ void set(index_t j, double x) const { out_.set(j, x); }
  [[nodiscard]] __device__ double largest() const { return out_.largest(); }

 private:
  AnyRow p_, v_, out_;
  index_t cols_;
  double alpha_, step_;
};

/// A row that is read anew each time: of any length, sums are in double. kUnroll columns are on their way at
/// once.
template <class Team, class Row, int kUnroll = 1>
class ReadRow {
 public:
  using Real = typename Row::Real;
  using Sum = double;
  static constexpr bool kKeepsChanges = false;

  __device__ ReadRow(const Team& team, const Row& row) : row_(row), first_(team.rank()) {}

  template <class Body>
  __device__ void each(Body body) const {
#pragma unroll kUnroll
    for (index_t j = first_; j < row_.cols(); j += Team::kSize) {
      Real p = row_.p(j);
      body(p, row_.v(j), j);
    }
  }
  template <class Value>
  __device__ void write(Value value) const {
#pragma unroll kUnroll
    for (index_t j = first_; j < row_.cols(); j += Team::kSize) row_.set(j, value(row_.p(j), row_.v(j), j));
  }
  [[nodiscard]] __device__ const Row& row() const { return row_; }

 private:
  Row row_;
  int first_;
};

/// A row in the registers of a team: kPacks times kWidth consecutive columns a thread, few enough for sums in
/// Real. kWidth of one is for rows that no 16 bytes fit.
template <class Team, class T, int kWidth, int kPacks>
class HeldRow {
 public:
  using Real = Computed<T>;
  using Sum = Real;
  /// A p that `each` changes stays so, where it is stored as it is computed with.
  static constexpr bool kKeepsChanges = std::is_same_v<T, Real>;

  __device__ HeldRow(const Team& team, const RowAt<T>& at)
      : views_(at.views), out_(at.views.out.row(at.i)), first_(team.rank()) {
    const auto& [views, i] = at;
    const T *const p = views.p.row(i), *const v = views.v.row(i);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) p_[k] = load(p, views.p.step, k);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) v_[k] = load(v, views.v.step, k);
  }

  template <class Body>
  __device__ void each(Body body) {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        Real p = widened(p_[k].values[e]);
        body(p, widened(v_[k].values[e]), column(k) + e);
        if constexpr (kKeepsChanges) p_[k].values[e] = p;
      }
    }
  }
  template <class Value>
  __device__ void write(Value value) const {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (column(k) >= views_.out.cols) break;
      Numbers x;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        x.values[e] = stored<T>(value(widened(p_[k].values[e]), widened(v_[k].values[e]), column(k) + e));
      }
      if constexpr (kWidth == 1) {
        out_[column(k) * views_.out.step] = x.values[0];
      } else {
        store_streaming(out_ + column(k), x);
      }
    }
  }

 private:
  struct One {
    T values[1];
  };
  using Numbers = std::conditional_t<kWidth == 1, One, Pack<T>>;
  static_assert(kWidth == 1 || kWidth == Pack<T>::kSize);

  [[nodiscard]] __device__ index_t column(int k) const { return index_t{k * Team::kSize + first_} * kWidth; }
  [[nodiscard]] __device__ Numbers load(const T* row, index_t step, int k) const {
    if (column(k) >= views_.p.cols) return Numbers{};
    if constexpr (kWidth == 1) {
      return {row[column(k) * step]};
    } else {
      return load_streaming(row + column(k));
    }
  }

  const ProductViews<T>& views_;
  T* out_;
  int first_;
  Numbers p_[kPacks], v_[kPacks];
};

}  // namespace fenchel::cuda::device
