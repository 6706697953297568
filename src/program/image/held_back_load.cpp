#include "program/image/held_back_load.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.hpp"
#include "early/hold_back.hpp"
#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

struct Request {
  std::string file_name;
  const std::function<bool(const link_map&)>* is_held_back;
  std::vector<NewModule>* modules;
};

// Set while the loader runs the constructor below.
const Request* active_request = nullptr;

// Runs on the thread that loads, which holds the loader's lock: the loader has appended the new
// modules to its list, behind the file that requests them.
void hold_back_new_modules(int /*argc*/, char** /*argv*/, char** /*environment*/) {
  SORREL_ASSERT(active_request != nullptr, "the loader runs the constructor without a request");
  const link_map* map = _r_debug.r_map;
  while (map != nullptr && active_request->file_name != map->l_name)
    map = map->l_next;
  if (map == nullptr) return;
  while ((map = map->l_next) != nullptr) {
    NewModule& module = active_request->modules->emplace_back();
    module.map = map;
    module.is_held_back = (*active_request->is_held_back)(*map);
    if (module.is_held_back) early::hold_back(*map, module.record);
  }
}

#if defined(__x86_64__)
constexpr ElfW(Half) machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr ElfW(Half) machine = EM_AARCH64;
#endif

/// A shared library without code. Its constructor's address is absolute: no relocation changes it.
class RequestFile {
 public:
  explicit RequestFile(std::span<const std::string> names) {
    std::string text(1, '\0');
    std::vector<ElfW(Dyn)> dynamic;
    const auto add = [&dynamic](std::int64_t tag, std::uint64_t value) {
      dynamic.push_back({.d_tag = tag, .d_un = {.d_val = value}});
    };
    for (const std::string& name : names) {
      add(DT_NEEDED, text.size());
      text.append(name.c_str(), name.size() + 1);
    }
    constexpr std::size_t entries_behind = 8;
    const std::size_t dynamic_bytes = (dynamic.size() + entries_behind) * sizeof(ElfW(Dyn));
    const std::size_t dynamic_begin = sizeof(ElfW(Ehdr)) + segment_count * sizeof(ElfW(Phdr));
    const std::size_t constructors = dynamic_begin + dynamic_bytes;
    const std::size_t symbols = constructors + sizeof(std::uintptr_t);
    const std::size_t strings = symbols + sizeof(ElfW(Sym));
    add(DT_FLAGS_1, DF_1_INITFIRST);
    add(DT_INIT_ARRAY, constructors);
    add(DT_INIT_ARRAYSZ, sizeof(std::uintptr_t));
    add(DT_SYMTAB, symbols);
    add(DT_SYMENT, sizeof(ElfW(Sym)));
    add(DT_STRTAB, strings);
    add(DT_STRSZ, text.size());
    add(DT_NULL, 0);
    SORREL_ASSERT(dynamic.size() * sizeof(ElfW(Dyn)) == dynamic_bytes, "%zu entries in %zu bytes",
                  dynamic.size(), dynamic_bytes);
    const std::size_t size = strings + text.size();
    append(header());
    append(segment(PT_LOAD, 0, size));
    append(segment(PT_DYNAMIC, dynamic_begin, dynamic_bytes));
    append(segment(PT_GNU_STACK, 0, 0));
    for (const ElfW(Dyn) & entry : dynamic)
      append(entry);
    append(reinterpret_cast<std::uintptr_t>(&hold_back_new_modules));
    append(ElfW(Sym){});
    bytes_ += text;
    SORREL_ASSERT(bytes_.size() == size, "a file of %zu bytes, not %zu", bytes_.size(), size);
  }

  /// A file in memory, or -1.
  [[nodiscard]] int create() const {
    const int file = ::memfd_create("sorrel-load", MFD_CLOEXEC);
    if (file < 0) return -1;
    if (::write(file, bytes_.data(), bytes_.size()) == static_cast<ssize_t>(bytes_.size()))
      return file;
    ::close(file);
    return -1;
  }

 private:
  static constexpr ElfW(Half) segment_count = 3;
  static constexpr std::size_t alignment = 65536;  // the largest page of this machine's kind

  [[nodiscard]] static ElfW(Ehdr) header() {
    ElfW(Ehdr) header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = machine;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof header;
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(ElfW(Phdr));
    header.e_phnum = segment_count;
    return header;
  }

  [[nodiscard]] static ElfW(Phdr) segment(std::uint32_t type, std::size_t begin, std::size_t size) {
    ElfW(Phdr) segment{};
    segment.p_type = type;
    segment.p_flags = PF_R | PF_W;
    segment.p_offset = segment.p_vaddr = segment.p_paddr = begin;
    segment.p_filesz = segment.p_memsz = size;
    segment.p_align = type == PT_LOAD ? alignment : sizeof(std::uintptr_t);
    return segment;
  }

  template <class T>
  void append(const T& part) {
    bytes_.append(reinterpret_cast<const char*>(&part), sizeof part);
  }

  std::string bytes_;
};

}  // namespace

HeldBackLoad load_held_back(std::span<const std::string> names,
                            const std::function<bool(const link_map&)>& is_held_back) {
  static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
  HeldBackLoad load;
  const int file = RequestFile(names).create();
  const Request request{"/proc/self/fd/" + std::to_string(file), &is_held_back, &load.modules};
  active_request = &request;
  load.handle = real_open(request.file_name.c_str(), RTLD_NOW | RTLD_LOCAL);
  active_request = nullptr;
  SORREL_ASSERT(file >= 0 || load.handle == nullptr,
                "the loader has opened a file that is not there");
  if (file >= 0) ::close(file);
  return load;
}

}  // namespace sorrel::program
