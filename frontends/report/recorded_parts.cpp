#include "report/recorded_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>

#include "plot/svg.hpp"
#include "report/recorded_files.hpp"

namespace fenchel::report {
namespace {

struct Letter {
  std::string_view word, text;
};
constexpr std::array kLetters = {Letter{"alpha", "\u03b1"}, Letter{"sigma2", "\u03c3\u00b2"}};

std::string greek(std::string text) {
  for (const Letter& letter : kLetters) {
    for (std::size_t at = text.find(letter.word); at != std::string::npos; at = text.find(letter.word, at))
      text.replace(at, letter.word.size(), letter.text);
  }
  return text;
}

std::string in_brackets(const std::optional<plot::Range>& interval) {
  return interval ? fmt::format(" [{:.4f},\u00a0{:.4f}]", interval->low, interval->high) : "";
}

struct Counts {
  std::size_t above = 0, below = 0, around = 0;
  [[nodiscard]] std::size_t total() const { return above + below + around; }
};

Counts count(const std::vector<RecordedDifference>& differences,
             std::optional<plot::Range> RecordedDifference::*interval) {
  Counts counts;
  for (const RecordedDifference& each : differences) {
    const std::optional<plot::Range>& ends = each.*interval;
    if (!ends) continue;
    ++(ends->low > 0 ? counts.above : ends->high < 0 ? counts.below : counts.around);
  }
  return counts;
}

struct Group {
  const char *name, *title;
  std::size_t colour;
};
constexpr std::array kGroups = {Group{"paper", "models of the paper", 0}, Group{"control", "controls", 1},
                                Group{"ablation", "ablations", 2}};

}  // namespace

std::string stamp(const Recorded& recorded) {
  const Origin& origin = recorded.origin;
  return plot::escape(fmt::format("on {} on {} at commit {} by ", fmt::join(origin.days, " and "),
                                  fmt::join(origin.machines, " and "), fmt::join(origin.commits, " and ")))
      .insert(0, "<span class=\"recorded\">recorded</span> ")
      .append(fmt::format("<code>python -m experiments.{}</code>, not computed by this program.",
                          recorded.experiment));
}

std::string shown(const std::string& text) { return greek(plot::escape(text)); }

std::string with_interval(const Measured& value) {
  return fmt::format("{:.4f}{}", value.mean, in_brackets(value.interval));
}

std::string with_interval(const RecordedDifference& difference) {
  return fmt::format("{:+.4f}{}", difference.difference, in_brackets(difference.interval));
}

DifferenceCells difference_cells(const Recorded& recorded, const RecordedRow& row) {
  DifferenceCells cells;
  for (const RecordedDifference& each : recorded.differences_of(row, "accuracy")) {
    if (each.against == kBaseline) {
      cells.baseline = with_interval(each);
    } else {
      cells.others += fmt::format("{}{}: {}", cells.others.empty() ? "" : "<br>",
                                  shown(recorded.row(row.data, each.against).label), with_interval(each));
    }
  }
  return cells;
}

std::string verdict(const std::vector<RecordedDifference>& differences) {
  const Counts pairs = count(differences, &RecordedDifference::interval),
               units = count(differences, &RecordedDifference::over_units);
  std::string text = fmt::format("better in {} of {} comparisons, worse in {} and undecided in {}",
                                 pairs.above, differences.size(), pairs.below, pairs.around);
  if (units.total() > 0)
    text += fmt::format(" (over folds alone, better in {} and worse in {})", units.above, units.below);
  return text;
}

Table verdicts(const std::string& caption, const std::vector<Comparison>& comparisons) {
  Table result{caption, {"data", "difference", "how many", "above 0", "below", "around"}, {}};
  const bool folds = std::ranges::any_of(comparisons, [](const Comparison& each) {
    return count(each.differences, &RecordedDifference::over_units).total() > 0;
  });
  if (folds) result.header.insert(result.header.end(), {"over folds: above 0", "below", "around"});
  for (const Comparison& each : comparisons) {
    std::vector<std::string> row{each.data, each.what, std::to_string(each.differences.size())};
    std::vector counts{count(each.differences, &RecordedDifference::interval)};
    if (folds) counts.push_back(count(each.differences, &RecordedDifference::over_units));
    for (const Counts& of : counts) {
      for (const std::size_t number : {of.above, of.below, of.around}) row.push_back(std::to_string(number));
    }
    result.rows.push_back(row);
  }
  return result;
}

plot::Chart differences_chart(const Recorded& recorded, const std::string& data) {
  struct Entry {
    std::string name, group;
    RecordedDifference difference;
  };
  std::vector<Entry> entries;
  for (const RecordedRow& row : recorded.rows_of(data)) {
    for (const RecordedDifference& each : recorded.differences_of(row, "accuracy")) {
      if (each.against == kBaseline && row.group != "floor")
        entries.push_back({greek(row.label), row.group, each});
    }
  }
  std::ranges::reverse(entries);  // the first is drawn on top
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  plot::Chart chart(data, {"accuracy minus that of discrete softmax"}, {"", {}, names});
  chart.size(440, 120 + 20 * static_cast<double>(entries.size()));
  chart.vertical("", 0, {.colour = plot::kMuted, .width = 1.5, .dashed = true});
  for (const Group& group : kGroups) {
    std::vector<plot::Path> pairs, units;
    plot::Path means;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const RecordedDifference& each = entries[i].difference;
      if (entries[i].group != group.name) continue;
      const auto y = static_cast<double>(i + 1);
      means.push_back({each.difference, y});
      if (each.interval) pairs.push_back({{each.interval->low, y}, {each.interval->high, y}});
      if (each.over_units) units.push_back({{each.over_units->low, y}, {each.over_units->high, y}});
    }
    if (means.empty()) continue;
    chart.lines("", units, {.colour = group.colour, .width = 1});
    chart.lines("", pairs, {.colour = group.colour, .width = 3.5});
    chart.markers(group.title, means, plot::Marker::dot, {.colour = group.colour, .width = 8});
  }
  return chart;
}

std::vector<Picture> pictures(const Recorded& recorded) {
  std::vector<Picture> found;
  for (const RecordedFigure& figure : recorded.figures) {
    found.push_back({std::filesystem::path(figure.file).stem().string(),
                     shown(figure.caption) + " " + stamp(recorded), figure.caption,
                     recorded_file("figures/" + figure.file)});
  }
  return found;
}

}  // namespace fenchel::report
