#include <cstdint>

/// All that the operations take of libtorch_cuda. They are linked with this; it is never loaded.
extern "C" __attribute__((visibility("default"))) std::int32_t aoti_torch_get_current_cuda_stream(
    std::int32_t /*device_index*/, void** stream) {
  *stream = nullptr;
  return 1;
}
