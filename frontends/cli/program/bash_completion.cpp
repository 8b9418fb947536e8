#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <string>

#include "cli/program/pages.hpp"

namespace fenchel::cli {
namespace {

/// The words that an option takes, with blanks between them: CLI11 writes them as "TEXT:{a,b,c}".
std::string choices(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::string words = type.substr(begin + 1, end - begin - 1);
  std::replace(words.begin(), words.end(), ',', ' ');
  return words;
}

void append(std::string& words, const std::string& more) { words += (words.empty() ? "" : " ") + more; }

/// Where an option takes a file, or a folder.
bool takes_file(const CLI::Option& option) {
  const std::string& text = option.get_option_text();
  return choices(option).empty() && (text == "FILE" || text == "DIR" || option.get_positional());
}

struct Cases {
  std::string commands;  ///< which word leads from which command to which
  std::string values;    ///< what may follow an option
  std::string words;     ///< what else may stand after a command
};

void collect(const CLI::App& app, const std::string& name, Cases& cases) {
  std::string words, files;
  for (const CLI::App* inner : app.get_subcommands(nullptr)) {
    const std::string inner_name = name + " " + inner->get_name();
    append(words, inner->get_name());
    cases.commands += fmt::format("      \"{0}\") command=\"{0}\" ;;\n", inner_name);
    collect(*inner, inner_name, cases);
  }
  for (const CLI::Option* option : app.get_options()) {
    const std::string known = choices(*option);
    if (option->get_positional()) {
      if (!known.empty()) append(words, known);
      if (takes_file(*option)) files = " files=yes";
      continue;
    }
    for (const std::string& short_name : option->get_snames())
      if (takes_file(*option))
        cases.values += fmt::format("    \"{} -{}\") files=yes ;;\n", name, short_name);
    for (const std::string& long_name : option->get_lnames()) {
      append(words, "--" + long_name);
      if (!known.empty())
        cases.values += fmt::format("    \"{} --{}\") words=\"{}\" ;;\n", name, long_name, known);
      if (takes_file(*option))
        cases.values += fmt::format("    \"{} --{}\") files=yes ;;\n", name, long_name);
    }
  }
  cases.words += fmt::format("    \"{}\") words=\"{}\"{} ;;\n", name, words, files);
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  Cases cases;
  collect(program, "fenchel", cases);
  return "# Completes fenchel in bash.\n"
         "_fenchel() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  local command=fenchel word words=\"\" files=\"\"\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case \"$command $word\" in\n" +
         cases.commands +
         "    esac\n"
         "  done\n"
         "  case \"$command $previous\" in\n" +
         cases.values +
         "  esac\n"
         "  [ -n \"$words$files\" ] || case \"$command\" in\n" +
         cases.words +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
         "  case \"$current\" in -*) ;; *) [ -z \"$files\" ] || COMPREPLY+=($(compgen -f -- "
         "\"$current\")) ;; esac\n"
         "}\n"
         "complete -o filenames -F _fenchel fenchel\n";
}

}  // namespace fenchel::cli
