#include "estimate/regression/row_products.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>

namespace fenchel::detail {
namespace {

PaddedRows padded(const Eigen::MatrixXd& matrix) {
  PaddedRows rows(matrix.rows(), matrix.cols());
  for (index_t i = 0; i < matrix.rows(); ++i)
    for (index_t j = 0; j < matrix.cols(); ++j) rows.row(i)[j] = matrix(i, j);
  return rows;
}

TEST(RowProducts, AreThoseOfMatricesForEveryShape) {
  for (const index_t rows : {1, 2, 5, 12}) {
    for (const index_t classes : {1, 2, 3, 10}) {
      for (const index_t features : {1, 7, 8, 9, 65}) {
        const Eigen::MatrixXd x = Eigen::MatrixXd::Random(rows, features);
        const Eigen::MatrixXd w = Eigen::MatrixXd::Random(classes, features);
        const PaddedRows left = padded(x), right = padded(w);
        PaddedRows products(rows, classes), sums = padded(w);
        multiply_rows(left, rows, right, products);
        const Eigen::MatrixXd expected = x * w.transpose(), total = w + expected.transpose() * x;
        add_multiples(products, left, rows, sums);
        for (index_t i = 0; i < rows; ++i)
          for (index_t k = 0; k < classes; ++k)
            EXPECT_NEAR(products.row(i)[k], expected(i, k), 1e-15 * static_cast<double>(8 + features));
        for (index_t k = 0; k < classes; ++k)
          for (index_t j = 0; j < features; ++j)
            EXPECT_NEAR(sums.row(k)[j], total(k, j), 1e-15 * static_cast<double>(8 + features * rows));
      }
    }
  }
}

TEST(RowProducts, TakeTheFirstRowsAlone) {
  const Eigen::MatrixXd x = Eigen::MatrixXd::Random(6, 3);
  const PaddedRows factors = padded(Eigen::MatrixXd::Ones(6, 2));
  PaddedRows sums(2, 3);
  add_multiples(factors, padded(x), 4, sums);
  for (index_t j = 0; j < 3; ++j) EXPECT_NEAR(sums.row(1)[j], x.col(j).head(4).sum(), 1e-15);
}

}  // namespace
}  // namespace fenchel::detail
