#include "report/mathml.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>

namespace fenchel::report {
namespace {

struct Symbol {
  std::string_view name, element;
};

constexpr Symbol kSymbols[] = {
    {"alpha", "<mi>\u03b1</mi>"},
    {"beta", "<mi>\u03b2</mi>"},
    {"gamma", "<mi>\u03b3</mi>"},
    {"Gamma", "<mi mathvariant=\"normal\">\u0393</mi>"},
    {"delta", "<mi>\u03b4</mi>"},
    {"epsilon", "<mi>\u03b5</mi>"},
    {"eta", "<mi>\u03b7</mi>"},
    {"theta", "<mi>\u03b8</mi>"},
    {"kappa", "<mi>\u03ba</mi>"},
    {"lambda", "<mi>\u03bb</mi>"},
    {"mu", "<mi>\u03bc</mi>"},
    {"nu", "<mi>\u03bd</mi>"},
    {"pi", "<mi>\u03c0</mi>"},
    {"rho", "<mi>\u03c1</mi>"},
    {"sigma", "<mi>\u03c3</mi>"},
    {"Sigma", "<mi mathvariant=\"normal\">\u03a3</mi>"},
    {"tau", "<mi>\u03c4</mi>"},
    {"phi", "<mi>\u03d5</mi>"},
    {"Phi", "<mi mathvariant=\"normal\">\u03a6</mi>"},
    {"chi", "<mi>\u03c7</mi>"},
    {"psi", "<mi>\u03c8</mi>"},
    {"omega", "<mi>\u03c9</mi>"},
    {"Omega", "<mi mathvariant=\"normal\">\u03a9</mi>"},
    {"N", "<mi mathvariant=\"normal\">\u2115</mi>"},
    {"R", "<mi mathvariant=\"normal\">\u211d</mi>"},
    {"Z", "<mi mathvariant=\"normal\">\u2124</mi>"},
    {"infty", "<mi mathvariant=\"normal\">\u221e</mi>"},
    {"ldots", "<mi mathvariant=\"normal\">\u2026</mi>"},
    {"partial", "<mo>\u2202</mo>"},
    {"nabla", "<mo>\u2207</mo>"},
    {"sum", "<mo>\u2211</mo>"},
    {"prod", "<mo>\u220f</mo>"},
    {"int", "<mo>\u222b</mo>"},
    {"oint", "<mo>\u222e</mo>"},
    {"le", "<mo>\u2264</mo>"},
    {"ge", "<mo>\u2265</mo>"},
    {"ne", "<mo>\u2260</mo>"},
    {"lt", "<mo>&lt;</mo>"},
    {"gt", "<mo>&gt;</mo>"},
    {"ll", "<mo>\u226a</mo>"},
    {"gg", "<mo>\u226b</mo>"},
    {"approx", "<mo>\u2248</mo>"},
    {"propto", "<mo>\u221d</mo>"},
    {"in", "<mo>\u2208</mo>"},
    {"to", "<mo>\u2192</mo>"},
    {"pm", "<mo>\u00b1</mo>"},
    {"times", "<mo>\u00d7</mo>"},
    {"cdot", "<mo>\u22c5</mo>"},
    {"top", "<mo>\u22a4</mo>"},
    {"langle", "<mo>\u27e8</mo>"},
    {"rangle", "<mo>\u27e9</mo>"},
    {"|", "<mo stretchy=\"false\" lspace=\"0\" rspace=\"0\">\u2016</mo>"},
    {"{", "<mo stretchy=\"false\">{</mo>"},
    {"}", "<mo stretchy=\"false\">}</mo>"},
    {",", "<mspace width=\"0.17em\"/>"},
    {"quad", "<mspace width=\"1em\"/>"},
};

// Set upright, with a little space where an argument follows without a bracket.
constexpr std::string_view kFunctions[] = {"exp",  "log", "max", "min",  "sin",  "cos",  "tanh",
                                           "coth", "erf", "det", "diag", "sign", "Beta", "Var"};

struct Accent {
  std::string_view name, mark;
};
constexpr Accent kAccents[] = {{"hat", "^"}, {"tilde", "~"}, {"bar", "\u00af"}};

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Parser {
 public:
  explicit Parser(std::string_view tex) : tex_(tex) {}

  std::string whole() {
    std::string out = row();
    if (at_ < tex_.size()) fail("'}' without '{'");
    return out;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument(fmt::format("fenchel::report::mathml: {} at {} of {}", why, at_, tex_));
  }

  [[nodiscard]] char peek(std::size_t ahead) const {
    return at_ + ahead < tex_.size() ? tex_[at_ + ahead] : ' ';
  }

  void skip_spaces() {
    while (at_ < tex_.size() && tex_[at_] == ' ') ++at_;
  }

  // Everything up to the end of the group, as elements in a row.
  std::string row() {
    std::string out;
    operand_ = false;
    for (skip_spaces(); at_ < tex_.size() && tex_[at_] != '}'; skip_spaces()) out += scripted();
    return out;
  }

  std::string scripted() {
    const std::string base = atom();
    std::string below, above;
    for (skip_spaces(); at_ < tex_.size(); skip_spaces()) {
      const char c = tex_[at_];
      if (c == '\'') {
        ++at_;
        above += "<mo>\u2032</mo>";
      } else if (c == '_' || c == '^') {
        ++at_;
        skip_spaces();
        (c == '_' ? below : above) += atom();
      } else {
        break;
      }
    }
    if (!below.empty() && !above.empty())
      return fmt::format("<msubsup>{}{}<mrow>{}</mrow></msubsup>", base, below, above);
    if (!below.empty()) return fmt::format("<msub>{}{}</msub>", base, below);
    if (!above.empty()) return fmt::format("<msup>{}<mrow>{}</mrow></msup>", base, above);
    return base;
  }

  std::string group() {
    skip_spaces();
    if (at_ >= tex_.size() || tex_[at_] != '{') fail("expected '{'");
    ++at_;
    std::string out = "<mrow>" + row() + "</mrow>";
    if (at_ >= tex_.size()) fail("'{' without '}'");
    ++at_;
    return out;
  }

  // With an exponent, 1.5e-7, as a power of ten.
  std::string number() {
    const auto digits = [this] {
      const std::size_t start = at_;
      while (at_ < tex_.size() && (digit(tex_[at_]) || (tex_[at_] == '.' && digit(peek(1))))) ++at_;
      return tex_.substr(start, at_ - start);
    };
    const std::string_view mantissa = digits();
    if (peek(0) != 'e' || (peek(1) != '-' && peek(1) != '+') || !digit(peek(2)))
      return fmt::format("<mn>{}</mn>", mantissa);
    const bool negative = peek(1) == '-';
    at_ += 2;
    while (peek(0) == '0' && digit(peek(1))) ++at_;
    return fmt::format("{}<msup><mn>10</mn><mrow>{}<mn>{}</mn></mrow></msup>",
                       mantissa == "1" ? "" : fmt::format("<mn>{}</mn><mo>\u00d7</mo>", mantissa),
                       negative ? "<mo>\u2212</mo>" : "", digits());
  }

  // After an operator or an opening bracket a minus is a sign.
  std::string atom() {
    if (at_ >= tex_.size()) fail("something is missing");
    const char c = tex_[at_];
    const bool sign = !operand_;
    operand_ = std::string_view("([=+-,;:").find(c) == std::string_view::npos;
    if (c == '{') return group();
    if (c == '\\') return command();
    if (digit(c)) return number();
    ++at_;
    if (letter(c)) return fmt::format("<mi>{}</mi>", c);
    if (c == '-') return sign ? "<mo form=\"prefix\">\u2212</mo>" : "<mo>\u2212</mo>";
    if (c == '|' || c == '/' || c == '!')
      return fmt::format("<mo stretchy=\"false\" lspace=\"0\" rspace=\"0\">{}</mo>", c);
    if (std::string_view("()[]").find(c) != std::string_view::npos)
      return fmt::format("<mo stretchy=\"false\">{}</mo>", c);
    if (std::string_view("+=,;:*.").find(c) != std::string_view::npos) return fmt::format("<mo>{}</mo>", c);
    --at_;
    fail("a character without a meaning");
  }

  std::string_view name() {
    ++at_;  // the backslash
    const std::size_t start = at_;
    while (at_ < tex_.size() && letter(tex_[at_])) ++at_;
    if (at_ == start && at_ < tex_.size()) ++at_;
    return tex_.substr(start, at_ - start);
  }

  std::string command() {
    const std::string_view word = name();
    if (word == "frac") {
      const std::string above = group();
      return "<mfrac>" + above + group() + "</mfrac>";
    }
    if (word == "bold") return "<mrow class=\"bold\">" + group() + "</mrow>";
    if (word == "sqrt") return "<msqrt>" + group() + "</msqrt>";
    if (word == "text") {
      skip_spaces();
      const std::size_t end = tex_.find('}', at_);
      if (at_ >= tex_.size() || tex_[at_] != '{' || end == std::string_view::npos) fail("expected '{text}'");
      const std::string_view words = tex_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return fmt::format("<mtext>{}</mtext>", words);
    }
    for (const Accent& accent : kAccents)
      if (word == accent.name)
        return fmt::format("<mover accent=\"true\">{}<mo>{}</mo></mover>", group(), accent.mark);
    for (const std::string_view function : kFunctions)
      if (word == function) return fmt::format("<mi>{}</mi>{}", word, argument_space());
    for (const Symbol& symbol : kSymbols)
      if (word == symbol.name) return std::string(symbol.element);
    fail(fmt::format("\\{} is not known", word));
  }

  std::string_view argument_space() {
    skip_spaces();
    const bool plain = at_ < tex_.size() && (letter(tex_[at_]) || digit(tex_[at_]) || tex_[at_] == '\\');
    return plain ? "<mspace width=\"0.17em\"/>" : "";
  }

  std::string_view tex_;
  std::size_t at_ = 0;
  bool operand_ = false;  // whether something that can be subtracted from stands before
};

}  // namespace

std::string mathml(std::string_view tex) { return "<math><mrow>" + Parser(tex).whole() + "</mrow></math>"; }

}  // namespace fenchel::report
