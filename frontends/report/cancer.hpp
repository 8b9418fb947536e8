#pragma once

#include <string_view>

namespace fenchel::report {

/// data/cancer.csv, so that a report needs no file.
extern const std::string_view kCancer;

}  // namespace fenchel::report
