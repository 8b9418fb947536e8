#pragma once

#include <chrono>
#include <string>

#include "cli/program/session.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel::cli {

/// Says on standard error how far a long piece of work is and how long it will take: on a terminal one line,
/// drawn again ten times a second at most; elsewhere a line every ten seconds. Silent when --quiet or not the
/// process that speaks. The line is wiped when the meter goes.
class ProgressMeter {
 public:
  ProgressMeter(const Session& session, std::string what);
  ~ProgressMeter();
  ProgressMeter(const ProgressMeter&) = delete;
  ProgressMeter& operator=(const ProgressMeter&) = delete;

  /// Says how much of the whole is done, and what is being done now. Throws Interrupted after a signal.
  void update(double done, double total, const std::string& now = "");
  /// For the library, which may pass over the data several times: an interrupt cancels.
  [[nodiscard]] ProgressCallback callback();
  /// Makes room on the terminal for a result.
  void wipe();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double share, const std::string& now);

  std::string what_;
  bool silent_, terminal_;
  bool drawn_ = false;
  Clock::time_point begin_, next_;
};

}  // namespace fenchel::cli
