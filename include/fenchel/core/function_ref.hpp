#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace fenchel {

/// A callable that somebody else owns, for the length of a call: how a template hands a lambda to compiled
/// code.
template <class Signature>
class FunctionRef;

template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <class Callable>
  requires std::is_invocable_r_v<Result, const Callable&, Arguments...> FunctionRef(const Callable& callable)
  noexcept
      : callable_(std::addressof(callable)), call_([](const void* erased, Arguments... arguments) -> Result {
          return (*static_cast<const Callable*>(erased))(std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(callable_, std::forward<Arguments>(arguments)...);
  }

 private:
  const void* callable_;
  Result (*call_)(const void*, Arguments...);
};

}  // namespace fenchel
