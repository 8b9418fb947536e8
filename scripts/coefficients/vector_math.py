#!/usr/bin/env python3
"""Prints src/core/lanes/lane_coefficients.hpp: near-minimax polynomials by the Remez exchange in 45 digits.

    scripts/coefficients/vector_math.py | clang-format --assume-filename=x.hpp > src/core/lanes/lane_coefficients.hpp

Each error in a comment is the largest weighted error of the coefficients after rounding, on the fitting grid.
"""

import struct

from mpmath import mp, mpf

mp.dps = 45

LN2 = mp.log(2)
SQRT2 = mp.sqrt(2)
# Rounding x / ln 2 by adding a big number may miss the nearest integer by a little.
EXP_REACH = LN2 / 2 * (1 + mpf(2) ** -10)
# s = (m - 1) / (m + 1) for m up to sqrt(2).
ATANH_REACH = ((SQRT2 - 1) / (SQRT2 + 1)) ** 2


def points(low, high, count):
    """Points of [low, high], dense at its ends."""
    middle, radius = (mpf(low) + mpf(high)) / 2, (mpf(high) - mpf(low)) / 2
    return [middle - radius * mp.cos(mp.pi * i / count) for i in range(count + 1)]


def remez(function, weight, degree, low, high, cut=-7, rounds=40, density=24):
    """Coefficients, lowest first, of the polynomial with the least max of weight * |polynomial - function|."""
    count = degree + 2
    grid = points(low, high, density * count)
    weights = [weight(x) for x in grid]
    # Where the weight vanishes (a pinned term of the expansion), any error is allowed and none is an extremum.
    kept = [i for i, w in enumerate(weights) if w > max(weights) * mpf(10) ** cut]
    grid, weights = [grid[i] for i in kept], [weights[i] for i in kept]
    values = [function(x) for x in grid]
    reference = [(len(grid) - 1) * i // (count - 1) for i in range(count)]
    best, best_error = None, mp.inf
    for _ in range(rounds):
        matrix, right = mp.matrix(count, count), mp.matrix(count, 1)
        for row, i in enumerate(reference):
            for column in range(degree + 1):
                matrix[row, column] = grid[i] ** column
            matrix[row, degree + 1] = (-1) ** row / weights[i]
            right[row] = values[i]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(degree + 1)]
        errors = [w * (mp.polyval(coefficients[::-1], x) - v) for x, v, w in zip(grid, values, weights)]
        largest = max(abs(e) for e in errors)
        if largest < best_error:
            best, best_error = coefficients, largest
        reference = alternation(errors, count)
        if reference is None or largest < 1.005 * abs(solution[degree + 1]):
            break
    return best


def alternation(errors, count):
    """Indices of `count` extrema of alternating sign, the largest that there are."""
    extrema = []
    for i, error in enumerate(errors):
        if extrema and (errors[extrema[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[extrema[-1]]):
                extrema[-1] = i
        else:
            extrema.append(i)
    size = lambda k: abs(errors[extrema[k]])
    while len(extrema) > count:
        least = min(range(len(extrema)), key=size)
        if least in (0, len(extrema) - 1):
            extrema.pop(least)
        elif len(extrema) == count + 1:
            extrema.pop(0 if size(0) < size(-1) else -1)
        else:
            other = least + 1 if size(least + 1) < size(least - 1) else least - 1
            for k in sorted((least, other), reverse=True):
                extrema.pop(k)
    return extrema if len(extrema) == count else None


def rounded(value, real):
    value = float(value)
    return struct.unpack("f", struct.pack("f", value))[0] if real == "float" else value


def hex_float(value, real):
    mantissa, exponent = float(value).hex().split("p")
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + "p" + exponent + (
        "f" if real == "float" else "")


def fit_rounded(real, function, weight, degree, low, high, cut=-7):
    """Rounds the terms one after the other, lowest first, and fits those that remain again."""
    coefficients = []
    for remaining in range(degree, -1, -1):
        done = [mpf(c) for c in reversed(coefficients)]
        k = len(done)
        rest = (lambda x: (function(x) - mp.polyval(done, x)) / x**k) if k else function
        fit = remez(rest, lambda x: weight(x) * abs(x) ** k, remaining, low, high, cut)
        coefficients.append(rounded(fit[0], real))
    return coefficients


def print_array(real, name, claim, fit):
    coefficients = fit_rounded(real, *fit)
    function, weight, _, low, high, *_ = fit
    samples = [(x, function(x), weight(x)) for x in points(low, high, 999)]
    exact = [mpf(c) for c in reversed(coefficients)]
    error = max(abs(w * (mp.polyval(exact, x) - v)) for x, v, w in samples)
    print(f"  /// {claim}: 2^{float(mp.log(error, 2)):.1f}.")
    print(f"  static constexpr {real} {name}[] = {{{', '.join(hex_float(c, real) for c in coefficients)}}};")


def fit_exp(degree):
    return (lambda r: (mp.expm1(r) - r) / r**2, lambda r: r**2 * mp.exp(-r), degree, -EXP_REACH, EXP_REACH)


def fit_log(degree):
    return (lambda f: (mp.log1p(f) - f) / f**2, lambda f: f**2 / abs(mp.log1p(f)) if f else mpf(0), degree,
                 1 / SQRT2 - 1, SQRT2 - 1)


def fit_erf(degree, reach):
    function = lambda z: mp.erf(mp.sqrt(z)) / mp.sqrt(z) - 1
    return (function, lambda z: 1 / (1 + function(z)), degree, mpf(10) ** -16, mpf(reach) ** 2)


def fit_log_erfc(degree, low, high):
    return (lambda x: mp.log(mp.erfc(x)), mp.erfc, degree, low, high, -18)


def fit_erfcx(degree, pole, low, high):
    def function(t):
        x = pole * (1 + t) / (1 - t)
        return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x) - 1

    t_of = lambda x: (mpf(x) - pole) / (mpf(x) + pole)
    return (function, lambda t: 1 / (1 + function(t)), degree, t_of(low), t_of(high))


def fit_atanh_tail(degree):
    """3 atanh(s) / s = 3 + z + z^2 R(z), z = s^2."""
    atanh = lambda z: 3 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z)
    return (lambda z: (atanh(z) - 3 - z) / z**2, lambda z: z**2 / atanh(z), degree, mpf(10) ** -12, ATANH_REACH)


def fit_log2(degree):
    function = lambda f: mp.log1p(f) / (f * LN2)
    return (function, lambda f: 1 / function(f), degree, 1 / SQRT2 - 1, SQRT2 - 1)


def fit_exp2(degree):
    return (lambda r: (mpf(2) ** r - 1) / r, lambda r: abs(r) * mpf(2) ** -r, degree, mpf("-0.501"), mpf("0.501"))


def print_constant(real, name, claim, value):
    print(f"  /// {claim}.\n  static constexpr {real} {name} = {value}{'f' if real == 'float' else ''};")


def print_real(real, exp, log, erf, erf_reach, log_erfc, erf_one, erfc_reach, erfcx, pole, erfc_zero):
    print(f"template <>\nstruct LaneCoefficients<{real}> {{")
    print_array(real, "kExp", "(exp(r) - 1 - r) / r^2 for |r| <= ln(2)/2, as an error of exp", fit_exp(exp))
    print_array(real, "kLog", "(log(1+f) - f) / f^2 for 1 + f in [sqrt(1/2), sqrt(2)], as a relative error of log",
                fit_log(log))
    print_constant(real, "kErfReach", "Where kErf ends and kLogErfc begins", erf_reach)
    print_array(real, "kErf", f"erf(x) / x - 1 in x^2 for |x| <= {erf_reach}, as a relative error of erf",
                fit_erf(erf, erf_reach))
    print_constant(real, "kErfOne", "From here on erf(x) rounds to 1", erf_one)
    print_array(real, "kLogErfc", f"log(erfc(x)) for x in [{erf_reach}, {erf_one}], as an error of erf",
                fit_log_erfc(log_erfc, erf_reach, erf_one))
    print_constant(real, "kErfcReach", "Where kErf ends and kErfcx begins, for erfc", erfc_reach)
    print_constant(real, "kErfcZero", "From here on erfc(x) rounds to 0", erfc_zero)
    print_constant(real, "kErfcxPole", "t = (x - pole) / (x + pole)", pole)
    print_array(real, "kErfcx", f"(1 + 2x) exp(x^2) erfc(x) - 1 in t for x in [{erfc_reach}, {erfc_zero}], relative",
                fit_erfcx(erfcx, pole, erfc_reach, erfc_zero))
    if real == "double":
        print_array(real, "kAtanh", "(3 atanh(s)/s - 3 - z) / z^2 in z = s^2, s <= 0.1716, as a relative error of atanh",
                    fit_atanh_tail(7))
    else:
        print_array("double", "kLog2", "log2(1+f) / f for 1 + f in [sqrt(1/2), sqrt(2)], relative", fit_log2(13))
        print_array("double", "kExp2", "(2^r - 1) / r for |r| <= 1/2, as a relative error of 2^r", fit_exp2(5))
    print("};\n")


def main():
    print("#pragma once\n\n// Made by scripts/coefficients/vector_math.py; the errors are those of the fits, lowest term first.\n")
    print("namespace fenchel::detail {\n\ntemplate <class Real>\nstruct LaneCoefficients;\n")
    print_real("float", exp=5, log=8, erf=5, erf_reach=0.875, log_erfc=6, erf_one=4.0, erfc_reach=0.5, erfcx=9,
               pole=2.5, erfc_zero=10.1)
    print_real("double", exp=9, log=19, erf=11, erf_reach=1.0, log_erfc=17, erf_one=6.0, erfc_reach=0.5, erfcx=20,
               pole=3.5, erfc_zero=27.3)
    print("}  // namespace fenchel::detail")


if __name__ == "__main__":
    main()
