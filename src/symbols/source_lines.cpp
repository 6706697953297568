#include "symbols/source_lines.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <map>
#include <unistd.h>
#include <utility>

#include "base/fixed_text.hpp"
#include "base/printable.hpp"
#include "symbols/demangle.hpp"
#include "symbols/symbol_file.hpp"

namespace sorrel::symbols {

namespace {

using Path = FixedText<512>;

constexpr const char* own_executable = "/proc/self/exe";
constexpr std::string_view debug_folder = "/usr/lib/debug";

/// The location of an address.
struct Place {
  const char* path = nullptr;        ///< The file that is mapped there; null: none.
  const std::byte* begin = nullptr;  ///< Where its first page is mapped: a rank's, in its image.
  std::uintptr_t distance = 0;       ///< Distance of the call from there.
};

/// Uses the only function of the loader that takes no lock.
Place place_of(const void* address) {
  dl_find_object object{};
  if (address == nullptr) return {};
  const auto* call = static_cast<const std::byte*>(address) - 1;
  if (_dl_find_object(const_cast<std::byte*>(call), &object) != 0) return {};
  const char* name = object.dlfo_link_map->l_name;
  const auto* begin = static_cast<const std::byte*>(object.dlfo_map_start);
  return {.path = name == nullptr || *name == '\0' ? own_executable : name,
          .begin = begin,
          .distance = static_cast<std::uintptr_t>(call - begin)};
}

std::string_view name_without_folders(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

/// The target of the executable's symbolic link.
Path real_path(const char* path) {
  Path real;
  std::array<char, 400> target{};
  const ssize_t bytes = readlink(path, target.data(), target.size());
  real.add(bytes > 0 ? std::string_view(target.data(), static_cast<std::size_t>(bytes)) : path);
  return real;
}

/// The path of the debug information of a file with this build id.
Path path_by_build_id(const SymbolFile& file) {
  Path path;
  const auto note = file.section(".note.gnu.build-id");
  // Sizes of name and id, kind, and the name "GNU".
  constexpr std::size_t header_bytes = 16;
  if (note.size() <= header_bytes) return path;
  path.add(debug_folder).add("/.build-id/");
  for (std::size_t i = header_bytes; i < note.size(); ++i) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = std::to_integer<unsigned>(note[i]);
    const std::array<char, 2> hex = {digits[byte >> 4], digits[byte & 15]};
    path.add({hex.data(), hex.size()});
    if (i == header_bytes) path.add("/");
  }
  path.add(".debug");
  return path;
}

/// Calls `visit(path)` for each place where the debug information of a file may lie, until it
/// returns true.
template <class Visit>
void for_each_debug_path(const SymbolFile& file, std::string_view real, Visit&& visit) {
  const Path by_id = path_by_build_id(file);
  if (!by_id.is_empty() && visit(by_id)) return;
  const auto link = file.section(".gnu_debuglink");
  if (link.empty() || std::memchr(link.data(), 0, link.size()) == nullptr) return;
  const std::string_view name(reinterpret_cast<const char*>(link.data()));
  const std::string_view folder = folder_of(real);
  if (visit(Path().add(folder).add(name))) return;
  if (visit(Path().add(folder).add(".debug/").add(name))) return;
  visit(Path().add(debug_folder).add(folder).add(name));
}

class SourceTexts {
 public:
  SourceTexts(std::span<const void* const> addresses, std::span<SourceText> texts)
      : count_(std::min({addresses.size(), texts.size(), source_text_count_max})), texts_(texts) {
    for (std::size_t i = 0; i < count_; ++i) {
      places_[i] = place_of(addresses[i]);
      texts_[i][0] = '\0';
    }
  }

  void write() {
    for (std::size_t i = 0; i < count_; ++i) {
      const bool is_first_of_file =
          places_[i].path != nullptr &&
          std::none_of(places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(i),
                       [&](const Place& earlier) { return earlier.begin == places_[i].begin; });
      if (is_first_of_file) write_file(i);
    }
  }

 private:
  /// Writes the texts of all addresses in the file of address `first`.
  void write_file(std::size_t first) {
    const Path real = real_path(places_[first].path);
    SymbolFile file(places_[first].path);
    std::array<std::size_t, source_text_count_max> indices{};
    std::array<LineQuery, source_text_count_max> queries{};
    std::size_t count = 0;
    const std::uint64_t first_page = file.first_page();
    for (std::size_t i = first; i < count_; ++i) {
      if (places_[i].path == nullptr || places_[i].begin != places_[first].begin) continue;
      indices[count] = i;
      queries[count++].address = places_[i].distance + first_page;
    }
    const std::span<LineQuery> asked(queries.data(), count);
    const LineSections lines = file.line_sections();
    find_lines(lines, asked);
    for (std::size_t k = 0; k < count; ++k)
      write_text(indices[k], real.text(), file.function_at(queries[k].address), queries[k]);
    if (!lines.lines.empty()) return;
    for_each_debug_path(file, real.text(), [&](const Path& path) {
      SymbolFile debug_file(path.c_str());
      if (!debug_file.is_open()) return false;
      find_lines(debug_file.line_sections(), asked);
      for (std::size_t k = 0; k < count; ++k) {
        const char* function = debug_file.function_at(queries[k].address);
        if (function != nullptr) write_text(indices[k], real.text(), function, queries[k]);
      }
      return true;
    });
  }

  void write_text(std::size_t index,
                  std::string_view path,
                  const char* function,
                  const LineQuery& query) {
    FixedText<std::tuple_size_v<SourceText>> text;
    if (function != nullptr) {
      const bool is_cxx = function[0] == '_' && function[1] == 'Z';
      is_cxx ? add_demangled(text, function) : void(text.add(function));
      text.add(" (");
    }
    if (function != nullptr && query.file != nullptr) {
      text.add(query.file).add(":").add(query.line);
    } else {
      text.add(name_without_folders(path)).add("+").add_hex(places_[index].distance);
    }
    if (function != nullptr) text.add(")");
    // The file may be anything.
    FixedText<std::tuple_size_v<SourceText>> shown;
    add_printable(shown, text.text());
    std::memcpy(texts_[index].data(), shown.c_str(), shown.text().size() + 1);
  }

  const std::size_t count_;
  std::span<SourceText> texts_;
  std::array<Place, source_text_count_max> places_{};
};

}  // namespace

void describe_source(std::span<const void* const> addresses, std::span<SourceText> texts) {
  SourceTexts(addresses, texts).write();
}

std::vector<std::string> source_lines(const std::vector<const void*>& addresses,
                                      std::size_t place_count_max) {
  std::map<std::pair<std::string, std::uintptr_t>, std::size_t> index_of;
  std::vector<std::size_t> indices;
  std::vector<const void*> distinct;
  for (const void* address : addresses) {
    const Place place = place_of(address);
    const auto [found, is_new] = index_of.try_emplace(
        {place.path == nullptr ? "" : place.path, place.distance}, index_of.size());
    if (is_new && distinct.size() < place_count_max) distinct.push_back(address);
    indices.push_back(found->second);
  }
  std::vector<std::string> texts;
  std::span<const void* const> left(distinct);
  while (!left.empty()) {
    std::array<SourceText, source_text_count_max> part_texts;
    const auto part = left.first(std::min(left.size(), part_texts.size()));
    describe_source(part, part_texts);
    for (std::size_t i = 0; i < part.size(); ++i)
      texts.emplace_back(part_texts[i][0] == '\0' ? "-" : part_texts[i].data());
    left = left.subspan(part.size());
  }
  std::vector<std::string> lines;
  for (const std::size_t index : indices)
    lines.push_back(index < texts.size() ? texts[index] : "-");
  return lines;
}

}  // namespace sorrel::symbols
