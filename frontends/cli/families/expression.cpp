#include "cli/families/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "cli/program/session.hpp"
#include "fenchel/data/number.hpp"

namespace fenchel::cli {

struct Expression::Unary {
  std::string_view name;
  double (*value)(double x);
  double (*slope)(double x, double y);  ///< dy/dx of y = value(x)
};

struct Expression::Binary {
  std::string_view name;
  double (*value)(double x, double y);
  double (*slope)(double x, double dx, double y, double dy);
};

namespace {

using Step = Expression::Step;
using Unary = Expression::Unary;
using Binary = Expression::Binary;

constexpr std::array kFunctions{
    Unary{"abs", [](double x) { return std::abs(x); }, [](double x, double) { return x < 0 ? -1.0 : 1.0; }},
    Unary{"exp", [](double x) { return std::exp(x); }, [](double, double y) { return y; }},
    Unary{"log", [](double x) { return std::log(x); }, [](double x, double) { return 1 / x; }},
    Unary{"sqrt", [](double x) { return std::sqrt(x); }, [](double, double y) { return 0.5 / y; }},
    Unary{"sin", [](double x) { return std::sin(x); }, [](double x, double) { return std::cos(x); }},
    Unary{"cos", [](double x) { return std::cos(x); }, [](double x, double) { return -std::sin(x); }},
    Unary{"tan", [](double x) { return std::tan(x); }, [](double, double y) { return 1 + y * y; }},
    Unary{"sinh", [](double x) { return std::sinh(x); }, [](double x, double) { return std::cosh(x); }},
    Unary{"cosh", [](double x) { return std::cosh(x); }, [](double x, double) { return std::sinh(x); }},
    Unary{"tanh", [](double x) { return std::tanh(x); }, [](double, double y) { return 1 - y * y; }},
    Unary{"erf", [](double x) { return std::erf(x); },
          [](double x, double) { return 2 * std::numbers::inv_sqrtpi * std::exp(-x * x); }},
};
constexpr Unary kMinus{"-", [](double x) { return -x; }, [](double, double) { return -1.0; }};

constexpr std::array kPairFunctions{
    Binary{"min", [](double x, double y) { return std::min(x, y); },
           [](double x, double dx, double y, double dy) {
             return x == y ? std::min(dx, dy) : (x < y ? dx : dy);
           }},
    Binary{"max", [](double x, double y) { return std::max(x, y); },
           [](double x, double dx, double y, double dy) {
             return x == y ? std::max(dx, dy) : (x > y ? dx : dy);
           }},
};
constexpr std::array kSums{
    Binary{"+", [](double x, double y) { return x + y; },
           [](double, double dx, double, double dy) { return dx + dy; }},
    Binary{"-", [](double x, double y) { return x - y; },
           [](double, double dx, double, double dy) { return dx - dy; }},
};
constexpr std::array kProducts{
    Binary{"*", [](double x, double y) { return x * y; },
           [](double x, double dx, double y, double dy) { return dx * y + x * dy; }},
    Binary{"/", [](double x, double y) { return x / y; },
           [](double x, double dx, double y, double dy) { return (dx - x / y * dy) / y; }},
};
constexpr Binary kPower{"^", [](double x, double y) { return std::pow(x, y); },
                        [](double x, double dx, double y, double dy) {
                          const double base = y == 0 ? 0 : y * std::pow(x, y - 1) * dx;
                          return dy == 0 ? base : base + std::pow(x, y) * std::log(x) * dy;
                        }};

template <class Table>
auto find(const Table& table, std::string_view name) -> decltype(table.data()) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& f) { return f.name == name; });
  return found == table.end() ? nullptr : &*found;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Descends by precedence and leaves steps in the order in which a stack takes them.
class Parser {
 public:
  Parser(const std::string& option, std::string_view text, index_t most_dimensions)
      : option_(option), text_(text), variables_(most_dimensions > 1 ? "t, x, y, z" : "t") {}

  std::vector<Step> parse() {
    sum();
    if (!at_end()) fail("expected an operator or the end");
    return std::move(steps_);
  }
  /// After parse().
  [[nodiscard]] index_t dimension() const noexcept { return std::max<index_t>(dimension_, 1); }

 private:
  /// Counts how deep the descent is while it lives.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) { parser_.deepen(parser_.depth_); }
    ~Level() { --parser_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  void deepen(std::size_t& count) {
    if (++count > Expression::kMostDepth)
      fail(fmt::format("nested deeper than {} levels", Expression::kMostDepth));
  }

  void sum() {
    product();
    while (const Binary* op = take_one_of(kSums)) {
      product();
      push(*op);
    }
  }

  void product() {
    signed_power();
    while (const Binary* op = take_one_of(kProducts)) {
      signed_power();
      push(*op);
    }
  }

  /// Every way down leads through here.
  void signed_power() {
    const Level level(*this);
    if (take('-')) {
      signed_power();
      steps_.push_back({.unary = &kMinus});
      return;
    }
    atom();
    if (take('^')) {
      signed_power();
      push(kPower);
    }
  }

  void atom() {
    if (take('(')) {
      sum();
      return expect(')');
    }
    if (!at_end() && (is_digit(text_[position_]) || text_[position_] == '.')) return push(number());
    if (!at_end() && is_letter(text_[position_])) return name();
    fail_at_atom();
  }

  double number() {
    double value = 0;
    const char* begin = text_.data() + position_;
    const char* const end = std::from_chars(begin, text_.data() + text_.size(), value).ptr;
    const auto size = static_cast<std::size_t>(end - begin);
    const std::errc error = read_number({begin, size}, value);
    if (error == std::errc::result_out_of_range) fail("a number out of range");
    if (error != std::errc()) fail_at_atom();
    position_ += size;
    return value;
  }

  void name() {
    const std::size_t begin = position_;
    while (position_ < text_.size() && (is_letter(text_[position_]) || is_digit(text_[position_])))
      ++position_;
    const std::string_view word = text_.substr(begin, position_ - begin);
    if (word.size() == 1 && variables_.find(word) != std::string_view::npos) {
      position_ = begin;
      variable(word[0]);
      ++position_;
    } else if (word == "pi") {
      push(std::numbers::pi);
    } else if (word == "e") {
      push(std::numbers::e);
    } else if (const Unary* function = find(kFunctions, word)) {
      expect('(');
      sum();
      expect(')');
      steps_.push_back({.unary = function});
    } else if (const Binary* pair = find(kPairFunctions, word)) {
      expect('(');
      sum();
      expect(',');
      sum();
      expect(')');
      push(*pair);
    } else {
      position_ = begin;
      fail(
          fmt::format("unknown name '{}'", word),
          fmt::format("; known are {}, pi, e, abs, exp, log, sqrt, sin, cos, tan, sinh, cosh, tanh, erf, min "
                      "and max",
                      variables_));
    }
  }

  void variable(char name) {
    const bool on_line = name == 't';
    if (dimension_ > 0 && on_line != (dimension_ == 1))
      fail(fmt::format("'{}' in a formula in {}", name, on_line ? "x, y or z" : "t"),
           "; t is on the line, x and y are in the plane, x, y and z in space");
    count_operand();
    dimension_ = std::max<index_t>(dimension_, on_line ? 1 : name == 'z' ? 3 : 2);
    steps_.push_back({.coordinate = on_line ? 0 : name - 'x'});
  }

  void push(double value) {
    count_operand();
    steps_.push_back({.number = value});
  }
  void push(const Binary& op) {
    --operands_;
    steps_.push_back({.binary = &op});
  }
  void count_operand() { deepen(operands_); }

  bool at_end() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t')) ++position_;
    return position_ == text_.size();
  }
  bool take(char c) {
    if (at_end() || text_[position_] != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(fmt::format("expected '{}'", c));
  }
  template <class Table>
  const Binary* take_one_of(const Table& table) {
    if (at_end()) return nullptr;
    const Binary* op = find(table, text_.substr(position_, 1));
    if (op != nullptr) ++position_;
    return op;
  }

  [[noreturn]] void fail_at_atom() const { fail(fmt::format("expected a number, {} or '('", variables_)); }
  [[noreturn]] void fail(const std::string& what, const std::string& hint = "") const {
    constexpr std::size_t kShown = 60;
    std::string shown(text_.substr(0, kShown));
    if (text_.size() > kShown) shown += "...";
    std::replace_if(
        shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    throw UsageError(
        fmt::format("{}: {} at position {} of '{}'{}", option_, what, position_ + 1, shown, hint));
  }

  const std::string& option_;
  std::string_view text_, variables_;
  index_t dimension_ = 0;  // 0 before a variable
  std::size_t position_ = 0, depth_ = 0, operands_ = 0;
  std::vector<Step> steps_;
};

template <bool kSlope>
double run(const std::vector<Step>& steps, const double* t) {
  std::array<double, Expression::kMostDepth + 1> value{}, slope{};
  std::size_t top = 0;  // value[top] is the topmost; value[0] is none
  for (const Step& step : steps) {
    if (step.unary != nullptr) {
      const double x = value[top];
      value[top] = step.unary->value(x);
      if constexpr (kSlope) {
        if (slope[top] != 0) slope[top] *= step.unary->slope(x, value[top]);
      }
    } else if (step.binary != nullptr) {
      --top;
      if constexpr (kSlope)
        slope[top] = step.binary->slope(value[top], slope[top], value[top + 1], slope[top + 1]);
      value[top] = step.binary->value(value[top], value[top + 1]);
    } else {
      const bool varies = step.coordinate != Expression::kNone;
      value[++top] = varies ? t[step.coordinate] : step.number;
      if constexpr (kSlope) slope[top] = varies ? 1 : 0;
    }
  }
  return kSlope ? slope[top] : value[top];
}

}  // namespace

Expression::Expression(const std::string& option, const std::string& text, index_t most_dimensions) {
  Parser parser(option, text, most_dimensions);
  steps_ = parser.parse();
  dimension_ = parser.dimension();
}

double Expression::operator()(std::span<const double> t) const { return run<false>(steps_, t.data()); }
double Expression::operator()(double t) const { return run<false>(steps_, &t); }
double Expression::derivative(double t) const { return run<true>(steps_, &t); }

}  // namespace fenchel::cli
