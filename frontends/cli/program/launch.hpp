#pragma once

#include <memory>

#include "fenchel/estimate/statistics/processes.hpp"

namespace fenchel::cli {

/// The processes that mpirun has started, or this one alone. MPI is not touched unless mpirun is there: it
/// takes tenths of a second.
class Launch {
 public:
  Launch(int& count, char**& arguments);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  [[nodiscard]] Processes& processes() const noexcept;

 private:
  std::unique_ptr<Processes> processes_;
};

}  // namespace fenchel::cli
