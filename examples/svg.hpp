#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

/// Just enough SVG for a chart: shapes and text in pixels, y down. The same calls give the same bytes.
namespace svg {

/// A number as printf prints it; six digits are more than a pixel needs.
inline std::string number(double x, const char* format = "%.6g") {
  char digits[32];
  std::snprintf(digits, sizeof digits, format, x);
  return digits;
}

enum class Anchor { start, middle, end };

struct TextStyle {
  double size = 12;
  Anchor anchor = Anchor::middle;
  const char* fill = "#333333";
  bool bold = false;
  double rotate = 0;  ///< degrees, clockwise about its own place
};

class Drawing {
 public:
  Drawing(double width, double height, const std::string& title) {
    const std::string size = quoted("width", width) + quoted("height", height);
    body_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + size + " viewBox=\"0 0 " + number(width) + ' ' +
            number(height) + "\" font-family=\"Helvetica, Arial, sans-serif\" role=\"img\">\n<title>" +
            title + "</title>\n";
  }

  void rect(double x, double y, double width, double height, const std::string& fill) {
    body_ += "<rect" + quoted("x", x) + quoted("y", y) + quoted("width", width) + quoted("height", height) +
             " fill=\"" + fill + "\"/>\n";
  }

  void line(double x1, double y1, double x2, double y2, const std::string& stroke, double width = 1) {
    body_ += "<line" + quoted("x1", x1) + quoted("y1", y1) + quoted("x2", x2) + quoted("y2", y2) +
             " stroke=\"" + stroke + "\"" + quoted("stroke-width", width) + "/>\n";
  }

  /// A curve through points "x,y x,y ...".
  void polyline(const std::string& points, const std::string& stroke, double width = 2) {
    body_ += "<polyline points=\"" + points + "\" fill=\"none\" stroke=\"" + stroke + "\"" +
             quoted("stroke-width", width) + " stroke-linejoin=\"round\"/>\n";
  }

  void dot(double x, double y, double radius, const std::string& fill) {
    body_ +=
        "<circle" + quoted("cx", x) + quoted("cy", y) + quoted("r", radius) + " fill=\"" + fill + "\"/>\n";
  }

  void ring(double x, double y, double radius, const std::string& stroke) {
    body_ += "<circle" + quoted("cx", x) + quoted("cy", y) + quoted("r", radius) +
             " fill=\"none\" stroke=\"" + stroke + "\" stroke-width=\"1.5\"/>\n";
  }

  /// The text is XML: &lt; for <, &#945; for alpha.
  void text(double x, double y, const std::string& xml, const TextStyle& style = {}) {
    constexpr const char* kAnchors[] = {"start", "middle", "end"};
    body_ += "<text" + quoted("x", x) + quoted("y", y) + quoted("font-size", style.size) + " text-anchor=\"" +
             kAnchors[static_cast<int>(style.anchor)] + "\" fill=\"" + style.fill + "\"";
    if (style.bold) body_ += " font-weight=\"bold\"";
    if (style.rotate != 0) {
      body_ += " transform=\"rotate(" + number(style.rotate) + ' ' + number(x) + ' ' + number(y) + ")\"";
    }
    body_ += ">" + xml + "</text>\n";
  }

  [[nodiscard]] std::string str() const { return body_ + "</svg>\n"; }

 private:
  static std::string quoted(const char* name, double x) {
    return std::string(" ") + name + "=\"" + number(x) + '"';
  }

  std::string body_;
};

/// Writes the whole file or nothing: to a name beside it first, then by renaming. Gives the error, empty when
/// there is none.
[[nodiscard]] inline std::string write_file(const std::filesystem::path& path, const std::string& content) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    return "it is not a regular file";
  }
  const std::filesystem::path beside = path.string() + ".part";
  std::ofstream file(beside, std::ios::binary | std::ios::trunc);
  if (!file) return "cannot create " + beside.string();
  file << content;
  file.close();
  if (file) std::filesystem::rename(beside, path, error);
  if (file && !error) return {};
  const std::string reason = error ? error.message() : "the disk may be full";
  std::filesystem::remove(beside, error);
  return reason;
}

}  // namespace svg
