#pragma once

#include <string>
#include <vector>

/// The places where the paper's print is wrong, as E1 to E20. Printed formulas are evaluated in the sources
/// of these functions, right ones by the library. Text is HTML.
namespace fenchel::report {

/// One quantity, three times.
struct Example {
  std::string what;
  std::string by_paper, by_library, by_force;
  std::string method;  ///< of the brute force
  double error;        ///< between library and brute force
  double tolerance;
};

/// An Example of numbers. Its error is infinite, so that its check fails, where the printed formula is not
/// wrong by a hundred tolerances.
[[nodiscard]] Example example(std::string what, double by_paper, double by_library, double by_force,
                              std::string method, double tolerance);

/// A number in HTML, with seven digits.
[[nodiscard]] std::string number(double x);

struct Erratum {
  int index;
  std::string title, place, printed, correct;
  std::vector<Example> examples;
  std::string note = {};
};

[[nodiscard]] std::vector<Erratum> errata_in_distributions();
[[nodiscard]] std::vector<Erratum> errata_in_losses();
[[nodiscard]] std::vector<Erratum> errata_in_normalizers();
[[nodiscard]] std::vector<Erratum> errata_in_fusedmax();
[[nodiscard]] std::vector<Erratum> errata_in_attention();

}  // namespace fenchel::report
