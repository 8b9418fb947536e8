/// Fits one column of CSV files that several processes share: each reads its part, and all of them end with
/// the same distribution.
///
///     mpirun -n 4 build/release/examples/distributed 1.5 y part1.csv part2.csv
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/fenchel.hpp"
#include "fenchel/mpi/communicator.hpp"

namespace {

using namespace fenchel;

double number(const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != 0)
    throw std::invalid_argument("ALPHA must be a number, got '" + std::string(text) + "'");
  return value;
}

void fit(mpi::Communicator& processes, double alpha, const std::string& column,
         const std::vector<std::string>& paths) {
  std::unique_ptr<ConcatenatedSource> files;
  together(processes, [&] {  // a file that one process cannot open stops all of them
    std::vector<std::shared_ptr<const BatchSource>> sources;
    for (const std::string& path : paths)
      sources.push_back(std::make_shared<CsvSource>(path, CsvOptions{.columns = {column}}));
    files = std::make_unique<ConcatenatedSource>(std::move(sources));
  });
  const PartSource mine(*files, processes.rank(), processes.size());
  const LineMoments moments = collect(Data{mine, processes}, LineMoments());
  const Fit<BetaGaussian> found = fit_beta_gaussian(alpha, moments);
  if (processes.rank() != 0) return;
  const Eigen::VectorXd errors = found.standard_errors();
  std::printf("%.0f rows in %d processes\n", found.weight, processes.size());
  for (Eigen::Index k = 0; k < errors.size(); ++k)
    std::printf("%s = %.6g, standard error %.2g\n", found.names[static_cast<std::size_t>(k)].c_str(),
                found.parameters[k], errors[k]);
  const Interval range = support(found.distribution);
  std::printf("support [%.6g, %.6g]\n", range.lower(), range.upper());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 0, rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 4) {
    if (rank == 0) std::fprintf(stderr, "usage: mpirun -n PROCESSES distributed ALPHA COLUMN FILE...\n");
    result = 2;
  } else {
    try {
      mpi::Communicator processes(MPI_COMM_WORLD);
      fit(processes, number(argv[1]), argv[2], {argv + 3, argv + argc});
    } catch (const std::exception& error) {
      if (rank == 0) std::fprintf(stderr, "distributed: %s\n", error.what());
      result = 1;
    }
  }
  MPI_Finalize();
  return result;
}
