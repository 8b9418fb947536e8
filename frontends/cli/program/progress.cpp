#include "cli/program/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "cli/program/interrupt.hpp"

namespace fenchel::cli {
namespace {

using namespace std::chrono_literals;

bool can_redraw() {
  const char* terminal = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

/// "40 s", "3 min 05 s".
std::string duration(double seconds) {
  const int whole = static_cast<int>(std::min(seconds + 0.5, 1e8));
  return whole < 60 ? fmt::format("{} s", whole) : fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

/// What fits into one line of the terminal: the rest of a longer one could not be wiped.
std::string cut(std::string line) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 && line.size() >= size.ws_col)
    line.resize(size.ws_col - std::size_t{1});
  return line;
}

void say(const std::string& text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;  // nobody reads: nothing to say
}

}  // namespace

ProgressMeter::ProgressMeter(const Session& session, std::string what)
    : what_(std::move(what)),
      silent_(session.quiet || !session.speaks()),
      terminal_(can_redraw()),
      begin_(Clock::now()),
      next_(begin_ + (terminal_ ? 200ms : 10s)) {}

ProgressMeter::~ProgressMeter() { wipe(); }

void ProgressMeter::update(double done, double total, const std::string& now) {
  check_interrupt();
  const Clock::time_point time = Clock::now();
  if (silent_ || total <= 0 || time < next_) return;
  next_ = time + (terminal_ ? 100ms : 10s);
  draw(std::clamp(done / total, 0.0, 1.0), now);
}

ProgressCallback ProgressMeter::callback() {
  return [this, pass = 1, last = index_t{0}](const Progress& progress) mutable {
    if (interrupted()) return false;
    if (progress.done <= last) {
      ++pass;
      begin_ = Clock::now();
    }
    last = progress.done;
    update(static_cast<double>(progress.done), static_cast<double>(progress.total),
           pass > 1 ? fmt::format("pass {}", pass) : "");
    return true;
  };
}

void ProgressMeter::draw(double share, const std::string& now) {
  const double spent = std::chrono::duration<double>(Clock::now() - begin_).count();
  std::string line = fmt::format("{}: {:3.0f}%", what_, 100 * share);
  if (share > 0.01) line += ", " + duration(spent * (1 - share) / share) + " left";
  if (!now.empty()) line += ", " + now;
  say(terminal_ ? "\r" + cut(line) + "\x1b[K" : line + "\n");
  drawn_ = true;
}

void ProgressMeter::wipe() {
  if (drawn_ && terminal_) say("\r\x1b[K");
  drawn_ = false;
}

}  // namespace fenchel::cli
