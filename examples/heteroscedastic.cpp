// Deaths by breast cancer against the population of 301 counties: larger counties vary more. Regression with
// beta-Gaussian noise whose scale depends on the population, fitted to the smaller counties, predicts the 30
// largest [SCD22, Section 9.2; the data are of J. Rice, Mathematical Statistics and Data Analysis].
#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/least_squares.hpp"
#include "fenchel/estimate/regression.hpp"
#include "plot.hpp"

namespace {

using namespace fenchel;

constexpr std::size_t kTestCounties = 30;
constexpr int kStarts = 10;

struct County {
  double deaths, population;
};

/// Smaller populations first.
std::vector<County> read_counties(const std::string& path) {
  const CsvSource source(path, {.columns = {"cancer", "population"}});
  std::vector<County> counties;
  Batch batch;
  for (index_t i = 0; i < source.batches(); ++i) {
    source.read(i, batch);
    for (index_t k = 0; k < batch.rows.rows; ++k)
      counties.push_back({batch.rows.row(k)[0], batch.rows.row(k)[1]});
  }
  if (counties.size() <= kTestCounties) throw DataError(path + ": too few rows");
  std::stable_sort(counties.begin(), counties.end(),
                   [](const County& a, const County& b) { return a.population < b.population; });
  return counties;
}

struct Scores {
  double of_prediction;  ///< 1 - SSE / Var(prediction), the paper's
  double of_truth;       ///< 1 - SSE / Var(truth), the usual r2
};

Scores score_line(const std::vector<County>& test, double slope, double intercept) {
  Eigen::ArrayXd truth(test.size()), prediction(test.size());
  for (std::size_t i = 0; i < test.size(); ++i) {
    truth[static_cast<index_t>(i)] = test[i].deaths;
    prediction[static_cast<index_t>(i)] = slope * test[i].population + intercept;
  }
  const double squares = (truth - prediction).square().sum();
  return {1 - squares / (prediction - prediction.mean()).square().sum(),
          1 - squares / (truth - truth.mean()).square().sum()};
}

void print_row(const char* name, double slope, double intercept, const std::vector<County>& test,
               const std::string& search) {
  const Scores scores = score_line(test, slope, intercept);
  std::printf("%-13s  %9.7f  %9.4f  %9.3f  %6.3f  %s\n", name, slope, intercept, scores.of_prediction,
              scores.of_truth, search.c_str());
}

/// "loss 0.473553, reached by 6 of 10 starts".
std::string describe(const RegressionFit& fit) {
  const auto reached = std::count_if(fit.starts.begin(), fit.starts.end(), [&](const RegressionStart& start) {
    return start.status == MinimizeStatus::converged && std::abs(start.objective - fit.loss) < 1e-9;
  });
  return "loss " + svg::number(fit.loss) + ", reached by " + std::to_string(reached) + " of " +
         std::to_string(fit.starts.size()) + " starts";
}

/// The counties, those not fitted in another colour, and for two values of alpha the mean with its bounds.
std::string draw(const std::vector<County>& train, const std::vector<County>& test,
                 const RegressionFit& gaussian, const RegressionFit& parabola) {
  constexpr double kThousand = 1000, kEnd = 90;
  Plot plot("Fitted to small counties, for large ones (in red)", {0, kEnd, 10, "population in thousands"},
            {0, 500, 100, "deaths by breast cancer"});
  const auto at = [&](const RegressionFit& fit, double thousands) {
    return predict(fit, std::array{kThousand * thousands});
  };
  const auto band = [&](const std::string& name, const RegressionFit& fit, auto half_width) {
    std::vector<std::pair<double, double>> edge;
    for (double x = 0; x <= kEnd; ++x) {
      const BetaGaussian p = at(fit, x);
      edge.insert(edge.begin(), {x, mean(p) + half_width(p)});
      edge.emplace_back(x, mean(p) - half_width(p));
    }
    plot.path(name, edge);
  };
  band("&#945; = 1, &#177; 2 deviations", gaussian,
       [](const BetaGaussian& p) { return 2 * std::sqrt(variance(p)); });
  band("&#945; = 2, support", parabola, [](const BetaGaussian& p) { return p.half_width(); });
  plot.curve("&#945; = 1, mean", [&](double x) { return mean(at(gaussian, x)); });
  plot.curve("&#945; = 2, mean", [&](double x) { return mean(at(parabola, x)); });
  for (const County& county : train) plot.dot(county.population / kThousand, county.deaths, 1.8, "#444444");
  for (const County& county : test) plot.dot(county.population / kThousand, county.deaths, 2.2, "#d40000");
  return plot.str();
}

int run(const std::string& path, const std::string& picture) {
  const std::vector<County> counties = read_counties(path);
  const std::vector<County> train(counties.begin(), counties.end() - kTestCounties),
      test(counties.end() - kTestCounties, counties.end());
  static_assert(sizeof(County) == 2 * sizeof(double));
  const RowsSource source({&train[0].deaths, static_cast<index_t>(train.size()), 2}, {},
                          {"deaths", "population"});

  std::printf("                                         1 - SSE/\n");
  std::printf("                   slope  intercept  Var(pred)      r2  search\n");
  const LeastSquares line = fit_least_squares({source});
  print_row("least squares", line.coefficients[0], line.intercept, test, "");
  std::vector<RegressionFit> fits;
  for (const auto& [name, alpha] :
       {std::pair{"alpha 1", 1.0}, {"alpha 4/3", 4.0 / 3}, {"alpha 3/2", 1.5}, {"alpha 2", 2.0}}) {
    const RegressionFit& fit =
        fits.emplace_back(fit_regression({source}, {.alpha = alpha, .starts = kStarts}));
    print_row(name, fit.mean_coefficients[0], fit.mean_intercept, test, describe(fit));
  }
  std::printf(
      "\nStarts that did not reach the loss fell without bound: to a mean that meets one county\n"
      "exactly, with a scale that vanishes there. The fit is the best local minimum.\n");
  if (!picture.empty()) {
    const std::string error = svg::write_file(picture, draw(train, test, fits.front(), fits.back()));
    if (!error.empty()) throw std::runtime_error("cannot write " + picture + ": " + error);
    std::printf("\nThe fits of alpha 1 and 2 are drawn in %s.\n", picture.c_str());
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string path = count > 1 ? arguments[1] : "data/cancer.csv";
  if (count > 3 || path.empty() || path[0] == '-') {
    const bool help = path == "--help" || path == "-h";
    std::fprintf(
        help ? stdout : stderr,
        "usage: heteroscedastic [DATA [PICTURE]]\n"
        "Fits the noise of deaths by population in DATA (default: data/cancer.csv), prints how well\n"
        "the largest counties are predicted, and draws the fits into PICTURE as SVG.\n");
    return help ? 0 : 2;
  }
  try {
    return run(path, count > 2 ? arguments[2] : "");
  } catch (const DataError& error) {
    std::fprintf(stderr,
                 "heteroscedastic: %s\nRun this in the root of the repository, or give the path of its "
                 "data/cancer.csv.\n",
                 error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heteroscedastic: %s\n", error.what());
    return 1;
  }
}
