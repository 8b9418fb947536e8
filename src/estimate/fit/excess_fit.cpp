#include "estimate/fit/excess_fit.hpp"

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <optional>
#include <stdexcept>

#include "estimate/fit/location_fit.hpp"
#include "estimate/regression/converged.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/estimate/regression/objective.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/estimate/statistics/selection.hpp"
#include "score/factorizations.hpp"

namespace fenchel::detail {
namespace {

/// Integrals over the support.
struct Integrals {
  double square = 0;        ///< int e^2
  Eigen::VectorXd pull;     ///< int e de
  Eigen::MatrixXd hessian;  ///< int de de^T
  Eigen::MatrixXd scatter;  ///< int e de de^T

  /// By 60 Gauss nodes on either side of mu.
  Integrals(const ExcessModel& p, index_t parameters)
      : pull(Eigen::VectorXd::Zero(parameters)),
        hessian(Eigen::MatrixXd::Zero(parameters, parameters)),
        scatter(hessian) {
    constexpr int kPanels = 4;
    using Rule = boost::math::quadrature::gauss<double, 30>;
    const double half = p.half_width / kPanels;
    Eigen::VectorXd derivative(parameters);
    for (int panel = 0; panel < kPanels; ++panel) {
      const double middle = p.mu - p.half_width + (2 * panel + 1) * half;
      for (std::size_t k = 0; k < Rule::abscissa().size(); ++k) {
        for (const double x : {-Rule::abscissa()[k], Rule::abscissa()[k]}) {
          const double e = p.excess(middle + half * x, derivative), weight = half * Rule::weights()[k];
          square += weight * e * e;
          pull += weight * e * derivative;
          hessian += weight * derivative * derivative.transpose();
          scatter += weight * e * derivative * derivative.transpose();
        }
      }
    }
  }
};

/// The middle of the data and its standard deviation, by its quartiles as of a Gaussian: values far off move
/// neither. Where half of the data is one value, its mean and standard deviation.
struct Unit {
  double centre, deviation;
};
Unit unit_of(const Data& data, const LineMoments& moments) {
  constexpr double kGaussianQuartile = 0.6744897501960817;
  const double lower = weighted_quantile(data, 0.25), upper = weighted_quantile(data, 0.75);
  const double deviation = (upper - lower) / (2 * kGaussianQuartile);
  if (std::isnormal(deviation * deviation)) return {lower + (upper - lower) / 2, deviation};
  return {moments.mean(), std::sqrt(moments.variance())};
}

}  // namespace

ExcessFit fit_excess(std::string_view where, const Data& data,
                     FunctionRef<ExcessModel(const Eigen::VectorXd& x)> model, const Eigen::VectorXd& start) {
  const LineMoments moments = collect(data, LineMoments());
  check_moments(where, moments);
  const Unit scale = unit_of(data, moments);

  const index_t size = start.size();
  const Eigen::LLT<Eigen::MatrixXd> unit(Integrals(model(start), size).hessian);
  const auto parameters = [&](const Eigen::VectorXd& u) -> Eigen::VectorXd {
    return start + unit.matrixU().solve(u);
  };
  // The loss less 1/2; the derivatives of int p^2 / 2 are int p de.
  const auto loss = [&](const Eigen::VectorXd& u, Eigen::VectorXd& gradient) {
    std::optional<ExcessModel> p;
    try {
      p = model(parameters(u));
    } catch (const std::domain_error&) {
      gradient.setZero();
      return kInfinity;
    }
    const BatchLoss add = [&](const Eigen::VectorXd&, Rows<const double> rows, PerRow weights,
                              ObjectiveSum& sum) {
      Eigen::VectorXd derivative(size), pull = Eigen::VectorXd::Zero(size);
      double weight = 0, value = 0;
      for (index_t i = 0; i < rows.rows; ++i) {
        if (weights[i] == 0) continue;
        value -= weights[i] * p->excess((rows[i][0] - scale.centre) / scale.deviation, derivative);
        pull -= weights[i] * derivative;
        weight += weights[i];
      }
      sum.add(weight, value, pull);
    };
    const ObjectiveSum observed = mean_loss(data, add, u);
    const Integrals expected(*p, size);
    gradient = unit.matrixL().solve(expected.pull + observed.gradient());
    return expected.square / 2 + observed.value();
  };
  MinimizeOptions options;
  options.tolerance = 1e-10;
  const Minimum found = minimize(loss, Eigen::VectorXd::Zero(size), options);
  check_converged(where, found, 1e-7, "");

  const Eigen::VectorXd x = parameters(found.x);
  const Integrals at(model(x), size);
  const Eigen::MatrixXd inverse = at.hessian.llt().solve(Eigen::MatrixXd::Identity(size, size));
  return {scale.centre,
          scale.deviation,
          x,
          inverse * (at.scatter - at.pull * at.pull.transpose()) * inverse / moments.weight(),
          0.5 + found.value / scale.deviation,
          moments.weight()};
}

}  // namespace fenchel::detail
