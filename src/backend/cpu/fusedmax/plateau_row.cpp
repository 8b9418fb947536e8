#include "backend/cpu/fusedmax/plateau_row.hpp"

#include <algorithm>

#include "backend/cpu/row_lanes.hpp"
#include "backend/fusedmax/plateau_terms.hpp"

/// The Jacobian of fusedmax on one row [docs/math.md 6.1]: average over each plateau, then subtract the mean
/// over the support. A plateau is a run of equal positive p; without a gamma each of its columns is on its
/// own.
namespace fenchel::detail {
namespace {

template <class Real>
FENCHEL_INLINE double any_row(const Real* p, index_t n, const EdgeGammas& edges, const Real* v,
                              double d_gamma, const PlateauScratch& scratch, Real* out) noexcept {
  const bool fused = edges.gamma() > 0;
  if (p[0] != p[0]) {
    fill(out, n, p[0]);
    return p[0];
  }
  const auto changes = [p](index_t i) FENCHEL_INLINE_LAMBDA { return p[i] != p[i - 1]; };
  index_t count = 1;
  scratch.places[0] = 0;
  for (index_t first = 1; first < n; first += kPlaceBlock) {
    count = append_places(first, std::min(kPlaceBlock, n - first), changes, scratch.places, count);
  }
  const index_t* places = scratch.places;
  const auto end_of = [=](index_t k) FENCHEL_INLINE_LAMBDA { return k + 1 < count ? places[k + 1] : n; };
  const auto left_pull = [&](index_t begin) FENCHEL_INLINE_LAMBDA {
    return begin == 0 ? 0.0 : pull(p[begin], p[begin - 1], edges.weight(begin - 1));
  };
  const auto right_pull = [&](index_t end) FENCHEL_INLINE_LAMBDA {
    return end == n ? 0.0 : pull(p[end - 1], p[end], edges.weight(end - 1));
  };

  double sum = 0, size = 0, pulls = 0, along = 0;
  for (index_t k = 0; k < count; ++k) {
    const index_t begin = places[k], end = end_of(k);
    if (p[begin] == 0) continue;
    const auto length = static_cast<double>(end - begin);
    const double plateau_sum = sum_in_double(v + begin, end - begin, 0), mean = plateau_sum / length;
    const double left = left_pull(begin), right = right_pull(end);
    sum += plateau_sum;
    size += length;
    pulls += left + right;
    along += left * (fused ? mean : double{v[begin]}) + right * (fused ? mean : double{v[end - 1]});
    scratch.means[k] = mean + d_gamma * (left + right) / length;
  }
  const double mean = sum / size, shift = mean + d_gamma * pulls / size;
  for (index_t k = 0; k < count; ++k) {
    const index_t begin = places[k], end = end_of(k);
    if (p[begin] == 0) {
      fill(out + begin, end - begin, Real(0));
    } else if (fused) {
      fill(out + begin, end - begin, static_cast<Real>(scratch.means[k] - shift));
    } else {
      const double left = d_gamma * left_pull(begin), right = d_gamma * right_pull(end);
      for (index_t i = begin; i < end; ++i) {
        const double moved = (i == begin ? left : 0.0) + (i + 1 == end ? right : 0.0);
        out[i] = static_cast<Real>(double{v[i]} + moved - shift);
      }
    }
  }
  return along - pulls * mean;
}

}  // namespace

FENCHEL_CLONES double plateau_jacobian_row(const float* p, index_t n, const EdgeGammas& edges, const float* v,
                                           double d_gamma, const PlateauScratch& scratch,
                                           float* out) noexcept {
  return any_row(p, n, edges, v, d_gamma, scratch, out);
}

FENCHEL_CLONES double plateau_jacobian_row(const double* p, index_t n, const EdgeGammas& edges,
                                           const double* v, double d_gamma, const PlateauScratch& scratch,
                                           double* out) noexcept {
  return any_row(p, n, edges, v, d_gamma, scratch, out);
}

}  // namespace fenchel::detail
