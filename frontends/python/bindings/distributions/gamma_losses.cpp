#include "bindings/bindings.hpp"
#include "bindings/distributions/line_loss.hpp"
#include "fenchel/loss/sobolev.hpp"
#include "fenchel/loss/total_variation.hpp"
#include "fenchel/regularizer/sobolev.hpp"
#include "fenchel/regularizer/total_variation.hpp"

namespace fenchel::python {

void bind_gamma_losses() {
  const auto total_variation = [](const auto& p) { return TotalVariation(p.gamma()); };
  const auto sobolev = [](const auto& p) { return Sobolev(p.gamma()); };
  bind_losses<CappedTriangular>(total_variation);
  bind_losses<CappedParabola>(total_variation);
  bind_losses<SmoothTriangular>(sobolev);
  bind_losses<SmoothParabola>(sobolev);
}

}  // namespace fenchel::python
