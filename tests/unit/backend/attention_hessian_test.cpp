#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "fenchel/core/parallel.hpp"
#include "unit/backend/attention_batch.hpp"

/// Derivatives in the functions and of second order, for densities on the line and in space.
namespace fenchel {
namespace {

using namespace testing;

/// Differences of first derivatives, whose own errors a step divides.
TEST(AttentionHessian, IsTheDifferenceOfGradients) {
  set_num_threads(1);
  for (index_t d : {1, 2, 3}) {
    for (double width : {0.1, 0.5, 3.0}) {
      for (double alpha : kBatchAlphas) {
        const Batch batch = make_batch(2, 3, d, alpha, width, 7);
        const Numbers cotangent = random_numbers(6, 3), whole = random_direction(batch, 5);
        const auto gradient = [&](const Numbers& x) { return batch.gradient(x, cotangent); };
        const Numbers now = gradient(batch.at);
        for (const Part& from : parts_of(batch)) {
          const bool of_alpha = from.begin == batch.alpha();
          const double step = of_alpha && alpha > 1e3 ? 1e-2 * alpha : width < 0.3 ? 2e-3 : 4e-3;
          const Numbers direction = only(whole, from), got = batch.hessian(cotangent, direction);
          if (of_alpha && std::isinf(alpha)) {
            EXPECT_EQ(got, Numbers(got.size()));
            continue;
          }
          const Numbers expected = difference(gradient, batch.at, direction, step);
          for (const Part& to : parts_of(batch)) {
            // of a large alpha the gradient in it is small, and not as accurate
            const double error = to.begin != batch.alpha() ? 1e-8 : alpha > 1e3 ? 1e-3 : 1e-7;
            const double size = std::max(largest(expected, to), largest(now, to));
            for (index_t k = to.begin; k < to.end; ++k) {
              EXPECT_NEAR(got[static_cast<std::size_t>(k)], expected[static_cast<std::size_t>(k)],
                          error * size)
                  << "D " << d << " width " << width << " alpha " << alpha << ", from " << from.name << " to "
                  << to.name;
            }
          }
        }
      }
    }
  }
  set_num_threads(0);
}

TEST(AttentionHessian, IsSymmetric) {
  for (index_t d : {1, 2, 3}) {
    for (double width : {1e-3, 0.1, 1.0, 100.0}) {
      for (double alpha : kBatchAlphas) {
        const Batch batch = make_batch(3, 9, d, alpha, width, 17);
        const Numbers cotangent = random_numbers(27, 13);
        const Numbers x = random_direction(batch, 15), y = random_direction(batch, 16);
        const Numbers hx = batch.hessian(cotangent, x), hy = batch.hessian(cotangent, y);
        double size = 27;  // a narrow function in a uniform density has no derivatives left of its terms
        for (std::size_t k = 0; k < x.size(); ++k) size += std::abs(x[k] * hy[k]);
        EXPECT_NEAR(dot(x, hy), dot(y, hx), cpu::kAttendHessianError * size)
            << "D " << d << " width " << width << " alpha " << alpha;
      }
    }
  }
}

/// dr / dV = d^2 r / dmean^2 / 2, and a function's mean moves r as -mu does. On the line these are different
/// integrals, and that of dr / dV has terms as large as 1 / width.
TEST(AttentionHessian, HeatEquation) {
  for (index_t d : {1, 2, 3}) {
    for (double width : {1e-3, 0.1, 1.0, 100.0}) {
      for (double alpha : kBatchAlphas) {
        const Batch batch = make_batch(1, 1, d, alpha, width, 27);
        const Numbers cotangent{1};
        const Numbers gradient = batch.gradient(batch.at, cotangent);
        const auto at = [](index_t k) { return static_cast<std::size_t>(k); };
        for (index_t a = 0; a < d; ++a) {
          Numbers direction(gradient.size());
          direction[at(batch.mean() + a)] = 1;
          const Numbers column = batch.hessian(cotangent, direction);
          const double size = largest(gradient, {"", batch.covariance(), batch.size()});
          for (index_t b = 0; b < d; ++b) {
            EXPECT_NEAR(column[at(batch.mean() + b)] / 2, gradient[at(batch.covariance() + a * d + b)],
                        (d == 1 ? 3e-13 * (size + 1 / width) : 1e-13 * size))
                << "D " << d << " width " << width << " alpha " << alpha;
            EXPECT_EQ(column[at(b)], -column[at(batch.mean() + b)]);
          }
          EXPECT_NEAR(gradient[at(a)], -gradient[at(batch.mean() + a)],
                      1e-10 * largest(gradient, {"", 0, d}) + 1e-11 * width * size)
              << "D " << d << " width " << width << " alpha " << alpha;
        }
      }
    }
  }
}

/// alpha = 1 on the line: r = N(d; v) with v = sigma2 + V. alpha infinite: r = int_{-1/2}^{1/2} psi.
TEST(AttentionHessian, ClosedFormsOnTheLine) {
  constexpr double kRootTwoPi = 2.5066282746310002;
  for (double width : {0.01, 0.3, 2.0}) {
    for (double mean : {-0.3, 0.1, 0.45, 0.6}) {
      const double variance = width * width;
      const auto column = [&](double alpha, std::size_t k) {
        const Batch batch{1, 1, 1, {0, 0.5, alpha, mean, variance}};
        Numbers direction(5);
        direction[k] = 1;
        return batch.hessian({1}, direction);
      };
      const double v = 0.5 + variance, n = std::exp(-mean * mean / (2 * v)) / (kRootTwoPi * std::sqrt(v));
      const double x = mean * mean / v, size = n / (v * v);
      const double second = n * (x - 1) / v, third = -n * mean / (v * v) * (x - 3) / 2;
      const double fourth = size * (x * x - 6 * x + 3) / 4;
      const double error = cpu::kAttendHessianError;
      EXPECT_NEAR(column(1, 0)[0], second, error * n / v);
      EXPECT_NEAR(column(1, 3)[1], third, error * size);
      EXPECT_NEAR(column(1, 4)[1], fourth, error * size);
      EXPECT_NEAR(column(1, 4)[4], fourth, error * size);

      double slope = 0, bend = 0, fifth = 0;  // the second, third and fourth derivatives in the mean
      for (double sign : {1.0, -1.0}) {
        const double y = (0.5 * sign - mean) / width;
        const double g = -sign * std::exp(-y * y / 2) / (kRootTwoPi * variance);
        slope += g * y;
        bend += g * (y * y - 1) / width;
        fifth += g * y * (y * y - 3) / variance;
      }
      const double most = 1 / variance;
      EXPECT_NEAR(column(kInf, 0)[0], slope, error * most);
      EXPECT_NEAR(column(kInf, 3)[4], bend / 2, error * most / width);
      EXPECT_NEAR(column(kInf, 4)[4], fifth / 4, error * most * most);
    }
  }
}

/// Two ways to differentiate in alpha meet at alpha / am1 = 300, on both sides of 1, and go on through 1.
TEST(AttentionHessian, IsContinuousInAlpha) {
  for (index_t d : {1, 2}) {
    for (double am1 : {1 / 299.0, -1 / 301.0, 0.0}) {
      const auto product = [&](double alpha) {
        const Batch batch = make_batch(2, 3, d, alpha, 0.4, 37);
        return batch.hessian(random_numbers(6, 33), random_direction(batch, 35));
      };
      const Numbers below = product(1 + am1 - 1e-9), above = product(1 + am1 + 1e-9);
      const Numbers on = product(1 + am1);
      const Batch shape = make_batch(2, 3, d, 1, 0.4, 37);
      for (const Part& part : parts_of(shape)) {
        for (index_t k = part.begin; k < part.end; ++k) {
          const auto i = static_cast<std::size_t>(k);
          EXPECT_NEAR(below[i], on[i], 2e-8 * largest(on, part)) << d << " " << am1 << " " << part.name;
          EXPECT_NEAR(above[i], on[i], 2e-8 * largest(on, part)) << d << " " << am1 << " " << part.name;
        }
      }
    }
  }
}

TEST(AttentionHessian, FirstDerivativesInTheBasisAreDifferences) {
  for (index_t d : {1, 2, 3}) {
    for (double alpha : kBatchAlphas) {
      const Batch batch = make_batch(2, 3, d, alpha, 0.4, 47);
      const auto values = [&](const Numbers& x) {
        Numbers r(6);
        cpu::attend<double>(batch.densities(x), batch.functions(x), {r.data(), 2, 3});
        return r;
      };
      const Numbers direction = random_direction(batch, 45);
      Numbers basis_only = direction, tangent(6), cotangent = random_numbers(6, 43);
      std::fill(basis_only.begin(), basis_only.begin() + batch.mean(), 0);
      const Numbers expected = difference(values, batch.at, basis_only, 5e-3);
      Numbers still(direction.size());
      cpu::attend_jvp<double>(batch.densities(batch.at), batch.functions(batch.at),
                              batch.tangents<const double>(std::as_const(still)),
                              batch.basis<const double>(direction), {tangent.data(), 2, 3});
      for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(tangent[k], expected[k], 1e-9) << d << " " << alpha;
      const Numbers gradient = batch.gradient(batch.at, cotangent);
      EXPECT_NEAR(dot(gradient, basis_only), dot(cotangent, tangent), 1e-12) << d << " " << alpha;
    }
  }
}

/// Basis sums are the same bits for any number of threads; a row depends on that row alone.
TEST(AttentionHessian, ThreadsDoNotMatter) {
  const Batch batch = make_batch(150, 9, 2, 1.5, 0.4, 57);
  const Numbers cotangent = random_numbers(150 * 9, 53), direction = random_direction(batch, 55);
  set_num_threads(1);
  const Numbers one = batch.hessian(cotangent, direction), first = batch.gradient(batch.at, cotangent);
  set_num_threads(4);
  EXPECT_EQ(batch.hessian(cotangent, direction), one);
  EXPECT_EQ(batch.gradient(batch.at, cotangent), first);
  set_num_threads(0);
}

/// In float, where a batch has functions that are narrow and wide, inside and outside of the support; the
/// terms of dr / dV sum up to no more than |dr / dV| + r / V.
TEST(AttentionHessian, FirstDerivativesInTheBasisInFloat) {
  const double widths[] = {1e-3, 0.03, 0.1, 0.3, 0.6, 1, 3, 100}, places[] = {0, 0.4, 0.9, 1.5, 4};
  for (double alpha : kBatchAlphas) {
    for (double width : widths) {
      for (double place : places) {
        const Batch batch{1, 1, 1, {0, 0.5, alpha, place, width * width}};
        const Numbers expected = batch.gradient(batch.at, {1});
        const float mu = 0, sigma2 = 0.5F, one = 1;
        float d_mu = 0, d_sigma2 = 0;
        double r = 0, mean = 0, covariance = 0;
        cpu::attend<double>(batch.densities(batch.at), batch.functions(batch.at), {&r, 1, 1});
        if (r * width < 1e-30) continue;
        cpu::attend_vjp<float>({alpha, {&mu, 1, 1}, {&sigma2, 1, 1}}, batch.functions(batch.at), {&one, 1, 1},
                               {.mu = {&d_mu, 1, 1}, .Sigma = {&d_sigma2, 1, 1}},
                               {{&mean, 1, 1}, {&covariance, 1, 1}});
        EXPECT_NEAR(covariance, expected[4],
                    cpu::kAttendFloatError * (std::abs(expected[4]) + r / (width * width)))
            << "alpha " << alpha << " width " << width << " place " << place;
        EXPECT_NEAR(mean, expected[3], cpu::kAttendFloatError * (std::abs(expected[3]) + r / width))
            << "alpha " << alpha << " width " << width << " place " << place;
        EXPECT_EQ(static_cast<float>(-mean), d_mu);
      }
    }
  }
}

/// The same bits for any number of threads, on the line too.
TEST(AttentionHessian, ThreadsDoNotMatterOnTheLine) {
  const Batch batch = make_batch(1500, 40, 1, 1.5, 0.4, 58);
  const Numbers cotangent = random_numbers(1500 * 40, 54);
  set_num_threads(1);
  const Numbers one = batch.gradient(batch.at, cotangent);
  set_num_threads(4);
  EXPECT_EQ(batch.gradient(batch.at, cotangent), one);
  set_num_threads(0);
}

TEST(AttentionHessian, AbsentPartsAreZeroOrNotWanted) {
  const Batch batch = make_batch(2, 3, 2, 1.5, 0.4, 67);
  const Numbers cotangent = random_numbers(6, 63), direction = random_direction(batch, 65);
  const Part mean{"mean", batch.mean(), batch.covariance()};
  const Numbers expected = batch.hessian(cotangent, only(direction, mean));
  Numbers out(expected.size());
  const BasisTangents<const double> moves{{direction.data() + batch.mean(), 3, 2}, {}};
  cpu::attend_vjp_vjp<double>(batch.densities(batch.at), batch.functions(batch.at), {cotangent.data(), 2, 3},
                              {}, moves, {.Sigma = {out.data() + batch.scale(), 2, 4}}, {});
  for (index_t k = 0; k < batch.size(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    const bool wanted = k >= batch.scale() && k < batch.alpha();
    EXPECT_EQ(out[i], wanted ? expected[i] : 0);
  }
  Numbers sums(6 + 12, 7);
  const BasisTangents<double> into{{sums.data(), 3, 2}, {sums.data() + 6, 3, 4}};
  const Densities<double> none{1.5, {nullptr, 0, 2}, {nullptr, 0, 4}};
  cpu::attend_vjp<double>(none, batch.functions(batch.at), {}, {}, into);
  EXPECT_EQ(sums, Numbers(18));
}

TEST(AttentionHessian, AFloatIsADoubleRounded) {
  for (index_t d : {1, 3}) {
    Batch batch = make_batch(2, 3, d, 1.5, 0.4, 77);
    Numbers cotangent = random_numbers(6, 73), direction = random_direction(batch, 75);
    for (Numbers* x : {&batch.at, &cotangent, &direction}) {
      for (double& v : *x) v = static_cast<double>(static_cast<float>(v));
    }
    const Numbers expected = batch.hessian(cotangent, direction);
    const std::vector<float> at(batch.at.begin(), batch.at.end()), along(direction.begin(), direction.end()),
        weights(cotangent.begin(), cotangent.end());
    std::vector<float> out(at.size());
    Numbers basis(at.size());
    const PerRow alpha(std::span<const double>(batch.at.data() + batch.alpha(), 2));
    cpu::attend_vjp_vjp<float>({alpha, {at.data(), 2, d}, {at.data() + batch.scale(), 2, d * d}},
                               batch.functions(batch.at), {weights.data(), 2, 3},
                               batch.tangents<const float>(along), batch.basis<const double>(direction),
                               batch.tangents<float>(out), batch.basis<double>(basis));
    for (index_t k = 0; k < batch.size(); ++k) {
      const auto i = static_cast<std::size_t>(k);
      const double got = k < batch.mean() ? static_cast<double>(out[i]) : basis[i];
      EXPECT_NEAR(got, expected[i], 1e-7 * std::abs(expected[i])) << d << " " << k;
    }
  }
}

/// Far and narrow functions give numbers, and what has vanished is 0.
TEST(AttentionHessian, ExtremesAreFinite) {
  for (index_t d : {1, 2}) {
    for (double alpha : {0.4, 0.9, 0.9995, 1.0, 1 + 1e-8, 1.002, 1.5, 2.0, 5.0, 1e6, kInf}) {
      for (double width : {1e-9, 1e-3, 1.0, 1e3, 1e9}) {
        for (double far : {0.0, 1.0, 30.0, 1e4}) {
          if (alpha <= 1 - 2.0 / static_cast<double>(d)) continue;
          Batch batch = make_batch(1, 1, d, alpha, width, 87);
          batch.at[static_cast<std::size_t>(batch.mean())] = far;
          for (double x : batch.hessian({1}, random_direction(batch, 85)))
            EXPECT_TRUE(std::isfinite(x)) << d << " " << alpha << " " << width << " " << far;
        }
      }
    }
  }
}

TEST(AttentionHessian, ShapesThatDoNotFitAreNamed) {
  const Batch batch = make_batch(2, 3, 2, 1.5, 0.4, 97);
  Numbers cotangent(6), out(static_cast<std::size_t>(batch.size()));
  const auto message = [&](auto call) -> std::string {
    try {
      call();
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([&] {
              cpu::attend_vjp<double>(batch.densities(batch.at), batch.functions(batch.at),
                                      {cotangent.data(), 2, 3}, batch.tangents<double>(out),
                                      {{out.data(), 2, 2}, {}});
            }),
            "fenchel::attend_vjp: basis_gradient.mu.rows must be 3, got 2");
  EXPECT_EQ(message([&] {
              cpu::attend_vjp_vjp<double>(batch.densities(batch.at), batch.functions(batch.at),
                                          {cotangent.data(), 2, 3}, {}, {{}, {out.data(), 3, 2}}, {}, {});
            }),
            "fenchel::attend_vjp_vjp: basis_direction.Sigma.cols must be 4, got 2");
}

}  // namespace
}  // namespace fenchel
