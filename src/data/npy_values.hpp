#pragma once

#include <string_view>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// How the values of one type of NumPy become doubles.
struct NpyType {
  /// Reads `count` values that begin `step` bytes apart into `to`, which are `to_step` apart. Returns the
  /// index of the first that is not `constraint`, or count.
  using Read = index_t (*)(const char* from, index_t step, index_t count, double* to, index_t to_step);

  index_t size = 0;  ///< of a value, in bytes; 0: not known
  Read read = nullptr;
  std::string_view constraint = {};  ///< "must be finite"
};

/// For "<f8", ">f4", "|u1", "|b1", ...: doubles, floats, integers and booleans of either byte order. With
/// `masks` -infinity may stand among doubles and floats.
[[nodiscard]] NpyType npy_type(std::string_view type, bool masks);

/// The index of the first of `count` doubles that is not finite, nor a mask where these may be, or count.
[[nodiscard]] index_t first_not_finite(const double* values, index_t count, bool masks) noexcept;

}  // namespace fenchel::detail
