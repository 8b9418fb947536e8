#pragma once

/// `ProbabilityCells`: the probabilities of data under a distribution, and their distances from uniform ones.

#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/double_double.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/estimate/statistics/processes.hpp"

namespace fenchel {

/// The weight of each value u = F(t) of data t, which is uniform where F is the distribution of t. Up to
/// kMostCells different values are kept as they are. Of more, the smaller of u and 1 - u is rounded to the
/// most leading bits with which there are no more cells: 10 bits or more, 5 MB at most. What is kept does not
/// depend on how the data was split.
class FENCHEL_EXPORT ProbabilityCells {
 public:
  static constexpr index_t kMostCells = index_t{1} << 17;

  /// u = P(X <= t), s = P(X > t) and a weight for each of some values. The smaller of u and s counts.
  void add(std::span<const double> u, std::span<const double> s, std::span<const double> weights);
  void merge(const ProbabilityCells& other);

  [[nodiscard]] index_t size() const noexcept { return static_cast<index_t>(cells_.size()); }
  /// sup |F_n - F|, F_n the share of the weight up to t: Kolmogorov and Smirnov's distance. NaN without data.
  /// It errs by the width of a cell at most: 0 up to kMostCells values, then some 1e-4.
  [[nodiscard]] double kolmogorov_smirnov() const;
  /// W int (F_n - F)^2 / (F (1 - F)) dF, W the weight of all: Anderson and Darling's A^2. NaN without data,
  /// infinite where a value lies outside of the support.
  [[nodiscard]] double anderson_darling() const;

  /// Of FitScores: three numbers for each cell, after how many bits are dropped and how many cells there are.
  template <class Writer>
  void write(Writer& writer) const {
    writer.put(static_cast<index_t>(dropped_));
    writer.put(size());
    for (const Cell& cell : cells_) {
      writer.put(cell.tail);
      writer.put(cell.weight);
    }
  }
  /// What a ByteReader has, which refuses other content.
  template <class Reader>
  void read(Reader& reader) {
    const index_t dropped = reader.index(), count = reader.index();
    reader.require(dropped >= 0 && dropped <= kMostDropped && count >= 0 && count <= kMostCells &&
                       static_cast<index_t>(reader.left()) >= 3 * count,
                   "must hold as many cells as they say");
    dropped_ = static_cast<int>(dropped);
    cells_.clear();
    for (index_t k = 0; k < count; ++k) {
      const double tail = reader.real();
      const Cell cell{tail, reader.double_double()};
      reader.require(tail >= -0.5 && tail <= 0.5 && cell.weight.high > 0, "must hold probabilities");
      reader.require(cells_.empty() || before(cells_.back(), cell), "must hold ascending cells");
      cells_.push_back(cell);
    }
  }

 private:
  static constexpr int kMostDropped = 42;
  /// u where it is at most 1/2, else -(1 - u): -0 stands for u = 1.
  struct Cell {
    double tail;
    DoubleDouble weight;
  };
  [[nodiscard]] static bool before(const Cell& a, const Cell& b) noexcept;
  /// Merges the first ones with the others, both sorted by u, and adds up what is equal, after dropping bits
  /// until there are few enough.
  void settle(index_t sorted);

  int dropped_ = 0;
  std::vector<Cell> cells_;  ///< ascending in u
};

}  // namespace fenchel
