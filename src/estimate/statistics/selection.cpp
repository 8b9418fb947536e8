#include "fenchel/estimate/statistics/selection.hpp"

#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "core/ordered_bits.hpp"
#include "estimate/fit/checks.hpp"
#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "estimate/statistics/weight_table.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kWhere = "weighted_quantile", kKind = "FDIG";
constexpr std::uint32_t kVersion = 1;
constexpr int kDigitBits = 16;
constexpr std::uint64_t kDigit = (1 << kDigitBits) - 1;

/// The weights of the values whose ordered bits begin as `prefix` does, by the digit after that.
class DigitWeights {
 public:
  /// The digit begins at bit `shift`; the bits from shift + kDigitBits on are those of the prefix.
  DigitWeights(std::uint64_t prefix, int shift) : prefix_(prefix), shift_(shift) {}

  void update(Rows<const double> rows, PerRow weights) {
    std::vector<index_t> digits;
    std::vector<double> digit_weights;
    detail::for_each_chunk(kWhere, rows, 1, weights, [&](const detail::Chunk& chunk) {
      const double* x = chunk.column(0);
      for (index_t i = 0; i < chunk.rows; ++i) {
        const std::uint64_t bits = detail::ordered_bits(x[i]) >> shift_;
        if (bits >> kDigitBits != prefix_) continue;
        digits.push_back(static_cast<index_t>(bits & kDigit));
        digit_weights.push_back(chunk.weights[static_cast<std::size_t>(i)]);
      }
    });
    detail::add_weights(digits, digit_weights, table_);
  }
  void merge(const DigitWeights& other) {
    for (const auto& [digit, weight] : other.table_) table_[digit] += weight;
  }
  [[nodiscard]] Bytes to_bytes() const {
    detail::ByteWriter writer(kKind, kVersion);
    for (const auto& [digit, weight] : table_) {
      writer.put(digit);
      writer.put(weight);
    }
    return std::move(writer).finish();
  }
  void merge_bytes(std::span<const std::byte> bytes) {
    detail::ByteReader reader(kWhere, kKind, kVersion, bytes);
    reader.require(reader.left() % 3 == 0, "must hold three numbers for each digit");
    while (reader.left() > 0) {
      const std::uint64_t digit = reader.number();
      reader.require(digit <= kDigit, "must hold digits");
      table_[static_cast<index_t>(digit)] += reader.double_double();
    }
  }
  [[nodiscard]] const detail::WeightTable& table() const noexcept { return table_; }

 private:
  std::uint64_t prefix_;
  int shift_;
  detail::WeightTable table_;
};

}  // namespace

double weighted_quantile(const Data& data, double u) {
  detail::checked_probability(kWhere, "u", u);
  std::uint64_t prefix = 0;
  DoubleDouble before;  // the weight of all that is less than what the prefix begins
  double wanted = std::numeric_limits<double>::quiet_NaN();
  for (int shift = 64 - kDigitBits; shift >= 0; shift -= kDigitBits) {
    const detail::WeightTable table = collect(data, DigitWeights(prefix, shift)).table();
    if (shift < 64 - kDigitBits && table.empty())
      throw DataError("fenchel::weighted_quantile: the data changed between two passes");
    if (wanted != wanted) {
      DoubleDouble total;
      for (const auto& [digit, weight] : table) total += weight;
      detail::check_total_weight(kWhere, total.value());
      wanted = u * total.value();
    }
    auto at = table.begin();
    for (; std::next(at) != table.end() && (before + at->second).value() < wanted; ++at) before += at->second;
    prefix = prefix << kDigitBits | static_cast<std::uint64_t>(at->first);
  }
  return detail::from_ordered_bits(prefix);
}

double weighted_median(const Data& data) { return weighted_quantile(data, 0.5); }

}  // namespace fenchel
