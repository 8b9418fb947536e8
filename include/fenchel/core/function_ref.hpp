#pragma once

/// `FunctionRef`: a reference to a callable, for the length of a call.

#include <memory>
#include <type_traits>
#include <utility>

namespace fenchel {

/// A reference to a callable, or a function, that the caller owns for the length of a call: so a template
/// hands a lambda to compiled code.
template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Callable>
  requires std::is_invocable_r_v<Result, const Callable&, Arguments...> FunctionRef(const Callable& callable)
  noexcept {
    if constexpr (std::is_function_v<Callable>) {
      erased_.function = reinterpret_cast<void (*)()>(&callable);
    } else {
      erased_.object = std::addressof(callable);
    }
    call_ = [](Erased erased, Arguments... arguments) -> Result {
      if constexpr (std::is_function_v<Callable>) {
        return reinterpret_cast<Callable*>(erased.function)(std::forward<Arguments>(arguments)...);
      } else {
        return (*static_cast<const Callable*>(erased.object))(std::forward<Arguments>(arguments)...);
      }
    };
  }

  Result operator()(Arguments... arguments) const {
    return call_(erased_, std::forward<Arguments>(arguments)...);
  }

 private:
  union Erased {
    const void* object;
    void (*function)();
  };
  Erased erased_;
  Result (*call_)(Erased, Arguments...);
};

}  // namespace fenchel
