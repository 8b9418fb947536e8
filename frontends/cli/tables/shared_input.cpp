#include "cli/tables/shared_input.hpp"

#include <CLI/App.hpp>
#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

/// A name may stand in quotes, as in CSV, and hold commas then.
std::vector<std::string> column_names(const std::string& option, const std::string& text) {
  std::vector<std::string> names(1);
  const auto check = [&] {
    if (names.back().empty()) throw UsageError(option + ": a name is empty in '" + text + "'");
  };
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == ',') {
      check();
      names.emplace_back();
    } else if (text[k] == '"' && names.back().empty()) {
      for (++k; k < text.size() && (text[k] != '"' || text.substr(k + 1, 1) == "\""); ++k) {
        names.back() += text[k];
        k += text[k] == '"';
      }
      if (k == text.size() || (k + 1 < text.size() && text[k + 1] != ','))
        throw UsageError(option + ": expected a comma behind each name in quotes, got '" + text + "'");
    } else {
      names.back() += text[k];
    }
  }
  check();
  return names;
}

}  // namespace

SharedInput::SharedInput(const Session& session, const InputOptions& options) : name_(table_name(options)) {
  Processes& processes = *session.processes;
  if (processes.size() > 1 && std::ranges::any_of(options.paths, is_stream))
    throw UsageError("FILE: " + name_ + " belongs to one process; give mpirun a file that all can read");
  together(processes, [&] {
    try {
      input_ = std::make_unique<Input>(session, options);
    } catch (const UsageError& error) {
      throw std::invalid_argument(error.what());  // which travels, and is a usage error too
    }
    if (input_->source().batches() == 0) throw DataError(name_ + ": has no rows");
  });
  part_ = std::make_unique<PartSource>(input_->source(), processes.rank(), processes.size());
}

CLI::Option* add_columns(CLI::App& app, const std::string& name, std::vector<std::string>& columns,
                         const std::string& help) {
  return app
      .add_option_function<std::string>(
          name, [name, &columns](const std::string& text) { columns = column_names(name, text); }, help)
      ->option_text("COL,...");
}

std::string plain_message(std::string message) {
  const std::size_t begin = message.find("fenchel::");
  if (begin != std::string::npos) message.erase(begin, message.find(": ", begin) + 2 - begin);
  return message;
}

void blame(const std::string& table, const std::function<void()>& work) {
  try {
    work();
  } catch (const std::domain_error& error) {
    throw DataError(table + ": " + plain_message(error.what()));
  } catch (const ConvergenceError& error) {
    throw DataError(table + ": " + plain_message(error.what()));
  }
}

}  // namespace fenchel::cli
