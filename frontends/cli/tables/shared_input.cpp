#include "cli/tables/shared_input.hpp"

#include <CLI/App.hpp>
#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {

SharedInput::SharedInput(const Session& session, const InputOptions& options)
    : name_(table_name(options.path)) {
  Processes& processes = *session.processes;
  if (is_stream(options.path) && processes.size() > 1)
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
          name,
          [name, &columns](const std::string& text) {
            columns.clear();
            for (std::size_t begin = 0; begin <= text.size();) {
              const std::size_t end = std::min(text.find(',', begin), text.size());
              if (end == begin) throw UsageError(name + ": a name is empty in '" + text + "'");
              columns.push_back(text.substr(begin, end - begin));
              begin = end + 1;
            }
          },
          help)
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
