#include "fenchel/attention/composition.hpp"

#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "attention/cool.hpp"
#include "attention/row_views.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/backend/cpu/match_weights.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/score/vector_score.hpp"

namespace fenchel::detail {
namespace {

/// On the way to a context: H (w + G r), which never forms B.
struct Composed {
  Eigen::VectorXd weights;     ///< w
  Eigen::VectorXd mu, scale;   ///< of the density
  Eigen::VectorXd mean_basis;  ///< r = E_p[psi]
  Eigen::VectorXd total;       ///< what each column of H counts for in the context

  [[nodiscard]] cpu::Densities<double> density(double alpha) const {
    return {alpha, {mu.data(), 1, mu.size()}, {scale.data(), 1, scale.size()}};
  }
};

void check_size(std::string_view where, std::string_view what, index_t got, std::string_view expected_name,
                index_t expected) {
  if (got == expected) return;
  throw_invalid_argument(where, what,
                         std::string("must equal ").append(expected_name).append(shortest(expected)), got);
}

Composed compose_weights(std::string_view where, const Composition& composition,
                         const GaussianRegression& ridge, const Eigen::VectorXd& scores,
                         const Eigen::MatrixXd& observations) {
  constexpr auto kPositions = "the number of positions, ";
  const index_t length = ridge.positions.cols(), dimension = ridge.positions.rows();
  check_size(where, "scores.size()", scores.size(), kPositions, length);
  check_size(where, "observations.cols()", observations.cols(), kPositions, length);
  const VectorScore checked({scores.begin(), scores.end()});
  Composed made{.weights = scores,
                .mu = Eigen::VectorXd(dimension),
                .scale = Eigen::VectorXd(dimension * dimension),
                .mean_basis = Eigen::VectorXd(ridge.functions.mu.rows),
                .total = Eigen::VectorXd::Zero(length)};
  cool(made.weights, composition.weights.temperature());
  cpu::entmax(row_of(made.weights), composition.weights.alpha(), row_of(made.weights));
  if (composition.kind != AttentionKind::continuous) made.total += made.weights;
  if (composition.kind != AttentionKind::discrete) {
    cpu::match_weights<double>(composition.alpha, row_of(made.weights), points_of(ridge.positions),
                               composition.floor, {.mu = row_of(made.mu), .Sigma = row_of(made.scale)});
    cpu::attend(made.density(composition.alpha), ridge.functions, row_of(made.mean_basis));
    made.total += ridge.system.matrix() * made.mean_basis;
  }
  return made;
}

/// A power of two of the size of the largest entry; 1 where that is 0 or no number.
double binary_size(const Eigen::VectorXd& x) {
  const double largest = x.lpNorm<Eigen::Infinity>();
  return largest > 0 && std::isfinite(largest) ? std::exp2(std::ilogb(largest)) : 1;
}

}  // namespace

Eigen::VectorXd compose(const Composition& composition, const GaussianRegression& ridge,
                        const Eigen::VectorXd& scores, const Eigen::MatrixXd& observations) {
  return observations * compose_weights("compose", composition, ridge, scores, observations).total;
}

CompositionGradient compose_vjp(const Composition& composition, const GaussianRegression& ridge,
                                const Eigen::VectorXd& scores, const Eigen::MatrixXd& observations,
                                const Eigen::VectorXd& cotangent) {
  constexpr auto kWhere = "compose_vjp";
  check_size(kWhere, "cotangent.size()", cotangent.size(), "observations.rows() = ", observations.rows());
  const Composed made = compose_weights(kWhere, composition, ridge, scores, observations);
  const Eigen::VectorXd of_total = observations.transpose() * cotangent;
  const index_t length = scores.size();
  Eigen::VectorXd of_weights = Eigen::VectorXd::Zero(length);
  CompositionGradient gradient{.scores = Eigen::VectorXd(length),
                               .observations = cotangent * made.total.transpose(),
                               .weights_alpha = 0,
                               .alpha = 0,
                               .ridge = 0};
  if (composition.kind != AttentionKind::discrete) {
    const RidgeGradient of_ridge = ridge.system.vjp(of_total.transpose(), made.mean_basis.transpose());
    gradient.ridge = of_ridge.ridge;
    Eigen::VectorXd of_basis = ridge.system.matrix().transpose() * of_total;
    const double size = binary_size(of_basis);  // slopes in a scale near 0, times a large size, overflow
    of_basis /= size;
    Eigen::VectorXd of_mu(made.mu.size()), of_scale(made.scale.size());
    cpu::attend_vjp(made.density(composition.alpha), ridge.functions, row_of(of_basis),
                    {std::span(&gradient.alpha, 1), row_of(of_mu), row_of(of_scale)});
    cpu::match_weights_vjp(composition.alpha, row_of(made.weights), points_of(ridge.positions),
                           composition.floor,
                           {std::span(&gradient.alpha, 1), row_of(of_mu), row_of(of_scale)},
                           row_of(of_weights), std::span(&gradient.alpha, 1));
    of_weights *= size;
    gradient.alpha *= size;
  }
  if (composition.kind != AttentionKind::continuous) of_weights += of_total;
  cpu::entmax_vjp(row_of(made.weights), composition.weights.alpha(), row_of(of_weights),
                  row_of(gradient.scores), std::span(&gradient.weights_alpha, 1));
  gradient.scores /= composition.weights.temperature();
  return gradient;
}

}  // namespace fenchel::detail
