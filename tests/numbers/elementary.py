#!/usr/bin/python3
"""Writes jit/math/coefficients.h: the polynomials of elementary functions in compiled code.

Each is a minimax fit (Remez exchange on a dense grid, 60 decimal digits) of what the functions in jit/math/ need. The
coefficients are rounded one by one, the lowest power first, and the rest is fitted again each time, so that later ones
make up for the rounding of earlier ones. Only the standard library is used.
"""
import os
import struct
from decimal import Decimal, getcontext

getcontext().prec = 60
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jit", "math", "coefficients.h")
ONE = Decimal(1)
LN2 = Decimal(2).ln()
LN10 = Decimal(10).ln()


def arctan(x):
    """By its series, after halving the angle until that is short."""
    if x == 0:
        return Decimal(0)
    halvings = 0
    while abs(x) > Decimal("0.05"):
        x = x / (1 + (1 + x * x).sqrt())
        halvings += 1
    term, total, n, square = x, Decimal(0), 1, x * x
    while abs(term) > Decimal(10) ** -62:
        total += term / n
        term, n = -term * square, n + 2
    return total * 2**halvings


PI = 4 * arctan(ONE)


def series(first, ratio):
    """first + first * ratio(1) + first * ratio(1) * ratio(2) + ..."""
    term, total, n = first, Decimal(0), 0
    while abs(term) > Decimal(10) ** -70:
        total += term
        n += 1
        term *= ratio(n)
    return total


def erf(x):
    """2/sqrt(pi) * exp(-x^2) * (x + 2 x^3 / 3 + 4 x^5 / 15 + ...), in which nothing cancels."""
    return 2 / PI.sqrt() * (-x * x).exp() * series(x, lambda n: 2 * x * x / (2 * n + 1))


def sin_over_x(square):
    return series(ONE, lambda n: -square / ((2 * n) * (2 * n + 1)))


def cos_of(square):
    return series(ONE, lambda n: -square / ((2 * n - 1) * (2 * n)))


def solve(rows, right):
    """Gaussian elimination with pivots."""
    n = len(rows)
    rows = [row[:] + [value] for row, value in zip(rows, right)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            if factor:
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    found = [Decimal(0)] * n
    for k in reversed(range(n)):
        rest = rows[k][n] - sum(rows[k][j] * found[j] for j in range(k + 1, n))
        found[k] = rest / rows[k][k]
    return found


def extremes(errors, count):
    """The places of `count` errors of alternating sign, the largest ones."""
    runs = []
    for i, error in enumerate(errors):
        if runs and (errors[runs[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[runs[-1]]):
                runs[-1] = i
        else:
            runs.append(i)
    while len(runs) > count:
        if len(runs) == count + 1:
            runs.pop(0 if abs(errors[runs[0]]) < abs(errors[runs[-1]]) else -1)
            continue
        least = min(range(len(runs) - 1), key=lambda i: max(abs(errors[runs[i]]), abs(errors[runs[i + 1]])))
        del runs[least : least + 2]
    return runs if len(runs) == count else None


def remez(points, targets, weights, powers):
    """Coefficients of `powers` with the least largest weighted error, and that error."""
    count = len(powers) + 1
    places = [round(i * (len(points) - 1) / (count - 1)) for i in range(count)]
    table = [[x**p for p in powers] for x in points]
    best, least = None, None
    for _ in range(30):
        rows = [table[i] + [(-1) ** k / weights[i]] for k, i in enumerate(places)]
        found = solve(rows, [targets[i] for i in places])[:-1]
        errors = [w * (sum(c * t for c, t in zip(found, row)) - y) for row, y, w in zip(table, targets, weights)]
        largest = max(map(abs, errors))
        if least is None or largest < least:
            best, least = found, largest
        chosen = extremes(errors, count)
        if chosen is None or chosen == places:
            break
        places = chosen
    return best, least


def rounded(value, single):
    """To the nearest float64 or float32, as a decimal and as a literal."""
    number = float(value)
    if single:
        number = struct.unpack("f", struct.pack("f", number))[0]
    return Decimal(number), number.hex()


def fit(function, weight, low, high, count, single):
    """`count` coefficients of powers 0, 1, ... of the best polynomial over [low, high], and log2 of its error."""
    low, high = Decimal(low), Decimal(high)
    steps = 24 * (count + 2)
    # Chebyshev's points: close together at the ends.
    points = [(low + high) / 2 + (high - low) / 2 * -cos_of((PI * (2 * i + 1) / (2 * steps)) ** 2) for i in range(steps)]
    values = [function(x) for x in points]
    weights = [weight(x) for x in points]
    chosen, literals, least = [], [], None
    for fixed in range(count):
        rest = [y - sum(c * x**p for p, c in enumerate(chosen)) for x, y in zip(points, values)]
        found, error = remez(points, rest, weights, list(range(fixed, count)))
        least = error if least is None else least
        number, literal = rounded(found[0], single)
        chosen.append(number)
        literals.append(literal)
    error = max(abs(w * (sum(c * x**p for p, c in enumerate(chosen)) - y)) for x, y, w in zip(points, values, weights))
    return literals, float((error.ln() / LN2)), float((least.ln() / LN2))


def exponential(base_log, half, count):
    """(base^r - 1 - first r) / r^2, of which the last digits of base^r are wanted."""

    def value(r):
        return ((r * base_log).exp() - 1 - r * base_log) / (r * r)

    return value, lambda r: r * r / (r * base_log).exp(), -half, half, count


def power_of(base_log, half, count):
    """(base^r - 1) / r."""
    return lambda r: ((r * base_log).exp() - 1) / r, lambda r: abs(r) / (r * base_log).exp(), -half, half, count


HALF_LN2 = LN2 / 2 * Decimal("1.0005")
ROOT = Decimal("0.5").sqrt()
QUARTER = PI / 4 * Decimal("1.0001")


def logarithm_direct(count):
    """log1p(f) = f - f^2 / 2 + f^3 q(f)."""
    return (
        lambda f: ((1 + f).ln() - f + f * f / 2) / f**3,
        lambda f: abs(f**3 / (1 + f).ln()),
        ROOT - 1,
        2 * ROOT - 1,
        count,
    )


def logarithm_ratio(count):
    """log((1 + s) / (1 - s)) = 2 s + s z q(z) with z = s^2."""
    most = ((2 * ROOT - 1) / (2 * ROOT + 1)) ** 2
    return (
        lambda z: (((1 + z.sqrt()) / (1 - z.sqrt())).ln() / z.sqrt() - 2) / z,
        lambda z: z / 2,
        Decimal("1e-9"),
        most * Decimal("1.0001"),
        count,
    )


def error_small(count):
    """erf(x) = x + x q(x^2) for |x| <= 1: what is rounded of q(0) hardly counts beside the whole x."""
    return lambda z: erf(z.sqrt()) / z.sqrt() - 1, lambda z: z.sqrt() / erf(z.sqrt()), Decimal("1e-9"), ONE, count


def error_large(middle, half, low, high, count):
    """log(1 - erf(x)) by powers of (x - middle) / half."""

    def value(t):
        return (1 - erf(middle + half * t)).ln()

    def weight(t):
        x = middle + half * t
        return (1 - erf(x)) / erf(x)

    return value, weight, (low - middle) / half, (high - middle) / half, count


def sine(count):
    """sin(r) / r - 1 = z q(z)."""
    return lambda z: (sin_over_x(z) - 1) / z, lambda z: z / sin_over_x(z), Decimal("1e-9"), QUARTER**2, count


def cosine(count):
    """cos(r) = 1 - z / 2 + z^2 q(z)."""
    return lambda z: (cos_of(z) - 1 + z / 2) / z**2, lambda z: z**2 / cos_of(z), Decimal("1e-9"), QUARTER**2, count


def arc(count, most):
    """atan(x) = x + x z q(z) with z = x^2."""
    return (
        lambda z: (arctan(z.sqrt()) / z.sqrt() - 1) / z,
        lambda z: z * z.sqrt() / arctan(z.sqrt()),
        Decimal("1e-9"),
        most * most,
        count,
    )


TABLE = [
    ("exp_single", "exp(r) = 1 + r + r^2 q(r), |r| <= ln(2) / 2", exponential(ONE, HALF_LN2, 5), True),
    ("exp_double", "the same", exponential(ONE, HALF_LN2, 10), False),
    ("exp2_single", "2^r = 1 + r q(r), |r| <= 1/2", power_of(LN2, Decimal("0.5"), 6), True),
    ("exp2_double", "the same", power_of(LN2, Decimal("0.5"), 11), False),
    ("exp2_short", "the same in float64 for results in float32", power_of(LN2, Decimal("0.5"), 7), False),
    ("exp10_single", "10^r = 1 + r q(r), |r| <= log10(2) / 2", power_of(LN10, HALF_LN2 / LN10, 6), True),
    ("exp10_double", "the same", power_of(LN10, HALF_LN2 / LN10, 11), False),
    ("log_single", "log(1 + f) = f - f^2 / 2 + f^3 q(f), sqrt(1/2) <= 1 + f <= sqrt(2)", logarithm_direct(8), True),
    ("log_double", "log((1 + s) / (1 - s)) = 2 s + s z q(z), z = s^2", logarithm_ratio(7), False),
    ("erf_small_single", "erf(x) = x + x q(x^2), |x| <= 1", error_small(7), True),
    ("erf_small_double", "the same", error_small(12), False),
    (
        "erf_large_single",
        "log(1 - erf(x)) = q(x), 1 <= x <= 4",
        error_large(Decimal(0), ONE, ONE, Decimal(4), 8),
        True,
    ),
    (
        "erf_large_double",
        "log(1 - erf(x)) = q((x - 1) / 5), 1 <= x <= 6",
        error_large(ONE, Decimal(5), ONE, Decimal(6), 20),
        False,
    ),
    ("sin_short", "sin(r) = r + r z q(z), z = r^2, |r| <= pi / 4, for results in float32", sine(4), False),
    ("cos_short", "cos(r) = 1 - z / 2 + z^2 q(z), z = r^2", cosine(4), False),
    ("atan_short", "atan(x) = x + x z q(z), z = x^2, |x| <= 1, for results in float32", arc(12, ONE), False),
]

def split(value, digits):
    """A first part of so many binary digits, whose products with short integers are exact."""
    exponent = int((value.ln() / LN2).to_integral_value(rounding="ROUND_FLOOR")) + 1
    unit = Decimal(2) ** (exponent - digits)
    first = (value / unit).to_integral_value() * unit
    return first, value - first


CONSTANTS = [
    ("ln2", "ln(2) in a first part of few digits and the rest", LN2, 15, 42),
    ("log10_2", "log10(2) likewise", LN2 / LN10, 15, 42),
    ("log2_e", "log2(e); products of its first part with numbers of half their digits are exact", 1 / LN2, 12, 26),
    ("log10_e", "log10(e) likewise", 1 / LN10, 12, 26),
]


def constants():
    for name, meaning, value, single, double in CONSTANTS:
        yield f"// {meaning}."
        for digits, suffix in ((single, "single"), (double, "double")):
            first, rest = split(value, digits)
            yield f"inline constexpr double {name}_first_{suffix} = {rounded(first, False)[1]};"
            yield f"inline constexpr double {name}_rest_{suffix} = {rounded(rest, suffix == 'single')[1]};"


def two_over_pi(digits, count):
    """The bits of 2 / pi in pieces of so many."""
    getcontext().prec = 120
    try:
        # Machin's formula: the digits of PI above are too few.
        def inverse(n):
            term, total, k = ONE / n, Decimal(0), 1
            while abs(term) > Decimal(10) ** -118:
                total += term / k
                term, k = -term / (n * n), k + 2
            return total

        rest = 2 / (16 * inverse(5) - 4 * inverse(239))
        pieces = []
        for i in range(count):
            unit = Decimal(2) ** (-digits * (i + 1))
            piece = (rest / unit).to_integral_value(rounding="ROUND_FLOOR") * unit
            rest -= piece
            pieces.append(float(piece).hex())
        return pieces
    finally:
        getcontext().prec = 60


HEADER = """// Coefficients of the polynomials of elementary functions, the lowest power first. Written by
// tests/numbers/elementary.py; the figure is the largest relative error of the function, as a power of two.
#pragma once

#include <array>

namespace relish::jit {
"""


def main():
    lines = [HEADER]
    for name, meaning, arguments, single in TABLE:
        literals, error, ideal = fit(*arguments, single)
        print(f"{name:20} {len(literals):3} coefficients, error 2^{error:.1f} (unrounded 2^{ideal:.1f})", flush=True)
        lines.append(f"// {meaning}: 2^{error:.1f}.")
        lines.append(f"inline constexpr std::array<double, {len(literals)}> {name}{{")
        lines += [f"    {literal}," for literal in literals]
        lines.append("};")
    lines += constants()
    pieces = two_over_pi(28, 7)
    lines.append("// 2 / pi in pieces of 28 bits: their products with a float32 are exact in float64.")
    lines.append(f"inline constexpr std::array<double, {len(pieces)}> two_over_pi{{")
    lines += [f"    {piece}," for piece in pieces]
    lines.append("};")
    lines.append("\n}  // namespace relish::jit\n")
    with open(PATH, "w", encoding="utf-8") as out:
        out.write("\n".join(lines))


if __name__ == "__main__":
    main()
