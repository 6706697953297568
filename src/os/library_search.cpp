#include "os/library_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/small_file.hpp"

namespace sorrel::os {

namespace {

#if defined(__x86_64__)
constexpr std::int32_t kind_here = 0x0303;
#elif defined(__aarch64__)
constexpr std::int32_t kind_here = 0x0a03;
#endif

/// The loader's cache: header, entries, and the strings that the entries refer to. Source: glibc,
/// sysdeps/generic/dl-cache.h.
constexpr std::string_view cache_magic = "glibc-ld.so.cache1.1";
constexpr std::size_t cache_header_bytes = 48;
constexpr std::size_t cache_bytes_max = std::size_t{64} << 20;

struct CacheEntry {
  std::int32_t kind;
  std::uint32_t name;
  std::uint32_t path;
  std::uint32_t system;
  std::uint64_t hardware;
};

[[nodiscard]] std::string_view text_at(std::string_view cache, std::size_t offset) {
  if (offset >= cache.size()) return {};
  const std::string_view rest = cache.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

/// Without searching for the end of the text: the cache has thousands of them.
[[nodiscard]] bool is_text_at(std::string_view cache, std::size_t offset, std::string_view text) {
  return offset < cache.size() && cache.size() - offset > text.size() &&
         cache[offset + text.size()] == '\0' &&
         std::memcmp(cache.data() + offset, text.data(), text.size()) == 0;
}

[[nodiscard]] const std::string& cache_of_system() {
  static const std::string cache = [] {
    std::string bytes;
    if (!read_small_file("/etc/ld.so.cache", cache_bytes_max, bytes).empty()) bytes.clear();
    return bytes;
  }();
  return cache;
}

/// $ORIGIN is the folder of the file that contains it.
std::string expand_origin(std::string folder, const std::string& origin) {
  for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
    for (std::size_t at = 0; (at = folder.find(word, at)) != std::string::npos;
         at += origin.size()) {
      folder.replace(at, word.size(), origin);
    }
  }
  return folder;
}

/// Whether the loader passes over a file that it finds in a folder: built for another machine.
bool is_for_other_machine(const std::string& path) {
  std::array<unsigned char, offsetof(Elf64_Ehdr, e_machine) + sizeof(Elf64_Half)> start{};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  const bool is_read =
      file >= 0 && ::read(file, start.data(), start.size()) == static_cast<ssize_t>(start.size());
  if (file >= 0) ::close(file);
  if (!is_read || std::memcmp(start.data(), ELFMAG, SELFMAG) != 0) return false;
  Elf64_Half machine;
  std::memcpy(&machine, start.data() + offsetof(Elf64_Ehdr, e_machine), sizeof machine);
  return start[EI_CLASS] != ELFCLASS64 || machine != machine_here;
}

std::string find_in(const std::vector<std::string>& folders,
                    std::string_view name,
                    const std::string& origin,
                    OtherMachines others) {
  for (const std::string& folder : folders) {
    std::string path = expand_origin(folder, origin) + "/";
    path += name;
    if (is_file(path) && (others == OtherMachines::accept || !is_for_other_machine(path)))
      return path;
  }
  return "";
}

/// The folders of a search path: an empty part is the working directory.
std::vector<std::string> search_folders(std::string_view list) {
  std::vector<std::string> folders;
  while (!list.empty()) {
    const std::size_t end = list.find_first_of(":;");
    const std::string_view part = list.substr(0, end);
    folders.emplace_back(part.empty() ? "." : part);
    if (end == list.npos) return folders;
    list.remove_prefix(end + 1);
    if (list.empty()) folders.emplace_back(".");
  }
  return folders;
}

}  // namespace

bool is_file(const std::string& path) {
  struct stat status{};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::vector<std::string> split_path(std::string_view list, char separator) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(separator), list.size());
    if (end > 0) parts.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return parts;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string find_in_cache(std::string_view soname, std::string_view cache) {
  std::uint32_t count = 0;
  if (cache.size() < cache_header_bytes || !cache.starts_with(cache_magic)) return "";
  std::memcpy(&count, cache.data() + cache_magic.size(), sizeof count);
  const std::size_t room = (cache.size() - cache_header_bytes) / sizeof(CacheEntry);
  for (std::size_t index = 0; index < std::min<std::size_t>(count, room); ++index) {
    CacheEntry entry;
    std::memcpy(&entry, cache.data() + cache_header_bytes + index * sizeof entry, sizeof entry);
    if (entry.kind == kind_here && entry.hardware == 0 && is_text_at(cache, entry.name, soname))
      return std::string(text_at(cache, entry.path));
  }
  return "";
}

LibrarySearch search_with(const char* library_path) {
  LibrarySearch search;
  search.before_runpath = search_folders(library_path == nullptr ? "" : library_path);
  return search;
}

std::string find_library(std::string_view soname,
                         const ElfFile& needer,
                         const std::string& needer_path,
                         const LibrarySearch& search,
                         OtherMachines others) {
  if (soname.find('/') != soname.npos)
    return is_file(std::string(soname)) ? std::string(soname) : "";
  const std::string origin = folder_of(needer_path);
  std::string found;
  // RPATH applies only without RUNPATH, and then before all other paths.
  if (needer.runpath.empty()) found = find_in(search_folders(needer.rpath), soname, origin, others);
  if (found.empty()) found = find_in(search.before_runpath, soname, origin, others);
  if (found.empty()) found = find_in(search_folders(needer.runpath), soname, origin, others);
  if (found.empty()) found = find_in_cache(soname, cache_of_system());
  if (found.empty() || !is_file(found)) found = find_in(search.last, soname, origin, others);
  return found;
}

}  // namespace sorrel::os
