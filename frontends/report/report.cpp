#include "report/report.hpp"

#include <string>
#include <variant>

#include "report/sections/sections.hpp"

namespace fenchel::report {
namespace {

struct Entry {
  const char* title;
  Section (*make)();
};
constexpr Entry kSections[] = {{"families", families},
                               {"sparse densities", sparse_densities},
                               {"maps", maps},
                               {"distributions", distributions},
                               {"two-dimensional beta-Gaussians", misfit},
                               {"location-scale families", location_scale},
                               {"integers", integers},
                               {"beta-Gaussians", beta_gaussians},
                               {"maximum entropy", maximum_entropy},
                               {"capped and smooth densities", capped_and_smooth},
                               {"taut string", taut_string},
                               {"attention", attention},
                               {"regression", regression},
                               {"geodesics", geodesics},
                               {"audio", audio},
                               {"visual questions", visual},
                               {"errata", errata}};

FigureFile file_of(const Figure& figure) {
  return {figure.name + ".svg", plot::svg_file(figure.heading, figure.charts, figure.columns)};
}
FigureFile file_of(const Drawing& drawing) { return {drawing.name + ".svg", drawing.file}; }
FigureFile file_of(const Picture& picture) { return {picture.name + ".png", std::string(picture.png)}; }

}  // namespace

Report make_report(const SectionProgress& progress) {
  Report report;
  std::vector<Section> sections;
  for (const Entry& entry : kSections) {
    progress(sections.size(), std::size(kSections), entry.title);
    sections.push_back(entry.make());
    for (const auto& part : sections.back().parts) {
      if (const auto* figure = std::get_if<Figure>(&part)) report.figures.push_back(file_of(*figure));
      if (const auto* drawing = std::get_if<Drawing>(&part)) report.figures.push_back(file_of(*drawing));
      if (const auto* picture = std::get_if<Picture>(&part)) report.figures.push_back(file_of(*picture));
    }
  }
  report.html = render(sections);
  return report;
}

}  // namespace fenchel::report
