#include "os/library_walk.hpp"

#include <cstddef>
#include <variant>

namespace sorrel::os {

namespace {

/// A dependency graph with more libraries is damaged.
constexpr std::size_t library_count_max = 1000;

}  // namespace

void LibraryWalk::walk(const ElfFile& needer, const std::string& needer_path) {
  for (const std::string_view soname : needer.needed)
    walk_to(soname, needer, needer_path);
}

void LibraryWalk::walk_to(std::string_view soname,
                          const ElfFile& needer,
                          const std::string& needer_path) {
  if (seen_.size() >= library_count_max || !is_sought(soname)) return;
  const auto [name, is_new] = seen_.emplace(soname);
  if (!is_new) return;
  const std::string path = find(soname, needer, needer_path);
  const Need need{*name, path, needer, needer_path};
  if (!is_read(need) || path.empty()) return;
  const auto opened = ElfFile::open(path);
  const auto* library = std::get_if<ElfFile>(&opened);
  if (library == nullptr) return report(need, std::get<ElfError>(opened));
  read(need, *library);
  walk(*library, path);
}

std::string LibraryWalk::find(std::string_view soname,
                              const ElfFile& needer,
                              const std::string& needer_path) {
  return find_library(soname, needer, needer_path, search_);
}

}  // namespace sorrel::os
