#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "fenchel/backend/cpu/fusedmax_grid.hpp"
#include "fenchel/core/infinity.hpp"

/// Images, their fusedmax, and an independent way to it.
namespace fenchel::testing {

struct Image {
  index_t height, width;
  std::vector<double> pixels;

  [[nodiscard]] index_t size() const { return height * width; }
  [[nodiscard]] Rows<const double> row() const { return {pixels.data(), 1, size()}; }
  [[nodiscard]] Rows<double> row() { return {pixels.data(), 1, size()}; }
};

enum class Picture { noise, blocks, ties, ramp, flat };
inline constexpr Picture kPictures[] = {Picture::noise, Picture::blocks, Picture::ties, Picture::ramp,
                                        Picture::flat};

inline Image make_image(Picture picture, index_t height, index_t width, double scale, unsigned seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Image image{height, width, {}};
  for (index_t r = 0; r < height; ++r) {
    for (index_t c = 0; c < width; ++c) {
      const double x = normal(random), block = r < height / 2 && c < width / 2 ? 1.1 : 0.3;
      double value = 0.7;
      if (picture == Picture::noise) value = x;
      if (picture == Picture::blocks) value = block;
      if (picture == Picture::ties) value = std::round(2 * x) / 2;
      if (picture == Picture::ramp) value = 0.1 * static_cast<double>(r + 2 * c);
      image.pixels.push_back(scale * value);
    }
  }
  return image;
}

inline Image fusedmax(Image f, double gamma, double* threshold = nullptr) {
  cpu::fusedmax_grid(f.row(), f.height, gamma, f.row(), threshold);
  return f;
}

/// Calls body(u, v) for every pair of neighbours.
template <class Body>
void for_neighbours(const Image& image, Body body) {
  for (index_t v = 0; v < image.size(); ++v) {
    if (v % image.width + 1 < image.width) body(static_cast<std::size_t>(v), static_cast<std::size_t>(v + 1));
    if (v + image.width < image.size())
      body(static_cast<std::size_t>(v), static_cast<std::size_t>(v + image.width));
  }
}

inline double variation(const Image& image) {
  double sum = 0;
  for_neighbours(image,
                 [&](std::size_t u, std::size_t v) { sum += std::abs(image.pixels[u] - image.pixels[v]); });
  return sum;
}

inline std::vector<double> simplex_projection(std::vector<double> x) {
  std::vector<double> sorted = x;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0, threshold = 0;
  for (std::size_t k = 0; k < sorted.size(); ++k) {
    sum += sorted[k];
    const double bound = (sum - 1) / static_cast<double>(k + 1);
    if (sorted[k] > bound) threshold = bound;
  }
  for (double& value : x) value = std::max(0.0, value - threshold);
  return x;
}

/// sparsemax(prox) from the dual, one variable in [-gamma, gamma] for each edge, by accelerated projected
/// gradients that start over where the objective would grow.
inline Image reference_fusedmax(Image f, double gamma, int steps = 20000) {
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for_neighbours(f, [&](std::size_t u, std::size_t v) { edges.emplace_back(u, v); });
  const auto primal = [&](const std::vector<double>& z) {
    std::vector<double> x = f.pixels;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      x[edges[e].first] -= z[e];
      x[edges[e].second] += z[e];
    }
    return x;
  };
  std::vector<double> z(edges.size()), y = z;
  double momentum = 1;
  for (int step = 0; step < steps; ++step) {
    const std::vector<double> x = primal(y), last = z;
    double uphill = 0;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      z[e] = std::clamp(y[e] + (x[edges[e].first] - x[edges[e].second]) / 8, -gamma, gamma);
      uphill += (y[e] - z[e]) * (z[e] - last[e]);
    }
    const double next = uphill > 0 ? 1 : (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
    const double factor = uphill > 0 ? 0 : (momentum - 1) / next;
    for (std::size_t e = 0; e < edges.size(); ++e) y[e] = z[e] + factor * (z[e] - last[e]);
    momentum = next;
  }
  f.pixels = simplex_projection(primal(z));
  return f;
}

inline double distance(const Image& a, const Image& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.pixels.size(); ++i) {
    worst = std::max(worst, std::abs(a.pixels[i] - b.pixels[i]));
  }
  return worst;
}

/// What kFusedmaxGridError allows for scores of this spread.
inline double allowed_error(const Image& f, double gamma) {
  double top = -kInfinity, bottom = -top;
  for (const double x : f.pixels) {
    top = std::max(top, x);
    if (std::isfinite(x)) bottom = std::min(bottom, x);
  }
  return cpu::kFusedmaxGridError * (1 + top - bottom + gamma);
}

}  // namespace fenchel::testing
