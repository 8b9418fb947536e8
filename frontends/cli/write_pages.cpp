// Writes the manual page and the completion for bash, which are installed beside the command.
#include <CLI/App.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/pages.hpp"

namespace {

using namespace fenchel::cli;

void write(const std::filesystem::path& path, const std::string& content) {
  Output file(path.string());
  file.write(content);
  file.finish();
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: fenchel_pages FOLDER\n", stderr);
    return 2;
  }
  try {
    Session session;
    const Program program = make_program(session);
    write(std::filesystem::path(arguments[1]) / "fenchel.1", manual_page(*program.app));
    write(std::filesystem::path(arguments[1]) / "fenchel", bash_completion(*program.app));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fenchel_pages: %s\n", error.what());
    return 1;
  }
}
