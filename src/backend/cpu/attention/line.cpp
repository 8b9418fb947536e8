#include "backend/cpu/attention/line.hpp"

#include <algorithm>

#include "backend/attention/line_integral.hpp"
#include "backend/cpu/attention/gauss_rules.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kBlock = LineFunctions::kBlock;

const LineRules& line_rules() noexcept {
  static const LineRules made;
  return made;
}

template <Wanted kWanted, Accuracy kAccuracy>
FENCHEL_INLINE void run_blocks(const LineDensity& law, LineKind kind, const LineFunctions& psi,
                               const LineRules& r, index_t first, index_t end, Wanted wanted,
                               const RowBlocks& out) noexcept {
  for (index_t begin = first; begin < end; begin += kBlock) {
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
FENCHEL_CLONES void integrate_blocks(const LineDensity& law, LineKind kind, const LineFunctions& psi,
                                     index_t begin, index_t end, Wanted wanted, bool single,
                                     const LineRules& r, RowBlocks out) noexcept {
  constexpr auto kSingle = Accuracy::kSingle, kDouble = Accuracy::kDouble;
  if (alpha_too(wanted)) {
    run_blocks<Wanted::kAll, kDouble>(law, kind, psi, r, begin, end, wanted, out);
  } else if (wanted == Wanted::kBasisToo) {
    single ? run_blocks<Wanted::kBasisToo, kSingle>(law, kind, psi, r, begin, end, wanted, out)
           : run_blocks<Wanted::kBasisToo, kDouble>(law, kind, psi, r, begin, end, wanted, out);
  } else if (wanted == Wanted::kGradient) {
    single ? run_blocks<Wanted::kGradient, kSingle>(law, kind, psi, r, begin, end, wanted, out)
           : run_blocks<Wanted::kGradient, kDouble>(law, kind, psi, r, begin, end, wanted, out);
  } else {
    single ? run_blocks<Wanted::kValues, kSingle>(law, kind, psi, r, begin, end, wanted, out)
           : run_blocks<Wanted::kValues, kDouble>(law, kind, psi, r, begin, end, wanted, out);
  }
}

/// The ways of alpha > 1 and of alpha close to 1, for functions one by one.
void attend_blocks(const DensityRow& p, const LineFunctions& psi, index_t begin, index_t end, Wanted wanted,
                   Accuracy accuracy, const RowBlocks& out) noexcept {
  const BetaGaussianConstants& c = p.constants;
  const bool single = accuracy == Accuracy::kSingle && !alpha_too(wanted);
  const LineKind kind = line_kind(c.am1, wanted);
  const LineDensity law = line_density(c, p.mu[0], p.scale[0], kind, wanted, single);
  integrate_blocks(law, kind, psi, begin, end, wanted, single, line_rules(), out);
}

/// Any alpha but 1: nodes are shared where they may be, by a group of functions or else by a block.
void attend_groups(const DensityRow& p, const LineFunctions& psi, Wanted wanted, Accuracy accuracy,
                   GaussRules& rules, const RowBlocks& out) noexcept {
  const double am1 = p.constants.am1;
  const auto share = [&](const LineFunctions::Range& range) {
    return am1 > 0 ? attend_gauss_range(p, psi, range, wanted, accuracy, rules, out)
                   : attend_student_range(p, psi, range, wanted, accuracy, out);
  };
  index_t first = psi.whole_size(), end = 0;  // what is left over
  for (const LineFunctions::Range& group : psi.groups()) {
    if (!alpha_too(wanted) && share(group)) continue;
    for (index_t begin = group.begin; begin < group.end; begin += kBlock) {
      const auto& block = psi.blocks()[static_cast<std::size_t>(begin / kBlock)];
      if (!alpha_too(wanted) && group.end - group.begin > kBlock && share(block)) continue;
      if (am1 > -kNearOne) {
        attend_blocks(p, psi, begin, begin + kBlock, wanted, accuracy, out);
      } else {
        first = std::min(first, begin);
        end = begin + kBlock;
      }
    }
  }
  if (first < end) attend_student_mixture(p, psi, first, end, wanted, accuracy, out);
}

}  // namespace

void attend_line_row(const DensityRow& p, const LineFunctions& psi, Wanted wanted, Accuracy accuracy,
                     double* sorted, RowBlocks out) noexcept {
  static thread_local GaussRules rules;  // of the last alpha, from call to call: a small one costs less
  const bool in_order = psi.order().empty();
  if (p.constants.am1 == 0) return attend_gaussian_row(p, psi, wanted, out);
  const RowBlocks to = in_order ? out : RowBlocks{sorted, psi.whole_size()};
  attend_groups(p, psi, wanted, accuracy, rules, to);
  if (in_order) return;
  for (index_t block = 0; block < block_count(1, wanted); ++block) {
    const double* const from = to[block];
    for (index_t k = 0; k < psi.size(); ++k) out[block][psi.order()[static_cast<std::size_t>(k)]] = from[k];
  }
}

}  // namespace fenchel::detail
