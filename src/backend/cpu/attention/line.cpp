#include "backend/cpu/attention/line.hpp"

#include "backend/attention/line_integral.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kBlock = LineFunctions::kBlock;

const LineRules& rules() noexcept {
  static const LineRules made;
  return made;
}

template <Wanted kWanted, Accuracy kAccuracy>
FENCHEL_INLINE void run_blocks(const LineDensity& law, LineKind kind, const LineFunctions& psi,
                               const LineRules& r, Wanted wanted, const RowBlocks& out) noexcept {
  for (index_t begin = 0; begin < psi.size(); begin += kBlock) {
    LineBlock<kBlock> b;
    const double *const mean = psi.mean() + begin, *const width = psi.width() + begin;
    const double* const inverse_width = psi.inverse_width() + begin;
    const double fall = law.precision > 0 ? prepare<true, kWanted>(law, mean, width, inverse_width, b)
                                          : prepare<false, kWanted>(law, mean, width, inverse_width, b);
    integrate_block<kWanted, kAccuracy>(law, kind, fall, r, b);
    // Where nothing is left of a value, a sum may have overflowed.
    const auto scaled = [&b](index_t j, double sum)
                            FENCHEL_INLINE_LAMBDA { return b.factor[j] > 0 ? b.factor[j] * sum : 0; };
    for (index_t j = 0; j < kBlock; ++j) out[0][begin + j] = scaled(j, b.sum[j]);
    if constexpr (kWanted != Wanted::kValues) {
      double stretch[kBlock];
      for (index_t j = 0; j < kBlock; ++j) {
        stretch[j] = scaled(j, b.moment[j]);
        out[1][begin + j] = scaled(j, b.slope[j]);
        out[2][begin + j] = stretch[j] * law.sigma2_rate;
      }
      if constexpr (alpha_too(kWanted)) {
        for (index_t j = 0; j < kBlock; ++j) {
          out[3][begin + j] = scaled(j, b.alpha[j]) + law.log_a_rate * stretch[j];
        }
      }
      if (basis_too(kWanted) && basis_too(wanted)) {
        double* const bend = out[block_count(1, wanted) - 1] + begin;
        for (index_t j = 0; j < kBlock; ++j) {
          bend[j] = 0.5 * scaled(j, b.bend[j]) * inverse_width[j] * inverse_width[j];
        }
      }
    }
  }
}

/// The derivative in alpha is a difference of large terms, for which single functions are too coarse; beside
/// its cost that of the second derivative is nothing.
FENCHEL_CLONES void integrate_row(const LineDensity& law, LineKind kind, const LineFunctions& psi,
                                  Wanted wanted, bool single, const LineRules& r, RowBlocks out) noexcept {
  constexpr auto kSingle = Accuracy::kSingle, kDouble = Accuracy::kDouble;
  if (alpha_too(wanted)) {
    run_blocks<Wanted::kAll, kDouble>(law, kind, psi, r, wanted, out);
  } else if (wanted == Wanted::kBasisToo) {
    single ? run_blocks<Wanted::kBasisToo, kSingle>(law, kind, psi, r, wanted, out)
           : run_blocks<Wanted::kBasisToo, kDouble>(law, kind, psi, r, wanted, out);
  } else if (wanted == Wanted::kGradient) {
    single ? run_blocks<Wanted::kGradient, kSingle>(law, kind, psi, r, wanted, out)
           : run_blocks<Wanted::kGradient, kDouble>(law, kind, psi, r, wanted, out);
  } else {
    single ? run_blocks<Wanted::kValues, kSingle>(law, kind, psi, r, wanted, out)
           : run_blocks<Wanted::kValues, kDouble>(law, kind, psi, r, wanted, out);
  }
}

}  // namespace

void attend_line_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted, Accuracy accuracy,
                     RowBlocks out) noexcept {
  const BetaGaussianConstants& c = p.constants;
  if (c.am1 <= -kNearOne) return attend_student_row(p, psi, wanted, accuracy, out);
  if (c.am1 == 0) return attend_gaussian_row(p, psi, wanted, out);
  const bool single = accuracy == Accuracy::kSingle && !alpha_too(wanted);
  const LineKind kind = line_kind(c.am1, wanted);
  const LineDensity law = line_density(c, p.mu[0], p.scale[0], kind, wanted, single);
  integrate_row(law, kind, psi, wanted, single, rules(), out);
}

}  // namespace fenchel::detail
