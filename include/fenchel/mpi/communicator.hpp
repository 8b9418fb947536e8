#pragma once

/// `mpi::Communicator`: the processes of an MPI communicator, in the library `fenchel::mpi`.

// What keeps mpi.h from bringing its C++ bindings, in the names that Open MPI and MPICH ask for.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <stdexcept>

#include "fenchel/core/config.hpp"
#include "fenchel/estimate/statistics/processes.hpp"

namespace fenchel::mpi {

/// A call of MPI that did not succeed.
class FENCHEL_EXPORT MpiError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The processes of an MPI communicator, for Data::processes. Statistics, and losses with their gradients,
/// travel as bytes to the first process, are merged there in order of rank, and the result goes to all: every
/// process has the same bits. An error in one becomes the same error, with its rank, in all.
class FENCHEL_EXPORT Communicator final : public Processes {
 public:
  /// Works on a duplicate, so that its messages never meet the caller's. All processes must call it. Throws
  /// std::invalid_argument unless MPI is initialised and not finalized: that is the caller's to do.
  explicit Communicator(MPI_Comm communicator);
  ~Communicator() override;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const noexcept override { return rank_; }
  [[nodiscard]] int size() const noexcept override { return size_; }
  [[nodiscard]] Bytes exchange(const Share& mine, FunctionRef<Bytes(std::span<const Bytes>)> merge) override;

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace fenchel::mpi
