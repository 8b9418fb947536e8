#include "fenchel/estimate/density/kernel_density.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <stdexcept>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/core/quadrature.hpp"
#include "fenchel/core/variates.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::kInf;
using testing::message_of;

const double kAlphas[] = {1, std::nextafter(1.0, 2), 1 + 1e-8, 1.01, 1.1, 4.0 / 3, 1.5, 1.7, 2, 5, 1e6, kInf};

Rows<const double> rows_of(const std::vector<double>& x, index_t n) {
  return {x.data(), std::ssize(x) / n, n};
}

/// The density by definition, in long double: peak (1 - q / (n + 2 + 2 e))^e with e = 1 / (alpha - 1).
struct Plain {
  double alpha;
  index_t n;
  std::vector<double> points, weights, bandwidth;

  [[nodiscard]] long double peak() const {
    const long double size = n, e = 1 / (static_cast<long double>(alpha) - 1);
    const auto sphere = std::pow(std::numbers::pi_v<long double>, size / 2);
    if (alpha == 1) return std::pow(2.0L, -size / 2) / sphere;
    // Gamma(n/2 + e + 1) / Gamma(e + 1) e^{-n/2}, whose logarithms would cancel.
    if (e > 1e4L) {
      const long double first = 1 + size * (size + 2) / 8 / e, square = (size + 2 + 2 * e) / e;
      return first * std::pow(square, -size / 2) / sphere;
    }
    return std::exp(std::lgamma(size / 2 + e + 1) - std::lgamma(e + 1)) /
           std::pow(size + 2 + 2 * e, size / 2) / sphere;
  }
  [[nodiscard]] long double kernel(const double* t, std::size_t i) const {
    const long double size = n, e = 1 / (static_cast<long double>(alpha) - 1);
    long double q = 0;
    for (index_t j = 0; j < n; ++j) {
      const long double d = (static_cast<long double>(t[j]) -
                             points[i * static_cast<std::size_t>(n) + static_cast<std::size_t>(j)]) /
                            bandwidth[static_cast<std::size_t>(j)];
      q += d * d;
    }
    if (alpha == 1) return std::exp(-q / 2);
    if (alpha == kInf) return q < size + 2 ? 1 : 0;
    const long double x = q / (size + 2 + 2 * e);
    return x < 1 ? std::exp(e * std::log1p(-x)) : 0;
  }
  [[nodiscard]] double weight(std::size_t i) const { return weights.empty() ? 1 : weights[i]; }
  [[nodiscard]] std::size_t size() const { return points.size() / static_cast<std::size_t>(n); }
  [[nodiscard]] long double unit() const {
    long double total = 0, volume = 1;
    for (std::size_t i = 0; i < size(); ++i) total += weight(i);
    for (const double h : bandwidth) volume *= h;
    return peak() / volume / total;
  }
  /// Without row `excluded`, over the weight of all.
  [[nodiscard]] double pdf(const double* t, std::size_t excluded = static_cast<std::size_t>(-1)) const {
    long double sum = 0;
    for (std::size_t i = 0; i < size(); ++i)
      if (i != excluded) sum += weight(i) * kernel(t, i);
    return static_cast<double>(sum * unit());
  }
  /// The density of all of the weight at one point.
  [[nodiscard]] double largest() const {
    long double volume = 1;
    for (const double h : bandwidth) volume *= h;
    return static_cast<double>(peak() / volume);
  }
};

std::vector<double> normal_numbers(std::size_t count, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::vector<double> out(count);
  for (double& x : out) x = standard_normal(rng);
  return out;
}

std::vector<double> pdf(const KernelDensity& p, const std::vector<double>& t) {
  std::vector<double> out(t.size() / static_cast<std::size_t>(p.dimension()));
  p.pdf_rows(rows_of(t, p.dimension()), out);
  return out;
}

void expect_exact(const Plain& plain, const std::vector<double>& t) {
  const KernelDensity p(rows_of(plain.points, plain.n), plain.alpha, plain.bandwidth, plain.weights);
  const std::vector<double> got = pdf(p, t);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = plain.pdf(t.data() + i * static_cast<std::size_t>(plain.n));
    ASSERT_NEAR(got[i], want, kKernelSumError * plain.largest())
        << "alpha " << plain.alpha << ", n " << plain.n << ", query " << i;
  }
}

TEST(KernelDensity, SumsOnTheLineAreExact) {
  const std::vector<double> points = normal_numbers(2000, 1), t = normal_numbers(100, 2);
  for (const double alpha : kAlphas) {
    for (const double h : {0.003, 0.4, 30.0}) expect_exact({alpha, 1, points, {}, {h}}, t);
  }
}

TEST(KernelDensity, SumsOnTheLineAreRightInDigits) {
  // Where many kernels overlap the error is far below the largest sum: it is relative.
  const std::vector<double> points = normal_numbers(2000, 1), t = normal_numbers(50, 2);
  for (const double alpha : kAlphas) {
    const Plain plain{alpha, 1, points, {}, {0.3}};
    const std::vector<double> got = pdf(KernelDensity(rows_of(points, 1), alpha, plain.bandwidth), t);
    for (std::size_t i = 0; i < t.size(); ++i) {
      const double want = plain.pdf(&t[i]);
      EXPECT_NEAR(got[i], want, 1e-12 * want) << alpha;
    }
  }
}

TEST(KernelDensity, SumsInSpaceAreExact) {
  for (index_t n = 2; n <= 5; ++n) {
    const auto size = static_cast<std::size_t>(n);
    const std::vector<double> points = normal_numbers(1000 * size, 3), t = normal_numbers(60 * size, 4);
    for (const double alpha : kAlphas) {
      std::vector<double> h(size, 0.5);
      h[0] = 0.9;
      for (const double times : {0.2, 1.0, 8.0}) {
        std::vector<double> bandwidth = h;
        for (double& x : bandwidth) x *= times;
        expect_exact({alpha, n, points, {}, bandwidth}, t);
      }
    }
  }
}

TEST(KernelDensity, DataFarFromZeroAreAsExact) {
  std::vector<double> points = normal_numbers(2000, 5), t = normal_numbers(100, 6);
  for (std::vector<double>* x : {&points, &t})
    for (double& value : *x) value += 1e9;
  for (const double alpha : kAlphas) {
    expect_exact({alpha, 1, points, {}, {0.2}}, t);
    expect_exact({alpha, 2, points, {}, {0.3, 0.4}}, t);
  }
}

TEST(KernelDensity, DuplicatesAndOnePoint) {
  const std::vector<double> same(500, 2.5), t{1.9, 2.5, 2.7, 3.1}, one{2.5};
  for (const double alpha : kAlphas) {
    expect_exact({alpha, 1, same, {}, {0.3}}, t);
    expect_exact({alpha, 1, one, {}, {0.3}}, t);
    expect_exact({alpha, 2, same, {}, {0.3, 0.3}}, t);
  }
}

TEST(KernelDensity, AWeightIsSoManyRows) {
  std::vector<double> points = normal_numbers(300, 7), repeated, weights;
  for (std::size_t i = 0; i < points.size(); ++i) {
    weights.push_back(static_cast<double>(i % 4));
    for (std::size_t k = 0; k < i % 4; ++k) repeated.push_back(points[i]);
  }
  const std::vector<double> t = normal_numbers(50, 8), h{0.3};
  for (const double alpha : kAlphas) {
    const KernelDensity once(rows_of(points, 1), alpha, h, weights), many(rows_of(repeated, 1), alpha, h);
    EXPECT_EQ(once.weight(), many.weight());
    const std::vector<double> got = pdf(once, t), want = pdf(many, t);
    for (std::size_t i = 0; i < t.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-14) << alpha;
    expect_exact({alpha, 1, points, weights, h}, t);
  }
}

TEST(KernelDensity, NothingOutOfReach) {
  const std::vector<double> points = normal_numbers(1000, 9), h{0.2};
  for (const double alpha : kAlphas) {
    const KernelDensity p(rows_of(points, 1), alpha, h);
    const Interval hull = p.hull(0);
    if (alpha <= 1 + 1e-8) continue;  // its support is longer than doubles show
    for (const double t : {hull.upper() + 1e-9, hull.lower() - 1e-9, 1e6, 1e300, -kInf, kInf}) {
      std::vector<double> out(1);
      p.pdf_rows({&t, 1, 1}, out);
      EXPECT_EQ(out[0], 0) << alpha;
      p.log_pdf_rows({&t, 1, 1}, out);
      EXPECT_EQ(out[0], -kInf) << alpha;
    }
  }
}

TEST(KernelDensity, LogarithmsAreRightWhereTheDensityUnderflows) {
  const std::vector<double> points = normal_numbers(1000, 10), h{0.1};
  const double last = *std::max_element(points.begin(), points.end());
  const KernelDensity p(rows_of(points, 1), 1, h);
  for (const double distance : {0.5, 2.0, 3.5, 20.0, 1e5}) {
    const double t = last + distance, z = distance / 0.1;
    std::vector<double> out(1);
    p.log_pdf_rows({&t, 1, 1}, out);
    const double nearest = -z * z / 2 - std::log(1000 * 0.1 * std::sqrt(2 * std::numbers::pi));
    EXPECT_GE(out[0], nearest - 1e-9 * z * z);
    EXPECT_LT(out[0], nearest + std::log(1000.0));
    if (distance >= 20) {
      EXPECT_NEAR(out[0], nearest, 1e-9 * z * z);
    }
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> out(1);
  p.log_pdf_rows({&nan, 1, 1}, out);
  EXPECT_TRUE(std::isnan(out[0]));
}

TEST(KernelDensity, TheMassIsOneAndTheDistributionFunctionItsIntegral) {
  const std::vector<double> points = normal_numbers(5, 11), h{0.35};
  std::vector<double> positive;
  for (const double x : points) positive.push_back(std::abs(x));
  const Interval line(-kInf, kInf), right(0, kInf), left(-kInf, 4);
  for (const double alpha : {1.0, 1.01, 1.5, 1.7, 2.0, kInf}) {
    for (const Interval& domain : {line, right, left}) {
      const KernelDensity p(rows_of(domain.lower() == 0 ? positive : points, 1), alpha, h, {}, domain);
      const double from = std::max(domain.lower(), -9.0), to = std::min(domain.upper(), 9.0);
      const auto density = [&](double t) {
        double value = 0;
        p.pdf_rows({&t, 1, 1}, {&value, 1});
        return value;
      };
      // Cut where a kernel ends or has its centre.
      std::vector<double> cuts{from, to};
      for (const double x : points)
        for (const double a : {x, -x, 8 - x})
          for (const double r : {-1.0, 0.0, 1.0}) {
            const double cut = a + (alpha > 1.01 ? r * p.radius() * h[0] : r);
            if (cut > from && cut < to) cuts.push_back(cut);
          }
      std::sort(cuts.begin(), cuts.end());
      double mass = 0;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
        if (cuts[i + 1] - cuts[i] < 1e-14) continue;
        mass += integrate(density, cuts[i], cuts[i + 1], 1e-12).value;
        if (i % 7 == 0) {
          double below = 0;
          p.cdf_rows({&cuts[i + 1], 1}, {&below, 1});
          EXPECT_NEAR(below, mass, 1e-11) << alpha << " at " << cuts[i + 1];
        }
      }
      EXPECT_NEAR(mass, 1, 1e-11) << alpha;
    }
  }
}

TEST(KernelDensity, DistributionFunctionsAreMeansOfThoseOfTheKernels) {
  const std::vector<double> points = normal_numbers(1000, 12), t = normal_numbers(50, 13), h{0.2}, centre{0};
  for (const double alpha : kAlphas) {
    const KernelDensity all(rows_of(points, 1), alpha, h), one(rows_of(centre, 1), alpha, h);
    std::vector<double> got(t.size()), differences(points.size()), kernel(points.size());
    all.cdf_rows(t, got);
    for (std::size_t i = 0; i < t.size(); ++i) {
      for (std::size_t k = 0; k < points.size(); ++k) differences[k] = t[i] - points[k];
      one.cdf_rows(differences, kernel);
      double sum = 0;
      for (const double value : kernel) sum += value;
      EXPECT_NEAR(got[i], sum / 1000, kKernelCdfError) << alpha;
    }
  }
}

TEST(KernelDensity, DrawsFollowTheDensity) {
  const std::vector<double> points{0, 0.5, 3};
  for (const double alpha : {1.0, 1.5, 2.0, kInf}) {
    const KernelDensity p(rows_of(points, 1), alpha, std::vector<double>{0.4}, {}, Interval(0, kInf));
    const index_t count = 20000;
    std::vector<double> draws(count), level(count);
    p.sample_rows(7, 0, {draws.data(), count, 1});
    std::sort(draws.begin(), draws.end());
    p.cdf_rows(draws, level);
    double distance = 0;
    for (std::size_t i = 0; i < level.size(); ++i)
      distance = std::max(distance, std::abs(level[i] - (static_cast<double>(i) + 0.5) / count));
    EXPECT_LT(distance, 1.95 / std::sqrt(count)) << alpha;  // Kolmogorov: one time in a thousand more
  }
  // In R^3 the mean of |t|^2 is the trace of the covariance.
  const std::vector<double> centre{1, 2, 3}, h{0.5, 1, 2};
  const KernelDensity p(rows_of(centre, 3), 2, h);
  std::vector<double> draws(3 * 20000);
  p.sample_rows(1, 5, {draws.data(), 20000, 3});
  for (std::size_t j = 0; j < 3; ++j) {
    double square = 0;
    for (std::size_t i = j; i < draws.size(); i += 3)
      square += (draws[i] - centre[j]) * (draws[i] - centre[j]);
    EXPECT_NEAR(square / 20000, h[j] * h[j], 0.03 * h[j] * h[j]);
  }
}

TEST(KernelDensity, ThreadsGiveTheSameBits) {
  const std::vector<double> points = normal_numbers(1200, 14), t = normal_numbers(1200, 15), h{0.1, 0.1};
  for (const double alpha : {1.0, 1.7, 2.0}) {
    std::vector<double> want, scores;
    for (const int threads : {1, 2, 5}) {
      set_num_threads(threads);
      const KernelDensity p(rows_of(points, 2), alpha, h);
      const std::vector<double> got = pdf(p, t);
      const std::vector<double> mine{p.likelihood_score(), p.least_squares_score()};
      if (threads == 1) want = got, scores = mine;
      EXPECT_EQ(got, want);
      EXPECT_EQ(scores, mine);
    }
    set_num_threads(0);
  }
}

TEST(KernelDensity, AnswersDoNotDependOnTheOtherQueries) {
  const std::vector<double> points = normal_numbers(1000, 16), t = normal_numbers(50, 17), h{0.1};
  const KernelDensity p(rows_of(points, 1), 2, h);
  const std::vector<double> all = pdf(p, t);
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_EQ(pdf(p, {t[i]})[0], all[i]);
}

TEST(KernelDensity, LikelihoodScoreLeavesEachRowOut) {
  const std::vector<double> points = normal_numbers(200, 18);
  std::vector<double> weights;
  for (std::size_t i = 0; i < points.size(); ++i) weights.push_back(1 + static_cast<double>(i % 3));
  for (const double alpha : kAlphas) {
    for (const index_t n : {1, 2}) {
      const std::vector<double> h(static_cast<std::size_t>(n), 1.2);
      Plain plain{alpha, n, points, {}, h};
      plain.weights.assign(weights.begin(), weights.begin() + static_cast<long>(plain.size()));
      const KernelDensity p(rows_of(points, n), alpha, h, plain.weights);
      double total = 0, want = 0;
      for (const double w : plain.weights) total += w;
      for (std::size_t i = 0; i < plain.size(); ++i)
        want += plain.weights[i] * std::log(plain.pdf(&points[i * static_cast<std::size_t>(n)], i) * total /
                                            (total - plain.weights[i]));
      if (std::isinf(want))
        EXPECT_EQ(p.likelihood_score(), want);
      else
        EXPECT_NEAR(p.likelihood_score(), want / total, 1e-12) << alpha;
    }
  }
}

TEST(KernelDensity, LeastSquaresScoreIsTheIntegralOfTheSquareLessTwiceTheMean) {
  const std::vector<double> points = normal_numbers(5, 19), h{0.4};
  std::vector<double> positive;
  for (const double x : points) positive.push_back(std::abs(x));
  for (const double alpha : {1.0, 1.01, 4.0 / 3, 1.5, 1.7, 2.0, kInf}) {
    for (const Interval& domain : {Interval(-kInf, kInf), Interval(0, kInf)}) {
      const std::vector<double>& data = domain.lower() == 0 ? positive : points;
      const KernelDensity p(rows_of(data, 1), alpha, h, {}, domain);
      const auto square = [&](double t) {
        double value = 0;
        p.pdf_rows({&t, 1, 1}, {&value, 1});
        return value * value;
      };
      std::vector<double> cuts{std::max(domain.lower(), -9.0), 9};
      for (const double x : data)
        for (const double r : {-1.0, 0.0, 1.0})
          for (const double a : {x, -x}) {
            const double cut = a + (alpha > 1.01 ? r * p.radius() * h[0] : r);
            if (cut > cuts[0] && cut < 9) cuts.push_back(cut);
          }
      std::sort(cuts.begin(), cuts.end());
      double want = 0;
      for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
        if (cuts[i + 1] - cuts[i] > 1e-14) want += integrate(square, cuts[i], cuts[i + 1], 1e-12).value;
      for (std::size_t i = 0; i < data.size(); ++i) {
        std::vector<double> others = data;
        others.erase(others.begin() + static_cast<long>(i));
        const KernelDensity q(rows_of(others, 1), alpha, h, {}, domain);
        want -= 2 * pdf(q, {data[i]})[0] / static_cast<double>(data.size());
      }
      EXPECT_NEAR(p.least_squares_score(), want, 1e-11) << alpha << " from " << domain.lower();
    }
  }
}

TEST(KernelDensity, LeastSquaresScoreOfOneKernelInThePlane) {
  // Two points d apart: int f^2 = (K * K)(0) / 2 + (K * K)(d) / 2. For alpha = infinity in the plane K * K is
  // the area of a lens, 2 r^2 acos(d / 2r) - d sqrt(4 r^2 - d^2) / 2, over (pi r^2)^2; for alpha = 1 normal.
  for (const double d : {1.9}) {
    const std::vector<double> points{0, 0, d, 0}, h{1, 1};
    {
      const KernelDensity p(rows_of(points, 2), kInf, h);
      const double r = p.radius(), area = std::numbers::pi * r * r;
      const double lens = 2 * r * r * std::acos(d / (2 * r)) - d * std::sqrt(4 * r * r - d * d) / 2;
      const double inside = d < r ? 1 / area : 0;
      EXPECT_NEAR(p.least_squares_score(), (1 / area + lens / area / area) / 2 - 2 * inside, 1e-10);
    }
    {
      const KernelDensity p(rows_of(points, 2), 1, h);
      const double at0 = 1 / (4 * std::numbers::pi), at_d = std::exp(-d * d / 4) * at0;
      EXPECT_NEAR(p.least_squares_score(),
                  (at0 + at_d) / 2 - 2 * std::exp(-d * d / 2) / (2 * std::numbers::pi), 1e-14);
    }
    for (const double alpha : {1.5}) {
      const KernelDensity p(rows_of(points, 2), alpha, h);
      const Plain one{alpha, 2, {0, 0}, {}, h};
      const double r = p.radius();
      const auto kk = [&](double shift) {  // over the lens, which is cut at its middle
        const auto across = [&](double x) {
          const auto along = [&](double y) {
            const double a[] = {x, y}, b[] = {x - shift, y};
            return one.pdf(a) * one.pdf(b);
          };
          const double room = r * r - x * x, top = room > 0 ? std::sqrt(room) : 0;
          return top > 0 ? 2 * integrate(along, 0, top, 1e-9).value : 0;
        };
        return shift < 2 * r ? 2 * integrate(across, shift / 2, r, 1e-9).value : 0;
      };
      const double b[] = {d, 0};
      EXPECT_NEAR(p.least_squares_score(), (kk(0) + kk(d)) / 2 - 2 * one.pdf(b), 1e-9) << alpha << " " << d;
    }
  }
}

TEST(KernelDensity, Errors) {
  const std::vector<double> x{1, 2, 3, 4}, h{1};
  const auto error = [&](auto... arguments) {
    return message_of<std::domain_error>([&] { const KernelDensity p(arguments...); });
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(error(rows_of(x, 1), 0.5, h), "fenchel::kernel_density: alpha must be at least 1, got 0.5");
  EXPECT_EQ(error(rows_of(x, 1), 2, Numbers{0}),
            "fenchel::kernel_density: bandwidth must be positive and finite, got 0");
  const Numbers bad{1, kInf}, negative{1, 1, -1, 1}, zeros{0, 0, 0, 0};
  EXPECT_EQ(error(rows_of(bad, 1), 2, h), "fenchel::kernel_density: points[1] must be finite, got inf");
  EXPECT_EQ(error(rows_of(x, 1), 2, h, negative),
            "fenchel::kernel_density: weights[2] must not be negative, got -1");
  EXPECT_EQ(error(rows_of(x, 1), 2, h, zeros),
            "fenchel::kernel_density: the sum of the weights must be positive and finite, got 0");
  EXPECT_EQ(error(rows_of(x, 1), 2, h, Numbers{}, Interval(1.5, kInf)),
            "fenchel::kernel_density: points[0] must be in the domain, got 1");
  EXPECT_EQ(error(rows_of(x, 1), 2, h, Numbers{}, Interval(0, 5)),
            "fenchel::kernel_density: domain must have an infinite end, its length, got 5");
  EXPECT_THROW(KernelDensity(rows_of({}, 1), 2, h), std::invalid_argument);
  EXPECT_THROW(KernelDensity(rows_of(x, 2), 2, h), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(KernelDensity(Rows<const double>(x.data(), 1, 1), 2, h).likelihood_score()),
               std::domain_error);
}

}  // namespace
}  // namespace fenchel
