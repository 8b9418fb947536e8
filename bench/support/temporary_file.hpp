#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace fenchel::bench {

/// A path that is removed in the end, whatever happens.
struct TemporaryFile {
  std::string path;
  explicit TemporaryFile(const std::string& suffix)
      : path((std::filesystem::temp_directory_path() / ("fenchel_bench_" + std::to_string(getpid()) + suffix))
                 .string()) {}
  ~TemporaryFile() { std::remove(path.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
};

}  // namespace fenchel::bench
