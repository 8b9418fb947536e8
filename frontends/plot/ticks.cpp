#include "plot/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace fenchel::plot {
namespace {

constexpr double kSmallest = 1e-290;  // below it a range counts as zero
constexpr double kRelative = 1e-9;    // the least length of a range by its largest end
constexpr double kSlack = 1e-6;       // of a step: what rounding may have moved an end

// mantissa * 10^exponent, correctly rounded for usual exponents.
double scaled(double mantissa, int exponent) {
  return exponent < 0 ? mantissa / std::pow(10., -exponent) : mantissa * std::pow(10., exponent);
}

struct Span {
  double first, last;  // in steps
  [[nodiscard]] double count() const { return last - first + 1; }
};

Span inside(Range range, double step) {
  return {std::ceil(range.low / step - kSlack), std::floor(range.high / step + kSlack)};
}

// 1, 2, 5, 10, 20, 50, ... and their fractions.
struct GoodStep {
  int index;  // 3 for each power of ten
  [[nodiscard]] int exponent() const { return (index - third()) / 3; }
  [[nodiscard]] double times(double count) const {
    constexpr int kMantissas[] = {1, 2, 5};
    return count == 0 ? 0 : scaled(count * kMantissas[third()], exponent());
  }

 private:
  [[nodiscard]] int third() const { return (index % 3 + 3) % 3; }
};

GoodStep step_within(Range range, int most) {
  GoodStep step{3 * static_cast<int>(std::floor(std::log10((range.high - range.low) / most))) - 3};
  const auto count = [&] { return inside(range, step.times(1)).count(); };
  double before = 0;
  for (; count() > most; ++step.index) {
    before = count();
  }
  if (count() < 4 && before == most + 1) {
    --step.index;
  }
  return step;
}

std::string superscript(int value) {
  constexpr const char* kDigits[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                     "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string out = value < 0 ? "\u207b" : "";
  for (const char digit : std::to_string(std::abs(value))) {
    out += kDigits[digit - '0'];
  }
  return out;
}

// With a true minus.
std::string plain(double value, int decimals, bool commas) {
  std::string digits = fmt::format("{:.{}f}", std::abs(value), decimals);
  if (decimals > 0) {
    digits.erase(digits.find_last_not_of('0') + 1);
    digits.erase(digits.find_last_not_of('.') + 1);
  }
  const auto whole = static_cast<int>(std::min(digits.find('.'), digits.size()));
  for (int at = whole - 3; commas && at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return (value < 0 ? "\u2212" : "") + digits;
}

}  // namespace

Range proper(Range range) {
  const auto finite = [](double v) { return std::isnan(v) ? 0 : std::clamp(v, -kLargest, kLargest); };
  double low = finite(range.low), high = finite(range.high);
  if (low > high) {
    std::swap(low, high);
  }
  const double largest = std::max(std::abs(low), std::abs(high));
  if (largest < kSmallest) {
    return {-1, 1};
  }
  if (high - low < kRelative * largest) {
    const double half = low == high ? largest / 2 : kRelative * largest;
    return {low - half, high + half};
  }
  return {low, high};
}

Ticks inner_ticks(Range range, int most) {
  range = proper(range);
  const GoodStep step = step_within(range, most);
  Ticks ticks{step.times(1), {}};
  const Span span = inside(range, ticks.step);
  for (double i = span.first; i <= span.last; ++i) {
    ticks.values.push_back(step.times(i));
  }
  return ticks;
}

Ticks named_ticks(const std::vector<std::string>& names) {
  Ticks ticks{1, {}, names};
  for (std::size_t i = 1; i <= names.size(); ++i) {
    ticks.values.push_back(static_cast<double>(i));
  }
  return ticks;
}

Range extended(Range range) {
  range = proper(range);
  const GoodStep step{step_within(range, kMostTicks).index - 1};
  return {step.times(std::floor(range.low / step.times(1) + kSlack)),
          step.times(std::ceil(range.high / step.times(1) - kSlack))};
}

std::vector<std::string> labels(const Ticks& ticks) {
  if (!ticks.names.empty()) {
    return ticks.names;
  }
  double largest = ticks.step;
  for (const double v : ticks.values) {
    largest = std::max(largest, std::abs(v));
  }
  const auto exponent_of = [](double v) { return static_cast<int>(std::floor(std::log10(v) + 1e-9)); };
  const int step_exponent = exponent_of(ticks.step), exponent = exponent_of(largest);
  const bool usual = exponent < 6 && step_exponent >= -9 && exponent >= -4;
  std::vector<std::string> out;
  for (const double v : ticks.values) {
    if (v == 0) {
      out.emplace_back("0");
    } else if (usual) {
      out.push_back(plain(v, std::max(0, -step_exponent), exponent >= 4));
    } else {
      out.push_back(plain(scaled(v, -exponent), exponent - step_exponent, false) + "\u00d710" +
                    superscript(exponent));
    }
  }
  return out;
}

}  // namespace fenchel::plot
