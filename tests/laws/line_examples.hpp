#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fenchel/fenchel.hpp"
#include "support/grids.hpp"

namespace fenchel::testing {

/// A distribution on the line, and the problem that it is the prediction of, if it is one.
template <class P>
struct Example {
  std::string name;
  P p;
  double alpha = 2;
  std::function<double(double)> score = nullptr;
  double accuracy = 1e-12;  ///< of masses and standardised moments
};

/// The members of a family that the laws are tried on.
template <class P>
std::vector<Example<P>> examples();

inline std::string named(const char* family, double alpha) {
  return std::string(family) + " alpha=" + shortest(alpha);
}

template <>
inline std::vector<Example<BetaGaussian>> examples() {
  std::vector<Example<BetaGaussian>> list;
  for (const double alpha : {0.5, 0.8, 1 - 1e-8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 1.02, 4. / 3, 1.5,
                             2.0, 3.0, 5.0, 1e6, kInf}) {
    const BetaGaussian p(alpha, 0.3, 0.64);
    list.push_back({named("BetaGaussian", alpha), p, alpha, score(p)});
  }
  list.push_back({"far and narrow", BetaGaussian(1.5, 1e3, 1e-4), 1.5, QuadraticScore(1e3, 1e-4), 1e-9});
  list.push_back({"uniform", BetaGaussian::uniform(-1, 3)});
  return list;
}

template <>
inline std::vector<Example<BetaLaplace>> examples() {
  std::vector<Example<BetaLaplace>> list;
  for (const double alpha :
       {0.9, 1 - 1e-8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0, 1e6, kInf}) {
    const BetaLaplace p(alpha, -0.4, 0.7);
    list.push_back({named("BetaLaplace", alpha), p, alpha, score(p)});
  }
  list.push_back({"far and narrow", BetaLaplace(1.5, 1e3, 1e-2), 1.5, AbsoluteScore(1e3, 1e-2), 1e-9});
  return list;
}

template <>
inline std::vector<Example<TruncatedGaussian>> examples() {
  std::vector<Example<TruncatedGaussian>> list;
  for (const double kappa : {1.001, 1.5, 2.0, 50.0, 1e8}) {
    const TruncatedGaussian p(kappa, 0.75, 2.5);
    list.push_back({"TruncatedGaussian kappa=" + shortest(kappa), p, 2, score(p), 1e-10});
  }
  return list;
}

template <>
inline std::vector<Example<LocationScale>> examples() {
  const LocationScale cosh(LocationScaleScore([](double x) { return std::cosh(x); },
                                              [](double x) { return std::sinh(x); }, 1.3, 2)),
      quartic(LocationScaleScore([](double x) { return x * x * x * x; },
                                 [](double x) { return 4 * x * x * x; }, -2, 0.1));
  return {{"g = cosh", cosh, 2, score(cosh), 1e-10}, {"g = x^4", quartic, 2, score(quartic), 1e-10}};
}

template <>
inline std::vector<Example<NumericDensity>> examples() {
  const auto waves = [](double t) { return 2 * std::cos(2 * t) + 0.3 * t - t * t / 8; };
  std::vector<Example<NumericDensity>> list;
  for (const double alpha : {1.0, 1 + 1e-8, 1.5, 2.0}) {
    list.push_back({named("NumericDensity", alpha), predict(Tsallis(alpha), FunctionScore(waves), Line()),
                    alpha, waves, 1e-8});
  }
  list.push_back({"escort", escort(TruncatedGaussian(2, 0.3, 1), 3), 2, nullptr, 1e-8});
  return list;
}

/// Predictions of TotalVariation or Sobolev, which are those of Tsallis(2) without gamma alone.
template <class P>
std::vector<Example<P>> gamma_examples(const char* family) {
  std::vector<Example<P>> list;
  for (const double gamma : {0.0, 1e-8, 0.1, 1.0, 100.0, 1e8}) {
    const P p(gamma, 0.3, 0.64);
    list.push_back({std::string(family) + " gamma=" + shortest(gamma), p});
    if (gamma == 0) list.back().score = score(p);
  }
  return list;
}

template <>
inline std::vector<Example<CappedTriangular>> examples() {
  return gamma_examples<CappedTriangular>("CappedTriangular");
}
template <>
inline std::vector<Example<CappedParabola>> examples() {
  return gamma_examples<CappedParabola>("CappedParabola");
}
template <>
inline std::vector<Example<SmoothTriangular>> examples() {
  return gamma_examples<SmoothTriangular>("SmoothTriangular");
}
template <>
inline std::vector<Example<SmoothParabola>> examples() {
  return gamma_examples<SmoothParabola>("SmoothParabola");
}

template <>
inline std::vector<Example<Mixture<BetaGaussian>>> examples() {
  std::vector<Example<Mixture<BetaGaussian>>> list;
  for (const double alpha :
       {0.8, 1.0, std::nextafter(1.0, 2.0), 1 + 1e-8, 4. / 3, 1.5, 2.0, 5.0, 1e6, kInf}) {
    const BetaGaussian left(alpha, -1, 0.5), right(alpha, 0.4, 0.1);
    list.push_back({named("Mixture", alpha), {{0.35, 0.65}, {left, right}}, alpha, nullptr, 1e-11});
  }
  const BetaGaussian far = BetaGaussian::truncated_parabola(20, 0.1), near(1.5, 0, 2);
  list.push_back({"two pieces", {{0.4, 0.6}, {near, far}}, 2, nullptr, 1e-11});
  return list;
}

using LineFamilies = ::testing::Types<BetaGaussian, BetaLaplace, TruncatedGaussian, LocationScale,
                                      NumericDensity, CappedTriangular, CappedParabola, SmoothTriangular,
                                      SmoothParabola, Mixture<BetaGaussian>>;

}  // namespace fenchel::testing
