#include "bindings/bindings.hpp"
#include "bindings/distributions/gamma_family.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"

namespace fenchel::python {

void bind_smooth(nb::module_& m) {
  bind_gamma_family<SmoothTriangular>(m, "SmoothTriangular", "smooth_triangular");
  bind_gamma_family<SmoothParabola>(m, "SmoothParabola", "smooth_parabola");
}

}  // namespace fenchel::python
