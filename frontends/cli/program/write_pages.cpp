// Writes the manual page and the completion for bash, which are installed beside the command.
#include <CLI/App.hpp>
#include <cstdio>
#include <exception>
#include <string>

#include "cli/commands/command.hpp"
#include "cli/program/pages.hpp"
#include "cli/tables/output.hpp"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: fenchel_pages FOLDER\n", stderr);
    return 2;
  }
  using namespace fenchel::cli;
  try {
    const std::string folder = arguments[1];
    Session session;
    const Program program = make_program(session);
    write_file(folder + "/fenchel.1", manual_page(*program.app));
    write_file(folder + "/fenchel", bash_completion(*program.app));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fenchel_pages: %s\n", error.what());
    return 1;
  }
}
