#include <cmath>
#include <vector>

#include "fenchel/core/rows.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/finite.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/linear_score.hpp"
#include "fenchel/score/vector_score.hpp"
#include "report/brute_force.hpp"
#include "report/errata/errata.hpp"

namespace fenchel::report {
namespace {

/// The second derivative of A_2 in theta_2 at the truncated parabola with sigma = 1.
Example at_two() {
  const LinearScore f({0, -0.5}, {[](double t) { return t; }, [](double t) { return t * t; }});
  const double library = normalizer_hessian(Tsallis(2), f, Line())(1, 1);
  const auto threshold = [](double theta) {
    return LinePrediction(
               2, [theta](double t) { return theta * t * t; }, 0, 20)
        .threshold();
  };
  const double force = curvature(threshold, -0.5, 1e-3);
  return {"$\\partial^2A_2/\\partial \\theta_2^2$, truncated parabola, $\\sigma = 1$",
          "$0 \\cdot \\infty$",
          number(library),
          number(force),
          "second difference",
          std::abs(library - force),
          1e-4};
}

/// That of A_3 in the first of two scores.
Example at_three() {
  std::vector<double> hessian(4);
  normalizer_hessian(Tsallis(3), VectorScore({0.1, 0}), Finite(), Rows<double>(hessian.data(), 2, 2));
  const auto threshold = [](double theta) { return finite_prediction(3, {theta, 0}).threshold; };
  const double force = curvature(threshold, 0.1, 1e-3);
  return {"$\\partial^2A_3/\\partial f_1^2$, two points, $f = (0.1, 0)$",
          "nothing for $\\alpha \\gt 2$",
          number(hessian[0]),
          number(force),
          "second difference",
          hessian[0] < 0 ? std::abs(hessian[0] - force) : 1,
          1e-6};
}

}  // namespace

std::vector<Erratum> errata_in_normalizers() {
  return {{15,
           "The Hessian of $A_{\\alpha}$",
           "Appendix C.5, last display; Section 4.2, Gradient of $A_{\\alpha}$",
           "$(2 - \\alpha) \\int p^{3-2\\alpha} (\\phi - \\nabla A)(\\phi - \\nabla A)^\\top / \\int "
           "p^{2-\\alpha}$ for $\\alpha \\le 2$",
           "for $\\alpha \\lt 2$. At 2 the integral diverges and a boundary term is left, "
           "$(1/|\\text{supp}|) \\oint (\\phi - E\\phi)(\\phi - E\\phi)^\\top/|\\nabla f|$. For $\\alpha "
           "\\gt 2$, $A$ is not convex in general; its gradient is the escort mean still",
           {at_two(), at_three()}}};
}

}  // namespace fenchel::report
