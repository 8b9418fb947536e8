#include <fmt/format.h>

#include <CLI/App.hpp>
#include <string>
#include <string_view>

#include "cli/program/pages.hpp"
#include "fenchel/core/version.hpp"

namespace fenchel::cli {
namespace {

/// Text as roff takes it: no backslash, hyphen or leading dot of its own means anything.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void write_options(const CLI::App& app, std::string& page) {
  for (const CLI::Option* option : app.get_options()) {
    if (option == app.get_help_ptr()) continue;
    const std::string name =
        option->get_positional() ? option->get_name(true) : option->get_name(false, true);
    const bool takes_value = !option->get_positional() && option->get_items_expected_max() > 0;
    const std::string& text = option->get_option_text();
    page += fmt::format(".TP\n\\fB{}\\fR", roff(name));
    if (takes_value && !text.empty()) page += fmt::format(" \\fI{}\\fR", roff(text));
    page += fmt::format("\n{}\n", roff(option->get_description()));
  }
}

void write_command(const CLI::App& app, const std::string& parents, std::string& page) {
  const std::string name = parents + " " + app.get_name();
  page += fmt::format(".SS {}\n{}\n", roff(name), roff(app.get_description()));
  write_options(app, page);
  if (!app.get_footer().empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(app.get_footer()));
  for (const CLI::App* inner : app.get_subcommands(nullptr)) write_command(*inner, name, page);
}

}  // namespace

std::string manual_page(const CLI::App& program) {
  std::string page = fmt::format(".TH FENCHEL 1 \"\" \"fenchel {}.{}.{}\" \"User Commands\"\n",
                                 kVersion.major, kVersion.minor, kVersion.patch);
  page += fmt::format(".SH NAME\nfenchel \\- {}\n", roff("sparse distributions and Fenchel-Young losses"));
  page += ".SH SYNOPSIS\n.B fenchel\n.I COMMAND\n[\\fIOPTION\\fR]...\n.SH COMMANDS\n";
  for (const CLI::App* command : program.get_subcommands(nullptr)) write_command(*command, "fenchel", page);
  page += fmt::format(".SH EXAMPLES\n.nf\n{}\n.fi\n", roff(program.get_footer()));
  page +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nDone.\n"
      ".TP\n1\nThe data, a file or an iteration would not do; one line on standard error says what.\n"
      ".TP\n2\nThe command line asks for something that means nothing.\n";
  return page;
}

}  // namespace fenchel::cli
