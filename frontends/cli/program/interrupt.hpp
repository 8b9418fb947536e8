#pragma once

#include <exception>
#include <string>

namespace fenchel::cli {

/// Ctrl-C, or a request to end: thrown at a place where everything can be put in order.
class Interrupted : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "interrupted"; }
};

/// From here on SIGINT, SIGTERM and SIGHUP are noted once, but stay ignored where they are (nohup); a second
/// one, two seconds in which nobody asks, or another signal that ends a program end it at once, without the
/// file that it was writing. SIGPIPE, and SIGXFSZ of our own, become errors of the write.
void catch_signals();

[[nodiscard]] bool interrupted() noexcept;
/// Throws Interrupted when a signal has come.
void check_interrupt();

/// The file that a signal removes when it ends the program; empty: none.
void set_unfinished_file(const std::string& path);

/// Ends the program as the signal that came would have; as SIGTERM where it came to another process.
[[noreturn]] void die_of_signal();
/// Ends the program as a write to a closed pipe would have: other tools then know that it was no failure.
[[noreturn]] void die_of_closed_pipe();

}  // namespace fenchel::cli
