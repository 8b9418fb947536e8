#include "report/report.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/output.hpp"

namespace fenchel::cli {
namespace {

/// A folder that is made, with those above it, and goes with them unless something came to lie there.
class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {
    for (auto above = path_; !above.empty() && !std::filesystem::exists(above, error_);
         above = above.parent_path())
      made_.push_back(above);
    std::filesystem::create_directories(path_, error_);
    if (error_)
      throw std::runtime_error(
          fmt::format("cannot make the folder {}: {}", path_.string(), error_.message()));
  }
  ~Folder() {
    for (const auto& path : made_) std::filesystem::remove(path, error_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // the innermost first
  std::error_code error_;
};

void run_report(const Session& session, const std::filesystem::path& folder) {
  const std::string index = (folder / "index.html").string();
  {  // What cannot be written is known now, and nothing is left by who ends the program while it computes.
    const Folder possible(folder / "figures");
    const Output writable(index);
  }
  report::Report page;
  {
    ProgressMeter meter(session, "fenchel report");
    page = report::make_report([&](std::size_t done, std::size_t total, const std::string& title) {
      meter.update(static_cast<double>(done), static_cast<double>(total), title);
    });
  }
  const Folder figures(folder / "figures");
  for (const report::FigureFile& figure : page.figures)
    write_file((folder / "figures" / figure.name).string(), figure.content);
  write_file(index, page.html);
  if (!session.quiet) write_file("-", index + "\n");
}

}  // namespace

Command add_report(CLI::App& program, Session& session) {
  CLI::App* app = program.add_subcommand(
      "report",
      "Computes the tables and figures of the paper, and shows the recorded ones, in one HTML page.");
  const auto folder = std::make_shared<std::string>("report");
  app->add_option("-o,--output", *folder, "Folder for index.html and figures/ (report unless given)")
      ->option_text("DIR");
  app->add_flag("-q,--quiet", session.quiet, "No progress, no notes");
  add_threads_option(*app, session);
  app->footer("Examples:\n  fenchel report\n  fenchel report -o paper");
  return {app, [&session, folder] { run_report(session, *folder); }};
}

}  // namespace fenchel::cli
