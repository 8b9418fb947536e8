#pragma once

#include <string>
#include <string_view>

#include "data/byte_source.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// How every file begins.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// What the header of a .npy file says (versions 1 to 3 of the format).
struct NpyHeader {
  std::string type;  ///< "<f8"
  bool fortran_order = false;
  index_t rows = 0, columns = 1;
  index_t begin = 0;  ///< of the values, in the file
};

/// Throws DataError unless the file begins with a header of an array of numbers of one or two dimensions.
/// How large the array is, is still to be held against the file.
[[nodiscard]] NpyHeader read_npy_header(const ByteSource& file);

}  // namespace fenchel::detail
