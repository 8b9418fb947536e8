#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "fenchel/backend/cpu/beta_gaussian.hpp"
#include "fenchel/core/parallel.hpp"
#include "support/beta_gaussian_params.hpp"
#include "support/grids.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::BetaGaussianCase;
using testing::kBetaGaussianAlphas;
using testing::kInf;
using testing::kNaN;
using testing::message_of;

/// Draws, every other one moved away from mu, which puts some of them off the support.
template <class Real>
std::vector<Real> some_points(const BetaGaussianCase& p, std::size_t count) {
  std::vector<Real> points(count * p.size());
  const auto n = static_cast<index_t>(p.size());
  cpu::sample_rows(p.params(), 5, 0, Rows<Real>(points.data(), static_cast<index_t>(count), n));
  for (std::size_t k = 0; k < points.size(); ++k) {
    const auto mu = static_cast<Real>(p.mu(k % p.size()));
    if (k / p.size() % 2 == 1) points[k] = mu + Real(1.2) * (points[k] - mu);
  }
  return points;
}

template <class Real>
std::vector<Real> log_pdf(const BetaGaussianCase& p, const std::vector<Real>& points) {
  std::vector<Real> out(points.size() / p.size());
  cpu::log_pdf_rows(p.params(), {points.data(), std::ssize(out), static_cast<index_t>(p.size())}, out);
  return out;
}

template <class Real>
std::vector<Real> pdf(const BetaGaussianCase& p, const std::vector<Real>& points) {
  std::vector<Real> out(points.size() / p.size());
  cpu::pdf_rows(p.params(), {points.data(), std::ssize(out), static_cast<index_t>(p.size())}, out);
  return out;
}

struct Exact {
  long double log_p, error;  // the error that log_pdf_rows is allowed
};

/// log p in long double from the same constants.
template <class Real>
Exact exact_log_pdf(const BetaGaussianCase& p, const Real* t) {
  const BetaGaussianConstants& c = p.constants();
  long double q = 0, bound = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    long double z = 0, size = 0;
    for (std::size_t j = 0; j < p.size(); ++j) {
      const long double term = p.whitening(i, j) * (static_cast<long double>(t[j]) - p.mu(j));
      z += term;
      size += std::fabs(term);
    }
    q += z * z;
    bound += size * size;
  }
  const long double y = c.am1 == 0 ? 0 : q / c.radius2;
  if (y >= 1) return {-kInf, 0};
  const long double slope = c.am1 == 0 ? 0.5L : 1 / std::fabs((c.radius2 - q) * c.am1);
  const long double fall = c.am1 == 0 ? -q / 2 : std::log1p(-y) / c.am1;
  return {c.log_peak + fall, cpu::kLogPdfError * (std::fabs(c.log_peak) - fall + slope * bound)};
}

template <class Real>
void expect_exact(double alpha, index_t n) {
  SCOPED_TRACE(::testing::Message() << "alpha - 1 = " << alpha - 1 << ", n = " << n);
  const BetaGaussianCase p(alpha, n);
  const auto points = some_points<Real>(p, 2000);
  const auto logs = log_pdf(p, points), values = pdf(p, points);
  constexpr long double kRound = sizeof(Real) == 4 ? 0.5L * std::numeric_limits<float>::epsilon() : 0;
  int inside = 0;
  for (std::size_t k = 0; k < logs.size(); ++k) {
    const auto [log_p, error] = exact_log_pdf(p, points.data() + k * p.size());
    if (log_p < 0 && std::isinf(log_p)) {
      ASSERT_EQ(logs[k], -kInf);
      ASSERT_EQ(values[k], 0);
    } else {
      ++inside;
      ASSERT_LE(std::fabs(logs[k] - log_p), error + kRound * std::fabs(log_p)) << "point " << k;
      const long double exact = std::exp(log_p);
      ASSERT_LE(std::fabs(values[k] - exact), (error + cpu::kLogPdfError + kRound) * exact + 1e-45L);
    }
  }
  EXPECT_GE(inside, 1000);
}

TEST(BetaGaussianRows, DensitiesAreWithinTheirError) {
  for (const double alpha : kBetaGaussianAlphas) {
    for (const index_t n : {1, 2, 3, 16}) {
      if (alpha <= 1 - 2.0 / static_cast<double>(n)) continue;
      expect_exact<double>(alpha, n);
      expect_exact<float>(alpha, n);
    }
  }
}

TEST(BetaGaussianRows, AgreeWithTheScalarDensity) {
  for (const double alpha : kBetaGaussianAlphas) {
    const BetaGaussianCase p(alpha, 2);
    const double t[] = {0.5, -0.6};
    const double a = p.whitening(0, 0) * (t[0] - p.mu(0));
    const double b = p.whitening(1, 0) * (t[0] - p.mu(0)) + p.whitening(1, 1) * (t[1] - p.mu(1));
    EXPECT_NEAR(log_pdf<double>(p, {t[0], t[1]})[0], log_density(p.constants(), a * a + b * b), 1e-14);
  }
}

TEST(BetaGaussianRows, SpecialPointsHaveTheirValues) {
  for (const double alpha : kBetaGaussianAlphas) {
    const BetaGaussianCase p(alpha, 2);
    const std::vector<double> points{p.mu(0), p.mu(1), kInf, 0, 0,    -kInf, kInf, -kInf,
                                     kInf,    kInf,    kNaN, 0, kInf, kNaN,  0,    kNaN};
    const auto logs = log_pdf(p, points), values = pdf(p, points);
    EXPECT_EQ(logs[0], p.constants().log_peak);
    for (std::size_t k = 1; k < 5; ++k) {
      EXPECT_EQ(logs[k], -kInf) << alpha << ", point " << k;
      EXPECT_EQ(values[k], 0);
    }
    for (std::size_t k = 5; k < 8; ++k) {
      EXPECT_TRUE(std::isnan(logs[k])) << alpha << ", point " << k;
      EXPECT_TRUE(std::isnan(values[k]));
    }
  }
}

TEST(BetaGaussianRows, TheSupportEndsWhereTheRadiusSays) {
  for (const double alpha : {4.0 / 3, 2.0, 5.0, kInf}) {
    const BetaGaussianCase p(alpha, 1);
    const double half_width = p.factor(0, 0) * std::sqrt(p.constants().radius2);
    const auto values = pdf<double>(p, {p.mu(0) - 1.0001 * half_width, p.mu(0) - 0.999 * half_width,
                                        p.mu(0) + 0.999 * half_width, p.mu(0) + 1.0001 * half_width});
    EXPECT_EQ(values[0], 0);
    EXPECT_GT(values[1], 0);
    EXPECT_GT(values[2], 0);
    EXPECT_EQ(values[3], 0);
  }
}

TEST(BetaGaussianRows, PlaceStrideAndThreadsDoNotChangeDensities) {
  for (const index_t n : {1, 2, 3}) {
    const BetaGaussianCase p(1.3, n);
    const auto points = some_points<double>(p, 50'000);
    set_num_threads(1);
    const auto one = log_pdf(p, points);
    set_num_threads(3);
    const auto three = log_pdf(p, points);
    set_num_threads(0);
    EXPECT_EQ(one, three);
    std::vector<double> spread(130 * (p.size() + 1)), out(130);
    for (std::size_t k = 0; k < 130; ++k) {
      std::copy_n(points.begin() + static_cast<index_t>((k + 7) * p.size()), p.size(),
                  spread.begin() + static_cast<index_t>(k * (p.size() + 1)));
    }
    cpu::log_pdf_rows(p.params(), Rows<const double>(spread.data(), 130, n, n + 1), out);
    for (std::size_t k = 0; k < 130; ++k) EXPECT_EQ(out[k], one[k + 7]);
  }
}

TEST(BetaGaussianRows, ASingularScaleProjects) {
  const double mu[] = {1, 2}, factor[] = {0.6, 0.8}, whitening[] = {0.6, 0.8}, centre[] = {0};
  const double one[] = {1};
  const cpu::BetaGaussianParams plane{
      beta_gaussian_constants(1, 0.5, 0), mu, {whitening, 1, 2}, {factor, 2, 1}};
  const cpu::BetaGaussianParams line{beta_gaussian_constants(1, 0.5, 0), centre, {one, 1, 1}, {one, 1, 1}};
  std::vector<double> in_plane(1), on_line(1);
  const double t[] = {1 + 0.6 * 0.3, 2 + 0.8 * 0.3}, s[] = {0.3};
  cpu::log_pdf_rows(plane, Rows<const double>(t, 1, 2), in_plane);
  cpu::log_pdf_rows(line, Rows<const double>(s, 1, 1), on_line);
  EXPECT_NEAR(in_plane[0], on_line[0], 1e-14);
}

TEST(BetaGaussianRows, NoRowsIsNothingToDo) {
  const BetaGaussianCase p(1.5, 2);
  EXPECT_NO_THROW(cpu::log_pdf_rows(p.params(), Rows<const double>(), std::span<double>()));
  EXPECT_NO_THROW(cpu::sample_rows(p.params(), 1, 0, Rows<float>()));
}

TEST(BetaGaussianRows, BadShapesAreNamed) {
  const BetaGaussianCase p(1.5, 2), line(1.5, 1);
  std::vector<double> x(6), out(3);
  const auto log_pdf_of = [&](const cpu::BetaGaussianParams& q, Rows<const double> points) {
    return message_of<std::invalid_argument>([&] { cpu::log_pdf_rows(q, points, out); });
  };
  EXPECT_EQ(log_pdf_of(p.params(), {x.data(), 2, 3}),
            "fenchel::log_pdf_rows: points.cols must equal mu.size() = 2, got 3");
  EXPECT_EQ(log_pdf_of(p.params(), {x.data(), 2, 2}),
            "fenchel::log_pdf_rows: out.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(log_pdf_of(p.params(), {nullptr, 3, 2}),
            "fenchel::log_pdf_rows: points.data must not be null, got a null pointer");
  auto wrong = p.params();
  wrong.whitening.cols = 1;
  EXPECT_EQ(log_pdf_of(wrong, {x.data(), 3, 2}), "fenchel::log_pdf_rows: whitening.cols must be 2, got 1");
  wrong = p.params();
  wrong.factor.rows = 3;
  EXPECT_EQ(log_pdf_of(wrong, {x.data(), 3, 2}), "fenchel::log_pdf_rows: factor.rows must be 2, got 3");
  wrong = p.params();
  wrong.factor.data = nullptr;
  EXPECT_EQ(log_pdf_of(wrong, {x.data(), 3, 2}),
            "fenchel::log_pdf_rows: factor.data must not be null, got a null pointer");
  wrong = p.params();
  wrong.constants.dimension = 3;
  EXPECT_EQ(log_pdf_of(wrong, {x.data(), 3, 2}),
            "fenchel::log_pdf_rows: constants.dimension must be in [1, 2], got 3");
  wrong.mu = {};
  EXPECT_EQ(log_pdf_of(wrong, {x.data(), 3, 2}),
            "fenchel::log_pdf_rows: mu.size() must be at least 1, got 0");
  wrong = p.params();
  wrong.constants.am1 = -1;
  EXPECT_EQ(
      message_of<std::domain_error>([&] { cpu::pdf_rows(wrong, Rows<const double>(x.data(), 3, 2), out); }),
      "fenchel::pdf_rows: constants.am1 must exceed -2 / 2, got -1");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { cpu::sample_rows(p.params(), 1, 0, Rows<double>(x.data(), 2, 3)); }),
            "fenchel::sample_rows: out.cols must equal mu.size() = 2, got 3");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::cdf_rows(p.params(), x, out); }),
            "fenchel::cdf_rows: mu.size() must be 1, got 2");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::quantile_rows(line.params(), x, out); }),
            "fenchel::quantile_rows: out.size() must equal the number of rows, 6, got 3");
}

}  // namespace
}  // namespace fenchel
