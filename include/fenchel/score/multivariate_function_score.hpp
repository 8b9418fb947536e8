#pragma once

/// `MultivariateFunctionScore`: any callable of points as a score on R^N or a box.

#include <Eigen/Core>
#include <functional>
#include <utility>

namespace fenchel {

/// Any callable of points as a score on R^N or a box.
class MultivariateFunctionScore {
 public:
  /// Values at points, which are the columns of a matrix.
  using Batch = std::function<Eigen::VectorXd(const Eigen::MatrixXd&)>;

  explicit MultivariateFunctionScore(std::function<double(const Eigen::VectorXd&)> f)
      : f_([f = std::move(f)](const Eigen::MatrixXd& points) {
          Eigen::VectorXd values(points.cols());
          for (Eigen::Index i = 0; i < points.cols(); ++i) values[i] = f(points.col(i));
          return values;
        }) {}
  /// A callable that takes many points at once.
  [[nodiscard]] static MultivariateFunctionScore batched(Batch f) {
    MultivariateFunctionScore score;
    score.f_ = std::move(f);
    return score;
  }

  [[nodiscard]] double operator()(const Eigen::VectorXd& t) const { return f_(t)[0]; }
  [[nodiscard]] const Batch& batch() const noexcept { return f_; }

 private:
  MultivariateFunctionScore() = default;
  Batch f_;
};

}  // namespace fenchel
