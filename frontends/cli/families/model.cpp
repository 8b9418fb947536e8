#include "cli/families/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/program/session.hpp"
#include "cli/tables/shared_input.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

void read(const ModelPart& part, const std::string& key, std::optional<double>& value) {
  const std::vector<double> numbers = part.numbers(key);
  if (numbers.size() != 1) part.fail(key, "one number");
  value = numbers[0];
}
void read(const ModelPart& part, const std::string& key, std::string& value) { value = part.text(key); }
void read(const ModelPart& part, const std::string& key, std::vector<double>& value) {
  value = part.numbers(key);
}

FamilyOptions read_parameters(const std::string& family, const ModelPart& parameters) {
  FamilyOptions options{.family = family};
  std::vector<std::string> names;
  for_each_parameter([&](const std::string& name, std::string_view, auto member) {
    if (!parameters.has(name)) return;
    names.push_back(name);
    read(parameters, name, options.*member);
  });
  for (const std::string& key : parameters.keys()) {
    if (std::find(names.begin(), names.end(), key) == names.end())
      parameters.fail(key, "left out: no family has such a parameter");
  }
  return options;
}

/// Whether the family's name says what the parameter is.
bool is_fixed(std::string_view parameter, const std::string& family) {
  return parameter == "alpha" && std::ranges::any_of(families(), [&](const Family& one) {
           return one.defaults.family == family && fixes_alpha(one);
         });
}

/// The options of the command line that a message speaks of are the keys of a file.
std::string without_dashes(std::string message) {
  for (std::size_t at = 0; (at = message.find("--", at)) != std::string::npos;) message.erase(at, 2);
  return message;
}

/// What alpha = infinity stands for in a fit: the uniform distribution on the support, whose length is not
/// that of a prediction.
FamilyOptions uniform_of(const ModelPart& model) {
  const std::vector<double> ends = model.numbers("support");
  if (ends.size() != 2) model.fail("support", "two ends");
  return {.family = "uniform", .lower = ends[0], .upper = ends[1]};
}

FamilyOptions read_options(const ModelPart& model, const ModelPart& parameters) {
  const FamilyOptions options = read_parameters(model.text("family"), parameters);
  if (options.alpha != kInfinity) return options;
  if (!options.Sigma.empty()) parameters.fail("alpha", "finite for points");
  return options.family == "beta-gaussian" ? uniform_of(model) : options;
}

}  // namespace

FamilyOptions family_of(const ModelPart& model) {
  const ModelPart parameters = model.part("parameters");
  const FamilyOptions given = read_options(model, parameters);
  try {
    const FamilyOptions whole = complete(given);
    for_each_parameter([&](const std::string& name, std::string_view, auto member) {
      if (is_given(whole.*member) && !is_given(given.*member) && !is_fixed(name, whole.family))
        parameters.fail(name, "");
    });
    static_cast<void>(make_distribution(whole));
    return whole;
  } catch (const UsageError& error) {
    throw DataError(fmt::format("{}: {}", model.file(), without_dashes(error.what())));
  } catch (const std::logic_error& error) {
    throw DataError(fmt::format("{}: {}", model.file(), plain_message(error.what())));
  }
}

FamilyOptions read_family(const FamilyOptions& given) {
  if (given.family.find_first_of("./") == std::string::npos) return complete(given);
  for_each_parameter([&](std::string_view name, std::string_view, auto member) {
    if (is_given(given.*member))
      throw UsageError(fmt::format("--{}: the model {} has its own parameters", name, given.family));
  });
  return family_of(open_model(given.family, kDistributionModel));
}

}  // namespace fenchel::cli
