#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/grids.hpp"

/// What RapidCheck draws rows and alphas from. Everything is built of integers and elements of lists, so that
/// it shrinks: towards short rows of zeros, and towards alpha = 2.
namespace fenchel::testing {

/// Log-uniform on (0.05, 1e7), and the values that have a code path of their own.
inline rc::Gen<double> any_alpha() {
  constexpr int kSteps = 1 << 20;
  const auto spread = rc::gen::map(rc::gen::inRange(0, kSteps), [](int step) {
    return std::exp(std::log(0.05) + (step + 0.5) / kSteps * std::log(1e7 / 0.05));
  });
  const auto around = [](double centre) {
    return rc::gen::map(rc::gen::inRange(-160, 160), [centre](int tenths) {
      return centre + std::copysign(std::pow(10.0, -std::abs(tenths) / 10.0), tenths) * 0.5;
    });
  };
  const std::vector<double> special(kAlphas.begin(), kAlphas.end());
  return rc::gen::weightedOneOf<double>({{4, spread},
                                         {3, rc::gen::elementOf(special)},
                                         {1, around(1)},
                                         {1, around(2)},
                                         {1, rc::gen::just(kInf)}});
}

/// One score: a moderate number, a repeated one, huge, tiny, subnormal, or a mask.
template <class Real>
rc::Gen<Real> any_score() {
  using Limits = std::numeric_limits<Real>;
  const auto scaled = [](double unit) {
    return rc::gen::map(rc::gen::inRange(-4000, 4000), [unit](int k) { return static_cast<Real>(k * unit); });
  };
  const std::vector<Real> odd{0,
                              1,
                              -1,
                              Real(-0.0),
                              Limits::min(),
                              -Limits::denorm_min(),
                              Limits::denorm_min(),
                              Limits::epsilon(),
                              1 - Limits::epsilon(),
                              Real(1e30),
                              Real(-1e30),
                              Limits::lowest() / 4,
                              -Limits::infinity()};
  return rc::gen::weightedOneOf<Real>({{6, scaled(1e-3)},
                                       {2, scaled(0.25)},
                                       {1, scaled(1e-9)},
                                       {1, scaled(1e27)},
                                       {1, scaled(Limits::denorm_min())},
                                       {1, rc::gen::elementOf(odd)}});
}

/// A row with a prediction: at least one score is finite.
template <class Real>
rc::Gen<std::vector<Real>> any_row() {
  return rc::gen::map(
      rc::gen::pair(any_score<Real>(), rc::gen::container<std::vector<Real>>(any_score<Real>())),
      [](std::pair<Real, std::vector<Real>> parts) {
        std::vector<Real> row = std::move(parts.second);
        row.push_back(std::isinf(parts.first) ? Real(0) : parts.first);
        return row;
      });
}

/// Moderate scores, some of them equal: where differences and derivatives mean something.
template <class Real>
rc::Gen<std::vector<Real>> moderate_row(std::size_t n) {
  return rc::gen::container<std::vector<Real>>(
      n, rc::gen::map(rc::gen::inRange(-3000, 3000), [](int k) { return static_cast<Real>(k * 1e-3); }));
}

}  // namespace fenchel::testing
