#include "fenchel/estimate/statistics/group_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "estimate/statistics/byte_format.hpp"
#include "estimate/statistics/chunks.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel::detail {
namespace {

constexpr std::string_view kWhere = "group_statistics", kKind = "FGRP";
constexpr std::uint32_t kVersion = 1;

}  // namespace

std::map<double, RowsOfGroup> group_rows(Rows<const double> rows, PerRow weights) {
  check_entries(kWhere, rows, 2, weights);
  std::map<double, RowsOfGroup> groups;
  for (index_t i = 0; i < rows.rows; ++i) {
    if (!(weights[i] > 0)) continue;
    RowsOfGroup& mine = groups[rows.row(i)[1] + 0.0];  // -0 is 0
    mine.places.push_back(i);
    mine.values.push_back(rows.row(i)[0]);
    mine.weights.push_back(weights[i]);
  }
  return groups;
}

std::vector<double> group_weights(Rows<const double> rows, PerRow weights, const RowsOfGroup& group) {
  std::vector<double> of_group(static_cast<std::size_t>(rows.rows));
  for (const index_t i : group.places) of_group[static_cast<std::size_t>(i)] = weights[i];
  return of_group;
}

void check_groups(std::size_t groups) {
  if (groups > kMostGroups)
    throw_domain_error(kWhere, "groups", "must number at most 65536 (is the column one of groups?)",
                       static_cast<double>(groups));
}

Bytes group_bytes(const std::map<double, Bytes>& groups) {
  ByteWriter writer(kKind, kVersion);
  for (const auto& [group, bytes] : groups) {
    writer.put(group);
    writer.put(static_cast<index_t>(bytes.size()));
    for (std::size_t k = 0; k < bytes.size(); k += 8) {
      std::uint64_t word = 0;
      for (std::size_t j = k; j < std::min(k + 8, bytes.size()); ++j)
        word |= std::to_integer<std::uint64_t>(bytes[j]) << (8 * (j - k));
      writer.put(word);
    }
  }
  return std::move(writer).finish();
}

std::map<double, Bytes> read_groups(std::span<const std::byte> bytes) {
  ByteReader reader(kWhere, kKind, kVersion, bytes);
  std::map<double, Bytes> groups;
  while (reader.left() > 0) {
    reader.require(reader.left() >= 2, "must hold whole groups");
    const double group = reader.real();
    const index_t size = reader.index();
    reader.require(std::isfinite(group) && size >= 0 && static_cast<std::size_t>(size) <= 8 * reader.left(),
                   "must hold whole groups");
    Bytes of_group;
    while (static_cast<index_t>(of_group.size()) < size) {
      const std::uint64_t word = reader.number();
      for (int j = 0; j < 8 && static_cast<index_t>(of_group.size()) < size; ++j)
        of_group.push_back(static_cast<std::byte>(word >> (8 * j)));
    }
    reader.require(groups.emplace(group, std::move(of_group)).second, "must hold each group once");
  }
  return groups;
}

}  // namespace fenchel::detail
