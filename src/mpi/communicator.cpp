#include "fenchel/mpi/communicator.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <numeric>
#include <string>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel::mpi {
namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw MpiError("fenchel::mpi: " + std::string(call) + ": " + text.data());
}

/// What travels: one byte that says what follows, and that.
enum class Kind : unsigned char {
  bytes,
  data_error,
  cancelled,
  convergence_error,
  domain_error,
  invalid_argument,
  other
};

Bytes tagged(Kind kind, std::span<const std::byte> content) {
  Bytes message(content.size() + 1);
  message.front() = static_cast<std::byte>(kind);
  std::copy(content.begin(), content.end(), message.begin() + 1);
  return message;
}

Bytes tagged(Kind kind, const std::string& text) { return tagged(kind, std::as_bytes(std::span(text))); }

Kind kind_of(const Bytes& message) {
  return static_cast<Kind>(std::to_integer<unsigned char>(message.front()));
}

std::string text_of(const Bytes& message) {
  return {reinterpret_cast<const char*>(message.data()) + 1, message.size() - 1};
}

/// The message that an error becomes.
Bytes encode(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const DataError& e) {
    return tagged(Kind::data_error, e.what());
  } catch (const Cancelled& e) {
    return tagged(Kind::cancelled, e.what());
  } catch (const ConvergenceError& e) {
    return tagged(Kind::convergence_error, e.what());
  } catch (const std::domain_error& e) {
    return tagged(Kind::domain_error, e.what());
  } catch (const std::invalid_argument& e) {
    return tagged(Kind::invalid_argument, e.what());
  } catch (const std::exception& e) {
    return tagged(Kind::other, e.what());
  } catch (...) {
    return tagged(Kind::other, std::string("unknown error"));
  }
}

void throw_error_in(const Bytes& message) {
  switch (kind_of(message)) {
    case Kind::bytes:
      return;
    case Kind::data_error:
      throw DataError(text_of(message));
    case Kind::cancelled:
      throw Cancelled(text_of(message));
    case Kind::convergence_error:
      throw ConvergenceError(text_of(message));
    case Kind::domain_error:
      throw std::domain_error(text_of(message));
    case Kind::invalid_argument:
      throw std::invalid_argument(text_of(message));
    case Kind::other:
      throw std::runtime_error(text_of(message));
  }
}

/// What the first process answers: the merged bytes, or the first error with its rank.
Bytes answer(std::span<const Bytes> messages, FunctionRef<Bytes(std::span<const Bytes>)> merge) {
  std::vector<Bytes> contents;
  for (std::size_t rank = 0; rank < messages.size(); ++rank) {
    const Bytes& message = messages[rank];
    if (kind_of(message) != Kind::bytes)
      return tagged(kind_of(message),
                    "rank " + shortest(static_cast<index_t>(rank)) + ": " + text_of(message));
    contents.emplace_back(message.begin() + 1, message.end());
  }
  try {
    return tagged(Kind::bytes, merge(contents));
  } catch (...) {
    return encode(std::current_exception());
  }
}

}  // namespace

Communicator::Communicator(MPI_Comm communicator) {
  int initialized = 0, finalized = 0;
  check(MPI_Initialized(&initialized), "MPI_Initialized");
  check(MPI_Finalized(&finalized), "MPI_Finalized");
  if (initialized == 0 || finalized != 0)
    throw_invalid_argument("mpi::communicator", "MPI", "must be initialised and not finalized",
                           finalized != 0 ? "finalized" : "not initialised");
  check(MPI_Comm_dup(communicator, &communicator_), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  int finalized = 0;
  if (MPI_Finalized(&finalized) == MPI_SUCCESS && finalized == 0) MPI_Comm_free(&communicator_);
}

Bytes Communicator::exchange(const Share& mine, FunctionRef<Bytes(std::span<const Bytes>)> merge) {
  // Lengths are int in MPI; what is too long becomes an error that all processes hear of.
  const auto limit = static_cast<std::size_t>(INT_MAX / size_);
  Bytes message = mine.error ? encode(mine.error) : tagged(Kind::bytes, mine.bytes);
  if (message.size() > limit)
    message = tagged(Kind::other, "fenchel::mpi: a statistic must have fewer than " +
                                      shortest(static_cast<index_t>(limit)) + " bytes, got " +
                                      shortest(static_cast<index_t>(message.size())));

  const auto processes = static_cast<std::size_t>(rank_ == 0 ? size_ : 0);
  std::vector<int> lengths(processes), offsets(processes);
  int length = static_cast<int>(message.size());
  check(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, communicator_), "MPI_Gather");
  std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
  Bytes gathered(rank_ == 0 ? static_cast<std::size_t>(offsets.back() + lengths.back()) : 0);
  check(MPI_Gatherv(message.data(), length, MPI_BYTE, gathered.data(), lengths.data(), offsets.data(),
                    MPI_BYTE, 0, communicator_),
        "MPI_Gatherv");

  if (rank_ == 0) {
    std::vector<Bytes> messages;
    for (std::size_t rank = 0; rank < processes; ++rank) {
      const auto begin = gathered.begin() + offsets[rank];
      messages.emplace_back(begin, begin + lengths[rank]);
    }
    message = answer(messages, merge);
    length = static_cast<int>(message.size());
  }
  check(MPI_Bcast(&length, 1, MPI_INT, 0, communicator_), "MPI_Bcast");
  message.resize(static_cast<std::size_t>(length));
  check(MPI_Bcast(message.data(), length, MPI_BYTE, 0, communicator_), "MPI_Bcast");
  throw_error_in(message);
  return {message.begin() + 1, message.end()};
}

}  // namespace fenchel::mpi
