#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cli/families/expression.hpp"
#include "cli/program/session.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/predict/function.hpp"

namespace {

using fenchel::cli::Expression;

/// A prediction that asks for more values than this is left alone, so that each input takes a bounded time.
constexpr int kMostValues = 200'000;
struct TooLong {};

/// The density of a formula has all of its mass and a mean between its ends, or there is none.
void check_prediction(const Expression& score, double alpha) {
  int values = 0;
  const auto counted = [&](double t) {
    if (++values > kMostValues) throw TooLong();
    return score(t);
  };
  try {
    const fenchel::NumericDensity p =
        fenchel::predict(fenchel::Tsallis(alpha), fenchel::FunctionScore(counted), fenchel::Interval(-3, 3));
    const double mass = cdf(p, 3), centre = mean(p);
    if (!(std::abs(mass - 1) <= 1e-9) || !(centre >= -3 && centre <= 3)) std::abort();
  } catch (const std::domain_error&) {
  } catch (const fenchel::ConvergenceError&) {
  } catch (const TooLong&) {
  }
}

}  // namespace

/// The first byte says alpha, the rest is a formula.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr double kAlphas[] = {1.0, 4.0 / 3, 1.5, 2.0};
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    const Expression score("--score", text);
    static_cast<void>(score.derivative(0.5));
    check_prediction(score, kAlphas[data[0] % 4]);
  } catch (const fenchel::cli::UsageError&) {
  }
  return 0;
}
