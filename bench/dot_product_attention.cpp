/// Attention of queries to keys in float, forward and backward, at (1, 8, 2048, 64): N(0, 1), and flat, with
/// queries of a tenth, where every key has weight. The error is the largest difference from the same in
/// double, over the largest number.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "support/contest.hpp"

namespace {

using namespace fenchel;

constexpr index_t kHeads = 8, kRows = 2048, kCols = 64, kSize = kHeads * kRows * kCols;

template <class Real>
class Problem {
 public:
  explicit Problem(double spread)
      : query_(normal(1, spread)), key_(normal(2)), value_(normal(3)), cotangent_(normal(4)) {}

  void run(double alpha) { cpu::attention(products(alpha), view(out_.data()), record()); }
  void run_vjp(double alpha) {
    cpu::attention_vjp(products(alpha), record(), view<const Real>(cotangent_.data()),
                       {.query = view(gradient_.data()),
                        .key = view(gradient_.data() + kSize),
                        .value = view(gradient_.data() + 2 * kSize)});
  }
  [[nodiscard]] const std::vector<Real>& out() const { return out_; }
  [[nodiscard]] const std::vector<Real>& gradient() const { return gradient_; }

 private:
  static std::vector<Real> normal(std::uint64_t seed, double spread = 1) {
    std::vector<Real> values(kSize);
    Philox rng(seed);
    for (Real& x : values) x = static_cast<Real>(static_cast<float>(spread * standard_normal(rng)));
    return values;
  }
  template <class T>
  static Matrices<T> view(T* data) {
    return {data, 1, kHeads, kRows, kCols, kSize, kRows * kCols, kCols, 1};
  }
  [[nodiscard]] DotProducts<Real> products(double alpha) const {
    return {view<const Real>(query_.data()), view<const Real>(key_.data()), view<const Real>(value_.data()),
            alpha, 1 / std::sqrt(static_cast<double>(kCols))};
  }
  [[nodiscard]] AttentionRecord<Real> record() { return {{normalizers_.data(), kHeads * kRows, 2}}; }

  std::vector<Real> query_, key_, value_, cotangent_;
  std::vector<Real> out_ = std::vector<Real>(kSize), gradient_ = std::vector<Real>(3 * kSize);
  std::vector<Real> normalizers_ = std::vector<Real>(2 * kHeads * kRows);
};

double error_of(const std::vector<float>& got, const std::vector<double>& expected) {
  double worst = 0, largest = 0;
  for (std::size_t k = 0; k < got.size(); ++k) {
    worst = std::max(worst, std::abs(double{got[k]} - expected[k]));
    largest = std::max(largest, std::abs(expected[k]));
  }
  return worst / largest;
}

void print(int threads, const std::string& name, double spread) {
  set_num_threads(threads);
  bench::Contest contest("attention, float, " + name + ", " + std::to_string(num_threads()) + " threads",
                         "alpha 3/2");
  Problem<float> problem(spread);
  Problem<double> exact(spread);
  for (const double alpha : {1.5, 2.0, 1.0}) {
    const std::string order = alpha == 1.5 ? "3/2" : std::to_string(static_cast<int>(alpha));
    contest.add(
        "forward " + order, [&, alpha] { problem.run(alpha); },
        [&, alpha] {
          exact.run(alpha);
          return error_of(problem.out(), exact.out());
        });
    contest.add(
        "backward " + order, [&, alpha] { problem.run_vjp(alpha); },
        [&, alpha] {
          problem.run(alpha);
          problem.run_vjp(alpha);
          exact.run(alpha);
          exact.run_vjp(alpha);
          return error_of(problem.gradient(), exact.gradient());
        });
  }
  contest.print(5);
}

}  // namespace

int main() {
  for (const int threads : {1, 0}) {
    print(threads, "N(0, 1)", 1);
    print(threads, "flat", 0.1);
  }
}
