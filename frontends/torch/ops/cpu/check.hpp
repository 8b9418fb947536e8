#pragma once

namespace fenchel::ops {

using Check = void (*)();

/// What long operations of the CPU call now and then, on the thread that called them, and what they end by if
/// it throws: a front end has given it to fenchel_set_torch_check. Null where none has.
[[nodiscard]] Check given_check() noexcept;

}  // namespace fenchel::ops
