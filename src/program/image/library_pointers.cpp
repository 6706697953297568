#include "program/image/library_pointers.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <link.h>
#include <string_view>

#include "base/check.hpp"
#include "program/base/libc.hpp"
#include "program/base/stream_list.hpp"

namespace sorrel::program {

namespace {

/// Where a thread has the thread-locals of a file; 0: nowhere, since it has not used them. Those of
/// files that were loaded late lie anywhere. A thread control block points to a vector with a slot
/// for each file (glibc: dtv_t), before which stands the number of slots.
std::uintptr_t thread_locals_at(std::uintptr_t thread_pointer, std::size_t file_number) {
  struct Slot {
    std::uintptr_t value;
    std::uintptr_t allocated;
  };

#if defined(__x86_64__)
  constexpr std::uintptr_t vector_offset = 8;
#else
  constexpr std::uintptr_t vector_offset = 0;
#endif
  constexpr std::uintptr_t unused = ~std::uintptr_t{0};
  const Slot* const slots = *reinterpret_cast<const Slot* const*>(thread_pointer + vector_offset);
  if (file_number > slots[-1].value) return 0;
  const std::uintptr_t value = slots[file_number].value;
  return value == unused ? 0 : value;
}

class Search {
 public:
  Search(const Image& image, std::uintptr_t thread_pointer, std::span<const os::MemoryRange> ranges)
      : image_(image), thread_pointer_(thread_pointer), ranges_(ranges) {
    SORREL_ASSERT(thread_pointer != 0, "the rank has no thread control block");
    for (const os::MemoryRange& range : ranges) {
      SORREL_ASSERT(range.begin <= range.end, "memory from 0x%zx to 0x%zx", range.begin, range.end);
      all_.begin = std::min(all_.begin, range.begin);
      all_.end = std::max(all_.end, range.end);
    }
  }

  /// Examines a file that the loader has loaded. True: it keeps an address.
  bool visit(const dl_phdr_info& info) {
    const std::string_view path = info.dlpi_name;
    // The executable, and what the kernel has mapped, have none.
    if (path.find('/') == std::string_view::npos || is_left_out(info)) return false;
    for (int i = 0; i < info.dlpi_phnum && !found_; ++i) {
      const ElfW(Phdr)& segment = info.dlpi_phdr[i];
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0) {
        examine(info.dlpi_addr + segment.p_vaddr, segment.p_memsz);
        if (found_) found_->offset -= info.dlpi_addr;
      } else if (segment.p_type == PT_TLS) {
        const std::uintptr_t begin = thread_locals_at(thread_pointer_, info.dlpi_tls_modid);
        if (begin != 0) examine(begin, segment.p_memsz);
        if (found_) found_->offset -= begin;
        if (found_) found_->is_thread_local = true;
      }
    }
    if (found_) found_->library = path.substr(path.rfind('/') + 1);
    return found_.has_value();
  }

  [[nodiscard]] std::optional<KeptAddress> found() && { return std::move(found_); }

 private:
  [[nodiscard]] bool is_left_out(const dl_phdr_info& info) const {
    const auto own = reinterpret_cast<std::uintptr_t>(&find_kept_address);
    const std::span segments(info.dlpi_phdr, info.dlpi_phnum);
    return std::ranges::any_of(
               image_.modules,
               [&](const Module& module) { return module.segments == info.dlpi_phdr; }) ||
           std::ranges::any_of(segments, [&](const ElfW(Phdr) & segment) {
             return segment.p_type == PT_LOAD &&
                    own - (info.dlpi_addr + segment.p_vaddr) < segment.p_memsz;
           });
  }

  void examine(std::uintptr_t begin, std::size_t bytes) {
    constexpr std::uintptr_t word_bytes = sizeof(std::uintptr_t);
    const std::uintptr_t end = begin + bytes;
    SORREL_ASSERT(end >= begin, "%zu bytes at 0x%zx", bytes, begin);
    for (std::uintptr_t at = (begin + word_bytes - 1) / word_bytes * word_bytes;
         at + word_bytes <= end; at += word_bytes) {
      // Other threads of the process may write there.
      const std::uintptr_t word = *reinterpret_cast<const volatile std::uintptr_t*>(at);
      if (word < all_.begin || word >= all_.end || at == head_of_streams_) continue;
      const bool is_address = std::ranges::any_of(ranges_, [word](const os::MemoryRange& range) {
        return word >= range.begin && word < range.end;
      });
      if (!is_address) continue;
      found_ = KeptAddress{.library = {}, .offset = at, .address = word};
      return;
    }
  }

  const Image& image_;
  const std::uintptr_t thread_pointer_;
  const std::span<const os::MemoryRange> ranges_;
  /// All ranges lie there: most words are elsewhere.
  os::MemoryRange all_{.begin = std::numeric_limits<std::uintptr_t>::max(), .end = 0};
  /// Streams leave the list with their rank.
  const std::uintptr_t head_of_streams_ = reinterpret_cast<std::uintptr_t>(StreamList::head());
  std::optional<KeptAddress> found_;
};

}  // namespace

std::optional<KeptAddress> find_kept_address(const Image& image,
                                             std::uintptr_t thread_pointer,
                                             std::span<const os::MemoryRange> ranges) {
  static auto* const real_iterate = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  Search search(image, thread_pointer, ranges);
  real_iterate([](dl_phdr_info* info, std::size_t,
                  void* argument) { return static_cast<Search*>(argument)->visit(*info) ? 1 : 0; },
               &search);
  return std::move(search).found();
}

}  // namespace sorrel::program
