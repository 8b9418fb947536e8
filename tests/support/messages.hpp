#pragma once

#include <string>

namespace fenchel::testing {

/// What the error says that `call` throws; a text that matches nothing if it throws none of that type.
template <class Error, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace fenchel::testing
