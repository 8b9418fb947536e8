#include "fenchel/core/vector_math.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/emulation.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kOneCaseIn;
using testing::message_of;

struct Interval {
  double low, high;
};

/// A function under test: the vector function, the truth, what <cmath> says, the stated bound, and where the
/// formulas change or are at their worst.
template <class T>
struct Exp {
  using Real = T;
  static void vector(std::span<const Real> x, std::span<Real> y) { vector_exp(x, y); }
  static long double exact(long double x) { return std::exp(x); }
  static Real standard(Real x) { return std::exp(x); }
  static constexpr double kUlp = kExpUlp;
  static constexpr std::array kIntervals{Interval{-104.5, 89}, Interval{-746, 710}, Interval{-1, 1},
                                         Interval{-88, -87}, Interval{-709, -708}};
};
template <class T>
struct Log {
  using Real = T;
  static void vector(std::span<const Real> x, std::span<Real> y) { vector_log(x, y); }
  static long double exact(long double x) { return std::log(x); }
  static Real standard(Real x) { return std::log(x); }
  static constexpr double kUlp = kLogUlp;
  static constexpr std::array kIntervals{Interval{0.5, 2}, Interval{0.7, 0.72}, Interval{1.2, 1.42},
                                         Interval{0.999, 1.001}};
};
template <class T>
struct Log1p {
  using Real = T;
  static void vector(std::span<const Real> x, std::span<Real> y) { vector_log1p(x, y); }
  static long double exact(long double x) { return std::log1p(x); }
  static Real standard(Real x) { return std::log1p(x); }
  static constexpr double kUlp = kLog1pUlp;
  static constexpr std::array kIntervals{Interval{-1, 1}, Interval{-0.31, -0.28}, Interval{0.4, 0.46},
                                         Interval{-0.001, 0.001}};
};
template <class T>
struct Erf {
  using Real = T;
  static void vector(std::span<const Real> x, std::span<Real> y) { vector_erf(x, y); }
  static long double exact(long double x) { return std::erf(x); }
  static Real standard(Real x) { return std::erf(x); }
  static constexpr double kUlp = kErfUlp;
  static constexpr std::array kIntervals{Interval{-6.1, 6.1}, Interval{-4.1, 4.1}, Interval{0.85, 1.3},
                                         Interval{-0.01, 0.01}};
};
template <class T>
struct Erfc {
  using Real = T;
  static void vector(std::span<const Real> x, std::span<Real> y) { vector_erfc(x, y); }
  static long double exact(long double x) { return std::erfc(x); }
  static Real standard(Real x) { return std::erfc(x); }
  static constexpr double kUlp = kErfcUlp;
  static constexpr std::array kIntervals{Interval{-6.1, 28},  Interval{0.45, 0.7}, Interval{0.8, 0.9},
                                         Interval{1.5, 2},    Interval{9, 10.2},   Interval{26.4, 27.4},
                                         Interval{-0.6, -0.4}};
};

/// The error of `found` in units in the last place of `exact`; infinity counts as the power of two that it
/// begins at.
template <class Real>
double ulps(Real found, long double exact) {
  using Limits = std::numeric_limits<Real>;
  if (std::isnan(found) || std::isnan(exact)) return std::isnan(found) && std::isnan(exact) ? 0 : 1e9;
  const long double beyond = std::ldexp(1.0L, Limits::max_exponent);
  const auto bounded = [&](long double value) { return std::clamp(value, -beyond, beyond); };
  const long double truth = bounded(exact);
  const int exponent =
      truth == 0 ? Limits::min_exponent : std::max(std::ilogb(truth) + 1, Limits::min_exponent);
  const long double unit = std::ldexp(1.0L, std::min(exponent, Limits::max_exponent) - Limits::digits);
  return static_cast<double>(std::abs(bounded(found) - truth) / unit);
}

/// Numbers in an interval, and its ends.
template <class Real>
void add_interval(std::vector<Real>& x, Interval interval, int count) {
  std::mt19937_64 rng(7);
  std::uniform_real_distribution<double> uniform(interval.low, interval.high);
  for (int i = 0; i < count; ++i) x.push_back(static_cast<Real>(uniform(rng)));
  for (const double end : {interval.low, interval.high}) {
    Real below = static_cast<Real>(end), above = below;
    for (int i = 0; i < 20; ++i) {
      x.insert(x.end(), {below, above});
      below = std::nextafter(below, -std::numeric_limits<Real>::infinity());
      above = std::nextafter(above, std::numeric_limits<Real>::infinity());
    }
  }
}

/// Random mantissas in every binade of both signs, subnormal ones and NaN included.
template <class Real>
void add_binades(std::vector<Real>& x, int count) {
  using Bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  constexpr int kMantissa = std::numeric_limits<Real>::digits - 1, kTotal = 8 * sizeof(Real);
  std::mt19937_64 rng(11);
  for (Bits top = 0; top < Bits(1) << (kTotal - kMantissa); ++top) {
    for (int i = 0; i < count; i += kOneCaseIn) {
      const auto mantissa = static_cast<Bits>(rng()) & ((Bits(1) << kMantissa) - 1);
      x.push_back(std::bit_cast<Real>(static_cast<Bits>(top << kMantissa | mantissa)));
    }
  }
}

/// Every stride-th of all floats.
void add_stride(std::vector<float>& x, std::uint32_t stride) {
  for (std::uint64_t bits = 0; bits < std::uint64_t(1) << 32; bits += stride * kOneCaseIn) {
    x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  }
}

/// Where the argument of exp is halfway between two multiples of ln 2, and where results end.
template <class Real>
void add_ties(std::vector<Real>& x) {
  using Limits = std::numeric_limits<Real>;
  const double last = Limits::max_exponent + 0.5;
  for (double k = Limits::min_exponent - Limits::digits - 2.5; k <= last; k += 0.5) {
    const double tie = k * std::log(2.0);
    add_interval(x, {tie, tie}, 0);
  }
}

template <class Real>
std::vector<Real> specials() {
  using Limits = std::numeric_limits<Real>;
  const Real inf = Limits::infinity(), one = 1;
  std::vector<Real> x{0,
                      Limits::denorm_min(),
                      Limits::min() / 2,
                      std::nextafter(Limits::min(), Real(0)),
                      Limits::min(),
                      Limits::epsilon(),
                      one / 2,
                      std::nextafter(one, Real(0)),
                      1,
                      std::nextafter(one, inf),
                      2,
                      3,
                      1 / Limits::epsilon(),
                      2 / Limits::epsilon(),
                      Limits::max(),
                      inf,
                      Limits::quiet_NaN()};
  const auto count = x.size();
  for (std::size_t i = 0; i < count; ++i) x.push_back(-x[i]);
  return x;
}

template <class Function, class Real = typename Function::Real>
void expect_within_bound(const std::vector<Real>& x) {
  std::vector<Real> y(x.size());
  Function::vector(x, y);
  double worst = 0;
  Real at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = ulps(y[i], Function::exact(x[i]));
    if (error > worst) worst = error, at = x[i];
  }
  ::testing::Test::RecordProperty("ulp", std::to_string(worst));
  EXPECT_LE(worst, Function::kUlp) << "at x = " << std::hexfloat << at;
}

template <class Function>
class VectorMath : public ::testing::Test {};
using Functions = ::testing::Types<Exp<float>, Exp<double>, Log<float>, Log<double>, Log1p<float>,
                                   Log1p<double>, Erf<float>, Erf<double>, Erfc<float>, Erfc<double>>;
TYPED_TEST_SUITE(VectorMath, Functions);

TYPED_TEST(VectorMath, ErrsWithinTheBoundInEveryBinade) {
  std::vector<typename TypeParam::Real> x;
  add_binades(x, sizeof(x[0]) == 4 ? 400 : 50);
  if constexpr (sizeof(x[0]) == 4) add_stride(x, 997);
  expect_within_bound<TypeParam>(x);
}

TYPED_TEST(VectorMath, ErrsWithinTheBoundWhereItIsHardest) {
  std::vector<typename TypeParam::Real> x;
  for (const Interval interval : TypeParam::kIntervals) add_interval(x, interval, 100'000 / kOneCaseIn);
  add_ties(x);
  expect_within_bound<TypeParam>(x);
}

/// Zeros and their signs, infinities and NaN are those of <cmath>; a finite result is within the bound.
TYPED_TEST(VectorMath, SpecialValuesAreThoseOfTheStandard) {
  using Real = typename TypeParam::Real;
  const std::vector<Real> x = specials<Real>();
  std::vector<Real> y(x.size());
  TypeParam::vector(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Real expected = TypeParam::standard(x[i]);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(y[i])) << x[i];
    } else {
      EXPECT_LE(ulps(y[i], TypeParam::exact(x[i])), TypeParam::kUlp) << x[i];
      EXPECT_EQ(std::signbit(y[i]), std::signbit(expected)) << x[i];
      if (expected == 0 || std::isinf(expected)) {
        EXPECT_EQ(y[i], expected) << x[i];
      }
    }
  }
}

/// Any length, any alignment, in place: always the same bits, and nothing written beyond the end.
TYPED_TEST(VectorMath, ResultsDoNotDependOnPlaceOrLength) {
  using Real = typename TypeParam::Real;
  std::vector<Real> x;
  add_interval(x, TypeParam::kIntervals[0], 64);
  std::vector<Real> whole(x.size());
  TypeParam::vector(x, whole);
  for (std::size_t n = 0; n <= 40; ++n) {
    for (std::size_t offset = 0; offset < 5; ++offset) {
      const auto from = std::span<const Real>(x).subspan(offset, n);
      std::vector<Real> padded(n + 2, Real(-77));
      TypeParam::vector(from, std::span<Real>(padded).subspan(1, n));
      EXPECT_EQ(padded.front(), -77);
      EXPECT_EQ(padded.back(), -77);
      std::vector<Real> in_place(from.begin(), from.end());
      TypeParam::vector(in_place, in_place);
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(padded[i + 1], whole[offset + i]) << n << ' ' << offset << ' ' << i;
        ASSERT_EQ(in_place[i], whole[offset + i]) << n << ' ' << offset << ' ' << i;
      }
    }
  }
}

template <class Real>
class VectorPow : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(VectorPow, Reals);

template <class Real>
constexpr double kPowBound = sizeof(Real) == 4 ? kPowFloatUlp : kPowUlp;

template <class Real>
std::vector<Real> pow_of(const std::vector<Real>& x, Real exponent) {
  std::vector<Real> y(x.size());
  vector_pow(x, exponent, y);
  return y;
}

/// The logarithm has least digits to spare next to sqrt(2) and sqrt(1/2), the product where the result is
/// largest.
TYPED_TEST(VectorPow, ErrsWithinTheBound) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  const Real largest = 2 * Limits::max_exponent;
  std::vector<Real> exponents{Real(0.996) * largest, Real(-0.996) * largest, Real(1) / 3};
  for (const double exponent : {2.0, 3.0, 0.5, -1.0, -2.0, 1.5, 10.0, -10.0, 100.0, 1e3, -1e3, 1e5, -1e7,
                                1e-3, 1e-10, 1e20, 8388607.0, 1.0, -7.0}) {
    exponents.push_back(static_cast<Real>(exponent));
  }
  std::mt19937_64 rng(3);
  for (int i = 0; i < 80; ++i) {
    const double magnitude = std::exp(std::normal_distribution<double>(0, 4)(rng));
    exponents.push_back(static_cast<Real>(i % 2 == 0 ? magnitude : -magnitude));
  }
  for (const Real exponent : exponents) {
    std::vector<Real> x;
    const double reach = std::min(700.0, 0.36 * largest / std::abs(double{exponent}));
    std::uniform_real_distribution<double> log_x(-reach, reach);
    for (int i = 0; i < 2000; i += kOneCaseIn) x.push_back(static_cast<Real>(std::exp(log_x(rng))));
    for (const Interval interval : {Interval{0.7, 1.42}, {0.705, 0.709}, {1.411, 1.416}}) {
      add_interval(x, interval, (exponent > 200 || exponent < -200 ? 10'000 : 500) / kOneCaseIn);
    }
    for (const int power :
         {0, Limits::max_exponent, Limits::min_exponent, Limits::min_exponent - Limits::digits}) {
      const double edge = std::exp2(power / double{exponent});
      add_interval(x, {edge, edge}, 0);
    }
    add_binades(x, sizeof(Real) == 4 ? 2 : 1);
    const std::vector<Real> y = pow_of(x, exponent);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double exact = std::pow(static_cast<long double>(x[i]), static_cast<long double>(exponent));
      ASSERT_LE(ulps(y[i], exact), kPowBound<Real>) << std::hexfloat << x[i] << " to the " << exponent;
    }
  }
}

TYPED_TEST(VectorPow, SpecialValuesAreThoseOfTheStandard) {
  using Real = TypeParam;
  std::vector<Real> exponents = specials<Real>();
  exponents.insert(exponents.end(), {Real(0.3), Real(-0.3), 5, -5, 4, -4, Real(2.5),
                                     1 / std::numeric_limits<Real>::epsilon() - 1});
  const std::vector<Real> x = specials<Real>();
  for (const Real exponent : exponents) {
    const std::vector<Real> y = pow_of(x, exponent);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Real expected = std::pow(x[i], exponent);
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(y[i])) << x[i] << ' ' << exponent;
      } else {
        EXPECT_LE(ulps(y[i], expected), kPowBound<Real> + 1) << x[i] << ' ' << exponent << ' ' << y[i];
        EXPECT_EQ(std::signbit(y[i]), std::signbit(expected)) << x[i] << ' ' << exponent;
        if (expected == 0 || std::isinf(expected) || std::abs(x[i]) == 1 || exponent == 0) {
          EXPECT_EQ(y[i], expected) << x[i] << ' ' << exponent;
        }
      }
    }
  }
}

TYPED_TEST(VectorPow, PowersOfTwoAreExact) {
  using Real = TypeParam;
  using Limits = std::numeric_limits<Real>;
  std::vector<Real> x;
  for (int k = Limits::min_exponent - Limits::digits; k < Limits::max_exponent; ++k)
    x.push_back(std::ldexp(Real(1), k));
  for (const Real exponent : {Real(-2), Real(-1), Real(1), Real(2), Real(3)}) {
    const std::vector<Real> y = pow_of(x, exponent);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(y[i], std::pow(x[i], exponent)) << x[i] << ' ' << exponent;
  }
}

TYPED_TEST(VectorPow, ResultsDoNotDependOnPlaceOrLength) {
  std::vector<TypeParam> x;
  add_interval(x, {0.01, 30}, 64);
  const TypeParam exponent = TypeParam(2.7);
  const auto whole = pow_of(x, exponent);
  for (std::size_t n = 0; n <= 40; ++n) {
    std::vector<TypeParam> part(x.begin() + 1, x.begin() + 1 + static_cast<std::ptrdiff_t>(n));
    vector_pow(part, exponent, part);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(part[i], whole[i + 1]) << n << ' ' << i;
  }
}

TEST(VectorMathSizes, MustAgree) {
  const std::vector<double> x(3);
  std::vector<double> y(2);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { vector_exp(x, y); }),
            "fenchel::vector_exp: y.size() must equal x.size() = 3, got 2");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { vector_pow(x, 2.0, y); }),
            "fenchel::vector_pow: y.size() must equal x.size() = 3, got 2");
}

}  // namespace
}  // namespace fenchel
