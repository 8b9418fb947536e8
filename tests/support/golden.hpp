#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace fenchel::testing {

/// Blocks of "key number number ..." lines, separated by empty lines; # starts a comment.
using GoldenBlock = std::map<std::string, std::vector<double>>;

inline std::vector<double> numbers(std::istream& in) {
  std::vector<double> values;
  for (std::string word; in >> word;)
    values.push_back(std::strtod(word.c_str(), nullptr));  // tiny ones become 0
  return values;
}

inline std::ifstream open_golden(const std::string& name) {
  std::ifstream in(FENCHEL_GOLDEN_DIR "/" + name);
  if (!in) throw std::runtime_error("no golden table " + name);
  return in;
}

inline std::vector<GoldenBlock> golden_blocks(const std::string& name) {
  std::ifstream in = open_golden(name);
  std::vector<GoldenBlock> blocks;
  GoldenBlock block;
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) {
      if (!block.empty()) blocks.push_back(std::move(block));
      block.clear();
    } else if (line[0] != '#') {
      std::istringstream words(line);
      std::string key;
      words >> key;
      block[key] = numbers(words);
    }
  }
  if (!block.empty()) blocks.push_back(std::move(block));
  return blocks;
}

inline std::vector<std::vector<double>> golden_rows(const std::string& name) {
  std::ifstream in = open_golden(name);
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    rows.push_back(numbers(words));
  }
  return rows;
}

}  // namespace fenchel::testing
