#pragma once

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/backend/cpu/beta_gaussian_batch.hpp"
#include "fenchel/backend/cpu/cached_attention.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/backend/cpu/match_weights.hpp"
#include "fenchel/backend/cpu/weighted_entmax.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/rows.hpp"
#include "ops/cpu/check.hpp"
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

/// The rows of scores as chains of some length, with weights of their edges.
class ChainRows {
 public:
  ChainRows(const std::optional<Tensor>& lengths, const std::optional<Tensor>& weights, const Tensor& scores,
            std::int64_t dim) {
    static_cast<void>(checked_dim("scores", scores, dim));
    if (lengths) {
      const Tensor& one_each = of_type("lengths", *lengths, ScalarType::Long, "int64");
      lengths_ = contiguous_rows(checked("lengths", one_each, shape_per_row(scores, dim)), dim);
      view_.lengths = numbers_of<const index_t>(*lengths_);
    }
    if (!weights) return;
    Shape shape = shape_of(scores);
    std::int64_t& edges = shape[shape.size() + static_cast<std::size_t>(dim)];
    edges = std::max<std::int64_t>(edges - 1, 0);
    const Tensor& factors = of_type("weights", *weights, ScalarType::Double, "float64");
    weights_ = contiguous_rows(checked("weights", factors, shape), dim);
    if (weights_->numel() == 0) return;
    view_.weights = {static_cast<const double*>(weights_->const_data_ptr()), weights_->numel() / edges,
                     edges};
  }
  [[nodiscard]] const cpu::Chain& view() const { return view_; }

  /// fusedmax and its derivatives on these chains.
  template <class... Arguments>
  void fusedmax(const Tensor& /*like*/, const Arguments&... arguments) const {
    cpu::fusedmax(arguments..., view_);
  }
  template <class... Arguments>
  void fusedmax_vjp(const Arguments&... arguments) const {
    cpu::fusedmax_vjp(arguments..., view_);
  }
  template <class... Arguments>
  void fusedmax_jvp(const Arguments&... arguments) const {
    cpu::fusedmax_jvp(arguments..., view_);
  }

 private:
  std::optional<Tensor> lengths_, weights_;
  cpu::Chain view_;
};

/// An operation on tensors in the memory of the CPU, on torch's threads, which a check of the front end may
/// end.
class Cpu {
 public:
  using Input = InputRows;
  using Chain = ChainRows;
  template <class T>
  using View = Rows<T>;

  template <class... Tensors>
  explicit Cpu(const Tensors&...) : Cpu(true) {}
  /// The same over the rows of a tensor: few numbers are done before a check would be due, which would cut
  /// the first row from those that are solved with it.
  template <class... Tensors>
  [[nodiscard]] static Cpu of_rows(const Tensor& rows, const Tensors&...) {
    constexpr std::int64_t kFew = 1024;
    return Cpu(rows.numel() > kFew);
  }

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
  explicit Cpu(bool is_checked) : pool_(torch_pool()) {
    if (is_checked && given_ != nullptr) check_.emplace(given_);
  }

  ScopedThreadPool pool_;
  Check given_ = given_check();
  std::optional<ScopedCheck> check_;
};

}  // namespace fenchel::ops

#define FENCHEL_DISPATCH_KEY CPU
