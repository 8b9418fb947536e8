#include "cli/program/launch.hpp"

#ifdef FENCHEL_CLI_MPI
#include <cstdlib>

#include "fenchel/mpi/communicator.hpp"

namespace fenchel::cli {
namespace {

/// What Open MPI, and MPICH and its relatives, leave in the environment.
bool started_by_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace

Launch::Launch(int& count, char**& arguments) {
  if (!started_by_mpirun()) return;
  MPI_Init(&count, &arguments);
  processes_ = std::make_unique<mpi::Communicator>(MPI_COMM_WORLD);
}

Launch::~Launch() {
  if (processes_ == nullptr) return;
  processes_.reset();
  MPI_Finalize();
}

}  // namespace fenchel::cli
#else
namespace fenchel::cli {

Launch::Launch(int&, char**&) {}
Launch::~Launch() = default;

}  // namespace fenchel::cli
#endif

namespace fenchel::cli {

Processes& Launch::processes() const noexcept { return processes_ ? *processes_ : Processes::alone(); }

}  // namespace fenchel::cli
