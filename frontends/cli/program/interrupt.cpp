#include "cli/program/interrupt.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <initializer_list>

namespace fenchel::cli {
namespace {

volatile std::sig_atomic_t signal_seen = 0;
std::atomic<bool> has_unfinished_file = false;
std::array<char, 4096> unfinished_file{};

/// Seconds after which a signal that was noted ends the program at once: steps of the library that take
/// longer do not ask.
constexpr unsigned kPatience = 2;

[[noreturn]] void die_of(int number) {
  if (has_unfinished_file) unlink(unfinished_file.data());
  std::signal(number, SIG_DFL);
  std::raise(number);
  _exit(128 + number);
}

void on_signal(int number) {
  if (signal_seen == 0 && number != SIGALRM) {
    signal_seen = number;
    alarm(kPatience);
    return;
  }
  die_of(number == SIGALRM && signal_seen != 0 ? signal_seen : number);
}

/// A write beyond the limit of a file's size has sent its SIGXFSZ to itself, and fails then.
void on_fatal_signal(int number, siginfo_t* sent, void*) {
  if (number == SIGXFSZ && sent->si_pid == getpid()) return;
  die_of(number);
}

void handle(std::initializer_list<int> numbers, struct sigaction action) {
  action.sa_flags |= SA_NODEFER;  // so that the handler can die of its own signal
  for (const int number : numbers) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

}  // namespace

void catch_signals() {
  struct sigaction noted {};
  noted.sa_handler = on_signal;
  handle({SIGINT, SIGTERM, SIGHUP, SIGALRM}, noted);
  struct sigaction fatal {};
  fatal.sa_sigaction = on_fatal_signal;
  fatal.sa_flags = SA_SIGINFO;
  handle({SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF}, fatal);
  std::signal(SIGPIPE, SIG_IGN);
}

bool interrupted() noexcept { return signal_seen != 0; }

void check_interrupt() {
  if (interrupted()) throw Interrupted();
}

void set_unfinished_file(const std::string& path) {
  has_unfinished_file = false;
  if (path.empty() || path.size() >= unfinished_file.size()) return;
  std::copy(path.begin(), path.end() + 1, unfinished_file.begin());
  has_unfinished_file = true;
}

void die_of_signal() { die_of(signal_seen == 0 ? SIGTERM : signal_seen); }
void die_of_closed_pipe() { die_of(SIGPIPE); }

}  // namespace fenchel::cli
