#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/loss/quadratic.hpp"
#include "report/colours.hpp"
#include "report/compare.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

struct Order {
  const char* text;
  double value;
};
constexpr Order kOrders[] = {{"1", 1}, {"4/3", 4. / 3}, {"3/2", 1.5}, {"2", 2}};

/// The members with variance one.
BetaGaussian member(double alpha) { return BetaGaussian::from_variance(alpha, 0, 1); }

/// What a law of variance one lacks of the largest entropy of this order.
template <class Q>
double lacking(double order, const Q& q) {
  return tsallis_entropy(member(order), order) - tsallis_entropy(q, order);
}

template <class Q>
double loss(double order, const Q& q) {
  return fenchel_young(Tsallis(order), score(member(order)), q).value;
}

Figure figure() {
  plot::Chart chart("Entropy of the laws with variance one", {"\u03b1 of the law", plot::Range{0.7, 3}},
                    {"entropy of an order"});
  for (const Order& order : kOrders) {
    const std::string name = fmt::format("order {}", order.text);
    chart.curve(name, [&](double alpha) { return tsallis_entropy(member(alpha), order.value); },
                {.colour = colour_of(order.value)});
    chart.markers("", {{order.value, tsallis_entropy(member(order.value), order.value)}}, plot::Marker::dot,
                  {.colour = colour_of(order.value), .width = 7});
  }
  return {"maximum_entropy",
          "Beta-Gaussians with variance one, by their $\\alpha$: each entropy is largest, at the dot, for "
          "the law whose "
          "$\\alpha$ is its order.",
          {chart}};
}

Table table() {
  Table result{
      "Tsallis entropies of laws with mean 0 and variance 1. The largest of a column is the prediction's.",
      {"law"},
      {}};
  for (const Order& order : kOrders) result.header.push_back(fmt::format("order {}", order.text));
  const auto add = [&](const std::string& name, const auto& law) {
    std::vector<std::string> row{name};
    for (const Order& order : kOrders) {
      const std::string entropy = fmt::format("{:.6f}", tsallis_entropy(law, order.value));
      row.push_back(lacking(order.value, law) == 0 ? "<b>" + entropy + "</b>" : entropy);
    }
    result.rows.push_back(row);
  };
  add("Student's t, $\\alpha = 0.8$", member(0.8));
  for (const Order& order : kOrders) add(fmt::format("$\\alpha = {}$", order.text), member(order.value));
  add("$\\alpha = 3$", member(3));
  add("triangular", BetaLaplace::triangular(0, 6));
  return result;
}

/// Of the laws whose escort of this order has variance one.
double escort_entropy(double order, double alpha) {
  const double unit = variance(escort(member(alpha), order));
  return tsallis_entropy(BetaGaussian::from_variance(alpha, 0, 1 / unit), order);
}

std::vector<Check> checks() {
  double gap = 0, least = 1, step = 1e-4, escort_gap = 0;
  for (const Order& order : kOrders) {
    for (const double alpha : {0.8, 1.1, 1.7, 3.0}) {
      gap = std::max(gap, std::abs(lacking(order.value, member(alpha)) - loss(order.value, member(alpha))));
      least = std::min(least, lacking(order.value, member(alpha)));
    }
    const auto triangle = BetaLaplace::triangular(0, 6);
    gap = std::max(gap, std::abs(lacking(order.value, triangle) - loss(order.value, triangle)));
    least = std::min(least, lacking(order.value, triangle));
  }
  for (const double order : {0.6, 0.8, 1.2, 1.4}) {
    const double best = escort_entropy(order, 2 - order);
    for (const double alpha : {2 - order - step, 2 - order + step, 0.95, 2.5})
      escort_gap = std::max(escort_gap, escort_entropy(order, alpha) - best);
  }
  return {law("What 20 laws of variance one lack of the largest entropy", "", "their Fenchel-Young loss", gap,
              1e-9),
          {"&hellip; the least of it", "the prediction is the maximum", "positive",
           fmt::format("{:.2g}", least), std::max(0., -least), 0},
          law("With moments of the escort of order $a$: how much more entropy of order $a$ than $\\alpha = 2 "
              "- a$ other "
              "laws have, for four $a$",
              "the maximum is an $a$-exponential", "0 at most", std::max(escort_gap, 0.), 1e-12)};
}

}  // namespace

Section maximum_entropy() {
  return {
      "maximum-entropy",
      "Maximum entropy",
      "Appendix A",
      {"The prediction also solves a problem with constraints: $\\max_p -\\Omega_{\\alpha}(p)$ among the "
       "laws with "
       "$E_p[\\phi] = b$. Its solution is $\\exp_{2-\\alpha}(\\theta^T\\phi - A_{\\alpha})$, the prediction "
       "for a score "
       "that is linear in $\\phi$.",
       "Tsallis put moments of the escort distribution into the constraints instead. Then the solution is an "
       "$\\alpha$-exponential with a factor outside."},
      {"If $q$ has the moments of the prediction $p$, then $\\Omega_{\\alpha}(q) - \\Omega_{\\alpha}(p)$ is "
       "the "
       "Fenchel-Young loss of $q$: it is never negative, and 0 for $q = p$ alone. We computed both sides for "
       "laws of "
       "variance one. With the escort of order $a$ in the constraint, the maximum is the prediction of "
       "$\\alpha = 2 - "
       "a$, as the second form says."},
      {figure(), table()},
      checks()};
}

}  // namespace fenchel::report
