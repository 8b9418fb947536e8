#pragma once

/// `attend` and its derivatives for mixtures.

#include <Eigen/Core>
#include <vector>

#include "fenchel/attention/attend.hpp"
#include "fenchel/attention/attend_derivatives.hpp"
#include "fenchel/attention/concatenated_basis.hpp"
#include "fenchel/attention/gaussian_basis.hpp"
#include "fenchel/attention/polynomial_basis.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/mixture.hpp"

/// Attention with several modes: E_p[psi] is linear in p, so that a mixture attends by its components, with
/// whichever basis they can [A. Farinhas, A. Martins, P. Aguiar, Multimodal continuous visual attention
/// mechanisms, ICCVW 2021].
namespace fenchel {

/// Derivatives with respect to the weights of a mixture and the parameters of each component.
template <class Gradient>
struct MixtureGradient {
  Eigen::VectorXd weights;
  std::vector<Gradient> components;
};

namespace detail {
template <class P, class Psi>
[[nodiscard]] Eigen::VectorXd attend_components(const Mixture<P>& p, const Psi& psi) {
  Eigen::VectorXd r = Eigen::VectorXd::Zero(psi.size());
  for_each_component(p, [&](double weight, const P& c) { r += weight * attend(c, psi); });
  return r;
}
}  // namespace detail

/// sum_k weight_k E_k[psi].
template <class P, class Psi>
requires requires(const P& c, const Psi& psi) { attend(c, psi); }
[[nodiscard]] Eigen::VectorXd attend(const Mixture<P>& p, const Psi& psi) {
  return detail::attend_components(p, psi);
}
/// The same for bases that have a way of their own for any density, and would rather take that.
template <LineDistribution P>
[[nodiscard]] Eigen::VectorXd attend(const Mixture<P>& p, const GaussianBasis& psi) {
  return detail::attend_components(p, psi);
}
template <LineDistribution P>
[[nodiscard]] Eigen::VectorXd attend(const Mixture<P>& p, const PolynomialBasis& psi) {
  return detail::attend_components(p, psi);
}
template <LineDistribution P, class... Parts>
[[nodiscard]] Eigen::VectorXd attend(const Mixture<P>& p, const ConcatenatedBasis<Parts...>& psi) {
  return detail::attend_components(p, psi);
}

/// The gradient of cotangent . attend(p, psi). That in the weights is E_k[psi] . cotangent, which is right
/// along directions that keep the sum of the weights; add any constant to all of it.
template <class P, class Psi>
requires requires(const P& c, const Psi& psi, const Eigen::VectorXd& cotangent) {
  attend_vjp(c, psi, cotangent);
}
[[nodiscard]] auto attend_vjp(const Mixture<P>& p, const Psi& psi, const Eigen::VectorXd& cotangent) {
  MixtureGradient<decltype(attend_vjp(p.components()[0], psi, cotangent))> gradient{Eigen::VectorXd(p.size()),
                                                                                    {}};
  for (index_t k = 0; k < p.size(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    gradient.components.push_back(
        attend_vjp(p.components()[i], psi, Eigen::VectorXd(p.weights()[i] * cotangent)));
    gradient.weights[k] = attend(p.components()[i], psi).dot(cotangent);
  }
  return gradient;
}

/// The derivative of attend(p, psi) along a direction. Throws std::invalid_argument unless it has one weight
/// and one set of parameters for each component.
template <class P, class Psi, class Gradient>
requires requires(const P& c, const Psi& psi, const Gradient& direction) { attend_jvp(c, psi, direction); }
[[nodiscard]] Eigen::VectorXd attend_jvp(const Mixture<P>& p, const Psi& psi,
                                         const MixtureGradient<Gradient>& direction) {
  const auto check = [&p](const char* what, index_t size) {
    if (size != p.size())
      throw_invalid_argument("attend_jvp", what, "must be the number of components " + shortest(p.size()),
                             size);
  };
  check("direction.weights.size()", direction.weights.size());
  check("direction.components.size()", static_cast<index_t>(direction.components.size()));
  Eigen::VectorXd r = Eigen::VectorXd::Zero(psi.size());
  for (index_t k = 0; k < p.size(); ++k) {
    const auto i = static_cast<std::size_t>(k);
    r += direction.weights[k] * attend(p.components()[i], psi) +
         p.weights()[i] * attend_jvp(p.components()[i], psi, direction.components[i]);
  }
  return r;
}

}  // namespace fenchel
