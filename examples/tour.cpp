// A tour of the finite domain: one vector of scores through entmax at eight values of alpha, what a
// Fenchel-Young loss says about a class, and draws from a sparse prediction.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/predict/finite.hpp"

namespace {

using fenchel::index_t;
using fenchel::kInfinity;
using fenchel::Rows;

const std::vector<double> kScores{-0.5, 0.6, 1.4, 1.9, 1.6, 0.9, 0.1, -1.5};
constexpr const char* kItems = "abcdefgh";
const index_t kSize = static_cast<index_t>(kScores.size());

struct Map {
  double alpha;
  const char* alpha_text;
  const char* name;
};
const std::vector<Map> kMaps{
    {0.5, "0.5", ""}, {1, "1", "softmax"},   {1.25, "1.25", ""}, {4.0 / 3, "4/3", ""},
    {1.5, "1.5", ""}, {2, "2", "sparsemax"}, {3, "3", ""},       {kInfinity, "inf", "argmax"}};
const index_t kMapCount = static_cast<index_t>(kMaps.size());

/// The scores once for each alpha: a stride of 0 repeats the row.
const Rows<const double> kRepeatedScores(kScores.data(), kMapCount, kSize, 0);

struct Maps {
  std::vector<double> alpha, p, normalizer, threshold;
  std::vector<index_t> support_size;

  [[nodiscard]] Rows<const double> rows() const { return {p.data(), kMapCount, kSize}; }
};

Maps compute_maps() {
  const std::size_t count = kMaps.size();
  Maps maps{{},
            std::vector<double>(count * kScores.size()),
            std::vector<double>(count),
            std::vector<double>(count),
            std::vector<index_t>(count)};
  for (const Map& map : kMaps) maps.alpha.push_back(map.alpha);
  fenchel::cpu::entmax(kRepeatedScores, std::span<const double>(maps.alpha),
                       Rows<double>(maps.p.data(), kMapCount, kSize),
                       {maps.normalizer.data(), maps.threshold.data(), maps.support_size.data()});
  return maps;
}

void print_items(const char* first) {
  std::printf("%-9s", first);
  for (index_t j = 0; j < kSize; ++j) std::printf("%8c", kItems[j]);
}

/// Numbers to four places; a dot for exactly 0.
void print_values(const char* first, std::span<const double> values) {
  std::printf("%-9s", first);
  for (const double x : values) {
    if (x == 0) {
      std::printf("%8s", ".");
    } else {
      std::printf("%8.4f", x);
    }
  }
}

void print_maps(const Maps& maps) {
  std::printf("Maps: p = argmax <p, z> - Omega_alpha(p); a dot is a probability of exactly 0.\n\n");
  print_items("");
  std::printf("\n");
  print_values("score z", kScores);
  std::printf("\n\n");
  print_items("alpha");
  std::printf("%9s%9s%9s%9s%9s\n", "support", "A", "tau", "Tsallis", "Shannon");
  for (index_t i = 0; i < kMapCount; ++i) {
    const auto row = static_cast<std::size_t>(i);
    print_values(kMaps[row].alpha_text, maps.rows()[i]);
    const fenchel::SparseCategorical p(maps.rows()[i]);
    // Adding 0 turns the -0 of a certain outcome into 0.
    std::printf("%9td%9.4f%9.4f%9.4f%9.4f", maps.support_size[row], maps.normalizer[row], maps.threshold[row],
                tsallis_entropy(p, kMaps[row].alpha) + 0, entropy(p) + 0);
    std::printf(*kMaps[row].name == '\0' ? "\n" : "  %s\n", kMaps[row].name);
  }
}

void print_losses(const Maps& maps) {
  constexpr index_t kClass = 4;
  const std::vector<index_t> classes(kMaps.size(), kClass);
  std::vector<double> loss(kMaps.size()), own_loss(kMaps.size()), gradient(kMaps.size() * kScores.size());
  const Rows<double> gradients(gradient.data(), kMapCount, kSize);
  const std::span<const double> alpha(maps.alpha);
  fenchel::cpu::entmax_loss<double>(kRepeatedScores, alpha, fenchel::cpu::ClassTargets{classes},
                                    {.loss = loss, .residual = gradients});
  fenchel::cpu::entmax_loss<double>(kRepeatedScores, alpha, {.rows = maps.rows()}, {.loss = own_loss});

  std::printf(
      "\nFenchel-Young loss of class %c, its gradient p - e_%c in the scores, and the loss of p itself.\n\n",
      kItems[kClass], kItems[kClass]);
  print_items("alpha");
  std::printf("%9s%9s\n", "loss", "at p");
  for (index_t i = 0; i < kMapCount; ++i) {
    const auto row = static_cast<std::size_t>(i);
    print_values(kMaps[row].alpha_text, gradients[i]);
    std::printf("%9.4f%9g\n", loss[row], own_loss[row]);
  }
}

void print_draws() {
  constexpr index_t kDraws = 10'000;
  constexpr std::uint64_t kSeed = 2022;
  const fenchel::SparseCategorical p =
      predict(fenchel::Tsallis(1.5), fenchel::VectorScore(kScores), fenchel::Finite());
  const std::vector<index_t> draws = sample(p, kDraws, kSeed);
  std::printf("\nDraws: %td from the prediction at alpha = 1.5, seed %d; the first are", kDraws,
              static_cast<int>(kSeed));
  for (std::size_t k = 0; k < 16; ++k) std::printf(" %c", kItems[draws[k]]);
  std::printf(".\n\n");
  std::vector<double> expected, frequency;
  for (index_t j = 0; j < kSize; ++j) {
    expected.push_back(pmf(p, j));
    frequency.push_back(static_cast<double>(std::ranges::count(draws, j)) / kDraws);
  }
  print_items("");
  std::printf("\n");
  print_values("p", expected);
  std::printf("\n");
  print_values("frequency", frequency);
  std::printf("\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) {
    const bool help = std::string_view(arguments[1]) == "--help" || std::string_view(arguments[1]) == "-h";
    std::fputs(
        "usage: tour\n"
        "Prints entmax maps, Fenchel-Young losses and draws of one score vector for several alpha.\n",
        help ? stdout : stderr);
    return help ? 0 : 2;
  }
  const Maps maps = compute_maps();
  print_maps(maps);
  print_losses(maps);
  print_draws();
  return std::fflush(stdout) == 0 ? 0 : 1;
}
