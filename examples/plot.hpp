#pragma once

#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "svg.hpp"

/// A chart with two axes, curves, stems and dots, and a legend in the order of drawing.
class Plot {
 public:
  struct Axis {
    double low, high, tick;
    const char* label;
  };

  /// Okabe and Ito's colours, which colour-blind readers tell apart.
  static const char* colour(std::size_t i) {
    constexpr const char* kColours[] = {"#e69f00", "#0072b2", "#009e73", "#cc79a7",
                                        "#d55e00", "#56b4e9", "#444444"};
    return kColours[i % std::size(kColours)];
  }

  Plot(const std::string& title, Axis x, Axis y) : out_(kWidth, kHeight, title), x_(x), y_(y) {
    out_.rect(0, 0, kWidth, kHeight, "#fdfdfc");
    out_.text(kLeft, 30, title, {.size = 17, .anchor = svg::Anchor::start, .fill = "#1a1a1a", .bold = true});
    for (double t = x.low; t <= x.high + 1e-9; t += x.tick) {
      out_.line(across(t), kTop, across(t), kTop + kTall, kGrid);
      out_.text(across(t), kTop + kTall + 18, label(t));
    }
    for (double t = y.low; t <= y.high + 1e-9; t += y.tick) {
      out_.line(kLeft, up(t), kLeft + kWide, up(t), t == 0 ? "#555555" : kGrid);
      out_.text(kLeft - 8, up(t) + 4, label(t), {.anchor = svg::Anchor::end});
    }
    out_.text(kLeft + kWide / 2, kTop + kTall + 40, x.label, {.size = 13});
    out_.text(kLeft - 44, kTop + kTall / 2, y.label, {.size = 13, .rotate = -90});
  }

  /// y = f(x) over the whole axis; it is not drawn where it leaves the chart or is not a number.
  template <class F>
  void curve(const std::string& name, F f) {
    constexpr int kPoints = 601;
    std::vector<std::pair<double, double>> points;
    for (int i = 0; i < kPoints; ++i) {
      const double t = x_.low + (x_.high - x_.low) * i / (kPoints - 1);
      points.emplace_back(t, f(t));
    }
    path(name, points);
  }

  void path(const std::string& name, const std::vector<std::pair<double, double>>& points) {
    const char* stroke = next(name);
    std::string text;
    const auto flush = [&] {
      if (!text.empty()) out_.polyline(text, stroke);
      text.clear();
    };
    for (const auto& [x, y] : points) {
      if (x >= x_.low && x <= x_.high && y >= y_.low && y <= y_.high) {
        text += (text.empty() ? "" : " ") + svg::number(across(x), "%.2f") + "," + svg::number(up(y), "%.2f");
      } else {
        flush();
      }
    }
    flush();
  }

  /// A curve behind the others, without a place in the legend.
  template <class F>
  void faint_curve(F f) {
    constexpr int kPoints = 151;
    std::string text;
    for (int i = 0; i < kPoints; ++i) {
      const double t = x_.low + (x_.high - x_.low) * i / (kPoints - 1);
      text += (i == 0 ? "" : " ") + svg::number(across(t), "%.2f") + "," + svg::number(up(f(t)), "%.2f");
    }
    out_.polyline(text, "#bbbbbb", 1);
  }

  /// f >= 0 on a grid of cells over the chart, the darker the larger; nothing where it is exactly 0.
  template <class F>
  void heat(int cells, double largest, F f) {
    const double width = (x_.high - x_.low) / cells, height = (y_.high - y_.low) / cells;
    for (int i = 0; i < cells; ++i) {
      for (int j = 0; j < cells; ++j) {
        const double x = x_.low + i * width, y = y_.low + j * height,
                     value = f(x + width / 2, y + height / 2);
        if (value == 0) continue;
        const int shade = static_cast<int>(std::lround(100 * value / largest));
        out_.rect(across(x), up(y + height), kWide / cells, kTall / cells,
                  "rgb(" + std::to_string(245 - shade) + ',' + std::to_string(248 - shade / 2) + ",253)");
      }
    }
  }

  /// A stem with a head at each (x + shift, y); a ring at the foot where y is exactly 0.
  void stems(const std::string& name, const std::vector<std::pair<double, double>>& points, double shift) {
    const char* stroke = next(name);
    for (const auto& [x, y] : points) {
      if (y == 0) {
        out_.ring(across(x + shift), up(0), 3, stroke);
      } else {
        out_.line(across(x + shift), up(0), across(x + shift), up(y), stroke, 3);
        out_.dot(across(x + shift), up(y), 3.5, stroke);
      }
    }
  }

  void dots(const std::vector<std::pair<double, double>>& points, const char* fill) {
    for (const auto& [x, y] : points) {
      if (x >= x_.low && x <= x_.high && y >= y_.low && y <= y_.high) out_.dot(across(x), up(y), 1.2, fill);
    }
  }

  void dot(double x, double y, double radius, const char* fill) { out_.dot(across(x), up(y), radius, fill); }

  [[nodiscard]] std::string str() const { return out_.str(); }

 private:
  static constexpr double kWidth = 760, kHeight = 400, kLeft = 66, kTop = 48, kWide = 480, kTall = 290;
  static constexpr const char* kGrid = "#e3e3e3";

  static std::string label(double t) { return svg::number(std::abs(t) < 1e-9 ? 0 : t, "%.4g"); }
  [[nodiscard]] double across(double x) const { return kLeft + kWide * (x - x_.low) / (x_.high - x_.low); }
  [[nodiscard]] double up(double y) const { return kTop + kTall * (y_.high - y) / (y_.high - y_.low); }

  const char* next(const std::string& name) {
    const char* stroke = colour(count_);
    const double y = kTop + 14 + 22 * static_cast<double>(count_++), x = kLeft + kWide + 18;
    out_.line(x, y, x + 22, y, stroke, 3);
    out_.text(x + 30, y + 4, name, {.size = 13, .anchor = svg::Anchor::start});
    return stroke;
  }

  svg::Drawing out_;
  Axis x_, y_;
  std::size_t count_ = 0;
};
