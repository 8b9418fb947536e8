/// Fitting to files, against a plain read of them: a CSV file of 2 GB (or so many MB as the first argument
/// says) and a .npy file half as large, made in the temporary folder and removed. Speeds are MB of the file
/// in a second, medians over rounds in turns; the error is that of the fitted parameters against those that
/// the rows of the file give when they are added up as they are made. Peak memory is that of this process.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/npy_source.hpp"
#include "fenchel/data/part_source.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/moments.hpp"
#include "support/temporary_file.hpp"
#ifdef FENCHEL_BENCH_MPIEXEC
#include "fenchel/mpi/communicator.hpp"
#endif

namespace {

using namespace fenchel;

constexpr double kMegabyte = 1e6;
constexpr index_t kColumns = 4;

double seconds_of(const std::function<void()>& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / kMegabyte;
}

/// Rows of biweight noise about different centres, in blocks, with their statistics.
class Rows4 {
 public:
  /// The next block of rows.
  Rows<const double> next() {
    for (std::size_t k = 0; k < values_.size(); ++k)
      values_[k] = static_cast<double>(k % kColumns) * 10 + sample(noise_, rng_);
    const Rows<const double> rows(values_.data(), static_cast<index_t>(values_.size()) / kColumns, kColumns);
    return rows;
  }
  void count(Rows<const double> rows) { moments_.update(rows); }
  const Moments& moments() const noexcept { return moments_; }

 private:
  BetaGaussian noise_ = BetaGaussian::biweight(0, 1);
  Philox rng_{2022};
  std::vector<double> values_ = std::vector<double>(4096 * kColumns);
  Moments moments_{kColumns};
};

/// Eight significant digits, as measurements have; what is counted is what was written.
Moments write_csv(const std::string& path, double bytes) {
  std::ofstream file(path, std::ios::binary);
  file << "a,b,c,d\n";
  Rows4 rows;
  std::string text;
  std::vector<double> read;
  for (double written = 0; written < bytes; written += static_cast<double>(text.size())) {
    text.clear();
    const Rows<const double> block = rows.next();
    read.assign(block.data, block.data + block.rows * block.cols);
    for (index_t k = 0; k < block.rows * block.cols; ++k) {
      char number[32];
      const auto end =
          std::to_chars(number, number + sizeof number, block.data[k], std::chars_format::general, 8).ptr;
      std::from_chars(number, end, read[static_cast<std::size_t>(k)]);
      text.append(number, end);
      text += k % kColumns == kColumns - 1 ? '\n' : ',';
    }
    rows.count({read.data(), block.rows, kColumns});
    file << text;
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
  return rows.moments();
}

Moments write_npy(const std::string& path, double bytes) {
  Rows4 rows;
  const index_t block_rows = rows.next().rows;
  const auto blocks = static_cast<index_t>(bytes / static_cast<double>(block_rows * kColumns * 8)) + 1;
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                       std::to_string(blocks * block_rows) + ", " + std::to_string(kColumns) + "), }";
  header.resize(117, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00\x76\x00", 10) << header;
  for (index_t i = 0; i < blocks; ++i) {
    const Rows<const double> block = rows.next();
    rows.count(block);
    file.write(reinterpret_cast<const char*>(block.data),
               static_cast<std::streamsize>(8 * block.rows * block.cols));
  }
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
  return rows.moments();
}

/// read() into a buffer, and a sum so that every byte is touched.
void plain_read(const std::string& path) {
  static volatile std::uint64_t sink = 0;
  const int file = open(path.c_str(), O_RDONLY);
  std::vector<std::uint64_t> buffer(1 << 17);
  std::uint64_t sum = 0;
  for (ssize_t got = 1; got > 0;) {
    got = read(file, buffer.data(), buffer.size() * 8);
    for (ssize_t k = 0; k < got / 8; ++k) sum += buffer[static_cast<std::size_t>(k)];
  }
  close(file);
  sink = sink + sum;
}

Eigen::VectorXd fitted(const Moments& moments) {
  return fit_multivariate_beta_gaussian(1.5, moments).parameters;
}

double error_of(const Eigen::VectorXd& found, const Moments& expected) {
  const Eigen::VectorXd right = fitted(expected);
  return ((found - right).array() / (1 + right.array().abs())).abs().maxCoeff();
}

struct Contender {
  std::string name;
  std::function<double()> run;  ///< seconds
  std::function<double()> error;
  std::vector<double> seconds = {};
};

void print_speeds(const std::string& title, const std::string& path, std::vector<Contender> contenders) {
  constexpr int kRounds = 3;
  const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / kMegabyte;
  std::printf("%s, %.0f MB\n  %-26s %10s %14s %10s\n", title.c_str(), megabytes, "", "MB/s", "to plain read",
              "error");
  for (int round = 0; round < kRounds; ++round) {
    for (Contender& contender : contenders) contender.seconds.push_back(contender.run());
  }
  const auto median = [](std::vector<double> times) {
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  };
  for (Contender& contender : contenders) {
    const double time = median(contender.seconds);
    std::printf("  %-26s %10.0f %13.2fx %10.1e\n", contender.name.c_str(), megabytes / time,
                median(contenders.front().seconds) / time, contender.error());
    std::fflush(stdout);
  }
}

/// A plain read, then fits with 1, 2, ... threads and by as many processes.
template <class Source>
void contest(const std::string& title, const std::string& path, const Moments& expected,
             const std::string& self) {
  std::vector<Contender> contenders{
      {"plain read", [&] { return seconds_of([&] { plain_read(path); }); }, [] { return 0.0; }}};
  const int most = num_threads();
  Eigen::VectorXd found;
  for (int threads = 1; threads <= most; threads *= 2) {
    contenders.push_back({"fit, " + std::to_string(threads) + " threads",
                          [&, threads] {
                            set_num_threads(threads);
                            return seconds_of(
                                [&] { found = fitted(collect({Source(path)}, Moments(kColumns))); });
                          },
                          [&] { return error_of(found, expected); }});
  }
#ifdef FENCHEL_BENCH_MPIEXEC
  for (int processes = 1; processes <= most; processes *= 2) {
    const std::string command = "OMP_NUM_THREADS=1 " FENCHEL_BENCH_MPIEXEC " -n " +
                                std::to_string(processes) + " " + self + " --process " + path;
    contenders.push_back({"fit, " + std::to_string(processes) + " processes",
                          [&found, command] {
                            double seconds = 0;
                            FILE* answer = popen(command.c_str(), "r");
                            if (answer == nullptr || std::fscanf(answer, "%lf", &seconds) != 1)
                              throw std::runtime_error("no answer from: " + command);
                            for (double& x : found) {
                              if (std::fscanf(answer, "%lf", &x) != 1)
                                throw std::runtime_error("a short answer");
                            }
                            pclose(answer);
                            return seconds;
                          },
                          [&] { return error_of(found, expected); }});
  }
#endif
  static_cast<void>(self);
  print_speeds(title, path, std::move(contenders));
  set_num_threads(0);
}

#ifdef FENCHEL_BENCH_MPIEXEC
/// One of several processes: seconds and parameters on the first one's output.
template <class Source>
void fit_part(const std::string& path) {
  mpi::Communicator processes(MPI_COMM_WORLD);
  together(processes, [] {});
  Eigen::VectorXd found;
  const double seconds = seconds_of([&] {
    const Source file(path);
    const PartSource part(file, processes.rank(), processes.size());
    found = fitted(collect({part, processes}, Moments(kColumns)));
  });
  if (processes.rank() != 0) return;
  std::printf("%.6g\n", seconds);
  for (const double x : found) std::printf("%.17g\n", x);
}
#endif

void run(double megabytes, const std::string& self) {
  {
    const bench::TemporaryFile csv(".csv");
    const Moments expected = write_csv(csv.path, megabytes * kMegabyte);
    contest<CsvSource>("CSV", csv.path, expected, self);
    std::printf("  peak memory %.0f MB\n", peak_megabytes());
  }
  const bench::TemporaryFile npy(".npy");
  const Moments expected = write_npy(npy.path, megabytes * kMegabyte / 2);
  contest<NpySource>(".npy", npy.path, expected, self);
  std::printf("  peak memory %.0f MB\n", peak_megabytes());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "2000";
#ifdef FENCHEL_BENCH_MPIEXEC
  if (first == "--process" && argc > 2) {
    MPI_Init(&argc, &argv);
    const std::string path = argv[2];
    path.ends_with(".csv") ? fit_part<CsvSource>(path) : fit_part<NpySource>(path);
    MPI_Finalize();
    return 0;
  }
#endif
  // Open MPI asks whether one means it.
  for (const char* yes :
       {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"})
    setenv(yes, "1", 0);
  run(std::atof(first.c_str()), std::filesystem::canonical("/proc/self/exe").string());
}
