#pragma once

#include <memory>
#include <vector>

#include "backend/attention/space_hessian.hpp"
#include "backend/cpu/attention/space_row.hpp"

/// The derivatives of attention_space_hessian.hpp for eight pairs at a time.
namespace fenchel::detail {

/// Memory of one worker.
class PairMemory {
 public:
  explicit PairMemory(index_t dimension);

 private:
  friend class PairRow;
  std::unique_ptr<SpaceNodes::Node[]> nodes_;  ///< not initialised: few are used
  std::vector<double> row_, matrices_;
  std::vector<Complex> jets_;
};

class PairRow : private SpaceRow {
 public:
  PairRow(const DensityRow& p, const cpu::GaussianFunctions& psi, PairMemory& memory) noexcept;

  /// Finds the nodes of functions [first, first + lanes), at most eight. False where they are not accurate.
  [[nodiscard]] bool integrate(index_t first, index_t lanes) noexcept;

  /// The gradient in d and V of function number `lane`.
  void gradient(index_t lane, double* distance, double* covariance) noexcept;

  /// The Hessian times `direction`, which is changed. Parts in alpha are left out unless `alpha_too`.
  void hessian(index_t lane, bool alpha_too, PairTangents& direction, PairTangents& product) noexcept;

 private:
  template <int kOrder>
  void add_nodes(index_t lane, bool alpha_too, const PairTangents& direction, PairTangents& product,
                 double* moments) noexcept;
  void turn_in(index_t lane, double* x) noexcept;
  void turn_out(index_t lane, double* x) noexcept;
  using Turn = void (PairRow::*)(index_t, double*) noexcept;
  void turn_matrix(Turn turn, index_t lane, double* matrix) noexcept;

  PairMemory& memory_;
  SpaceNodes nodes_{};
};

}  // namespace fenchel::detail
