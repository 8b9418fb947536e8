#include <gtest/gtest.h>

#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "support/grids.hpp"
#include "support/images.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using testing::fusedmax;
using testing::Image;
using testing::kInf;
using testing::kNaN;
using testing::make_image;
using testing::Picture;

double dot(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) sum += a.pixels[i] * b.pixels[i];
  return sum;
}

Image jvp(const Image& p, double gamma, const Image& d_scores, double d_gamma = 0) {
  Image out = p;
  cpu::fusedmax_grid_jvp(p.row(), p.height, gamma, d_scores.row(), {&d_gamma, 1}, out.row());
  return out;
}

Image vjp(const Image& p, double gamma, const Image& grad_p, double* grad_gamma = nullptr) {
  Image out = p;
  cpu::fusedmax_grid_vjp(p.row(), p.height, gamma, grad_p.row(), out.row(),
                         {grad_gamma, grad_gamma == nullptr ? 0U : 1U});
  return out;
}

Image shifted(Image f, const Image& by, double step) {
  for (std::size_t i = 0; i < f.pixels.size(); ++i) f.pixels[i] += step * by.pixels[i];
  return f;
}

Image difference(const Image& up, const Image& down, double h) {
  Image result = up;
  for (std::size_t i = 0; i < up.pixels.size(); ++i) {
    result.pixels[i] = (up.pixels[i] - down.pixels[i]) / (2 * h);
  }
  return result;
}

// p is piecewise linear in the scores and in gamma: differences have the error of rounding alone.
constexpr double kStep = 1e-7, kAccuracy = 1e-7;

TEST(FusedmaxGridDerivatives, AreTheSlopesOfTheMap) {
  for (const double scale : {0.02, 0.3}) {
    const Image f = make_image(Picture::noise, 6, 7, scale, 5),
                direction = make_image(Picture::noise, 6, 7, 1, 8);
    for (const double gamma : {0.0, 0.003, 0.05, 0.3, 1.0}) {
      const Image p = fusedmax(f, gamma);
      const Image slope = difference(fusedmax(shifted(f, direction, kStep), gamma),
                                     fusedmax(shifted(f, direction, -kStep), gamma), kStep);
      EXPECT_LT(distance(jvp(p, gamma, direction), slope), kAccuracy) << scale << ' ' << gamma;
      const double down = gamma == 0 ? 0.0 : gamma - kStep;  // at 0 the slope is that to the right
      const Image in_gamma =
          difference(fusedmax(f, gamma + kStep), fusedmax(f, down), (gamma + kStep - down) / 2);
      Image zero = f;
      std::ranges::fill(zero.pixels, 0.0);
      EXPECT_LT(distance(jvp(p, gamma, zero, 1), in_gamma), kAccuracy) << scale << ' ' << gamma;
    }
  }
}

TEST(FusedmaxGridDerivatives, BothProductsAreThoseOfOneSymmetricMatrix) {
  const Image f = make_image(Picture::ties, 9, 6, 0.05, 2);
  const Image a = make_image(Picture::noise, 9, 6, 1, 3), b = make_image(Picture::noise, 9, 6, 1, 4);
  for (const double gamma : {0.0, 0.01, 0.2}) {
    const Image p = fusedmax(f, gamma);
    double grad_gamma = 0;
    const Image back = vjp(p, gamma, b, &grad_gamma);
    EXPECT_NEAR(dot(jvp(p, gamma, a), b), dot(back, a), 1e-13);
    EXPECT_NEAR(dot(jvp(p, gamma, a, 2.5), b), dot(back, a) + 2.5 * grad_gamma, 1e-13);
    double total = 0;
    for (std::size_t i = 0; i < p.pixels.size(); ++i) {
      total += back.pixels[i];
      EXPECT_TRUE(p.pixels[i] > 0 || back.pixels[i] == 0);
    }
    EXPECT_NEAR(total, 0, 1e-13);
    EXPECT_LT(distance(vjp(p, gamma, back), back), 1e-14);  // a projection
  }
}

TEST(FusedmaxGridDerivatives, WithoutGammaAreThoseOfSparsemax) {
  const Image f = make_image(Picture::ties, 5, 8, 0.1, 2), a = make_image(Picture::noise, 5, 8, 1, 3);
  const Image p = fusedmax(f, 0);
  Image expected = p;
  cpu::entmax_jvp(p.row(), 2, a.row(), {}, expected.row());
  EXPECT_LT(distance(jvp(p, 0, a), expected), 1e-14);
}

TEST(FusedmaxGridDerivatives, ByHand) {
  // Plateaus {0.2, 0.2}, {0.3}, {0.3}: the two of 0.3 do not touch.
  const Image p{2, 2, {0.2, 0.3, 0.3, 0.2}};
  const Image j = jvp(p, 0.1, {2, 2, {4, 0, 0, 0}});
  EXPECT_EQ(j.pixels, (std::vector<double>{3, -1, -1, -1}));
  const Image fused = jvp({2, 2, {0.3, 0.3, 0.2, 0.2}}, 0.1, {2, 2, {4, 0, 0, 0}});
  EXPECT_EQ(fused.pixels, (std::vector<double>{1, 1, -1, -1}));
  const Image gamma = jvp({2, 2, {0.3, 0.3, 0.2, 0.2}}, 0.1, {2, 2, {0, 0, 0, 0}}, 1);
  EXPECT_EQ(gamma.pixels, (std::vector<double>{-1, -1, 1, 1}));
}

TEST(FusedmaxGridDerivatives, MasksAndNaN) {
  const Image p = fusedmax({2, 2, {0.5, -kInf, 0.4, 0.45}}, 0.01);
  const Image j = jvp(p, 0.01, {2, 2, {1, kInf, 2, 3}});
  EXPECT_EQ(j.pixels[1], 0);
  EXPECT_NEAR(j.pixels[0] + j.pixels[2] + j.pixels[3], 0, 1e-15);
  double grad_gamma = 0;
  for (const double x : vjp({1, 2, {kNaN, kNaN}}, 1, {1, 2, {1, 2}}, &grad_gamma).pixels) {
    EXPECT_TRUE(std::isnan(x));
  }
  EXPECT_TRUE(std::isnan(grad_gamma));
}

TEST(FusedmaxGridDerivatives, FloatBatchesInPlace) {
  const std::vector<double> gammas = {0, 0.02, 0.4};
  const Image f = make_image(Picture::noise, 12, 5, 0.2), a = make_image(Picture::noise, 12, 5, 1, 7);
  std::vector<float> p(f.pixels.begin(), f.pixels.end()), v(a.pixels.begin(), a.pixels.end());
  const Rows<float> rows(p.data(), 3, 20), vectors(v.data(), 3, 20);
  std::vector<double> grad_gamma(3);
  cpu::fusedmax_grid(rows, 4, gammas, rows);
  cpu::fusedmax_grid_vjp(rows, 4, gammas, vectors, vectors, grad_gamma);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto at = static_cast<index_t>(i * 20);
    const auto part = [&](const Image& all) {
      return Image{4, 5, {all.pixels.begin() + at, all.pixels.begin() + at + 20}};
    };
    double expected_gamma = 0;
    const Image expected = vjp(fusedmax(part(f), gammas[i]), gammas[i], part(a), &expected_gamma);
    for (std::size_t j = 0; j < 20; ++j) EXPECT_NEAR(v[i * 20 + j], expected.pixels[j], 1e-6);
    EXPECT_NEAR(grad_gamma[i], expected_gamma, 1e-5);
  }
}

TEST(FusedmaxGridDerivatives, NameWhatIsWrong) {
  using testing::message_of;
  std::vector<double> x(12);
  const Rows<const double> in(x.data(), 2, 6);
  const Rows<double> out(x.data(), 2, 6);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::fusedmax_grid_jvp(in, 5, 1.0, in, {}, out); }),
            "fenchel::fusedmax_grid_jvp: height must divide p.cols = 6, got 5");
  EXPECT_EQ(message_of<std::invalid_argument>(
                [&] { cpu::fusedmax_grid_jvp(in, 2, 1.0, in, std::vector<double>{1}, out); }),
            "fenchel::fusedmax_grid_jvp: gamma_direction.size() must equal the number of rows, 2, got 1");
  std::vector<double> three(3);
  EXPECT_EQ(message_of<std::invalid_argument>([&] { cpu::fusedmax_grid_vjp(in, 2, 1.0, in, out, three); }),
            "fenchel::fusedmax_grid_vjp: gamma_gradient.size() must equal the number of rows, 2, got 3");
  EXPECT_EQ(message_of<std::domain_error>([&] { cpu::fusedmax_grid_vjp(in, 2, kInf, in, out); }),
            "fenchel::fusedmax_grid_vjp: gamma must be finite and not negative, got inf");
}

}  // namespace
}  // namespace fenchel
