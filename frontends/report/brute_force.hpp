#pragma once

#include <functional>
#include <vector>

/// Definitions evaluated without a formula of the paper or of the library's families: what the errata are
/// judged by. Accuracy about 1e-11.
namespace fenchel::report {

using Function = std::function<double(double)>;

/// The root of an f with a change of sign between its ends, by bisection.
[[nodiscard]] double root(const Function& f, double lower, double upper);

/// f' and f'' at x, by central differences.
[[nodiscard]] double slope(const Function& f, double x, double step);
[[nodiscard]] double curvature(const Function& f, double x, double step);

/// [(alpha - 1)(f - tau)]_+^{1/(alpha - 1)} for alpha > 1 and a score that falls away from its mode, with the
/// tau that bisection finds to give it mass one. Integrals by quadrature.
class LinePrediction {
 public:
  /// The support is looked for in mode +- reach.
  LinePrediction(double alpha, Function f, double mode, double reach);

  [[nodiscard]] double lower() const noexcept { return lower_; }
  [[nodiscard]] double upper() const noexcept { return upper_; }
  [[nodiscard]] double threshold() const noexcept { return tau_; }
  [[nodiscard]] double pdf(double t) const;
  [[nodiscard]] double expectation(const Function& g) const;
  /// int g over the support.
  [[nodiscard]] double integral(const Function& g) const;
  /// Omega_alpha of itself, and E[f] less it.
  [[nodiscard]] double negentropy() const;
  [[nodiscard]] double conjugate() const;

 private:
  void cut(double tau);

  double alpha_;
  Function f_;
  double mode_, reach_, tau_ = 0, lower_ = 0, upper_ = 0;
};

/// The same on a finite set.
struct FinitePrediction {
  std::vector<double> p;
  double threshold;
};
[[nodiscard]] FinitePrediction finite_prediction(double alpha, const std::vector<double>& f);

}  // namespace fenchel::report
