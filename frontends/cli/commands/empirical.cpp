#include "cli/commands/empirical.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/tables/format.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

constexpr double kMostBars = 100;

/// In ascending order; of equal values the first has all of the weight, and the others go.
Empirical sorted(std::vector<Empirical::Value> values) {
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) { return a.t < b.t; });
  Empirical result;
  for (const Empirical::Value& value : values) {
    if (result.values.empty() || result.values.back().t < value.t) {
      result.values.push_back({value.t, 0, result.weight});
    }
    result.values.back().weight += value.weight;
    result.weight += value.weight;
  }
  return result;
}

}  // namespace

double Empirical::quantile(double share) const {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const Value& value) { return up_to(value) >= share; });
  return found == values.end() ? values.back().t : found->t;
}

Empirical read_empirical(const Data& data, const std::string& name) {
  std::vector<Empirical::Value> values;
  Batch batch;
  for (index_t i = 0; i < data.source.batches(); ++i) {
    data.source.read(i, batch);
    for (index_t k = 0; k < batch.rows.rows; ++k) {
      const double t = batch.rows[k][0], weight = batch.row_weights()[k];
      if (!std::isfinite(t))
        throw DataError(data.source.place(i, k, 0) + ": must be finite, got " + shortest_text(t));
      if (!(weight >= 0 && std::isfinite(weight)))
        throw DataError(data.source.place(i, k, kWeightColumn) +
                        ": the weight must be finite and not negative, got " + shortest_text(weight));
      if (weight > 0) values.push_back({t, weight, 0});
    }
    if (data.progress && !data.progress({i + 1, data.source.batches()})) throw Cancelled("cancelled");
  }
  if (values.empty()) throw DataError(name + ": has no rows");
  return sorted(std::move(values));
}

Histogram histogram(const Empirical& data, plot::Range range) {
  const double low = std::max(range.low, data.values.front().t),
               high = std::min(range.high, data.values.back().t), length = high - low;
  const double ideal = 2 * (data.quantile(0.75) - data.quantile(0.25)) / std::cbrt(data.weight);
  const double count = ideal > 0 && length > 0 ? std::min(std::ceil(length / ideal), kMostBars) : 1;
  const double width = length > 0 ? length / count : 0.1 * (range.high - range.low);
  Histogram result{{}, width};
  for (double k = 0; k < count; ++k) result.bars.push_back({length > 0 ? low + (k + 0.5) * width : low, 0});
  for (const Empirical::Value& value : data.values) {
    if (value.t < low || value.t > high) continue;
    const double k = length > 0 ? std::min(std::floor((value.t - low) / width), count - 1) : 0;
    result.bars[static_cast<std::size_t>(k)].y += value.weight / (data.weight * width);
  }
  return result;
}

std::vector<Empirical::Value> thinned(const Empirical& data) {
  constexpr std::size_t kEnds = 100, kMiddle = 400;
  const std::size_t size = data.values.size(), step = std::max<std::size_t>(size / kMiddle, 1);
  std::vector<Empirical::Value> some;
  for (std::size_t k = 0; k < size; ++k) {
    if (k < kEnds || k + kEnds >= size || k % step == 0) some.push_back(data.values[k]);
  }
  return some;
}

}  // namespace fenchel::cli
