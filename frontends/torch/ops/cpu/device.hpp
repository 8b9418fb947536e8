#pragma once

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/backend/cpu/beta_gaussian_batch.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/backend/cpu/match_weights.hpp"
#include "fenchel/backend/cpu/weighted_entmax.hpp"
#include "fenchel/core/rows.hpp"
#include "ops/cpu/torch_pool.hpp"
#include "ops/tensors.hpp"

namespace fenchel::ops {

namespace backend = cpu;

/// A tensor to read as rows: in place where its rows lie at equal distances, else a copy.
class InputRows {
 public:
  InputRows(const char* name, const Tensor& x, std::int64_t dim, ScalarType type)
      : tensor_(converted(name, x, type)), cols_(x.size(checked_dim(name, x, dim))), stride_(cols_) {
    if (tensor_.dim() == 2 && tensor_.stride(dim) == 1) {
      stride_ = tensor_.stride(-3 - dim);
    } else {
      tensor_ = contiguous_rows(tensor_, dim);
    }
  }
  /// The rows of a tensor that must have the shape of another.
  InputRows(const char* name, const Tensor& x, const Tensor& like, std::int64_t dim, ScalarType type)
      : InputRows(name, checked(name, x, like.sizes()), dim, type) {}
  template <class Real>
  [[nodiscard]] Rows<const Real> rows() const {
    return {static_cast<const Real*>(tensor_.const_data_ptr()), cols_ == 0 ? 0 : tensor_.numel() / cols_,
            cols_, stride_};
  }

 private:
  Tensor tensor_;
  index_t cols_, stride_;
};

/// An operation on tensors in the memory of the CPU, on torch's threads.
class Cpu {
 public:
  using Input = InputRows;
  template <class T>
  using View = Rows<T>;

  template <class... Tensors>
  explicit Cpu(const Tensors&...) : pool_(torch_pool()) {}

  /// The type that the rows of a tensor are given to the library in.
  [[nodiscard]] static ScalarType type_of(const char* name, const Tensor& x) { return computed_in(name, x); }
  template <class Body>
  static void visit(ScalarType type, const Body& body) {
    visit_real(type, body);
  }
  /// f, of the library.
  template <class F, class... Arguments>
  void call(const F& f, const Arguments&... arguments) const {
    f(arguments...);
  }

 private:
  ScopedThreadPool pool_;
};

template <class Real>
void fusedmax_map(const Tensor& /*like*/, Rows<const Real> scores, PerRow gamma, Rows<Real> p) {
  cpu::fusedmax(scores, gamma, p);
}

}  // namespace fenchel::ops

#define FENCHEL_DISPATCH_KEY CPU
