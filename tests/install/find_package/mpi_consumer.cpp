#include "fenchel/mpi/communicator.hpp"

/// One process, which has nothing to merge.
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  {
    const fenchel::mpi::Communicator processes(MPI_COMM_WORLD);
    size = processes.size();
  }
  MPI_Finalize();
  return size == 1 ? 0 : 1;
}
