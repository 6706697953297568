// Reads files of gmsh, format 4.1 (Gmsh Reference Manual, "MSH file format").
#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <unordered_map>

#include "mesh.hpp"

namespace fem {

namespace {

/// The text of a file with a position, and numbers as the file's header says.
class Cursor {
 public:
  explicit Cursor(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error(path + ": cannot be opened");
    text_.assign(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) throw Error(path + ": cannot be read");
    if (text_.empty()) throw Error(path + ": empty");
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(path_ + ": " + (section_.empty() ? "" : section_ + ": ") + why);
  }

  /// The text of a line that remains, without its end.
  std::string line() {
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    std::string found = text_.substr(at_, end - at_);
    at_ = std::min(end + 1, text_.size());
    if (!found.empty() && found.back() == '\r') found.pop_back();
    return found;
  }

  bool is_at_end() const { return at_ >= text_.size(); }

  void begin(const std::string& section) { section_ = section; }

  /// Skips what remains of the section.
  void skip_section() {
    const std::string mark = "$End" + section_.substr(1);
    const std::size_t found = text_.find(mark, at_);
    if (found == std::string::npos) fail("the file ends before " + mark);
    at_ = found;
    line();
  }

  void end_section() {
    const std::string mark = "$End" + section_.substr(1);
    while (!is_at_end() && (text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == ' '))
      ++at_;
    if (is_at_end()) fail("the file ends before " + mark);
    if (line() != mark) fail(mark + " is expected after the last number");
  }

  void set_binary() { is_binary_ = true; }

  template <typename Number>
  Number number() {
    return is_binary_ ? binary<Number>() : written<Number>();
  }

  /// A number of things, each of which takes at least one character of the file.
  std::size_t count() {
    const std::size_t found = number<std::size_t>();
    if (found > text_.size() - at_) fail("the file ends too early");
    return found;
  }

 private:
  template <typename Number>
  Number binary() {
    if (text_.size() - at_ < sizeof(Number)) fail("the file ends too early");
    Number value;
    std::memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  template <typename Number>
  Number written() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
    if (is_at_end()) fail("the file ends too early");
    Number value{};
    const char* end = text_.data() + text_.size();
    const auto [rest, error] = std::from_chars(text_.data() + at_, end, value);
    if (error != std::errc{}) fail("a number is expected, not '" + line().substr(0, 20) + "'");
    // A number at the very end may have lost digits.
    if (rest == end) fail("the file ends too early");
    at_ = static_cast<std::size_t>(rest - text_.data());
    return value;
  }

  std::string path_, text_, section_;
  std::size_t at_ = 0;
  bool is_binary_ = false;
};

void read_format(Cursor& file) {
  const std::string format = file.line();
  if (format.rfind("4.1 ", 0) != 0)
    file.fail("version " + format.substr(0, format.find(' ')) +
              "; only 4.1 is supported (gmsh -format msh41)");
  if (format != "4.1 0 8" && format != "4.1 1 8") file.fail("'" + format + "' is not supported");
  if (format == "4.1 1 8") {
    file.set_binary();
    if (file.number<std::int32_t>() != 1) file.fail("the byte order of another machine");
  }
  file.end_section();
}

void read_nodes(Cursor& file, Mesh& mesh, std::unordered_map<std::size_t, std::int32_t>& names) {
  const std::size_t blocks = file.count(), total = file.count();
  file.number<std::size_t>();  // the least tag
  file.number<std::size_t>();  // the greatest
  mesh.nodes.reserve(total);
  names.reserve(total);
  for (std::size_t b = 0; b < blocks; ++b) {
    const int dimension = file.number<std::int32_t>();
    file.number<std::int32_t>();  // the entity
    const bool is_parametric = file.number<std::int32_t>() != 0;
    const std::size_t count = file.count();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t tag = file.number<std::size_t>();
      const auto next = static_cast<std::int32_t>(mesh.nodes.size() + i);
      if (!names.emplace(tag, next).second)
        file.fail("node " + std::to_string(tag) + " appears twice");
    }
    for (std::size_t i = 0; i < count; ++i) {
      Vector x;
      for (double& coordinate : x)
        coordinate = file.number<double>();
      for (int d = 0; is_parametric && d < dimension; ++d)
        file.number<double>();
      mesh.nodes.push_back(x);
    }
  }
  if (mesh.nodes.size() != total) file.fail("the blocks do not have as many nodes as announced");
  file.end_section();
}

/// Nodes of an element by gmsh's number of its type, 0 if not supported.
int node_count_of(int type) {
  switch (type) {
    case 1:
      return 2;
    case 2:
      return 3;
    case 4:
      return 4;
    case 15:
      return 1;
    default:
      return 0;
  }
}

void read_elements(Cursor& file,
                   Mesh& mesh,
                   const std::unordered_map<std::size_t, std::int32_t>& names) {
  constexpr int tetrahedron = 4;
  const std::size_t blocks = file.count(), total = file.count();
  file.number<std::size_t>();
  file.number<std::size_t>();
  std::size_t found = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    file.number<std::int32_t>();  // dimension and entity
    file.number<std::int32_t>();
    const int type = file.number<std::int32_t>();
    const int node_count = node_count_of(type);
    if (node_count == 0)
      file.fail("element type " + std::to_string(type) +
                " is not supported; only tetrahedra of four nodes (type 4)");
    const std::size_t count = file.count();
    found += count;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t tag = file.number<std::size_t>();
      std::array<std::int32_t, 4> element{};
      for (int n = 0; n < node_count; ++n) {
        const auto node = names.find(file.number<std::size_t>());
        if (node == names.end())
          file.fail("element " + std::to_string(tag) + " has a node that is not in $Nodes");
        element[n] = node->second;
      }
      if (type == tetrahedron) mesh.elements.push_back(element);
    }
  }
  if (found != total) file.fail("the blocks do not have as many elements as announced");
  file.end_section();
}

}  // namespace

Mesh read_gmsh(const std::string& path) {
  static_assert(sizeof(std::size_t) == 8);  // as the second number of the header says
  Cursor file(path);
  Mesh mesh;
  std::unordered_map<std::size_t, std::int32_t> names;
  bool has_format = false, has_elements = false;
  while (!file.is_at_end()) {
    const std::string section = file.line();
    if (section.empty()) continue;
    if (section[0] != '$' || (!has_format && section != "$MeshFormat"))
      file.fail("not a mesh file of gmsh");
    file.begin(section);
    if (section == "$MeshFormat") {
      read_format(file);
      has_format = true;
    } else if (section == "$Nodes") {
      read_nodes(file, mesh, names);
    } else if (section == "$Elements") {
      read_elements(file, mesh, names);
      has_elements = true;
    } else {
      file.skip_section();
    }
    file.begin("");
  }
  if (!has_elements) file.fail("no $Elements");
  if (mesh.elements.empty()) file.fail("no tetrahedra (gmsh -3 makes them)");
  try {
    put_right(mesh);
  } catch (const Error& error) {
    file.fail(error.what());
  }
  return mesh;
}

}  // namespace fem
