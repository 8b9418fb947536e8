/// Fits by all processes of a communicator against fits by one. Every process runs every test; --kill has the
/// third process kill itself in the middle of a fit.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fenchel/core/parallel.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/part_source.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"
#include "fenchel/estimate/regression/classification.hpp"
#include "fenchel/estimate/regression/count_regression.hpp"
#include "fenchel/estimate/regression/regression.hpp"
#include "fenchel/mpi/communicator.hpp"
#include "support/messages.hpp"

namespace fenchel {
namespace {

using Eigen::VectorXd;
using fenchel::testing::message_of;

constexpr index_t kLines = 4000, kBatchBytes = 4096;

mpi::Communicator* everybody = nullptr;

/// A file that the first process writes and all of them read.
class SharedFile {
 public:
  SharedFile(const char* name, const std::vector<std::string>& lines)
      : path_((std::filesystem::temp_directory_path() / (std::string("fenchel_") + name)).string() +
              shortest(index_t{everybody->size()}) + ".csv") {
    together(*everybody, [&] {
      if (everybody->rank() != 0) return;
      std::ofstream file(path_);
      for (const std::string& line : lines) file << line << '\n';
    });
  }
  ~SharedFile() {
    together(*everybody, [] {});
    if (everybody->rank() == 0) std::filesystem::remove(path_);
  }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  const std::string& path() const noexcept { return path_; }
  CsvSource open(std::vector<std::string> columns) const {
    return CsvSource(path_, {.columns = std::move(columns), .batch_bytes = kBatchBytes});
  }

 private:
  std::string path_;
};

/// y, count, class, and two features.
std::vector<std::string> some_lines() {
  std::vector<std::string> lines{"y,count,class,u,v"};
  Philox rng(6);
  for (index_t i = 0; i < kLines; ++i) {
    const double u = uniform01(rng), v = uniform01(rng), noise = uniform01(rng) + uniform01(rng) - 1;
    const double y = 2 + 3 * u - v + (0.5 + u) * noise;
    const auto count = static_cast<index_t>(3 * uniform01(rng) + 4 * u);
    const index_t label = noise > 0.3 ? 2 : u > v ? 1 : 0;
    lines.push_back(shortest(y) + ',' + shortest(count) + ',' + shortest(label) + ',' + shortest(u) + ',' +
                    shortest(v));
  }
  return lines;
}

/// Every process has the same bits.
void expect_same_everywhere(const VectorXd& x) {
  const auto view = std::as_bytes(std::span(x.data(), static_cast<std::size_t>(x.size())));
  const Bytes mine(view.begin(), view.end());
  EXPECT_EQ(mine, everybody->exchange({mine, nullptr}, [](std::span<const Bytes> all) { return all[0]; }));
}

void expect_near(const VectorXd& a, const VectorXd& b) {
  ASSERT_EQ(a.size(), b.size());
  for (index_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12 * (1 + std::abs(b[i]))) << i;
}

/// fit(data) by all processes, each with its part, against fit of the whole by one.
template <class Fitting>
void expect_parts_fit_as_the_whole(const CsvSource& file, Fitting fit) {
  ASSERT_GE(file.batches(), 8);
  const PartSource part(file, everybody->rank(), everybody->size());
  const VectorXd by_all = fit(Data{part, *everybody}), by_one = fit(Data{file});
  expect_same_everywhere(by_all);
  expect_near(by_all, by_one);
}

TEST(Mpi, MomentMatching) {
  const SharedFile file("moments", some_lines());
  expect_parts_fit_as_the_whole(file.open({"y", "u"}), [](const Data& data) {
    return fit_multivariate_beta_gaussian(1.5, collect(data, Moments(2))).parameters;
  });
}

TEST(Mpi, FitsOfManyPasses) {
  const SharedFile file("passes", some_lines());
  expect_parts_fit_as_the_whole(file.open({"y", "u"}), [](const Data& data) {
    return fit_multivariate_beta_gaussian(data).parameters;
  });
  const CsvSource column = file.open({"y"});
  expect_parts_fit_as_the_whole(column,
                                [](const Data& data) { return fit_beta_laplace(2, data).parameters; });
  expect_parts_fit_as_the_whole(column,
                                [](const Data& data) { return fit_truncated_gaussian(3, data).parameters; });
}

TEST(Mpi, Regression) {
  const SharedFile file("regression", some_lines());
  expect_parts_fit_as_the_whole(file.open({"y", "u", "v"}), [](const Data& data) {
    const RegressionFit fit = fit_regression(data, {.alpha = 2, .link = ScaleLink::linear, .penalty = 0});
    VectorXd all(6);
    all << fit.mean_coefficients, fit.mean_intercept, fit.scale_coefficients, fit.scale_intercept;
    return all;
  });
}

TEST(Mpi, CountRegression) {
  const SharedFile file("counts", some_lines());
  expect_parts_fit_as_the_whole(file.open({"count", "u"}), [](const Data& data) {
    const CountRegressionFit fit = fit_count_regression(data, {.alpha = 2, .penalty = 0});
    return VectorXd{{fit.coefficients[0], fit.intercept}};
  });
}

TEST(Mpi, Classification) {
  const SharedFile file("classes", some_lines());
  expect_parts_fit_as_the_whole(file.open({"class", "u", "v"}), [](const Data& data) {
    const ClassificationFit fit = fit_classification(data, {.alpha = 1.5, .classes = 3, .penalty = 1e-3});
    return VectorXd(fit.coefficients.reshaped());
  });
}

TEST(Mpi, ABadLineEndsAllProcessesWithTheSameError) {
  std::vector<std::string> lines = some_lines();
  lines[kLines * 5 / 8] = "1,2,0,abc,1";  // in the part of the third of four
  const SharedFile file("bad", lines);
  const CsvSource source = file.open({"y", "u"});
  const PartSource part(source, everybody->rank(), everybody->size());
  const int rank = everybody->size() * 5 / 8;
  const std::string message = "rank " + shortest(index_t{rank}) + ": " + file.path() + ":" +
                              shortest(kLines * 5 / 8 + 1) + ":4: expected a number, got 'abc'";
  EXPECT_EQ(message_of<DataError>([&] {
              static_cast<void>(collect(Data{part, *everybody}, Moments(2)));
            }),
            message);
  EXPECT_EQ(message_of<DataError>([&] {
              static_cast<void>(fit_regression(Data{part, *everybody}, {}));
            }),
            message);
}

TEST(Mpi, AnErrorOfOneIsAnErrorOfAll) {
  const int last = everybody->size() - 1;
  const std::string prefix = "rank " + shortest(index_t{last}) + ": ";
  const auto only_last = [&](auto error) {
    return [&, error] {
      together(*everybody, [&] {
        if (everybody->rank() == last) throw error;
      });
    };
  };
  EXPECT_EQ(message_of<std::domain_error>(only_last(std::domain_error("too large"))), prefix + "too large");
  EXPECT_EQ(message_of<std::invalid_argument>(only_last(std::invalid_argument("no"))), prefix + "no");
  EXPECT_EQ(message_of<ConvergenceError>(only_last(ConvergenceError("slow"))), prefix + "slow");
  EXPECT_EQ(message_of<DataError>(only_last(DataError("a.csv: gone"))), prefix + "a.csv: gone");
  EXPECT_EQ(message_of<std::runtime_error>(only_last(std::bad_alloc())), prefix + "std::bad_alloc");
  EXPECT_EQ(message_of<std::runtime_error>(only_last(7)), prefix + "unknown error");
}

TEST(Mpi, ACancelOfOneIsACancelOfAll) {
  const SharedFile file("cancel", some_lines());
  const CsvSource source = file.open({"y"});
  const PartSource part(source, everybody->rank(), everybody->size());
  const Data data{part, *everybody, [](const Progress&) { return everybody->rank() != 0; }};
  EXPECT_EQ(message_of<Cancelled>([&] { static_cast<void>(collect(data, Moments(1))); }),
            "rank 0: fenchel::collect: cancelled");
}

TEST(Mpi, ACallbackOfOneEndsTheSearchOfAll) {
  const SharedFile file("callback", some_lines());
  const CsvSource source = file.open({"y", "u"});
  const PartSource part(source, everybody->rank(), everybody->size());
  const int last = everybody->size() - 1;
  RegressionOptions options{.link = ScaleLink::linear, .penalty = 0};
  options.minimize.callback = [&](const MinimizeStep& step) {
    return everybody->rank() != last || step.iteration < 2;
  };
  const RegressionFit fit = fit_regression(Data{part, *everybody}, options);
  EXPECT_EQ(fit.status, MinimizeStatus::cancelled);
  EXPECT_EQ(fit.iterations, 2);
  options.minimize.callback = [&](const MinimizeStep&) -> bool {
    if (everybody->rank() == last) throw std::domain_error("enough");
    return true;
  };
  const std::string message = message_of<std::domain_error>([&] {
    static_cast<void>(fit_regression(Data{part, *everybody}, options));
  });
  EXPECT_EQ(message, last == 0 ? "enough" : "rank " + shortest(index_t{last}) + ": enough");
}

TEST(Mpi, AMergeThatFailsFailsEverywhere) {
  const auto fails = [](std::span<const Bytes>) -> Bytes { throw std::domain_error("nothing to merge"); };
  EXPECT_EQ(message_of<std::domain_error>([&] { static_cast<void>(everybody->exchange({}, fails)); }),
            "nothing to merge");
}

/// The third process dies in its first pass; whoever comes out of the fit says so.
int fit_until_killed() {
  const SharedFile file("killed", some_lines());
  const CsvSource source = file.open({"y"});
  const PartSource part(source, everybody->rank(), everybody->size());
  if (everybody->rank() == 0) {
    std::printf("ready to be killed\n");
    std::fflush(stdout);
  }
  const Data data{part, *everybody, [](const Progress&) {
                    if (everybody->rank() == 2) std::raise(SIGKILL);
                    return true;
                  }};
  static_cast<void>(collect(data, Moments(1)));
  std::printf("a fit without rank 2\n");
  return 0;
}

int run_tests() {
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (everybody->rank() != 0) delete listeners.Release(listeners.default_result_printer());
  const int mine = RUN_ALL_TESTS();
  int any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (mine != 0) std::printf("rank %d: failed\n", everybody->rank());
  return any;
}

}  // namespace
}  // namespace fenchel

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  EXPECT_EQ(fenchel::testing::message_of<std::invalid_argument>(
                [] { fenchel::mpi::Communicator early(MPI_COMM_WORLD); }),
            "fenchel::mpi::communicator: MPI must be initialised and not finalized, got not initialised");
  MPI_Init(&argc, &argv);
  int result = 0;
  {
    fenchel::mpi::Communicator communicator(MPI_COMM_WORLD);
    fenchel::everybody = &communicator;
    result =
        argc > 1 && std::string(argv[1]) == "--kill" ? fenchel::fit_until_killed() : fenchel::run_tests();
  }
  MPI_Finalize();
  return result;
}
