#include "ops/cpu/torch_pool.hpp"

#include <torch/csrc/stable/ops.h>

namespace fenchel::ops {
namespace {

class TorchPool final : public ThreadPool {
 public:
  [[nodiscard]] int num_threads() const noexcept override {
    std::uint32_t count = 1;
    return torch_get_num_threads(&count) == TORCH_SUCCESS ? static_cast<int>(count) : 1;
  }
  void run(int count, FunctionRef<void(int)> task) override {
    torch::stable::parallel_for(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t k = begin; k < end; ++k) task(static_cast<int>(k));
    });
  }
};

}  // namespace

ThreadPool& torch_pool() noexcept {
  static TorchPool pool;
  return pool;
}

}  // namespace fenchel::ops
