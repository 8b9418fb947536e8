// A regularizer, a score and a domain that do not go together: the score and the domain are swapped.
#include "fenchel/predict/finite.hpp"

void use(const fenchel::Tsallis& omega, const fenchel::VectorScore& f, const fenchel::Finite& domain) {
#ifdef FENCHEL_COMPILE_FAIL_TWIN
  static_cast<void>(predict(omega, f, domain));
#else
  static_cast<void>(predict(omega, domain, f));
#endif
}
