#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "estimate/statistics/byte_format.hpp"
#include "fenchel/estimate/regression/objective.hpp"
#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "fenchel/estimate/statistics/phi_moments.hpp"
#include "fenchel/estimate/statistics/radial_moments.hpp"

namespace {

using fenchel::Bytes;

/// PhiMoments of two functions, and ObjectiveSum of two parameters, as statistics that bytes alone make.
struct TwoPhiMoments : fenchel::PhiMoments {
  static TwoPhiMoments from_bytes(std::span<const std::byte> bytes) {
    const auto square = [](double t) { return t * t; };
    return {fenchel::PhiMoments::from_bytes(bytes, {std::identity(), square})};
  }
};
struct TwoParameters : fenchel::ObjectiveSum {
  static TwoParameters from_bytes(std::span<const std::byte> bytes) {
    TwoParameters sum{fenchel::ObjectiveSum(2)};
    sum.merge_bytes(bytes);
    return sum;
  }
};

/// What is read is written as it was read, alone and merged with itself.
template <class S>
void check(std::span<const std::byte> bytes) {
  Bytes written;
  try {
    written = S::from_bytes(bytes).to_bytes();
  } catch (const std::invalid_argument&) {
    return;
  }
  S value = S::from_bytes(written);
  if (value.to_bytes() != written) std::abort();
  try {
    value.merge(S::from_bytes(written));
  } catch (const std::domain_error&) {  // the sum overflows
    if (value.to_bytes() != written) std::abort();
  }
  written = value.to_bytes();
  if (S::from_bytes(written).to_bytes() != written) std::abort();
}

/// The numbers as a statistic of that kind with its checksum, which no fuzzer guesses.
Bytes sealed(std::string_view kind, std::span<const std::byte> numbers) {
  fenchel::detail::ByteWriter writer(kind, 1);
  for (; numbers.size() >= 8; numbers = numbers.subspan(8)) {
    std::uint64_t number = 0;
    std::memcpy(&number, numbers.data(), 8);
    writer.put(number);
  }
  return std::move(writer).finish();
}

template <class S>
void check_both(std::string_view kind, std::span<const std::byte> bytes) {
  check<S>(bytes);
  check<S>(sealed(kind, bytes));
}

}  // namespace

/// The first byte says which statistic the rest is: as it stands, and as its numbers.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  switch (data[0] % 8) {
    case 0:
      check_both<fenchel::LineMoments>("FLIN", bytes);
      break;
    case 1:
      check_both<fenchel::Moments>("FMOM", bytes);
      break;
    case 2:
      check_both<fenchel::CountHistogram>("FCNT", bytes);
      break;
    case 3:
      check_both<fenchel::AbsoluteMoments>("FABS", bytes);
      break;
    case 4:
      check_both<fenchel::RadialMoments>("FRAD", bytes);
      break;
    case 5:
      check_both<TwoPhiMoments>("FMOM", bytes);
      break;
    default:
      check_both<TwoParameters>("FLOS", bytes);
  }
  return 0;
}
