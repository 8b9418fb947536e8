#include "data/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include "fenchel/core/error.hpp"

namespace fenchel::detail {
namespace {

constexpr index_t kMaxLength = index_t{1} << 16;  // of the header; NumPy's own has some 100 bytes
constexpr const char* kMalformed = "has a malformed .npy header";

/// The few forms of Python literals that a header is made of.
class Literals {
 public:
  Literals(const ByteSource& file, std::string_view text) : file_(file), rest_(text) {}

  /// Whether c comes next, which is then taken; blanks do not count.
  bool take(char c) {
    skip_blanks();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void expect(char c) { require(take(c)); }

  std::string_view string() {
    skip_blanks();
    require(rest_.starts_with('\'') || rest_.starts_with('"'));
    const std::size_t end = rest_.find(rest_[0], 1);
    require(end != std::string_view::npos);
    const std::string_view content = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return content;
  }

  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return word == "True";
    }
    file_.refuse(kMalformed);
  }

  std::vector<index_t> tuple() {
    std::vector<index_t> values;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      index_t value = 0;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
      require(error == std::errc() && value >= 0);
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      values.push_back(value);
      if (take(',')) continue;
      expect(')');
      require(values.size() > 1);  // (3) is a number, not a tuple
      break;
    }
    return values;
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

  void require(bool condition) const {
    if (!condition) file_.refuse(kMalformed);
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \n"), rest_.size())); }

  const ByteSource& file_;
  std::string_view rest_;
};

void set_shape(const ByteSource& file, const std::vector<index_t>& shape, NpyHeader& header) {
  if (shape.empty() || shape.size() > 2)
    file.refuse("must hold an array of one or two dimensions, got " +
                shortest(static_cast<index_t>(shape.size())));
  header.rows = shape[0];
  header.columns = shape.size() == 2 ? shape[1] : 1;
}

/// {'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }, each key once and in any order.
void parse(const ByteSource& file, std::string_view text, NpyHeader& header) {
  Literals literals(file, text);
  bool has_type = false, has_order = false, has_shape = false;
  literals.expect('{');
  while (!literals.take('}')) {
    const std::string_view key = literals.string();
    literals.expect(':');
    bool& has = key == "descr" ? has_type : key == "shape" ? has_shape : has_order;
    literals.require(!has);
    has = true;
    if (key == "descr") {
      if (literals.take('[')) file.refuse("must hold plain numbers, got a structured type");
      header.type = literals.string();
    } else if (key == "shape") {
      set_shape(file, literals.tuple(), header);
    } else {
      literals.require(key == "fortran_order");
      header.fortran_order = literals.boolean();
    }
    if (literals.take(',')) continue;
    literals.expect('}');
    break;
  }
  literals.require(has_type && has_order && has_shape && literals.at_end());
}

}  // namespace

NpyHeader read_npy_header(const ByteSource& file) {
  constexpr index_t kFixed = 8;  // magic and version
  const FileWindow start = file.window(0, std::min(file.size(), kFixed + 4));
  const std::string_view text(start.bytes.data(), start.bytes.size());
  if (!text.starts_with(kNpyMagic)) file.refuse("is not a .npy file");
  if (file.size() < kFixed + 4) file.refuse(kMalformed);
  const auto byte = [&](std::size_t k) { return static_cast<index_t>(static_cast<unsigned char>(text[k])); };
  const index_t version = byte(6);
  if (version < 1 || version > 3 || byte(7) != 0)
    file.refuse("must be of version 1.0, 2.0 or 3.0 of the .npy format, got " + shortest(version) + "." +
                shortest(byte(7)));

  NpyHeader header;
  index_t length = byte(8) + (byte(9) << 8);
  header.begin = kFixed + 2;
  if (version > 1) {
    length += (byte(10) << 16) + (byte(11) << 24);
    header.begin += 2;
  }
  if (length > kMaxLength || length > file.size() - header.begin) file.refuse(kMalformed);
  const FileWindow window = file.window(header.begin, header.begin + length);
  parse(file, {window.bytes.data(), window.bytes.size()}, header);
  header.begin += length;
  return header;
}

}  // namespace fenchel::detail
