#include "estimate/statistics/collective.hpp"

#include <algorithm>
#include <exception>
#include <vector>

namespace fenchel::detail {
namespace {

/// An ObjectiveSum that knows what to add for rows.
class BatchSums {
 public:
  using Add = FunctionRef<void(Rows<const double>, PerRow, ObjectiveSum&)>;

  BatchSums(index_t size, Add add) : add_(add), sum_(size) {}

  void update(Rows<const double> rows, PerRow weights) { add_(rows, weights, sum_); }
  void merge(const BatchSums& other) { sum_.merge(other.sum_); }
  [[nodiscard]] Bytes to_bytes() const { return sum_.to_bytes(); }
  void merge_bytes(std::span<const std::byte> bytes) { sum_.merge_bytes(bytes); }
  [[nodiscard]] const ObjectiveSum& sum() const noexcept { return sum_; }

 private:
  Add add_;
  ObjectiveSum sum_;
};

}  // namespace

ObjectiveSum collect_sums(const Data& data, index_t size,
                          FunctionRef<void(Rows<const double>, PerRow, ObjectiveSum&)> add) {
  if (data.processes.size() > 1) return collect(data, BatchSums(size, add)).sum();
  ObjectiveSum total(size);  // alone nothing travels as bytes, which would take longer than some passes
  std::vector<ObjectiveSum> round;
  for_each_batch(
      data, [&](index_t slots) { round.assign(static_cast<std::size_t>(slots), ObjectiveSum(size)); },
      [&](index_t slot, const Batch& batch) {
        add(batch.rows, batch.row_weights(), round[static_cast<std::size_t>(slot)]);
      },
      [&](index_t slot) { total.merge(round[static_cast<std::size_t>(slot)]); });
  return total;
}

Minimum minimize_together(Processes& processes,
                          FunctionRef<double(const Eigen::VectorXd&, Eigen::VectorXd&)> f,
                          const Eigen::VectorXd& start, const MinimizeOptions& options) {
  if (processes.size() == 1) return minimize(f, start, options);
  MinimizeOptions shared = options;
  shared.callback = [&](const MinimizeStep& step) {
    Processes::Share mine;
    try {
      if (!options.callback || options.callback(step)) mine.bytes.push_back(std::byte{1});
    } catch (...) {
      mine.error = std::current_exception();
    }
    const Bytes all = processes.exchange(mine, [](std::span<const Bytes> shares) {
      return std::ranges::all_of(shares, [](const Bytes& share) { return !share.empty(); }) ? shares[0]
                                                                                            : Bytes{};
    });
    return !all.empty();
  };
  return minimize(f, start, shared);
}

}  // namespace fenchel::detail
