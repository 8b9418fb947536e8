#pragma once

#include <algorithm>
#include <complex>
#include <vector>

/// An oracle for the finite domain in long double that shares no code with the library: plain bisection on
/// the largest probability (alpha <= 2) or the smallest of the sorted support (alpha > 2), and derivatives by
/// complex steps.
namespace fenchel::testing {

using Extended = long double;
using ExtendedVector = std::vector<Extended>;

inline Extended power(Extended base, Extended exponent) { return base > 0 ? std::pow(base, exponent) : 0.0L; }

/// exp(log1p(eps x) / eps) for any eps, 0 off the support.
inline Extended deformed(Extended eps, Extended x) {
  if (eps == 0) return std::exp(x);
  return eps * x > -1 ? std::exp(std::log1p(eps * x) / eps) : 0.0L;
}

inline ExtendedVector normalized(ExtendedVector p) {
  Extended sum = 0;
  for (const Extended x : p) sum += x;
  for (Extended& x : p) x /= sum;
  return p;
}

inline ExtendedVector reference_entmax(double alpha, const ExtendedVector& z) {
  const Extended eps = Extended(alpha) - 1, top = *std::max_element(z.begin(), z.end());
  ExtendedVector p(z.size());
  if (eps <= 1) {
    const auto fill = [&](Extended log_peak) {
      const Extended scale = std::exp(-eps * log_peak);
      Extended mass = 0;
      for (std::size_t i = 0; i < z.size(); ++i) {
        p[i] = std::exp(log_peak) * deformed(eps, scale * (z[i] - top));
        mass += p[i];
      }
      return mass;
    };
    Extended low = -std::log(Extended(z.size())) - 1, high = 0;
    for (int k = 0; k < 90; ++k) {
      const Extended middle = (low + high) / 2;
      (fill(middle) < 1 ? low : high) = middle;
    }
    fill(high);
    return normalized(p);
  }
  ExtendedVector sorted = z;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  Extended pivot = sorted[0];
  for (const Extended t : sorted) {
    Extended mass = 0;
    for (const Extended x : sorted) mass += power(eps * (x - t), 1 / eps);
    if (mass >= 1) break;
    pivot = t;
  }
  const auto fill = [&](Extended q) {
    Extended mass = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      p[i] = z[i] < pivot ? 0.0L : z[i] == pivot ? q : power(power(q, eps) + eps * (z[i] - pivot), 1 / eps);
      mass += p[i];
    }
    return mass;
  };
  Extended low = 0, high = 1;
  for (int k = 0; k < 90; ++k) {
    const Extended middle = (low + high) / 2;
    (fill(middle) < 1 ? low : high) = middle;
  }
  fill(low);
  return normalized(p);
}

/// dp along (dz, dalpha): Im p(z + i h dz, alpha + i h dalpha) / h, the complex normaliser by Newton's
/// iteration from the real solution on its support. dz is centred at the largest entry, which moves nothing
/// but A, so that some 17 digits are right also where that entry has nearly all of the mass. alpha is not so
/// large that 1 + eps (z - A) underflows.
inline ExtendedVector reference_derivative(double alpha, const ExtendedVector& z, const ExtendedVector& dz,
                                           Extended dalpha) {
  using Complex = std::complex<Extended>;
  const Extended h = 1e-30L, eps = Extended(alpha) - 1;
  const ExtendedVector p = reference_entmax(alpha, z);
  const std::size_t largest = static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin());
  const Extended log_top = std::log(p[largest]);
  // u = log_{2-alpha}(p) = z - A at the largest entry.
  const Complex eps_h(eps, h * dalpha);
  Complex normalizer = z[largest] - (eps == 0 ? log_top : std::expm1(eps * log_top) / eps);
  const auto log_p = [&](std::size_t i) {
    const Complex u = Complex(z[i], h * (dz[i] - dz[largest])) - normalizer;
    if (std::abs(eps) > 1e-3L) return std::log(1.0L + eps_h * u) / eps_h;
    Complex sum = 0, x = u;  // log1p(e u) / e by its series, since std::log of a complex has no log1p
    for (int k = 1; k < 60; ++k, x *= -eps_h * u) sum += x / Extended(k);
    return sum;
  };
  for (int step = 0; step < 60; ++step) {
    Complex mass = 0, slope = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (p[i] == 0) continue;
      const Complex l = log_p(i);
      mass += std::exp(l);
      slope += std::exp((1.0L - eps_h) * l);
    }
    normalizer += (mass - 1.0L) / slope;
  }
  ExtendedVector result(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (p[i] != 0) result[i] = std::exp(log_p(i)).imag() / h;
  }
  return result;
}

}  // namespace fenchel::testing
