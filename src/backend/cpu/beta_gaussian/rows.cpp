#include "fenchel/backend/cpu/beta_gaussian.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "backend/cpu/beta_gaussian/checks.hpp"
#include "backend/cpu/beta_gaussian/kernels.hpp"
#include "backend/cpu/checks.hpp"
#include "core/scratch.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"

namespace fenchel::cpu {
namespace {

using detail::kBlock;

/// The view has a column a coordinate.
template <class T>
void check_points(std::string_view where, std::string_view name, const BetaGaussianParams& p, Rows<T> view) {
  detail::check_view(where, name, view);
  if (view.rows > 0 && view.cols != std::ssize(p.mu)) {
    throw_invalid_argument(where, std::string(name) + ".cols",
                           "must equal mu.size() = " + std::to_string(p.mu.size()), view.cols);
  }
}

template <class Real>
void density(std::string_view where, const BetaGaussianParams& p, bool logarithm, Rows<const Real> points,
             std::span<Real> out) {
  detail::check_params(where, p);
  check_points(where, "points", p, points);
  detail::check_count(where, "out", std::ssize(out), points.rows);
  const index_t n = std::ssize(p.mu);
  const int workers = workers_for(points.rows, 4 + n * n / 8);
  const detail::Scratch memory(workers, detail::scratch_bytes<double>(n * kBlock));
  parallel_rows(points.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    const Rows<const Real> part(points.row(begin), end - begin, points.cols, points.stride);
    detail::density_rows(p, logarithm, part, memory.of(worker).template take<double>(n * kBlock),
                         out.data() + begin);
  });
}

void deform(const BetaGaussianConstants& c, std::uint64_t seed, std::uint64_t first_stream, index_t count,
            double* z) {
  const double shape = detail::gamma_shape(c);
  double scale[kBlock] = {};
  for (index_t i = 0; c.am1 > 0 && i < c.dimension; ++i) {
    for (index_t k = 0; k < kBlock; ++k) scale[k] += z[i * kBlock + k] * z[i * kBlock + k];
  }
  for (index_t k = 0; k < count; ++k) {
    Philox rng = detail::after_normals(c, seed, first_stream + static_cast<std::uint64_t>(k));
    scale[k] = detail::deformation(c, scale[k], standard_gamma(shape, rng));
  }
  for (index_t i = 0; i < c.dimension; ++i) {
    for (index_t k = 0; k < kBlock; ++k) z[i * kBlock + k] *= scale[k];
  }
}

template <class Real>
void draw(const BetaGaussianParams& p, std::uint64_t seed, std::uint64_t first_stream, Rows<Real> out) {
  constexpr std::string_view kWhere = "sample_rows";
  detail::check_params(kWhere, p);
  check_points(kWhere, "out", p, out);
  const index_t rank = p.constants.dimension, pairs = (rank + 1) / 2;
  const bool polar = rank <= 2;
  const detail::PolarLaw law = polar ? detail::polar_law(p.constants) : detail::PolarLaw{2, 0};
  const int workers = workers_for(out.rows, 50 + 10 * rank + rank * std::ssize(p.mu) / 8);
  const detail::Scratch memory(workers, detail::scratch_bytes<double>((2 * pairs + 1) * kBlock));
  parallel_rows(out.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto* const z = memory.of(worker).template take<double>((2 * pairs + 1) * kBlock);
    for (index_t first = begin; first < end; first += kBlock) {
      const index_t count = std::min(kBlock, end - first);
      const std::uint64_t stream = first_stream + static_cast<std::uint64_t>(first);
      for (index_t j = 0; j < pairs; ++j) {
        double* const x = z + 2 * j * kBlock;
        detail::polar_pairs(law, seed, static_cast<std::uint64_t>(j), stream, x, x + kBlock);
      }
      if (!polar && p.constants.am1 != 0) deform(p.constants, seed, stream, count, z);
      detail::affine_rows(p, z, z + 2 * pairs * kBlock,
                          Rows<Real>(out.row(first), count, out.cols, out.stride));
    }
  });
}

}  // namespace

void log_pdf_rows(const BetaGaussianParams& p, Rows<const float> points, std::span<float> out) {
  density("log_pdf_rows", p, true, points, out);
}
void log_pdf_rows(const BetaGaussianParams& p, Rows<const double> points, std::span<double> out) {
  density("log_pdf_rows", p, true, points, out);
}
void pdf_rows(const BetaGaussianParams& p, Rows<const float> points, std::span<float> out) {
  density("pdf_rows", p, false, points, out);
}
void pdf_rows(const BetaGaussianParams& p, Rows<const double> points, std::span<double> out) {
  density("pdf_rows", p, false, points, out);
}

void sample_rows(const BetaGaussianParams& p, std::uint64_t seed, std::uint64_t first_stream,
                 Rows<float> out) {
  draw(p, seed, first_stream, out);
}
void sample_rows(const BetaGaussianParams& p, std::uint64_t seed, std::uint64_t first_stream,
                 Rows<double> out) {
  draw(p, seed, first_stream, out);
}

}  // namespace fenchel::cpu
