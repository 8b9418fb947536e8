#include "fenchel/core/error.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace fenchel {
namespace {

template <class Number>
std::string to_text(Number value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

std::string shortest(double value) { return std::isnan(value) ? "nan" : to_text(value); }
std::string shortest(index_t value) { return to_text(value); }

std::string error_message(std::string_view where, std::string_view what, std::string_view constraint,
                          std::string_view got) {
  std::string message = "fenchel::";
  message.append(where).append(": ").append(what).append(" ").append(constraint);
  return message.append(", got ").append(got);
}

std::string error_message(std::string_view where, std::string_view what, std::string_view constraint,
                          double got) {
  return error_message(where, what, constraint, shortest(got));
}

std::string error_message(std::string_view where, std::string_view what, std::string_view constraint,
                          index_t got) {
  return error_message(where, what, constraint, shortest(got));
}

std::string indexed(std::string_view name, index_t i) {
  return std::string(name).append("[").append(shortest(i)).append("]");
}

void throw_domain_error(std::string_view where, std::string_view what, std::string_view constraint,
                        double got) {
  throw std::domain_error(error_message(where, what, constraint, got));
}

void throw_invalid_argument(std::string_view where, std::string_view what, std::string_view constraint,
                            index_t got) {
  throw std::invalid_argument(error_message(where, what, constraint, got));
}

void throw_invalid_argument(std::string_view where, std::string_view what, std::string_view constraint,
                            std::string_view got) {
  throw std::invalid_argument(error_message(where, what, constraint, got));
}

}  // namespace fenchel
