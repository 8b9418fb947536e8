#pragma once

/// `Grid`: the pixels of an image.

#include <string_view>

#include "fenchel/core/error.hpp"

namespace fenchel {

/// A finite set with the counting measure whose atoms are the pixels of an image, one row after the other.
/// The neighbours of a pixel are those to the left and right, above and below.
class Grid {
 public:
  /// Throws std::domain_error unless both are positive.
  Grid(index_t height, index_t width) : height_(checked("height", height)), width_(checked("width", width)) {}

  [[nodiscard]] index_t height() const noexcept { return height_; }
  [[nodiscard]] index_t width() const noexcept { return width_; }
  [[nodiscard]] index_t size() const noexcept { return height_ * width_; }

 private:
  static index_t checked(std::string_view what, index_t length) {
    if (length < 1) throw_domain_error("grid", what, "must be positive", static_cast<double>(length));
    return length;
  }

  index_t height_, width_;
};

}  // namespace fenchel
