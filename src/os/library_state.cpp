#include "os/library_state.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <vector>

#include "base/check.hpp"
#include "os/device_driver.hpp"

namespace sorrel::os {

namespace {

struct Range {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Removes `hole` from `from`.
void subtract(std::vector<Range>& from, const Range& hole) {
  SORREL_ASSERT(hole.begin <= hole.end, "0x%llx to 0x%llx",
                static_cast<unsigned long long>(hole.begin),
                static_cast<unsigned long long>(hole.end));
  std::vector<Range> left;
  for (const Range& range : from) {
    if (hole.end <= range.begin || range.end <= hole.begin) {
      left.push_back(range);
      continue;
    }
    if (range.begin < hole.begin) left.push_back({range.begin, hole.begin});
    if (hole.end < range.end) left.push_back({hole.end, range.end});
  }
  from = std::move(left);
}

[[nodiscard]] std::uint64_t bytes_in(const std::vector<Range>& ranges) {
  std::uint64_t sum = 0;
  for (const Range& range : ranges) {
    SORREL_ASSERT(range.begin < range.end, "a range without bytes at 0x%llx",
                  static_cast<unsigned long long>(range.begin));
    sum += range.end - range.begin;
  }
  return sum;
}

/// Addresses that the program may write, without those that only the loader writes: the part that
/// is read-only after relocation, the dynamic section, the slots of the procedure linkage table.
struct Writable {
  std::vector<Range> initialised;
  std::vector<Range> zeroed;
};

[[nodiscard]] Writable writable_of(const ElfFile& library) {
  Writable found;
  for (const Elf64_Phdr& header : library.headers) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    const std::uint64_t file_end = header.p_vaddr + header.p_filesz;
    const std::uint64_t end = header.p_vaddr + std::max(header.p_memsz, header.p_filesz);
    if (file_end > header.p_vaddr) found.initialised.push_back({header.p_vaddr, file_end});
    if (end > file_end) found.zeroed.push_back({file_end, end});
  }
  const auto leave_out = [&found](const Range& hole) {
    subtract(found.initialised, hole);
    subtract(found.zeroed, hole);
  };
  for (const Elf64_Phdr& header : library.headers) {
    if (header.p_type == PT_GNU_RELRO || header.p_type == PT_DYNAMIC)
      leave_out({header.p_vaddr, header.p_vaddr + header.p_memsz});
  }
  leave_out({library.call_table, library.call_table + library.call_table_bytes()});
  return found;
}

constexpr std::uint64_t word_bytes = sizeof(std::uint64_t);
/// Larger sizes count as state untested: one word is for start files, the rest for unwind tables.
constexpr std::uint64_t initialised_max = 32 * word_bytes;
constexpr std::uint64_t zeroed_max = word_bytes;

/// Whether all initialised words are __dso_handle, which points to itself, or references to
/// personality routines and types (DW.ref.*), which unwind tables use.
[[nodiscard]] bool is_from_start_files(const ElfFile& library, const std::vector<Range>& ranges) {
  std::vector<std::uint64_t> known;
  library.for_each_relocation([&](const ElfRelocation& relocation) {
    const bool is_own = relocation.symbol.empty() &&
                        static_cast<std::uint64_t>(relocation.addend) == relocation.address;
    if (is_own || relocation.symbol.ends_with("_personality_v0") ||
        relocation.symbol.starts_with("_ZTI"))
      known.push_back(relocation.address);
  });
  for (const Range& range : ranges) {
    if (range.begin % word_bytes != 0 || range.end % word_bytes != 0) return false;
    for (std::uint64_t at = range.begin; at < range.end; at += word_bytes) {
      if (library.word_at(at) != at && std::find(known.begin(), known.end(), at) == known.end())
        return false;
    }
  }
  return true;
}

#if defined(__x86_64__)

/// Numbers of bytes that may follow the address in an instruction of this opcode; the address is
/// relative to the instruction's end.
[[nodiscard]] std::span<const int> bytes_behind_address(unsigned opcode, bool has_escape) {
  static constexpr int none[] = {0};
  static constexpr int byte[] = {0, 1};
  static constexpr int word[] = {0, 2, 4};
  if (has_escape) return byte;
  switch (opcode) {
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xf6:
      return byte;
    case 0x69:
    case 0x81:
    case 0xc7:
    case 0xf7:
      return word;
    default:
      return none;
  }
}

/// Whether an instruction of the library may refer to an address in `range`. Position-independent
/// code addresses its own variables relative to the instruction. Bytes that look like such an
/// instruction count as one.
[[nodiscard]] bool code_names(const ElfFile& library, const Range& range) {
  for (const Elf64_Phdr& header : library.headers) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const std::span<const std::byte> code = library.bytes_of(header);
    for (std::size_t at = 3; at + 4 <= code.size(); ++at) {
      // The ModRM byte before states that an address relative to the instruction follows.
      if ((static_cast<unsigned>(code[at - 1]) & 0xc7U) != 0x05) continue;
      std::int32_t distance;
      std::memcpy(&distance, code.data() + at, sizeof distance);
      const std::uint64_t next = header.p_vaddr + at + 4 + static_cast<std::uint64_t>(distance);
      const bool has_escape = code[at - 3] == std::byte{0x0f} || code[at - 2] == std::byte{0x0f};
      for (const int behind :
           bytes_behind_address(static_cast<unsigned>(code[at - 2]), has_escape)) {
        const std::uint64_t target = next + static_cast<std::uint64_t>(behind);
        if (range.begin <= target && target < range.end) return true;
      }
    }
  }
  return false;
}

#else

[[nodiscard]] bool code_names(const ElfFile& /*library*/, const Range& /*range*/) {
  return true;
}

#endif

/// Whether a pointer of the library points into `range`.
[[nodiscard]] bool pointer_leads_into(const ElfFile& library, const Range& range) {
  bool is_found = false;
  library.for_each_relocation([&](const ElfRelocation& relocation) {
    const auto target = static_cast<std::uint64_t>(relocation.addend);
    is_found |= relocation.symbol.empty() && range.begin <= target && target < range.end;
  });
  return is_found;
}

/// Whether only the first byte is used, by __do_global_dtors_aux. Linkers pad to a word, and a
/// variable of the library may be in the rest.
[[nodiscard]] bool is_first_byte_only(const ElfFile& library, const Range& zeroed) {
  const Range rest{zeroed.begin + 1, zeroed.end};
  return !pointer_leads_into(library, rest) && !code_names(library, rest);
}

}  // namespace

bool is_variable(const ElfFile& library, const ElfSymbol& symbol) {
  if (!symbol.is_data) return false;
  const Writable writable = writable_of(library);
  const auto holds = [&symbol](const std::vector<Range>& ranges) {
    return std::any_of(ranges.begin(), ranges.end(), [&symbol](const Range& range) {
      return range.begin <= symbol.address && symbol.address < range.end;
    });
  };
  return holds(writable.initialised) || holds(writable.zeroed);
}

std::string state_of(const ElfFile& library) {
  const auto exports_variable = [](const ElfFile& file) {
    bool is_found = false;
    file.for_each_symbol([&](const ElfSymbol& symbol) {
      is_found |= symbol.is_defined && is_variable(file, symbol);
    });
    return is_found;
  };
  if (library.has_tls) return "thread-local variables";
  const Writable writable = writable_of(library);
  const std::uint64_t initialised = bytes_in(writable.initialised);
  const std::uint64_t zeroed = bytes_in(writable.zeroed);
  const bool is_small =
      initialised <= initialised_max && zeroed <= zeroed_max && writable.zeroed.size() <= 1;
  if (is_small && !exports_variable(library) &&
      is_from_start_files(library, writable.initialised) &&
      (writable.zeroed.empty() || is_first_byte_only(library, writable.zeroed.front())))
    return "";
  return std::to_string(initialised + zeroed) + " bytes of writable data";
}

namespace {

constexpr std::string_view libc_reason = "its per-process state is private to each rank";
constexpr std::string_view threads_reason = "its state is per thread, and so per rank";
constexpr std::string_view allocator_reason = "it allocates for all threads of a process";
constexpr std::string_view sanitizer_reason = "it checks the whole process";
constexpr std::string_view driver_reason = "a device's driver has one state for a process";
constexpr std::string_view own_reason = "part of Sorrel";

}  // namespace

std::string_view reason_to_share(std::string_view soname) {
  struct Known {
    std::string_view name;
    std::string_view reason;
  };

  static constexpr Known known[] = {
      {"libc.so", libc_reason},
      {"ld-linux", libc_reason},
      {"libpthread.so", libc_reason},
      {"libdl.so", libc_reason},
      {"librt.so", libc_reason},
      {"libutil.so", libc_reason},
      {"libresolv.so", libc_reason},
      {"linux-vdso.so", libc_reason},
      {"libm.so", "its functions have no state; signgam is private to a rank"},
      {"libmvec.so", "its functions have no state"},
      {"libquadmath.so", "its functions have no state"},
      {"libatomic.so", "its locks are for all threads of a process"},
      {"libgcc_s.so", "its state describes code, the same for all ranks"},
      {"libstdc++.so", "its streams are private to a rank; ranks share locale and handlers"},
      {"libc++", "ranks share its streams, locale and handlers"},
      {"libgomp.so", threads_reason},
      {"libomp.so", threads_reason},
      {"libiomp5.so", threads_reason},
      {"libjemalloc.so", allocator_reason},
      {"libtcmalloc", allocator_reason},
      {"libmimalloc", allocator_reason},
      {"libtbbmalloc", allocator_reason},
      {"libasan.so", sanitizer_reason},
      {"libubsan.so", sanitizer_reason},
      {"libtsan.so", sanitizer_reason},
      {"liblsan.so", sanitizer_reason},
      {"libhwasan.so", sanitizer_reason},
      {"libclang_rt.", sanitizer_reason},
      {"libmpi_abi.so", own_reason},
      {"libsorrel.so", own_reason},
      {"libsorrel-early.so", own_reason},
      {"libsorrel-runtime.so", own_reason},
  };
  for (const Known& library : known) {
    if (is_library(soname, library.name)) return library.reason;
  }
  return is_device_driver(soname) ? driver_reason : "";
}

bool is_cxx_library(std::string_view soname) {
  return is_library(soname, "libstdc++.so") || is_library(soname, "libc++");
}

bool may_be_private(std::string_view soname) {
  return is_cxx_library(soname) || is_library(soname, "libgcc_s.so") ||
         is_library(soname, "libquadmath.so");
}

bool is_of_whole_process(std::string_view soname) {
  const std::string_view reason = reason_to_share(soname);
  return reason == allocator_reason || reason == sanitizer_reason;
}

bool is_declared(std::span<const std::string> declared,
                 std::string_view soname,
                 std::string_view path) {
  return std::any_of(declared.begin(), declared.end(), [&](const std::string& name) {
    return base_name(name) == soname || base_name(name) == base_name(path);
  });
}

bool is_library(std::string_view path, std::string_view name) {
  std::string_view soname = base_name(path);
  if (soname.starts_with(name)) return true;
  const std::size_t end_of_stem = name.find(".so");
  if (end_of_stem == std::string_view::npos || !soname.starts_with(name.substr(0, end_of_stem)))
    return false;
  soname.remove_prefix(end_of_stem);
  // A wheel that is made of another wheel's libraries adds a second hash.
  constexpr std::size_t hash_bytes = 9;
  bool is_renamed = false;
  while (soname.starts_with('-') && soname.find_first_not_of("0123456789abcdef", 1) == hash_bytes) {
    soname.remove_prefix(hash_bytes);
    is_renamed = true;
  }
  return is_renamed && soname.starts_with(name.substr(end_of_stem));
}

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

}  // namespace sorrel::os
