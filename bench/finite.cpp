/// The maps and their backward passes against our own softmax and a plain copy of the scores, in one run;
/// scores are N(0, 2^2). The error is the largest difference from the scalar solver in double, over some
/// rows.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/core/normalizer.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "support/contest.hpp"

namespace {

using namespace fenchel;

template <class Real>
class Problem {
 public:
  Problem(index_t rows, index_t cols)
      : rows_(rows), cols_(cols), z_(normal(1)), g_(normal(2)), p_(z_.size()), out_(z_.size()) {}

  void forward(bench::Contest& contest, const std::string& name, double alpha) {
    contest.add(
        name, [=, this] { cpu::entmax(view(z_), alpha, target(p_)); },
        [=, this] { return map_error(alpha); });
  }
  void backward(bench::Contest& contest, const std::string& name, double alpha) {
    auto p = std::make_shared<std::vector<Real>>(z_.size());
    cpu::entmax(view(z_), alpha, target(*p));
    contest.add(
        name, [=, this] { cpu::entmax_vjp(view(*p), alpha, view(g_), target(out_)); },
        [=, this] { return product_error(alpha); });
  }
  void copy(bench::Contest& contest) {
    contest.add(
        "copy",
        [this] {
          parallel_rows(rows_, workers_for(rows_, cols_), [this](index_t begin, index_t end, int) noexcept {
            std::memcpy(out_.data() + begin * cols_, z_.data() + begin * cols_,
                        static_cast<std::size_t>((end - begin) * cols_) * sizeof(Real));
          });
        },
        [this] { return out_ == z_ ? 0.0 : 1.0; });
  }

 private:
  [[nodiscard]] std::vector<Real> normal(std::uint64_t seed) const {
    std::vector<Real> values(static_cast<std::size_t>(rows_ * cols_));
    Philox rng(seed);
    for (Real& x : values) x = static_cast<Real>(2 * standard_normal(rng));
    return values;
  }
  [[nodiscard]] Rows<const Real> view(const std::vector<Real>& x) const { return {x.data(), rows_, cols_}; }
  [[nodiscard]] Rows<Real> target(std::vector<Real>& x) const { return {x.data(), rows_, cols_}; }

  [[nodiscard]] std::vector<double> reference(index_t i, double alpha) const {
    const Real* z = z_.data() + i * cols_;
    std::vector<double> p(z, z + cols_);
    const double top = *std::max_element(p.begin(), p.end());
    for (double& x : p) x -= top;
    normalize(alpha - 1, p);
    return p;
  }
  [[nodiscard]] double map_error(double alpha) const {
    double error = 0;
    for (index_t i = 0; i < kRowsChecked; ++i) {
      const auto p = reference(i, alpha);
      for (std::size_t j = 0; j < p.size(); ++j) {
        error = std::max(error, std::abs(double{p_[static_cast<std::size_t>(i * cols_) + j]} - p[j]));
      }
    }
    return error;
  }
  /// J g from the reference p in double.
  [[nodiscard]] double product_error(double alpha) const {
    double error = 0;
    for (index_t i = 0; i < kRowsChecked; ++i) {
      auto p = reference(i, alpha);
      const std::vector<double> g(g_.begin() + i * cols_, g_.begin() + (i + 1) * cols_);
      std::vector<double> s(p.size());
      double total = 0, moment = 0;
      for (std::size_t j = 0; j < p.size(); ++j) {
        s[j] = p[j] > 0 ? std::pow(p[j], 2 - alpha) : 0;
        total += s[j];
        moment += s[j] * g[j];
      }
      for (std::size_t j = 0; j < p.size(); ++j) {
        const double found = out_[static_cast<std::size_t>(i * cols_) + j];
        error = std::max(error, std::abs(found - s[j] * (g[j] - moment / total)));
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
  Problem<Real> problem(rows, cols);
  for (const int threads : {1, 0}) {
    set_num_threads(threads);
    const std::string where = std::string(type) + " " + std::to_string(rows) + " x " + std::to_string(cols) +
                              ", " + std::to_string(num_threads()) +
                              (num_threads() == 1 ? " thread" : " threads");
    bench::Contest forward(where + ", forward", "/ softmax");
    problem.forward(forward, "softmax", 1);
    problem.copy(forward);
    problem.forward(forward, "sparsemax", 2);
    problem.forward(forward, "entmax 3/2", 1.5);
    for (const double alpha : {1.25, 1.3, 4.0 / 3, 1.6, 1.75, 1.9, 0.5, 0.9, 1.01, 1.1, 1.2, 3.0, 10.0}) {
      problem.forward(forward, "entmax " + std::to_string(alpha).substr(0, 5), alpha);
    }
    forward.print();
    bench::Contest backward(where + ", backward", "/ softmax");
    problem.backward(backward, "softmax", 1);
    problem.backward(backward, "sparsemax", 2);
    problem.backward(backward, "entmax 3/2", 1.5);
    for (const double alpha : {1.1, 1.25, 1.75, 3.0}) {
      problem.backward(backward, "entmax " + std::to_string(alpha).substr(0, 5), alpha);
    }
    backward.print();
  }
  set_num_threads(0);
}

}  // namespace

int main() {
  run<float>("float", 1024, 4096);
  run<float>("float", 64, 32000);
  run<float>("float", 16384, 256);
  run<double>("double", 1024, 4096);
  run<double>("double", 64, 32000);
  run<double>("double", 16384, 256);
}
