#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/QR>

/// Eigen's factorizations of a MatrixXd, which take seconds to compile: factorizations.cpp does it for all.
/// Give them a matrix and no expression, which would be compiled again.
namespace Eigen {

extern template LLT<MatrixXd>& LLT<MatrixXd>::compute(const EigenBase<MatrixXd>&);
extern template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute(
    const EigenBase<MatrixXd>&, int);
extern template ColPivHouseholderQR<MatrixXd>& ColPivHouseholderQR<MatrixXd>::compute(
    const EigenBase<MatrixXd>&);

}  // namespace Eigen
