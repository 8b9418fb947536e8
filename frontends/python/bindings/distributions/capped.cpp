#include "bindings/bindings.hpp"
#include "bindings/distributions/gamma_family.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"

namespace fenchel::python {

void bind_capped(nb::module_& m) {
  bind_gamma_family<CappedTriangular>(m, "CappedTriangular", "capped_triangular");
  bind_gamma_family<CappedParabola>(m, "CappedParabola", "capped_parabola");
}

}  // namespace fenchel::python
