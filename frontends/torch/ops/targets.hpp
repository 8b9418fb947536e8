#pragma once

#include <type_traits>

#include "ops/device.hpp"

/// What the losses over rows share.
namespace fenchel::ops {

/// A class a row, or a distribution a row.
class Targets {
 public:
  Targets(const std::optional<Tensor>& classes, const std::optional<Tensor>& soft, std::int64_t ignore_index,
          const Tensor& scores, std::int64_t dim, ScalarType type)
      : ignored_(ignore_index) {
    if (classes.has_value() == soft.has_value()) {
      throw std::invalid_argument("fenchel: either classes or soft must be given");
    }
    if (classes) {
      const Tensor& one_each = of_type("classes", *classes, ScalarType::Long, "int64");
      classes_ = contiguous_rows(checked("classes", one_each, shape_per_row(scores, dim)), dim);
    }
    if (soft) soft_.emplace("soft", *soft, scores, dim, type);
  }
  /// A class a row, of the shape of the scores without `dim`.
  Targets(const Tensor& classes, std::int64_t ignore_index, const Tensor& scores, std::int64_t dim)
      : ignored_(ignore_index) {
    Shape shape = shape_of(scores);
    shape.erase(shape.end() + dim);
    classes_ = contiguous_rows(
        checked("classes", of_type("classes", classes, ScalarType::Long, "int64"), shape), -1);
  }

  [[nodiscard]] backend::ClassTargets classes() const {
    return {numbers_of<const index_t>(*classes_), ignored_};
  }

  /// Calls body(targets, cross) with the targets as the library takes them, T being the type of their rows;
  /// on a class both losses agree.
  template <class T, class Body>
  void visit(bool cross, const Body& body) const {
    if (soft_) {
      const backend::SoftTargets<T> distributions{soft_->template rows<T>()};
      cross ? body(distributions, std::true_type()) : body(distributions, std::false_type());
    } else {
      body(classes(), std::false_type());
    }
  }

 private:
  std::int64_t ignored_;
  std::optional<Tensor> classes_;
  std::optional<Device::Input> soft_;
};

}  // namespace fenchel::ops
