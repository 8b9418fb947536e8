#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "report/recorded.hpp"
#include "report/recorded_parts.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

constexpr std::string_view kByKind = "accuracy: ";

Table printed() {
  return {
      "<b>Table 4 as it is printed</b>: accuracy in per cent on VQA-v2. We did not run it.",
      {"attention", "test-dev: yes/no", "number", "other", "overall", "test-standard: yes/no", "number",
       "other", "overall"},
      {{"discrete softmax", "83.40", "43.59", "55.91", "65.83", "83.47", "42.99", "56.33", "66.13"},
       {"2-d continuous softmax", "83.40", "44.80", "55.88", "65.96", "83.79", "44.33", "56.04", "66.27"},
       {"2-d continuous sparsemax", "83.10", "44.12", "55.95", "65.79", "83.38", "43.91", "56.14", "66.10"}}};
}

/// The kinds of questions about this data.
std::vector<std::string> kinds(const std::vector<RecordedRow>& rows) {
  std::vector<std::string> found;
  for (const auto& [name, value] : rows.front().values) {
    if (name.starts_with(kByKind)) found.push_back(name.substr(kByKind.size()));
  }
  return found;
}

std::string by_kind(const std::string& kind) { return std::string(kByKind) + kind; }

/// The place of the row with the largest mean of a value.
std::size_t largest(const std::vector<RecordedRow>& rows, const std::string& name) {
  const auto mean = [&](const RecordedRow& row) {
    const Measured* value = row.value(name);
    return value == nullptr ? -1 : value->mean;
  };
  return static_cast<std::size_t>(std::ranges::max_element(rows, {}, mean) - rows.begin());
}

Table accuracies(const Recorded& recorded, const std::string& data) {
  const std::vector<RecordedRow> rows = recorded.rows_of(data);
  Table result{
      fmt::format("<b>{}</b>: accuracy with its 95\u00a0% interval over {} seeds, and differences seed by "
                  "seed. {}",
                  shown(data), rows.front().seeds, stamp(recorded)),
      {"attention", "kind", "accuracy", "minus discrete softmax", "minus other rows"},
      {}};
  for (const RecordedRow& row : rows) {
    const DifferenceCells differences = difference_cells(recorded, row);
    result.rows.push_back({shown(row.label), row.group, with_interval(*row.value("accuracy")),
                           differences.baseline, differences.others});
  }
  return result;
}

Table accuracies_by_kind(const Recorded& recorded, const std::string& data) {
  const std::vector<RecordedRow> rows = recorded.rows_of(data);
  Table result{fmt::format("<b>{}, by kind of question</b>: mean accuracy, the largest in bold. {}",
                           shown(data), stamp(recorded)),
               {"attention"},
               {}};
  for (const RecordedRow& row : rows) result.rows.push_back({shown(row.label)});
  for (const std::string& kind : kinds(rows)) {
    result.header.push_back(shown(kind));
    const std::size_t best = largest(rows, by_kind(kind));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Measured* value = rows[i].value(by_kind(kind));
      const std::string mean = value == nullptr ? "" : fmt::format("{:.4f}", value->mean);
      result.rows[i].push_back(i == best ? "<b>" + mean + "</b>" : mean);
    }
  }
  return result;
}

/// Those that attend somewhere.
std::vector<RecordedRow> attending(const Recorded& recorded, const std::string& data) {
  std::vector<RecordedRow> found;
  std::ranges::copy_if(recorded.rows_of(data), std::back_inserter(found),
                       [](const RecordedRow& row) { return row.value("inside") != nullptr; });
  return found;
}

Table regions(const Recorded& recorded, const std::string& data) {
  Table result{
      fmt::format(
          "<b>{}, where the models look</b>: attended mass inside of the objects that a question is about, "
          "and intersection over union of these with the region looked at, which is the support or, where "
          "that is the whole image, the fewest pixels with 95\u00a0% of the mass; the area of this region as "
          "a part of the image. With 95\u00a0% intervals over seeds. {}",
          shown(data), stamp(recorded)),
      {"attention", "mass inside", "intersection over union", "area"},
      {}};
  for (const RecordedRow& row : attending(recorded, data)) {
    std::vector<std::string> cells{shown(row.label)};
    for (const char* name : {"inside", "iou", "area"}) {
      const Measured* value = row.value(name);
      cells.push_back(value == nullptr ? "" : with_interval(*value));
    }
    result.rows.push_back(cells);
  }
  return result;
}

std::vector<RecordedDifference> continuous_minus_softmax(const Recorded& recorded, const std::string& data) {
  std::vector<RecordedRow> rows;
  std::ranges::copy_if(recorded.rows_of(data), std::back_inserter(rows),
                       [](const RecordedRow& row) { return row.name.starts_with("continuous_"); });
  return differences_of(recorded, rows, [](const RecordedRow& row) { return row.name == kBaseline; });
}

/// What to know before the rows are compared: nothing where softmax answers questions about one object.
std::string warning(const Recorded& recorded, const std::string& data) {
  constexpr double kLearned = 0.95;
  for (const RecordedRow& row : recorded.rows_of(data)) {
    const Measured* value = row.value("accuracy: one object");
    if (row.name == kBaseline && value != nullptr && value->mean < kLearned)
      return fmt::format(
          " Not all models have learned to pick the object that a question names: with softmax they answer "
          "{:.3f} of the questions about one object. So a difference also tells in how many seeds they have.",
          value->mean);
  }
  return "";
}

/// What the rows say of one kind of data.
std::string finding(const Recorded& recorded, const std::string& data) {
  const std::vector<RecordedRow> looking = attending(recorded, data);
  const auto best = [&](const std::string& name) {
    const RecordedRow& row = looking[largest(looking, name)];
    return fmt::format("{} ({:.4f})", shown(row.label), row.value(name)->mean);
  };
  return fmt::format(
      "<b>{}</b>. Models with continuous attention are, against discrete softmax, {}. Most mass inside of "
      "what a question is about: {}. Largest intersection over union: {}.{}",
      shown(data), verdict(continuous_minus_softmax(recorded, data)), best("inside"), best("iou"),
      warning(recorded, data));
}

}  // namespace

Section visual() {
  const Recorded recorded = read_recorded("vqa.json");
  Section section{"visual-questions",
                  "Attention over images",
                  "Section 9.1, Table 4, Figures 11, 15, 16 and 17, Appendix H.2",
                  {},
                  {},
                  {},
                  {},
                  true};
  section.says = {
      "Questions about the photographs of VQA-v2 are answered by a co-attention network of 6 layers. "
      "Discrete attention looks at a grid of 14 \u00d7 14 features from a ResNet; continuous attention puts "
      "a Gaussian ($\\alpha = 1$) or a truncated paraboloid ($\\alpha = 2$) with the same mean and "
      "covariance on the unit square. On test-dev, discrete softmax has 65.83 %, continuous softmax 65.96 % "
      "and continuous sparsemax 65.79 %: &ldquo;similar accuracies for all attention models, with a slight "
      "advantage for continuous softmax&rdquo;.",
      "Pictures show continuous attention on one region, where discrete attention is scattered. The paper "
      "warns that it may fail where objects are far from each other, as in counting."};
  section.computed = {
      "<b>VQA-v2 and its features are not to be had here</b>, so that no number of Table 4 can be made "
      "again, and none below may be compared with it. The question is asked of two data sets that anybody "
      "can have: easy-VQA, images of one shape with its official split, and Sort-of-CLEVR, six objects to an "
      "image, generated by our own code from its published description. Here one knows where the objects are "
      "that a question is about, so that what the paper shows by pictures can be measured.",
      "The model has the paper\u2019s shape, self-attention and guided attention, at a size that fits; the "
      "last pooling over the grid of the image is what differs between rows. The numbers of this section "
      "are " +
          stamp(recorded) +
          " A comparison is decided where its whole 95\u00a0% interval lies on one side of 0."};
  section.parts.emplace_back(printed());
  Figure figure{
      "visual_differences",
      "Accuracy minus that of discrete softmax attention with the same seed, with the 95\u00a0% interval "
      "over seeds. Floors are left out. The numbers are " +
          stamp(recorded),
      {}};
  for (const std::string& data : recorded.data()) {
    section.computed.push_back(finding(recorded, data));
    section.parts.emplace_back(accuracies(recorded, data));
    section.parts.emplace_back(accuracies_by_kind(recorded, data));
    section.parts.emplace_back(regions(recorded, data));
    figure.charts.push_back(differences_chart(recorded, data));
  }
  section.parts.emplace_back(figure);
  for (const Picture& picture : pictures(recorded)) section.parts.emplace_back(picture);
  return section;
}

}  // namespace fenchel::report
