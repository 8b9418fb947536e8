#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace fenchel::bench {

/// What times are printed in: a name, and its length in seconds. With a rate, so many of what it names per
/// second are printed too.
struct Unit {
  const char* name = "ms";
  double seconds = 1e-3;
  const char* rate = nullptr;
  double per_run = 0;  ///< of what the rate counts
};

/// Contenders on the same data, timed in turns, so that a noisy machine disturbs all of them alike: a time is
/// the median over the rounds, a ratio the median of the ratios within a round. The first contender is the
/// baseline.
class Contest {
 public:
  Contest(std::string title, std::string baseline, Unit unit = {})
      : title_(std::move(title)), baseline_(std::move(baseline)), unit_(unit) {}

  /// error() is called once, after run().
  void add(std::string name, std::function<void()> run, std::function<double()> error) {
    contenders_.push_back({std::move(name), std::move(run), std::move(error), {}});
  }

  void print(int rounds = 9) {
    for (Contender& contender : contenders_) contender.run();
    for (int round = 0; round < rounds; ++round) {
      for (Contender& contender : contenders_) contender.seconds.push_back(time(contender.run));
    }
    std::printf("%s\n  %-24s %10s", title_.c_str(), "", unit_.name);
    if (unit_.rate != nullptr) std::printf(" %12s", unit_.rate);
    std::printf(" %12s %10s\n", baseline_.c_str(), "error");
    for (Contender& contender : contenders_) {
      std::vector<double> ratios;
      for (std::size_t k = 0; k < contender.seconds.size(); ++k) {
        ratios.push_back(contender.seconds[k] / contenders_.front().seconds[k]);
      }
      contender.run();
      const double seconds = median(contender.seconds);
      std::printf("  %-24s %10.3f", contender.name.c_str(), seconds / unit_.seconds);
      if (unit_.rate != nullptr) std::printf(" %12.1f", unit_.per_run / seconds);
      std::printf(" %11.2fx %10.1e\n", median(ratios), contender.error());
      std::fflush(stdout);
    }
  }

 private:
  struct Contender {
    std::string name;
    std::function<void()> run;
    std::function<double()> error;
    std::vector<double> seconds;
  };

  /// Seconds of one call, from as many as take some milliseconds.
  static double time(const std::function<void()>& run) {
    constexpr double kEnough = 3e-3;
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    double elapsed = 0;
    int calls = 0;
    while (elapsed < kEnough) {
      run();
      ++calls;
      elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return elapsed / calls;
  }
  static double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
    return values[values.size() / 2];
  }

  std::string title_, baseline_;
  Unit unit_;
  std::vector<Contender> contenders_;
};

}  // namespace fenchel::bench
