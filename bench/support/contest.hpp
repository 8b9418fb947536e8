#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace fenchel::bench {

/// What times are printed in: a name, and its length in seconds. Where a run gets through an amount, such as
/// {"GB/s", 1, gigabytes}, the amount in that time.
struct Unit {
  const char* name = "ms";
  double seconds = 1e-3;
  double amount = 0;

  [[nodiscard]] double of(double time) const { return amount > 0 ? amount * seconds / time : time / seconds; }
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
    std::printf("%s\n  %-24s %10s %12s %10s\n", title_.c_str(), "", unit_.name, baseline_.c_str(), "error");
    for (Contender& contender : contenders_) {
      std::vector<double> ratios;
      for (std::size_t k = 0; k < contender.seconds.size(); ++k) {
        ratios.push_back(contender.seconds[k] / contenders_.front().seconds[k]);
      }
      contender.run();
      std::printf("  %-24s %10.3f %11.2fx %10.1e\n", contender.name.c_str(),
                  unit_.of(median(contender.seconds)), median(ratios), contender.error());
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
