#include "runtime/checkpoint/program_layout.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "os/page_bytes.hpp"
#include "os/stack_slab.hpp"
#include "program/base/libc.hpp"
#include "transport/host/host_transport.hpp"

namespace sorrel::runtime {

namespace {

/// A word of the thread control block, where compilers and the C library have their guards.
std::uintptr_t word_of_thread([[maybe_unused]] std::size_t offset) {
  std::uintptr_t word = 0;
#if defined(__x86_64__)
  const auto* block = static_cast<const std::byte*>(__builtin_thread_pointer());
  std::memcpy(&word, block + offset, sizeof word);
#endif
  return word;
}

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += text_of("%02x", bytes[i]);
  return text;
}

std::string build_id_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(info.dlpi_addr + segment.p_vaddr);
    const unsigned char* end = at + segment.p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note{};
      std::memcpy(&note, at, sizeof note);
      const unsigned char* name = at + sizeof note;
      const unsigned char* value = name + (note.n_namesz + 3) / 4 * 4;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
          std::memcmp(name, "GNU", sizeof "GNU") == 0)
        return hexadecimal(value, note.n_descsz);
      at = value + (note.n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

/// Stands for the contents of a file without a build id.
std::string stamp_of(const char* path) {
  struct stat status{};
  if (::stat(path, &status) != 0) return "unknown";
  return text_of("%lld bytes of %lld", static_cast<long long>(status.st_size),
                 static_cast<long long>(status.st_mtime));
}

struct Files {
  /// The files that count, by their addresses; null: all.
  const std::vector<std::uintptr_t>* addresses = nullptr;
  std::string text;
};

int add_file(dl_phdr_info* info, std::size_t, void* argument) {
  auto& [addresses, text] = *static_cast<Files*>(argument);
  std::string_view path = info->dlpi_name;
  if (path.find("linux-vdso") != std::string_view::npos) return 0;
  if (addresses != nullptr && std::ranges::find(*addresses, info->dlpi_addr) == addresses->end())
    return 0;
  // The executable comes first, without a name.
  const char* file = path.empty() ? "/proc/self/exe" : info->dlpi_name;
  const std::string id = build_id_of(*info);
  text += text_of("%s is %s at 0x%llx\n", path.empty() ? "the program" : info->dlpi_name,
                  (id.empty() ? stamp_of(file) : id).c_str(),
                  static_cast<unsigned long long>(info->dlpi_addr));
  return 0;
}

/// What the processor of this machine can do: libraries choose their functions by it, and a rank
/// has the addresses of what they have chosen.
std::string instruction_sets() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags") || line.starts_with("Features"))
      return text_of("%llx", static_cast<unsigned long long>(hash_of(line)));
  }
  return "unknown";
}

}  // namespace

std::string layout_text(const Config& config) {
  static auto* const real_iterate =
      program::next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  // A host MPI loads its own in any order, and no rank has addresses of them.
  Files files;
  if (config.host != nullptr) files.addresses = &config.host->program_files;
  real_iterate(add_file, &files);
  std::string text = std::move(files.text);
  constexpr std::size_t stack_protector = 0x28;
  constexpr std::size_t pointer_guard = 0x30;
  text += text_of("the stack protector and the pointer guard are 0x%llx and 0x%llx\n",
                  static_cast<unsigned long long>(word_of_thread(stack_protector)),
                  static_cast<unsigned long long>(word_of_thread(pointer_guard)));
  const std::size_t stack_bytes =
      config.stack_bytes != 0 ? config.stack_bytes : os::default_stack_bytes();
  text += text_of("stacks have %zu bytes, pages %zu\n", stack_bytes, os::page_bytes());
  text += text_of("the job has %d ranks\n", config.rank_count);
  text += "the processor's instruction sets are " + instruction_sets() + "\n";
  return text;
}

}  // namespace sorrel::runtime
