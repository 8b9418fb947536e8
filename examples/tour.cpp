// A tour of the finite domain: one vector of scores through entmax at eight values of alpha, what a
// Fenchel-Young loss says about a class, and draws from a sparse prediction.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "fenchel/backend/entmax.hpp"
#include "fenchel/backend/fenchel_young.hpp"
#include "fenchel/predict/finite.hpp"
#include "svg.hpp"

namespace {

using fenchel::index_t;
using fenchel::Rows;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
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
  using fenchel::cpu::Reduction;
  fenchel::cpu::fenchel_young<double>(kRepeatedScores, alpha, fenchel::cpu::ClassTargets{classes},
                                      Reduction::none, {.loss = loss, .grad_scores = gradients});
  fenchel::cpu::fenchel_young<double>(kRepeatedScores, alpha, {.rows = maps.rows()}, Reduction::none,
                                      {.loss = own_loss});

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

// The colours are Okabe and Ito's, which colour-blind readers tell apart.
constexpr const char *kDense = "#e69f00", *kSparse = "#0072b2", *kNeutral = "#8c8c8c", *kGrid = "#e3e3e3";
constexpr double kPanelWidth = 264, kPanelHeight = 132, kBar = 22;

/// A panel with its top left corner at (x, y): grid, caption, and one bar an item.
class Panel {
 public:
  Panel(svg::Drawing& out, double x, double y, double low, double high)
      : out_(out), x_(x), y_(y), low_(low), high_(high) {}

  void frame(const std::string& caption, const std::string& note, double tick, const char* format) {
    out_.text(x_, y_ - 20, caption, {.size = 14, .anchor = svg::Anchor::start, .bold = true});
    out_.text(x_ + kPanelWidth, y_ - 20, note, {.anchor = svg::Anchor::end, .fill = "#5f5f5f"});
    for (double value = low_; value <= high_; value += tick) {
      out_.line(x_, height(value), x_ + kPanelWidth, height(value), value == 0 ? "#555555" : kGrid);
      out_.text(x_ - 7, height(value) + 4, svg::number(value, format),
                {.size = 11, .anchor = svg::Anchor::end});
    }
    for (index_t j = 0; j < kSize; ++j) {
      out_.text(centre(j), y_ + kPanelHeight + 16, std::string(1, kItems[j]), {.size = 12});
    }
  }

  void bar(index_t j, double value, const char* fill) {
    const double top = height(std::max(value, 0.0)), bottom = height(std::min(value, 0.0));
    out_.rect(centre(j) - kBar / 2, top, kBar, bottom - top, fill);
  }
  void label(index_t j, double value, const char* format) {
    out_.text(centre(j), height(value) - 4, svg::number(value, format), {.size = 10});
  }
  void zero(index_t j) { out_.ring(centre(j), height(0) - 6, 3, kSparse); }

 private:
  [[nodiscard]] double height(double value) const {
    return y_ + kPanelHeight * (high_ - value) / (high_ - low_);
  }
  [[nodiscard]] double centre(index_t j) const {
    return x_ + kPanelWidth * (static_cast<double>(j) + 0.5) / static_cast<double>(kSize);
  }

  svg::Drawing& out_;
  double x_, y_, low_, high_;
};

std::string draw_maps(const Maps& maps) {
  constexpr double kLeft = 70, kTop = 132, kColumn = 326, kRow = 208, kWidth = 1010, kHeight = 742;
  svg::Drawing out(kWidth, kHeight, "entmax of one score vector at eight values of alpha");
  out.rect(0, 0, kWidth, kHeight, "#fdfdfc");
  out.text(kLeft - 40, 38, "One vector of scores, eight maps to probabilities",
           {.size = 21, .anchor = svg::Anchor::start, .fill = "#1a1a1a", .bold = true});
  const auto legend = [&](double x, const char* fill, const char* words) {
    out.rect(x, 58, 12, 12, fill);
    out.text(x + 19, 69, words, {.size = 13, .anchor = svg::Anchor::start});
  };
  legend(kLeft - 40, kNeutral, "score");
  legend(kLeft + 50, kDense, "probability, &#945; &#8804; 1: never zero");
  legend(kLeft + 295, kSparse, "probability, &#945; &gt; 1: sparse");
  out.ring(kLeft + 516, 64, 4, kSparse);
  out.text(kLeft + 529, 69, "exactly zero", {.size = 13, .anchor = svg::Anchor::start});

  for (index_t i = 0; i <= kMapCount; ++i) {
    const double x = kLeft + kColumn * static_cast<double>(i % 3),
                 y = kTop + kRow * static_cast<double>(i / 3);
    if (i % 3 == 0 || i == 1) {
      out.text(x - 40, y + kPanelHeight / 2, i == 0 ? "score" : "probability", {.size = 13, .rotate = -90});
    }
    if (i / 3 == 2) out.text(x + kPanelWidth / 2, y + kPanelHeight + 38, "item", {.size = 13});
    if (i == 0) {
      Panel panel(out, x, y, -2, 2);
      panel.frame("scores z", "", 1, "%.0f");
      for (index_t j = 0; j < kSize; ++j) panel.bar(j, kScores[static_cast<std::size_t>(j)], kNeutral);
      continue;
    }
    const Map& map = kMaps[static_cast<std::size_t>(i - 1)];
    std::string caption = std::string("&#945; = ") + (std::isinf(map.alpha) ? "&#8734;" : map.alpha_text);
    if (*map.name != '\0') caption += std::string(", ") + map.name;
    const index_t support = maps.support_size[static_cast<std::size_t>(i - 1)];
    Panel panel(out, x, y, 0, 1);
    panel.frame(caption, "support " + std::to_string(support) + " of " + std::to_string(kSize), 0.5, "%.1f");
    for (index_t j = 0; j < kSize; ++j) {
      const double p = maps.rows()[i - 1][static_cast<std::size_t>(j)];
      if (p == 0) {
        panel.zero(j);
      } else {
        panel.bar(j, p, map.alpha > 1 ? kSparse : kDense);
        panel.label(j, p, p < 0.0095 ? "%.3f" : "%.2f");
      }
    }
  }
  return out.str();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string path = count > 1 ? arguments[1] : "tour.svg";
  const bool help = path == "--help" || path == "-h";
  if (help || count > 2 || path.empty() || path[0] == '-') {
    std::fprintf(help ? stdout : stderr,
                 "usage: tour [FILE]\n"
                 "Prints entmax maps, Fenchel-Young losses and draws of one score vector for several alpha,\n"
                 "and draws the maps into FILE as SVG (default: tour.svg).\n");
    return help ? 0 : 2;
  }
  const Maps maps = compute_maps();
  print_maps(maps);
  print_losses(maps);
  print_draws();
  const std::string error = svg::write_file(path, draw_maps(maps));
  if (!error.empty()) {
    std::fprintf(stderr, "tour: cannot write %s: %s\n", path.c_str(), error.c_str());
    return 1;
  }
  std::printf("\nThe maps are drawn in %s.\n", path.c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}
