/// Each vector function against a plain loop over <cmath>, on 4096 numbers, which stay in the first cache.
/// The error is the largest on those numbers, in units in the last place, against long double.
#include "fenchel/core/vector_math.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "support/contest.hpp"

namespace {

using namespace fenchel;

constexpr float kExponent = 2.7F;

template <class Real>
double ulps(Real found, long double exact) {
  const int exponent = std::max(std::ilogb(exact) + 1, std::numeric_limits<Real>::min_exponent);
  const long double unit = std::ldexp(1.0L, exponent - std::numeric_limits<Real>::digits);
  return static_cast<double>(std::abs(found - exact) / unit);
}

/// vector(x, y), standard(x[i]) for Real and for long double.
template <class Real, class Vector, class Standard>
void run(const std::string& name, double low, double high, Vector vector, Standard standard) {
  constexpr std::size_t kCount = 4096;
  std::vector<Real> x(kCount), y(kCount);
  Philox rng(1);
  for (Real& t : x) t = static_cast<Real>(low + (high - low) * uniform01(rng));
  const auto error = [&] {
    double largest = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      largest = std::max(largest, ulps(y[i], standard(static_cast<long double>(x[i]))));
    }
    return largest;
  };
  bench::Contest contest(name + (sizeof(Real) == 4 ? " float" : " double"), "/ <cmath>",
                         {"ns/element", 1e-9 * kCount});
  const auto plain = [&] { std::ranges::transform(x, y.begin(), [&](Real t) { return standard(t); }); };
  contest.add("<cmath>", plain, error);
  contest.add(
      "fenchel", [&] { vector(std::span<const Real>(x), std::span<Real>(y)); }, error);
  contest.print(25);
}

template <class Vector, class Standard>
void run_both(const std::string& name, double low, double high, Vector vector, Standard standard) {
  run<float>(name, low, high, vector, standard);
  run<double>(name, low, high, vector, standard);
}

}  // namespace

int main() {
  run_both(
      "exp", -30, 30, [](auto x, auto y) { vector_exp(x, y); }, [](auto t) { return std::exp(t); });
  run_both(
      "log", 0.01, 100, [](auto x, auto y) { vector_log(x, y); }, [](auto t) { return std::log(t); });
  run_both(
      "log1p", -0.9, 10, [](auto x, auto y) { vector_log1p(x, y); }, [](auto t) { return std::log1p(t); });
  run_both(
      "erf", -3, 3, [](auto x, auto y) { vector_erf(x, y); }, [](auto t) { return std::erf(t); });
  run_both(
      "erfc", -3, 6, [](auto x, auto y) { vector_erfc(x, y); }, [](auto t) { return std::erfc(t); });
  run_both(
      "pow", 0.01, 20,
      [](auto x, auto y) { vector_pow(x, static_cast<typename decltype(y)::value_type>(kExponent), y); },
      [](auto t) { return std::pow(t, static_cast<decltype(t)>(kExponent)); });
}
