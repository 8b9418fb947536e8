#pragma once

#include <string_view>

#include "fenchel/backend/cpu/attention.hpp"

/// Derivatives in the functions.
namespace fenchel::detail {

/// The gradient of sum_ij cotangent_ij r_ij.
template <class Real>
void basis_gradient(std::string_view where, const cpu::Densities<Real>& p, const cpu::GaussianFunctions& psi,
                    Rows<const Real> cotangent, const cpu::BasisTangents<double>& gradient);

/// How r moves, B x N, when the functions do.
template <class Real>
void basis_tangent(std::string_view where, const cpu::Densities<Real>& p, const cpu::GaussianFunctions& psi,
                   const cpu::BasisTangents<const double>& direction, Rows<double> tangent);

}  // namespace fenchel::detail
