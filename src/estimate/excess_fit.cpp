#include "estimate/excess_fit.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include <Eigen/LU>

#include "distribution/bounded_density.hpp"
#include "estimate/converged.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/estimate/line_moments.hpp"
#include "fenchel/estimate/objective.hpp"

namespace fenchel::detail {
namespace {

/// int_support h(e, de) dt.
template <class H>
double integral(const ExcessModel& p, index_t parameters, H h) {
  Eigen::VectorXd derivative(parameters);
  const auto integrand = [&](double t) {
    const double e = p.excess(t, derivative);
    return h(e, derivative);
  };
  return bounded_integral(integrand, {p.mu - p.half_width, p.mu + p.half_width}, p.mu);
}

/// int weight(e) de de^T.
template <class Weight>
Eigen::MatrixXd scatter(const ExcessModel& p, index_t parameters, Weight weight) {
  Eigen::MatrixXd result(parameters, parameters);
  for (index_t i = 0; i < parameters; ++i) {
    for (index_t j = 0; j <= i; ++j) {
      result(i, j) = result(j, i) = integral(
          p, parameters, [&](double e, const Eigen::VectorXd& d) { return weight(e) * d[i] * d[j]; });
    }
  }
  return result;
}

/// The loss less 1/2. Under p the derivatives are those of E_p[e] for a fixed p.
SecondOrder evaluate(const ExcessModel& p, const ObjectiveSum& data, index_t parameters) {
  SecondOrder result{data.value(), data.gradient(), scatter(p, parameters, [](double) { return 1.0; })};
  result.value += integral(p, parameters, [](double e, const Eigen::VectorXd&) { return e * e; }) / 2;
  for (index_t i = 0; i < parameters; ++i)
    result.gradient[i] +=
        integral(p, parameters, [&](double e, const Eigen::VectorXd& d) { return e * d[i]; });
  return result;
}

}  // namespace

ExcessFit fit_excess(std::string_view where, const Data& data,
                     FunctionRef<ExcessModel(const Eigen::VectorXd& x)> model, const Eigen::VectorXd& start,
                     const std::string& hint) {
  const LineMoments moments = collect(data, LineMoments());
  if (!(moments.weight() > 0))
    throw_domain_error(where, "the weight of the data", "must be positive", moments.weight());
  const double mean = moments.mean(), deviation = std::sqrt(moments.variance());
  if (!(deviation > 0))
    throw_domain_error(where, "the standard deviation of the data", "must be positive", deviation);

  const index_t size = start.size();
  const auto loss = [&](const Eigen::VectorXd& x) -> SecondOrder {
    std::optional<ExcessModel> p;
    try {
      p = model(x);
    } catch (const std::domain_error&) {
      return {std::numeric_limits<double>::infinity(), Eigen::VectorXd::Zero(size),
              Eigen::MatrixXd::Zero(size, size)};
    }
    const BatchLoss add = [&](const Eigen::VectorXd&, Rows<const double> rows, PerRow weights,
                              ObjectiveSum& sum) {
      Eigen::VectorXd derivative(size), gradient = Eigen::VectorXd::Zero(size);
      double weight = 0, value = 0;
      for (index_t i = 0; i < rows.rows; ++i) {
        if (weights[i] == 0) continue;
        const double e = p->excess((rows[i][0] - mean) / deviation, derivative);
        weight += weights[i];
        value -= weights[i] * e;
        gradient -= weights[i] * derivative;
      }
      sum.add(weight, value, gradient);
    };
    return evaluate(*p, mean_loss(data, add, x), size);
  };
  MinimizeOptions options;
  options.tolerance = 1e-10;
  options.max_iterations = 200;
  const Minimum found = minimize_convex(loss, start, options);
  check_converged(where, found, 1e-8, hint);

  const ExcessModel p = model(found.x);
  const Eigen::MatrixXd inverse = scatter(p, size, [](double) { return 1.0; }).inverse();
  Eigen::VectorXd pull(size);
  for (index_t i = 0; i < size; ++i)
    pull[i] = integral(p, size, [&](double e, const Eigen::VectorXd& d) { return e * d[i]; });
  const Eigen::MatrixXd terms = scatter(p, size, [](double e) { return e; }) - pull * pull.transpose();
  return {mean,
          deviation,
          found.x,
          inverse * terms * inverse / moments.weight(),
          0.5 + found.value / deviation,
          moments.weight()};
}

}  // namespace fenchel::detail
