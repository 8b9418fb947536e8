#pragma once

/// How an operation for libtorch gets its first and second derivatives in reverse mode.

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// In the library fenchel::torch_ops. A program that names it is linked with the library, whose operations
/// torch then finds by their names.
extern "C" void fenchel_load_torch_ops();
#ifdef FENCHEL_TORCH_OPS_CUDA
/// The same in fenchel::torch_ops_cuda, for tensors on a GPU.
extern "C" void fenchel_load_torch_ops_cuda();
#endif

/// How an operation gets its derivatives, of first and second order, in reverse mode.
namespace fenchel::libtorch::detail {

using at::Tensor;

using ::torch::autograd::AutogradContext;
using ::torch::autograd::Function;

/// A tensor that is not there is undefined.
using Tensors = std::vector<Tensor>;
using Numbers = std::vector<c10::IValue>;

[[nodiscard]] inline Tensors joined(Tensors first, const Tensors& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

[[nodiscard]] inline Tensors part(const Tensors& all, std::size_t begin, std::size_t count) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(begin);
  return {first, first + static_cast<std::ptrdiff_t>(count)};
}

[[nodiscard]] inline Tensor or_zero(const Tensor& x, const Tensor& like) {
  return x.defined() ? x : at::zeros_like(like);
}

[[nodiscard]] inline Tensor added(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() ? a + b : a.defined() ? a : b;
}

/// The results of an operation, by its name.
[[nodiscard]] inline Tensors run(const std::string& name, const Tensors& tensors, const Numbers& numbers) {
  fenchel_load_torch_ops();
#ifdef FENCHEL_TORCH_OPS_CUDA
  fenchel_load_torch_ops_cuda();
#endif
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  std::vector<c10::IValue> stack;
  for (const Tensor& t : tensors) stack.push_back(t.defined() ? c10::IValue(t) : c10::IValue());
  stack.insert(stack.end(), numbers.begin(), numbers.end());
  c10::Dispatcher::singleton().findSchemaOrThrow(("fenchel::" + name).c_str(), "").callBoxed(stack);
  Tensors results;
  for (const c10::IValue& result : stack) results.push_back(result.toTensor());
  return results;
}

/// Which of a list of tensors: bit i stands for the i-th.
using Places = std::uint64_t;

template <class Predicate>
[[nodiscard]] Places places_where(const Tensors& all, const Predicate& predicate) {
  Places places = 0;
  for (std::size_t i = 0; i < all.size(); ++i) places |= Places{predicate(all[i]) ? 1U : 0U} << i;
  return places;
}

[[nodiscard]] inline Places there(const Tensors& all) {
  return places_where(all, [](const Tensor& t) { return t.defined(); });
}

/// Those that a gradient is asked for.
[[nodiscard]] inline Places wanted(const Tensors& x) {
  return places_where(x, [](const Tensor& t) { return t.defined() && t.requires_grad(); });
}

/// What is at the places.
[[nodiscard]] inline Tensors gathered(const Tensors& all, Places places) {
  Tensors some;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (places >> i & 1) some.push_back(all[i]);
  }
  return some;
}

/// The inverse: `some` at their places, and undefined tensors elsewhere.
[[nodiscard]] inline Tensors spread(at::TensorList some, Places places, std::size_t count) {
  Tensors all(count);
  const Tensor* next = some.begin();
  for (std::size_t i = 0; i < count; ++i) {
    if (places >> i & 1) all[i] = *next++;
  }
  return all;
}

/// autograd gets those tensors that are there, and this.
struct Call {
  Places places;
  std::size_t count;
  Numbers numbers;
};

template <class F>
[[nodiscard]] Tensors apply(const Tensors& all, const Numbers& numbers) {
  const Tensors present = gathered(all, there(all));
  return F::apply(at::TensorList(present), Call{there(all), all.size(), numbers});
}

/// What a backward returns: the gradients in the tensors that were there, and none in the Call.
[[nodiscard]] inline Tensors gradients(const Tensors& gradient, const Tensors& all) {
  return joined(gathered(gradient, there(all)), {Tensor()});
}

/// An operation y = f(x, numbers) after it has run. Some x may not be there. The outputs are y, and whatever
/// else its derivatives use.
struct State {
  Tensors x, outputs;
  Numbers numbers;
};

/// The operation Rule::kName of kCount tensors x and kResults outputs. No derivative reads the x of
/// unread(numbers), so these are not kept. With phi = <grad, y>, vjp(state, grad, wanted) is the gradient of
/// phi, jvp(state, dx) how y moves along dx, of which some may not be there, and hessian(state, grad, dx,
/// wanted) the Hessian of phi times dx: vjp and hessian have something for each x that is wanted.
template <class Rule>
class Differentiable {
 public:
  [[nodiscard]] static Tensor value(const Tensors& x, const Numbers& numbers) {
    const bool is_recorded = at::GradMode::is_enabled() && wanted(x) != 0;
    return (is_recorded ? apply<Value>(x, numbers) : run(Rule::kName, x, numbers))[0];
  }

 private:
  static constexpr std::size_t kInputs = Rule::kCount + Rule::kResults;

  /// What all steps but the first begin with, and what follows it.
  struct Step {
    Step(const Tensors& all, Numbers numbers)
        : state{part(all, 0, Rule::kCount), part(all, Rule::kCount, Rule::kResults), std::move(numbers)},
          rest(part(all, kInputs, all.size() - kInputs)) {}
    explicit Step(const AutogradContext* context)
        : Step(context->get_saved_variables(),
               context->saved_data.at("numbers").toTupleRef().elements().vec()) {}
    Step(AutogradContext* context, at::TensorList present, const Call& call)
        : Step(spread(present, call.places, call.count), call.numbers) {
      keep(context, all(), call.numbers);
    }
    [[nodiscard]] Tensors all() const { return joined(joined(state.x, state.outputs), rest); }

    State state;
    Tensors rest;
  };

  static void keep(AutogradContext* context, const Tensors& all, const Numbers& numbers) {
    context->save_for_backward(all);
    context->saved_data["numbers"] = c10::ivalue::Tuple::create(numbers);
    context->set_materialize_grads(false);
  }

  /// y. Beside the outputs there is a place holder for each x that is not read: it stands for x where a
  /// gradient is differentiated again, and takes no memory.
  struct Value : Function<Value> {
    static Tensors forward(AutogradContext* context, at::TensorList present, const Call& call) {
      Tensors x = spread(present, call.places, call.count), place_holders;
      const Tensors outputs = run(Rule::kName, x, call.numbers);
      for (std::size_t i = 0; i < Rule::kCount; ++i) {
        if ((Rule::unread(call.numbers) >> i & 1) == 0) continue;
        const std::vector<std::int64_t> strides(static_cast<std::size_t>(x[i].dim()));
        place_holders.push_back(x[i] = at::empty_strided(x[i].sizes(), strides, x[i].options()));
      }
      keep(context, joined(x, outputs), call.numbers);
      context->mark_non_differentiable(part(outputs, 1, Rule::kResults - 1));
      return joined(outputs, place_holders);
    }
    static Tensors backward(AutogradContext* context, const Tensors& grads) {
      const State state = Step(context).state;
      Tensors gradient(Rule::kCount);
      if (grads[0].defined()) gradient = vjp(state, grads[0]);
      const Tensors through =
          spread(at::TensorList(grads).slice(Rule::kResults), Rule::unread(state.numbers), Rule::kCount);
      for (std::size_t i = 0; i < Rule::kCount; ++i) gradient[i] = added(gradient[i], through[i]);
      return gradients(gradient, state.x);
    }
  };

  /// The wanted gradient of phi, as a function of x and grad: the outputs are there to be reused, and what
  /// they contribute is counted at x.
  struct Vjp : Function<Vjp> {
    static Tensors forward(AutogradContext* context, at::TensorList present, const Call& call) {
      const Step step(context, present, call);
      const Places places = wanted(step.state.x);
      return gathered(Rule::vjp(step.state, step.rest[0], places), places);
    }
    static Tensors backward(AutogradContext* context, const Tensors& weights) {
      const Step step(context);
      const Tensors dx = spread(weights, wanted(step.state.x), Rule::kCount);
      if (!there(dx)) return gradients(Tensors(kInputs + 1), step.all());
      const Tensors through_x = hessian(step.state, step.rest[0], dx);
      return gradients(joined(joined(through_x, Tensors(Rule::kResults)), {jvp(step.state, dx)}), step.all());
    }
  };

  /// How y moves along dx, as a function of x and dx.
  struct Jvp : Function<Jvp> {
    static Tensors forward(AutogradContext* context, at::TensorList present, const Call& call) {
      const Step step(context, present, call);
      return {Rule::jvp(step.state, step.rest)};
    }
    static Tensors backward(AutogradContext* context, const Tensors& cotangent) {
      const Step step(context);
      if (!cotangent[0].defined()) return gradients(Tensors(kInputs + Rule::kCount), step.all());
      const Tensors through_x = hessian(step.state, cotangent[0], step.rest);
      return gradients(joined(joined(through_x, Tensors(Rule::kResults)), vjp(step.state, cotangent[0])),
                       step.all());
    }
  };

  /// The wanted part of the Hessian of phi, times dx. Nobody differentiates it again: an error is better than
  /// a silent zero.
  struct Hessian : Function<Hessian> {
    static Tensors forward(AutogradContext*, at::TensorList present, const Call& call) {
      const Step step(spread(present, call.places, call.count), call.numbers);
      const Places places = wanted(step.state.x);
      return gathered(Rule::hessian(step.state, step.rest[0], part(step.rest, 1, Rule::kCount), places),
                      places);
    }
    static Tensors backward(AutogradContext*, const Tensors&) {
      TORCH_CHECK_NOT_IMPLEMENTED(false, "fenchel::libtorch: ", Rule::kName,
                                  " has first and second derivatives, and no higher ones");
    }
  };

  template <class F>
  [[nodiscard]] static Tensors step(const State& s, const Tensors& rest) {
    return apply<F>(joined(joined(s.x, s.outputs), rest), s.numbers);
  }
  [[nodiscard]] static Tensors vjp(const State& s, const Tensor& grad) {
    return spread(step<Vjp>(s, {grad}), wanted(s.x), Rule::kCount);
  }
  [[nodiscard]] static Tensor jvp(const State& s, const Tensors& dx) { return step<Jvp>(s, dx)[0]; }
  [[nodiscard]] static Tensors hessian(const State& s, const Tensor& grad, const Tensors& dx) {
    return spread(step<Hessian>(s, joined({grad}, dx)), wanted(s.x), Rule::kCount);
  }
};

}  // namespace fenchel::libtorch::detail
