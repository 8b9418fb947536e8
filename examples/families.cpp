// Draws one picture a family of distributions, those of the documentation, and prints a line about each.
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/fenchel.hpp"
#include "plot.hpp"

namespace {

using namespace fenchel;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string beta_gaussian() {
  Plot plot("Beta-Gaussians with variance one", {-4, 4, 1, "t"}, {0, 0.6, 0.1, "density"});
  const std::vector<std::pair<const char*, double>> members{{"&#945; = 0.6, Student", 0.6},
                                                            {"&#945; = 1, Gaussian", 1},
                                                            {"&#945; = 4/3, triweight", 4. / 3},
                                                            {"&#945; = 3/2, biweight", 1.5},
                                                            {"&#945; = 2, parabola", 2},
                                                            {"&#945; = 3, semicircle", 3},
                                                            {"&#945; = &#8734;, uniform", kInfinity}};
  for (const auto& [name, alpha] : members) {
    const auto p = BetaGaussian::from_variance(alpha, 0, 1);
    plot.curve(name, [&](double t) { return pdf(p, t); });
  }
  return plot.str();
}

struct Picture {
  const char* name;
  std::function<std::string()> draw;
};
const std::vector<Picture> kPictures{{"beta_gaussian", beta_gaussian}};

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count == 2 ? arguments[1] : "";
  const bool help = folder == "--help" || folder == "-h";
  if (help || folder.empty() || folder[0] == '-') {
    std::fputs(
        "usage: families FOLDER\n"
        "Draws a picture of each family of distributions into FOLDER, which must exist, as SVG.\n",
        help ? stdout : stderr);
    return help ? 0 : 2;
  }
  for (const Picture& picture : kPictures) {
    const std::string path = folder + "/" + picture.name + ".svg",
                      error = svg::write_file(path, picture.draw());
    if (!error.empty()) {
      std::fprintf(stderr, "families: cannot write %s: %s\n", path.c_str(), error.c_str());
      return 1;
    }
    std::printf("%s\n", path.c_str());
  }
}
