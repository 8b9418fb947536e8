/// fusedmax and its backward pass against sparsemax on the same rows, in one run: random walks, white noise
/// N(0, 2^2), and rows that are hard for it. The error is the largest difference from sparsemax of the taut
/// string of whole rows in double, over some rows; the contender "taut string" takes that way in full.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/core/normalizer.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/taut_string.hpp"
#include "fenchel/core/variates.hpp"
#include "support/contest.hpp"

namespace {

using namespace fenchel;

enum class Input { walk, noise, alternating, monotone, constant };
constexpr const char* kNames[] = {"random walk", "white noise", "alternating", "monotone", "constant"};

template <class Real>
class Problem {
 public:
  Problem(Input input, index_t rows, index_t cols)
      : rows_(rows), cols_(cols), z_(make(input)), g_(make(Input::noise)), p_(z_.size()), out_(z_.size()) {}

  void forward(bench::Contest& contest) {
    contest.add(
        "sparsemax", [this] { cpu::sparsemax<Real>(view(z_), target(p_)); }, [this] { return map_error(0); });
    for (const double gamma : {0.1, 1.0, 10.0}) {
      contest.add(
          "fusedmax " + std::to_string(gamma).substr(0, 4),
          [=, this] { cpu::fusedmax<Real>(view(z_), gamma, target(p_)); },
          [=, this] { return map_error(gamma); });
    }
    contest.add(
        "taut string 1.0", [this] { whole_rows(1); }, [this] { return map_error(1); });
  }

  void backward(bench::Contest& contest) {
    contest.add(
        "sparsemax", [this] { cpu::entmax_vjp<Real>(view(p_), 2, view(g_), target(out_)); },
        [this] { return product_error(false); });
    contest.add(
        "fusedmax 1.0", [this] { cpu::fusedmax_vjp<Real>(view(p_), 1, view(g_), target(out_)); },
        [this] { return product_error(true); });
  }
  /// Backward passes are timed on the same p, a fusedmax.
  void prepare_backward() { cpu::fusedmax<Real>(view(z_), 1, target(p_)); }

 private:
  [[nodiscard]] std::vector<Real> make(Input input) const {
    std::vector<Real> values;
    Philox rng(1);
    for (index_t i = 0; i < rows_; ++i) {
      double walk = 0;
      for (index_t j = 0; j < cols_; ++j) {
        const double step = standard_normal(rng);
        walk += step;
        const double score = input == Input::walk          ? walk
                             : input == Input::noise       ? 2 * step
                             : input == Input::alternating ? (j % 2 == 0 ? 1.0 : -1.0)
                             : input == Input::monotone    ? 1e-3 * static_cast<double>(j)
                                                           : 0.0;
        values.push_back(static_cast<Real>(score));
      }
    }
    return values;
  }
  [[nodiscard]] Rows<const Real> view(const std::vector<Real>& x) const { return {x.data(), rows_, cols_}; }
  [[nodiscard]] Rows<Real> target(std::vector<Real>& x) const { return {x.data(), rows_, cols_}; }

  [[nodiscard]] std::vector<double> reference(index_t i, double gamma) const {
    const Real* z = z_.data() + i * cols_;
    auto p = taut_string(std::vector<double>(z, z + cols_),
                         std::vector<double>(static_cast<std::size_t>(cols_ - 1), gamma));
    const double top = *std::max_element(p.begin(), p.end());
    for (double& x : p) x -= top;
    normalize(1, p);
    return p;
  }
  void whole_rows(double gamma) {
    parallel_rows(rows_, workers_for(rows_, 20 * cols_), [=, this](index_t begin, index_t end, int) noexcept {
      for (index_t i = begin; i < end; ++i) std::ranges::copy(reference(i, gamma), p_.begin() + i * cols_);
    });
  }
  [[nodiscard]] double map_error(double gamma) const {
    double error = 0;
    for (index_t i = 0; i < kRowsChecked; ++i) {
      const auto p = reference(i, gamma);
      for (std::size_t j = 0; j < p.size(); ++j) {
        error = std::max(error, std::abs(double{p_[static_cast<std::size_t>(i * cols_) + j]} - p[j]));
      }
    }
    return error;
  }
  /// Averages over runs of equal p, or single columns, less the mean over the support.
  [[nodiscard]] double product_error(bool fused) const {
    double error = 0;
    for (index_t i = 0; i < kRowsChecked; ++i) {
      const Real *p = p_.data() + i * cols_, *g = g_.data() + i * cols_, *found = out_.data() + i * cols_;
      double sum = 0, size = 0;
      for (index_t j = 0; j < cols_; ++j) {
        sum += p[j] > 0 ? g[j] : 0;
        size += p[j] > 0;
      }
      for (index_t begin = 0, end = 0; begin < cols_; begin = end) {
        double mean = 0;
        for (end = begin; end < cols_ && (fused || end == begin) && p[end] == p[begin]; ++end) mean += g[end];
        const double expected = p[begin] > 0 ? mean / static_cast<double>(end - begin) - sum / size : 0;
        for (index_t j = begin; j < end; ++j) error = std::max(error, std::abs(found[j] - expected));
      }
    }
    return error;
  }

  static constexpr index_t kRowsChecked = 4;
  index_t rows_, cols_;
  std::vector<Real> z_, g_, p_, out_;
};

template <class Real>
void run(const char* type, index_t rows, index_t cols) {
  for (const Input input :
       {Input::walk, Input::noise, Input::alternating, Input::monotone, Input::constant}) {
    Problem<Real> problem(input, rows, cols);
    const std::string where = std::string(kNames[static_cast<int>(input)]) + ", " + type + " " +
                              std::to_string(rows) + " x " + std::to_string(cols);
    bench::Contest forward(where + ", forward", "/ sparsemax"), backward(where + ", backward", "/ sparsemax");
    problem.forward(forward);
    forward.print(5);
    problem.prepare_backward();
    problem.backward(backward);
    backward.print(5);
  }
}

}  // namespace

int main() {
  set_num_threads(1);
  run<float>("float", 1024, 4096);
  run<float>("float", 64, 32000);
  run<double>("double", 1024, 4096);
  run<double>("double", 64, 32000);
}
