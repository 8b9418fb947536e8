/// Three exact ways to min_x (1/2) |x - y|^2 + gamma TV(x) on long rows, in one run: why the library has the
/// taut string. The error is how far x is from the conditions of the minimiser, in units of the string's
/// tube: it must stay inside and touch the side where x jumps.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fenchel/core/philox.hpp"
#include "fenchel/core/taut_string.hpp"
#include "fenchel/core/variates.hpp"
#include "support/contest.hpp"

namespace {

using namespace fenchel;
using Vector = std::vector<double>;

/// L. Condat, A direct algorithm for 1-D total variation denoising, IEEE Signal Process. Lett. 20 (2013): the
/// highest and the lowest value of the present plateau, and how much of gamma each of them has left; where
/// one has nothing left, the row is fixed up to where it had all, and read again from there.
Vector condat(const Vector& y, double gamma) {
  const auto n = static_cast<std::ptrdiff_t>(y.size());
  Vector x(y.size());
  const auto at = [&](std::ptrdiff_t k) { return y[static_cast<std::size_t>(k)]; };
  std::ptrdiff_t k = 0, begin = 0, low_end = 0, high_end = 0;
  double low = at(0) - gamma, high = at(0) + gamma, low_left = gamma, high_left = -gamma;
  const auto fix = [&](std::ptrdiff_t end, double value) {
    std::fill(x.begin() + begin, x.begin() + end + 1, value);
    begin = end + 1;
  };
  for (;;) {
    if (k == n - 1) {
      if (low_left < 0) {
        fix(low_end, low);
        k = low_end = begin;
        low = at(begin);
        low_left = gamma;
        high_left = at(begin) + gamma - high;
      } else if (high_left > 0) {
        fix(high_end, high);
        k = high_end = begin;
        high = at(begin);
        high_left = -gamma;
        low_left = at(begin) - gamma - low;
      } else {
        fix(n - 1, low + low_left / static_cast<double>(k - begin + 1));
        return x;
      }
    } else if (at(k + 1) + low_left < low - gamma) {
      fix(low_end, low);
      k = low_end = high_end = begin;
      low = at(begin);
      high = at(begin) + 2 * gamma;
      low_left = gamma;
      high_left = -gamma;
    } else if (at(k + 1) + high_left > high + gamma) {
      fix(high_end, high);
      k = low_end = high_end = begin;
      low = at(begin) - 2 * gamma;
      high = at(begin);
      low_left = gamma;
      high_left = -gamma;
    } else {
      ++k;
      low_left += at(k) - low;
      high_left += at(k) - high;
      const auto length = static_cast<double>(k - begin + 1);
      if (low_left >= gamma) {
        low += (low_left - gamma) / length;
        low_left = gamma;
        low_end = k;
      }
      if (high_left <= -gamma) {
        high += (high_left + gamma) / length;
        high_left = -gamma;
        high_end = k;
      }
    }
  }
}

/// N. A. Johnson, A dynamic programming algorithm for the fused lasso, J. Comput. Graph. Statist. 22 (2013):
/// the derivative of the best cost of the first columns is piecewise linear in the last x; it is cut off at
/// -gamma and gamma, and where it is says how far x may follow its neighbour.
Vector johnson(const Vector& y, double gamma) {
  struct Knot {
    double at, slope, offset;  // what the line gains there
  };
  const std::size_t n = y.size();
  std::vector<Knot> knots(2 * n);
  Vector lowest(n), highest(n), x(n);
  std::size_t first = n, last = n - 1;  // none
  for (std::size_t k = 0; k < n; ++k) {
    const double cap = k + 1 < n ? gamma : 0, start = k == 0 ? 0 : gamma;
    double slope = 1, offset = -y[k] - start;
    std::size_t from = first;
    for (; from <= last && slope * knots[from].at + offset <= -cap; ++from) {
      slope += knots[from].slope;
      offset += knots[from].offset;
    }
    lowest[k] = (-cap - offset) / slope;
    double end_slope = 1, end_offset = -y[k] + start;
    std::size_t to = last;
    for (; to + 1 > from && end_slope * knots[to].at + end_offset >= cap; --to) {
      end_slope -= knots[to].slope;
      end_offset -= knots[to].offset;
    }
    highest[k] = (cap - end_offset) / end_slope;
    first = from - 1;
    last = to + 1;
    knots[first] = {lowest[k], slope, offset + cap};
    knots[last] = {highest[k], -end_slope, cap - end_offset};
  }
  x[n - 1] = lowest[n - 1];
  for (std::size_t k = n - 1; k-- > 0;) x[k] = std::clamp(x[k + 1], lowest[k], highest[k]);
  return x;
}

double certificate(const Vector& y, double gamma, const Vector& x) {
  double dual = 0, worst = 0;
  for (std::size_t k = 0; k + 1 < y.size(); ++k) {
    dual += x[k] - y[k];
    worst = std::max(worst, std::abs(dual) - gamma);
    if (x[k + 1] > x[k]) worst = std::max(worst, std::abs(dual - gamma));
    if (x[k + 1] < x[k]) worst = std::max(worst, std::abs(dual + gamma));
  }
  return worst / gamma;
}

void run(const std::string& name, const Vector& y) {
  for (const double gamma : {0.1, 1.0, 1000.0}) {
    bench::Contest contest(name + ", gamma " + std::to_string(gamma).substr(0, 6), "/ string",
                           {"ns/column", 1e-9 * static_cast<double>(y.size())});
    Vector x;
    const auto add = [&](const char* method, std::function<Vector()> solve) {
      contest.add(
          method, [&x, solve = std::move(solve)] { x = solve(); }, [&] { return certificate(y, gamma, x); });
    };
    add("taut string", [&] { return taut_string(y, Vector(y.size() - 1, gamma)); });
    add("Condat", [&] { return condat(y, gamma); });
    add("Johnson", [&] { return johnson(y, gamma); });
    contest.print(5);
  }
}

}  // namespace

int main() {
  constexpr std::size_t kColumns = 8192;
  Vector noise, walk, monotone, bowl;
  Philox rng(1);
  double sum = 0;
  for (std::size_t i = 0; i < kColumns; ++i) {
    const double step = standard_normal(rng), t = static_cast<double>(i) / kColumns;
    sum += step;
    noise.push_back(2 * step);
    walk.push_back(sum);
    monotone.push_back(32 * t);
    bowl.push_back(i == 0 ? -2 : i + 1 == kColumns ? 2 : 1e-5 * t * (1 - t));
  }
  run("white noise", noise);
  run("random walk", walk);
  run("monotone", monotone);
  run("nearly flat", bowl);
}
