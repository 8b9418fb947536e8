#include "bindings/arrays/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/line_loss.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/loss/absolute.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "fenchel/loss/scaled_gaussian.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/function_score.hpp"

namespace fenchel::python {
namespace {

/// The losses of a Python function on [a, b].
template <class From>
void bind_function_losses() {
  auto family = nb::borrow<nb::class_<NumericDensity>>(nb::type<NumericDensity>());
  family.def_static("fenchel_young", [](double alpha, const Function& f, double a, double b, const From& q) {
    return to_python(
        fenchel_young(Tsallis(alpha), FunctionScore(PythonFunction("f", f)), Interval(a, b), as_target(q)));
  });
  family.def_static("cross_omega", [](double alpha, const Function& f, double a, double b, const From& q) {
    return to_python(
        cross_omega(Tsallis(alpha), FunctionScore(PythonFunction("f", f)), Interval(a, b), as_target(q)));
  });
}

}  // namespace

void bind_tsallis_losses() {
  bind_losses<BetaGaussian>([](const BetaGaussian& p) { return Tsallis(p.alpha()); });
  bind_losses<BetaLaplace>([](const BetaLaplace& p) { return Tsallis(p.alpha()); });
  bind_losses<TruncatedGaussian>([](const TruncatedGaussian&) { return Tsallis(2); });
  bind_function_losses<AnyDensity>();
  bind_function_losses<double>();
  bind_function_losses<Input<>>();
}

}  // namespace fenchel::python
