#include "backend/cuda/entmax/tasks.hpp"
#include "fenchel/backend/cuda/entmax.hpp"

namespace fenchel::cuda {

template <class T>
void entmax(Input<T> scores, PerRow alpha, DeviceRows<T> p, Stream stream) {
  constexpr std::string_view kWhere = "cuda::entmax";
  check_view(kWhere, "scores", scores);
  check_same_shape(kWhere, "p", p, "scores", scores);
  check_alpha(kWhere, alpha, scores.rows);
  if (scores.rows == 0) return;
  const bool held = launch_held<T>(kWhere, scores, alpha, RowTask<Computed<T>>{p}, stream);
  launch_reading<T>(kWhere, scores, alpha, p, held, stream);
}

template void entmax(Input<double>, PerRow, DeviceRows<double>, Stream);
template void entmax(Input<float>, PerRow, DeviceRows<float>, Stream);
template void entmax(Input<Half>, PerRow, DeviceRows<Half>, Stream);
template void entmax(Input<BFloat16>, PerRow, DeviceRows<BFloat16>, Stream);

}  // namespace fenchel::cuda
