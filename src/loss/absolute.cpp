#include "fenchel/loss/absolute.hpp"

#include <cmath>

namespace fenchel {

double fenchel_young_hessian(const Tsallis& omega, const AbsoluteScore& f, Line domain) {
  const BetaLaplace p = predict(omega, f, domain);
  if (std::isinf(p.alpha())) return 0;
  return f.b() * (p.spread() / p.alpha()) / (2 * p.alpha() - 1);
}

}  // namespace fenchel
