#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/rows_source.hpp"
#include "fenchel/estimate/regression/determination.hpp"
#include "fenchel/estimate/regression/least_squares.hpp"
#include "fenchel/estimate/regression/regression.hpp"
#include "report/cancer.hpp"
#include "report/colours.hpp"
#include "report/compare.hpp"
#include "report/errata/printed_radius.hpp"
#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

constexpr std::size_t kHeldOut = 30;
constexpr int kStarts = 10;

struct County {
  double deaths, population;
};
static_assert(sizeof(County) == 2 * sizeof(double));

/// Smaller populations first.
std::vector<County> read_counties() {
  const auto source = CsvSource::in_memory(kCancer, "cancer.csv", {.columns = {"cancer", "population"}});
  std::vector<County> counties;
  Batch batch;
  for (index_t i = 0; i < source.batches(); ++i) {
    source.read(i, batch);
    for (index_t k = 0; k < batch.rows.rows; ++k)
      counties.push_back({batch.rows.row(k)[0], batch.rows.row(k)[1]});
  }
  std::ranges::stable_sort(counties, {}, &County::population);
  return counties;
}

RowsSource rows(const std::vector<County>& counties) {
  return RowsSource({&counties.front().deaths, std::ssize(counties), 2}, {}, {"deaths", "population"});
}

struct Model {
  std::string name;
  double printed;  ///< the paper's r2
  double slope, intercept;
  std::optional<RegressionFit> fit;  ///< none for least squares
  Determination score;               ///< of the counties held out
};

Determination score(const std::vector<County>& counties, double slope, double intercept) {
  std::vector<double> truth, prediction;
  for (const County& county : counties) {
    truth.push_back(county.deaths);
    prediction.push_back(slope * county.population + intercept);
  }
  return determination(truth, prediction);
}

std::vector<Model> fit_models(const std::vector<County>& train, const std::vector<County>& test) {
  const RowsSource source = rows(train);
  const LeastSquares line = fit_least_squares({source});
  std::vector<Model> models{{"least squares",
                             0.56,
                             line.coefficients[0],
                             line.intercept,
                             {},
                             score(test, line.coefficients[0], line.intercept)}};
  struct Case {
    const char* name;
    double alpha, printed;
  };
  for (const auto& [name, alpha, printed] :
       {Case{"1", 1, 0.67}, Case{"4/3", 4. / 3, 0.68}, Case{"3/2", 1.5, 0.69}, Case{"2", 2, 0.72}}) {
    const RegressionFit fit = fit_regression(
        {source}, {.alpha = alpha, .link = ScaleLink::linear, .penalty = 0, .starts = kStarts});
    const double slope = fit.mean_coefficients[0];
    models.push_back({fmt::format("\u03b1 = {}", name), printed, slope, fit.mean_intercept, fit,
                      score(test, slope, fit.mean_intercept)});
  }
  return models;
}

BetaGaussian at(const RegressionFit& fit, double population) { return predict(fit, std::array{population}); }

std::size_t outside(const RegressionFit& fit, const std::vector<County>& counties) {
  return static_cast<std::size_t>(std::ranges::count_if(counties, [&](const County& county) {
    return !support(at(fit, county.population)).contains(county.deaths);
  }));
}

/// Of the starts, those that ended in the loss of the fit.
auto reached(const RegressionFit& fit) {
  return std::ranges::count_if(fit.starts, [&](const RegressionStart& start) {
    return start.status == MinimizeStatus::converged && std::abs(start.objective - fit.loss) < 1e-9;
  });
}

Table table(const std::vector<Model>& models, const std::vector<County>& train,
            const std::vector<County>& test) {
  Table result{
      fmt::format("Fitted to {} counties; $r^2$ on the {} largest. Each of {} starts is a search of its own; "
                  "outside the support are so many of the fitted counties + of those held out.",
                  train.size(), test.size(), kStarts),
      {"model", "slope", "intercept", "loss", "starts", "$r^2$, paper",
       "$1 - \\text{MSE} / \\Var (\\text{prediction})$", "usual $r^2$", "outside the support"},
      {}};
  for (const Model& model : models) {
    std::vector<std::string> row{model.name, fmt::format("{:.7f}", model.slope),
                                 fmt::format("{:.4f}", model.intercept)};
    row.push_back(model.fit ? fmt::format("{:.6f}", model.fit->loss) : "");
    row.push_back(model.fit ? fmt::format("{} of {}", reached(*model.fit), kStarts) : "");
    row.push_back(fmt::format("{:.2f}", model.printed));
    row.push_back(fmt::format("{:.3f}", model.score.r2_swapped));
    row.push_back(fmt::format("{:.3f}", model.score.r2));
    row.push_back(model.fit && model.fit->alpha > 1
                      ? fmt::format("{} + {}", outside(*model.fit, train), outside(*model.fit, test))
                      : "");
    result.rows.push_back(row);
  }
  return result;
}

plot::Chart draw(const Model& model, const std::vector<County>& train, const std::vector<County>& test) {
  constexpr double kThousand = 1000, kEnd = 90;
  const RegressionFit& fit = *model.fit;
  plot::Chart chart(model.name, {"population in thousands", {{0, kEnd}}}, {"deaths", {{0, 500}}});
  std::vector<double> x, low, high;
  std::vector<plot::Point> line;
  for (double thousands = 0; thousands <= kEnd; ++thousands) {
    const BetaGaussian p = at(fit, kThousand * thousands);
    const double half = fit.alpha > 1 ? p.half_width() : 2 * std::sqrt(variance(p));
    x.push_back(thousands), low.push_back(mean(p) - half), high.push_back(mean(p) + half);
    line.push_back({thousands, mean(p)});
  }
  const auto points = [](const std::vector<County>& counties) {
    std::vector<plot::Point> result;
    for (const County& county : counties) result.push_back({county.population / kThousand, county.deaths});
    return result;
  };
  chart.band(fit.alpha > 1 ? "support" : "\u00b1 2 deviations", x, low, high,
             {.colour = colour_of(fit.alpha)});
  chart.line("mean", line, {.colour = colour_of(fit.alpha)});
  chart.markers("fitted", points(train), plot::Marker::dot, {.colour = plot::kInk, .width = 3});
  chart.markers("held out", points(test), plot::Marker::ring, {.colour = plot::kInk, .width = 6});
  return chart;
}

/// The score test of T. Breusch and A. Pagan (1979), with one feature: half of what squared residuals, over
/// their mean, have explained by the feature.
double breusch_pagan(const std::vector<County>& counties) {
  const LeastSquares line = fit_least_squares({rows(counties)});
  std::vector<County> squares;
  for (const County& county : counties) {
    const double residual = county.deaths - line.coefficients[0] * county.population - line.intercept;
    squares.push_back({residual * residual / line.variance, county.population});
  }
  const LeastSquares explained = fit_least_squares({rows(squares)});
  const double slope = explained.coefficients[0] * explained.deviation[1];
  return explained.weight * slope * slope / 2;
}

/// The printed cross-Omega loss of an observation, with (alpha + 1) in place of (alpha - 1); of the limit
/// at 1.
double mended_cross_omega(double alpha, double mu, double sigma2, double y) {
  const double square = (mu - y) * (mu - y) / (2 * sigma2), am1 = alpha - 1;
  if (am1 == 0) return square + std::log(2 * std::numbers::pi * sigma2) / 2;
  const double radius = printed_radius(1, alpha);
  return square - radius * radius / 2 * std::pow(sigma2, -am1 / (alpha + 1)) * (alpha + 1) / (3 * alpha - 1) +
         1 / (alpha * am1);
}

std::vector<Check> checks(const std::vector<Model>& models, const std::vector<County>& counties,
                          const std::vector<County>& train) {
  std::vector<Check> result;
  const double statistic = breusch_pagan(counties);
  result.push_back({"Breusch-Pagan test of all 301 counties: LM", "537.4", "",
                    fmt::format("{:.2f}", statistic), std::abs(statistic - 537.4), 0.05});
  const double tail = std::erfc(std::sqrt(statistic / 2));
  result.push_back(
      {"\u2026 $p$-value", "&lt; 1e-118", "", fmt::format("{:.1e}", tail), std::max(0., tail - 1e-118), 0});
  int inversions = 0;
  std::string printed, usual;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const Model& model = models[i];
    result.push_back({"$r^2$ with its arguments swapped, " + model.name, fmt::format("{:.2f}", model.printed),
                      "", fmt::format("{:.4f}", model.score.r2_swapped),
                      std::abs(model.score.r2_swapped - model.printed), 0.005});
    if (i > 0 && models[i - 1].score.r2 >= model.score.r2) ++inversions;
    printed += fmt::format("{}{:.2f}", i > 0 ? " &lt; " : "", model.printed);
    usual += fmt::format("{}{:.3f}", i > 0 ? " &lt; " : "", model.score.r2);
  }
  result.push_back({"The usual $r^2$ orders the models as the paper does: inversions", printed, "", usual,
                    static_cast<double>(inversions), 0});
  for (const Model& model : models) {
    if (!model.fit) continue;
    double loss = 0;
    for (const County& county : train) {
      const BetaGaussian p = at(*model.fit, county.population);
      loss += mended_cross_omega(p.alpha(), p.mu(), p.sigma2(), county.deaths);
    }
    result.push_back(compare("Mean cross-$\\Omega$ loss, " + model.name,
                             "its formula, <a href=\"#e3\">E3</a> mended",
                             loss / static_cast<double>(train.size()), model.fit->loss, 1e-10));
  }
  return result;
}

}  // namespace

Section regression() {
  const std::vector<County> counties = read_counties();
  const std::vector<County> train(counties.begin(), counties.end() - kHeldOut),
      test(counties.end() - kHeldOut, counties.end());
  const std::vector<Model> models = fit_models(train, test);
  Section section{
      "regression", "Heteroscedastic regression", "Section 9.2, Table 5, Figure 12", {}, {}, {}, {}};
  section.says = {
      "Deaths by breast cancer are regressed on the population of 301 counties in the south of the United "
      "States [J. Rice, <cite>Mathematical Statistics and Data Analysis</cite>]. Larger counties vary more, "
      "so the noise is a $\\beta$-Gaussian whose $\\sigma$ is linear in the population, like the mean; the "
      "mean cross-$\\Omega$ loss is minimized over both. The tenth of the counties with the largest "
      "populations is held out.",
      "Modelling $\\sigma$ explains more of the variance than least squares, most of all at $\\alpha = 2$. "
      "Some counties lie outside of the support, where the likelihood is zero, yet the loss is finite and "
      "learns from them."};
  section.computed = {
      "The same five models with the library's search. <b>The printed $r^2$ has its arguments swapped</b>: "
      "the table shows $1 - \\text{MSE} / \\Var (\\text{prediction})$, which divides by the variance of the "
      "predictions and not of the observations. That number we reproduce to both printed digits. The usual "
      "$r^2$ is higher for every model, and orders them in the same way: the paper's conclusion stands.",
      "The loss has no least value: where the mean passes through a county and $\\sigma$ vanishes there, it "
      "falls without bound. What is reported is the best local minimum that a search converged to, and how "
      "many of 10 starts led there."};
  Figure figure{"heteroscedastic",
                "Counties that were fitted and the 30 largest, which were not; the mean, with two deviations "
                "on either side for $\\alpha = 1$ and the whole support for the others. The larger "
                "$\\alpha$, the steeper the mean and the narrower the support.",
                {}};
  for (const Model& model : models) {
    if (model.fit) figure.charts.push_back(draw(model, train, test));
  }
  section.parts = {table(models, train, test), figure};
  section.checks = checks(models, counties, train);
  return section;
}

}  // namespace fenchel::report
