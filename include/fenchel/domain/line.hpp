#pragma once

/// `Line`: all real numbers, with length as their measure.

namespace fenchel {

/// All real numbers, with length as their measure.
struct Line {
  friend bool operator==(Line, Line) = default;
};

}  // namespace fenchel
