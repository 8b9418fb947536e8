#include <cmath>
#include <limits>
#include <numbers>
#include <string_view>
#include <type_traits>

#include "backend/cuda/beta_gaussian/checks.hpp"
#include "backend/cuda/device/elements.cuh"
#include "core/beta_gaussian/closed_line.hpp"
#include "core/beta_gaussian/general_line.hpp"
#include "fenchel/backend/cuda/beta_gaussian.hpp"

namespace fenchel::cuda {
namespace {

using detail::ClosedLine, detail::GeneralLine;

/// mu and the factor are in the memory of the GPU, where they join a law of mu = 0 and sigma = 1.
template <class Law, class Function>
struct LineParams {
  static constexpr bool kPacked = std::is_same_v<Law, ClosedLine>;
  Law law;
  const double* mu;
  const double* factor;

  [[nodiscard]] __device__ Function made() const {
    Law here = law;
    here.mu = *mu;
    here.width *= std::abs(*factor);
    return Function{here};
  }
};

template <int s>
struct ClosedCdf {
  ClosedLine law;
  double inverse_width = 1 / law.width;

  __device__ double operator()(double t) const {
    const double x = (t - law.mu) * inverse_width;
    // CUDA's erfc branches where that for vectors does all of its parts.
    if constexpr (s == ClosedLine::kGaussian) return 0.5 * std::erfc(x * (-std::numbers::sqrt2 / 2));
    return detail::cdf_element<s>(x);
  }
};
template <int s>
struct ClosedQuantile {
  ClosedLine law;

  __device__ double operator()(double u) const {
    const double t = law.mu + law.width * detail::quantile_element<s>(u);
    return u >= 0 && u <= 1 ? t : std::numeric_limits<double>::quiet_NaN();
  }
};
struct GeneralCdf {
  GeneralLine line;

  __device__ double operator()(double t) const { return detail::cdf(line, t); }
};
struct GeneralQuantile {
  GeneralLine line;

  __device__ double operator()(double u) const { return detail::quantile(line, u); }
};

/// Closed<s> where there is a closed form, General otherwise.
template <template <int> class Closed, class General, class Real>
void map_line(std::string_view where, const BetaGaussianParams& p, const Real* in, index_t count, Real* out,
              Stream stream) {
  check_params(where, p);
  if (p.size != 1) throw_invalid_argument(where, "size", "must be 1", p.size);
  if (count < 0) throw_invalid_argument(where, "count", "must not be negative", count);
  if (count == 0) return;
  check_pointer(where, "mu", p.mu);
  check_pointer(where, "factor", p.factor);
  check_pointer(where, "in", in);
  check_pointer(where, "out", out);
  const ClosedLine law = detail::closed_form(p.constants, 0, 1);
  const auto closed = [&]<class Function>(std::type_identity<Function>) {
    device::map(where, LineParams<ClosedLine, Function>{law, p.mu, p.factor}, in, count, out, stream);
  };
  switch (law.s) {
    case ClosedLine::kGaussian:
      return closed(std::type_identity<Closed<ClosedLine::kGaussian>>());
    case 0:
      return closed(std::type_identity<Closed<0>>());
    case 1:
      return closed(std::type_identity<Closed<1>>());
    case 2:
      return closed(std::type_identity<Closed<2>>());
    case 3:
      return closed(std::type_identity<Closed<3>>());
    default:
      const GeneralLine line = detail::general_line(p.constants, 0, 1);
      device::map(where, LineParams<GeneralLine, General>{line, p.mu, p.factor}, in, count, out, stream);
  }
}

}  // namespace

template <class Real>
void cdf_rows(const BetaGaussianParams& p, const Real* t, index_t count, Real* out, Stream stream) {
  map_line<ClosedCdf, GeneralCdf>("cuda::cdf_rows", p, t, count, out, stream);
}

template <class Real>
void quantile_rows(const BetaGaussianParams& p, const Real* u, index_t count, Real* out, Stream stream) {
  map_line<ClosedQuantile, GeneralQuantile>("cuda::quantile_rows", p, u, count, out, stream);
}

template void cdf_rows(const BetaGaussianParams&, const float*, index_t, float*, Stream);
template void cdf_rows(const BetaGaussianParams&, const double*, index_t, double*, Stream);
template void quantile_rows(const BetaGaussianParams&, const float*, index_t, float*, Stream);
template void quantile_rows(const BetaGaussianParams&, const double*, index_t, double*, Stream);

}  // namespace fenchel::cuda
