"""Writes tests/golden/integers.txt and heavy_integers.txt: predictions on the integers, by mpmath.

Each block is one (family, alpha, mu, scale): family 0 is Poisson with scale its temperature, 1 the integer Gaussian
with scale its sigma2. The normaliser solves the sum of probabilities at 100 digits over all integers whose Boltzmann
weight is above e^-120, or over the support if that is smaller. Below alpha = 1 (heavy_integers.txt) the series are summed
term by term up to a distance and from there by Euler and Maclaurin's formula with derivatives, at 30 digits.
"""
import functools
import pathlib

from mpmath import bernoulli, diff, exp, expm1, factorial, floor, inf, log, log1p, loggamma, mp, mpf, nint, quad, sqrt

mp.dps = 100
FAMILIES = {"poisson": 0, "gaussian": 1}
ONE_ULP = 1 + 2.0**-52


def scores(family, mu, scale):
    """f / T as a function, the first integer to look from, and the smallest integer."""
    if family == "poisson":
        return lambda t: (t * log(mu) - loggamma(t + 1)) / scale, int(floor(mu)), 0
    return lambda t: -((t - mu) ** 2) / (2 * scale), int(nint(mu)), None


def log_p(am1, u):
    if am1 == 0:
        return u
    return log1p(am1 * u) / am1 if am1 * u > -1 else -mp.inf


def mass(am1, ds, a):
    return sum(exp(log_p(am1, d - a)) for d in ds)


def solve(am1, ds):
    if am1 == 0:
        return log(sum(exp(d) for d in ds))
    low, high = mpf(0), (1 - mpf(len(ds)) ** -am1) / am1
    if am1 <= 1:  # convex and decreasing: Newton's iteration rises to the root
        a = low
        for _ in range(200):
            ps = [exp(log_p(am1, d - a)) for d in ds]
            step = (sum(ps) - 1) / sum(p ** (1 - am1) for p in ps if p)
            a += step
            if abs(step) < mpf(10) ** -36:
                return a
        raise RuntimeError("no convergence")
    for _ in range(330):
        middle = (low + high) / 2
        low, high = (middle, high) if mass(am1, ds, middle) > 1 else (low, middle)
    return low


def negentropy(ps, order):
    if order == 1:
        return sum(p * log(p) for p in ps)
    return sum(p * expm1((order - 1) * log(p)) for p in ps) / (order * (order - 1))


def block(family, alpha, mu, scale):
    alpha, mu, scale = mpf(alpha), mpf(mu), mpf(scale)
    am1 = alpha - 1
    f, centre, least = scores(family, mu, scale)
    top = f(mpf(centre))
    first = last = centre
    lowest = -mpf(120) if am1 < mpf(1) / 120 else -1 / am1

    def d(t):
        return -mp.inf if least is not None and t < least else f(mpf(t)) - top

    # Double the window until the next integer on either side has no mass.
    while True:
        size = max(8, last - first)
        while last - first < 2 * size and max(d(first - 1), d(last + 1)) > lowest:
            if d(first - 1) > d(last + 1):
                first -= 1
            else:
                last += 1
        a = solve(am1, [d(t) for t in range(first, last + 1)])
        outside = max(d(first - 1), d(last + 1))
        if outside <= lowest or am1 * (outside - a) <= -1:
            break
    ts = [t for t in range(first, last + 1) if log_p(am1, d(t) - a) > -mp.inf]
    ps = [exp(log_p(am1, d(t) - a)) for t in ts]
    mean = sum(p * t for p, t in zip(ps, ts))
    m2, m3, m4 = (sum(p * (t - mean) ** n for p, t in zip(ps, ts)) for n in (2, 3, 4))
    yield "case", [FAMILIES[family], alpha, mu, scale]
    temperature = scale if family == "poisson" else 1
    yield "normalizer", [temperature * (top + a)]
    if alpha > 1.001:
        yield "threshold", [temperature * (top + a - 1 / am1)]
        yield "support", [ts[0], ts[-1]]
    yield "moments", [mean, m2, m3 / m2 / sqrt(m2), m4 / m2**2] if m2 else [mean, m2]
    yield "entropy", [-sum(p * log(p) for p in ps), (1 - sum(p**1.5 for p in ps)) / 0.75,
                      (1 - sum(p**0.5 for p in ps)) / -0.25]
    weights = [sqrt(p) for p in ps]
    yield "escort", [sum(w * t for w, t in zip(weights, ts)) / sum(weights)]
    points = sorted({max(ts[0], min(ts[-1], int(nint(mean + k * sqrt(m2))))) for k in (-9, -4, -1, 0, 1, 4, 9)})
    yield "points", points
    yield "log_pmf", [log_p(am1, d(t) - a) for t in points]
    yield "log_cdf", [log(sum(p for p, s in zip(ps, ts) if s <= t)) for t in points]
    inner = [t for t in points if t < ts[-1]]
    yield "log_survival", [log(sum(p for p, s in zip(ps, ts) if s > t)) for t in inner]
    # Fenchel-Young loss of one integer, its gradients by the envelope theorem, and its Hessian.
    y = max(0, int(nint(mean + 2 * sqrt(m2)))) + 1
    value = sum(p * d(t) for p, t in zip(ps, ts)) - negentropy(ps, alpha) - d(y)
    if am1 == 0:
        slope = sum(p * log(p) ** 2 / 2 - p * log(p) for p in ps)
    else:
        h = mpf(10) ** -15
        slope = (negentropy(ps, alpha + h) - negentropy(ps, alpha - h)) / (2 * h)
    beta = 2 - alpha
    qs = [p**beta for p in ps]
    centre_q = sum(q * t for q, t in zip(qs, ts)) / sum(qs)
    hessian = sum(q * (t - centre_q) ** 2 for q, t in zip(qs, ts))
    yield "loss", [y, temperature * value, mean - y, -temperature * slope, hessian / temperature]


CASES = [("poisson", a, mu, t) for a in (1.0, ONE_ULP, 1 + 1e-8, 1.01, 4 / 3, 1.5, 2.0, 5.0, 20.0)
         for mu, t in ((0.3, 1.0), (3.0, 1.0), (7.3, 2.5), (1234.5, 1.0))]
CASES += [("poisson", a, mu, 1.0) for a in (2.0, 5.0) for mu in (1e5, 1e9 + 0.25)]
CASES += [("poisson", 1.0, 2e4, 1.0), ("poisson", 4 / 3, 1e5, 1.0), ("poisson", 1.5, 1e-3, 40.0)]
CASES += [("gaussian", a, mu, s) for a in (1.0, ONE_ULP, 1 + 1e-8, 1.01, 4 / 3, 1.5, 2.0, 5.0, 20.0)
          for mu, s in ((3.4, 1.0), (-0.5, 0.2), (1e6 + 0.3, 300.0))]
CASES += [("gaussian", 2.0, 0.1, 1e9), ("gaussian", 1.5, -7.2, 1e6)]


class Heavy:
    """A prediction below alpha = 1: sums over all integers, and over those above or below one."""

    def __init__(self, family, alpha, mu, scale):
        self.alpha, self.mu, self.scale = mpf(alpha), mpf(mu), mpf(scale)
        self.am1 = self.alpha - 1
        f, self.centre, least = scores(family, self.mu, self.scale)
        known = functools.cache(lambda t, precision: f(t))
        self.f = lambda t: known(t, mp.prec)
        self.two_sided = least is None
        self.top = self.f(mpf(self.centre))
        self.reach = int(400 + 12 * 2 / -self.am1)
        self.a = mp.findroot(lambda a: log(self.mass(a)), log(2 + sqrt(self.mu + self.scale)), tol=mpf(10) ** -24)

    def log_p(self, t, a=None):
        return log_p(self.am1, self.f(t) - self.top - (self.a if a is None else a))

    def tail(self, g, start, sign):
        """The sum of g(start), g(start + sign), ... by Euler and Maclaurin."""
        if abs(start - self.centre) < self.reach:
            stop = self.centre + sign * self.reach
            return sum(g(mpf(t)) for t in range(start, stop, sign)) + self.tail(g, stop, sign)
        start = mpf(start)
        distance = abs(start - self.centre)
        unit = g(start)  # quad's accuracy is absolute
        outwards = lambda x: g(start + sign * x) / unit
        integral = quad(lambda s: outwards(distance * expm1(s)) * distance * exp(s), [0, 1, 2, 4, 8, 16, 64, inf])
        total = integral + outwards(mpf(0)) / 2
        scaled = lambda s: outwards(distance * s)
        for j in range(1, 8):
            slope = diff(scaled, 0, 2 * j - 1) / distance ** (2 * j - 1)
            total -= bernoulli(2 * j) / factorial(2 * j) * slope
        return unit * total

    def sum(self, g):
        total = self.tail(g, self.centre, 1)
        if self.two_sided:
            return total + self.tail(g, self.centre - 1, -1)
        return total + sum(g(mpf(t)) for t in range(self.centre))

    def mass(self, a):
        return self.sum(lambda t: exp(self.log_p(t, a)))

    def expect(self, g):
        return self.sum(lambda t: exp(self.log_p(t)) * g(t))

    def below(self, t):
        if self.two_sided:
            return self.tail(lambda s: exp(self.log_p(s)), t, -1)
        return sum(exp(self.log_p(mpf(s))) for s in range(t + 1)) if t < 5000 else 1 - self.above(t)

    def above(self, t):
        return self.tail(lambda s: exp(self.log_p(s)), t + 1, 1)

    def power_sum(self, order, g=lambda t: 1):
        return self.sum(lambda t: exp(order * self.log_p(t)) * g(t))


def heavy_block(family, alpha, mu, scale):
    p = Heavy(family, alpha, mu, scale)
    growth = 1 if family == "poisson" else 2
    rate = -p.am1
    temperature = p.scale if family == "poisson" else 1
    yield "case", [FAMILIES[family], p.alpha, p.mu, p.scale]
    yield "normalizer", [temperature * (p.top + p.a)]
    exists = lambda n: growth > (n + 1) * rate
    moments = []
    if exists(1):
        mean = p.expect(lambda t: t)
        moments = [mean] + [p.expect(lambda t: (t - mean) ** n) for n in (2, 3, 4) if exists(n)]
        yield "moments", moments
    yield "entropy", [-p.expect(lambda t: p.log_p(t)), (1 - p.power_sum(mpf(1.5))) / 0.75]
    order = mpf(1.25)
    if order * growth > 2 * rate:
        yield "escort", [p.power_sum(order, lambda t: t) / p.power_sum(order)]
    points = [p.centre + k for k in (0, 1, 4, 30, 600, 10**6, 10**15)]
    yield "points", points
    yield "log_pmf", [p.log_p(mpf(t)) for t in points]
    yield "log_survival", [log(p.above(t)) for t in points]
    lower = [p.centre - k for k in (1, 3, 20, 700, 10**9)] if p.two_sided else list(range(min(p.centre, 4)))
    if lower:
        yield "lower", lower
        yield "log_cdf", [log(p.below(t)) for t in lower]
    if growth * p.alpha > rate:  # the loss of the integer y
        y = p.centre + 7
        power = p.power_sum(p.alpha)
        negentropy = (power - 1) / (p.alpha * p.am1)
        value = p.expect(lambda t: p.f(t) - p.top) - negentropy - (p.f(mpf(y)) - p.top)
        slope = (p.power_sum(p.alpha, lambda t: p.log_p(t)) / (p.alpha * p.am1)
                 - (power - 1) * (2 * p.alpha - 1) / (p.alpha * p.am1) ** 2)
        beta = 2 - p.alpha
        whole = p.power_sum(beta)
        centre = p.power_sum(beta, lambda t: t) / whole
        hessian = p.power_sum(beta, lambda t: (t - centre) ** 2)
        yield "loss", [y, temperature * value, moments[0] - y, -temperature * slope, hessian / temperature]


HEAVY_CASES = [("poisson", a, mu, t) for a in (0.3, 0.55, 0.8, 0.95, 0.99) for mu, t in ((0.3, 1.0), (3.0, 1.0), (40.5, 2.5))]
HEAVY_CASES += [("gaussian", a, mu, s) for a in (0.25, 0.4, 0.8, 0.97) for mu, s in ((3.4, 1.0), (-0.5, 30.0))]


def written(blocks):
    lines = []
    for block_lines in blocks:
        lines.append("")
        lines += [key + " " + " ".join(mp.nstr(mpf(v), 20) for v in values) for key, values in block_lines]
    return lines


def main():
    golden = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden"
    mp.dps = 30
    lines = ["# Made by scripts/golden/integers.py, as integers.txt for alpha < 1. moments: the mean and the central ones of",
             "# orders 2, 3 and 4 that exist. entropy: Shannon, Tsallis of order 3/2. escort: the mean of that of order 5/4,",
             "# where it exists. log_pmf and log_survival at the points, log_cdf at those of `lower`."]
    lines += written(heavy_block(*case) for case in HEAVY_CASES)
    (golden / "heavy_integers.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
    mp.dps = 100
    lines = ["# Made by scripts/golden/integers.py. case: family (0 Poisson, 1 integer Gaussian), alpha, mu, scale",
             "# (temperature, sigma2). entropy: Shannon, Tsallis of orders 3/2 and 1/2. escort: the mean of that of",
             "# order 1/2. loss: of the integer y: y, Fenchel-Young, predicted mean less y, d/dalpha, Hessian in (t, t)."]
    lines += written(block(*case) for case in CASES)
    (golden / "integers.txt").write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
