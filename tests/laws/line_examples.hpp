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

using LineFamilies = ::testing::Types<BetaGaussian>;

}  // namespace fenchel::testing
