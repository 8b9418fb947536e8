#include "fenchel/estimate/statistics/processes.hpp"

namespace fenchel {
namespace {

class OneProcess final : public Processes {
 public:
  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] int size() const noexcept override { return 1; }
  [[nodiscard]] Bytes exchange(const Share& mine, FunctionRef<Bytes(std::span<const Bytes>)> merge) override {
    if (mine.error) std::rethrow_exception(mine.error);
    return merge({&mine.bytes, 1});
  }
};

}  // namespace

Processes& Processes::alone() noexcept {
  static OneProcess process;
  return process;
}

}  // namespace fenchel
