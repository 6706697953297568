#include "program/heap/rank_heaps.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <limits>
#include <link.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <utility>

#include "base/check.hpp"
#include "os/cleared_memory.hpp"
#include "os/freed_memory.hpp"
#include "os/library_state.hpp"
#include "os/page_bytes.hpp"
#include "program/base/libc.hpp"
#include "program/heap/heap_sharing.hpp"
#include "program/heap/system_allocator.hpp"

namespace sorrel::program {

namespace {

// In 47 bits of addresses the largest free piece has 85 TiB, below an executable at its usual place
// (0x5555...). Heaps are to have the same size in all jobs that could have the same ranks.
constexpr std::size_t all_bytes_max = std::size_t{64} << 40;
// Blocks of a heap are smaller.
constexpr int far_bits_max = 36;
// With less, programs would often need the C library's heap in addition.
constexpr int far_bits_min = 26;
using os::large_page_bytes;
using os::large_pages_down;
using os::large_pages_up;
// Fewer first parts than fill this leave too much of a large page unused.
constexpr std::size_t large_bytes_min = 2 * large_page_bytes;
// A piece of a reserved range of addresses that is made usable splits its memory map.
constexpr long maps_per_heap = 2;

/// How many more heaps may grow beyond their first two parts; null or less: none.
std::atomic<long> heaps_left{0};

// Relaxed: read while no rank runs.
std::atomic<bool> has_call_elsewhere{false};

[[nodiscard]] bool has_limit(__rlimit_resource resource) {
  rlimit limit{};
  return ::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

[[nodiscard]] std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

void advise(std::uintptr_t begin, std::size_t bytes, bool is_large) {
  ::madvise(reinterpret_cast<void*>(begin), bytes, is_large ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

}  // namespace

const heap::HeapHooks RankHeaps::hooks{.commit = commit, .discard = discard, .report = report};

const char* RankHeaps::find_reason_for_none(const ImageSlab& slab) const {
  const SystemAllocator& system = system_allocator();
  if (!system.is_interposed || !system.is_of_libc) return "another allocator takes its place";
  if (os::has_allocator_setting([](const char* name) { return ::secure_getenv(name); }))
    return "the environment has a setting of the C library's heap";
  // Reserved addresses count.
  if (has_limit(RLIMIT_AS)) return "addresses are limited (ulimit -v)";
  if (slab.bytes() == 0) return "the program runs as it was loaded";
  if (os::page_bytes() != page_bytes) return "pages are not of 4 KiB";
  return nullptr;
}

void RankHeaps::begin(const ImageSlab& slab, const os::StackSlab& stacks, const Options& options) {
  SORREL_ASSERT(count_ == 0, "%zu ranks have heaps already", static_cast<std::size_t>(count_));
  options_ = options;
  reason_for_none_ = find_reason_for_none(slab);
  if (reason_for_none_ != nullptr) return;
  const auto count = static_cast<std::size_t>(slab.count());
  // Zero, and no page of it is touched.
  sharing_ = static_cast<HeapSharing*>(system_allocator().calloc(count, sizeof(HeapSharing)));
  if (sharing_ == nullptr || !stacks.is_valid() || !reserve(count)) {
    reason_for_none_ = "there are too few addresses";
    return;
  }
  options_.page_groups = {};
  heaps_left.store(slab.maps_left() / maps_per_heap, std::memory_order_relaxed);
  code_begin_ = slab.begin();
  code_bytes_ = slab.bytes();
  find_cxx_library();
  const std::uint64_t pitch_pages = (stacks.stack_bytes() + stacks.guard_bytes()) / page_bytes;
  SORREL_ASSERT(pitch_pages != 0, "stacks of %zu bytes", stacks.stack_bytes());
  reciprocal_ = std::numeric_limits<std::uint64_t>::max() / pitch_pages + 1;
  stacks_begin_ = address_of(stacks.bottom(0)) - stacks.guard_bytes();
  keep_heaps_whole_in_children();
  // From here on ranks have heaps.
  count_ = count;
}

void RankHeaps::find_cxx_library() {
  const os::MemoryRange code = code_of_library("libstdc++.so");
  cxx_begin_ = code.begin;
  cxx_bytes_ = code.end - code.begin;
}

void RankHeaps::include_libc(bool (*is_in_fiber)()) {
  const os::MemoryRange code = code_of_library("libc.so");
  libc_begin_ = code.begin;
  libc_bytes_ = code.end - code.begin;
  is_in_fiber_ = is_in_fiber;
}

void RankHeaps::note_call_elsewhere() const {
  if (is_in_fiber_()) has_call_elsewhere.store(true, std::memory_order_relaxed);
}

bool RankHeaps::was_called_elsewhere() {
  return has_call_elsewhere.load(std::memory_order_relaxed);
}

/// The code of the first loaded library with this name (os::is_library()); nothing if there is
/// none.
os::MemoryRange RankHeaps::code_of_library(std::string_view name) {
  static auto* const real_iterate = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");

  struct Search {
    std::string_view name;
    os::MemoryRange found;
  } search{.name = name, .found = {}};

  const auto visit = [](dl_phdr_info* info, std::size_t, void* argument) {
    auto& wanted = *static_cast<Search*>(argument);
    if (!os::is_library(info->dlpi_name, wanted.name)) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      wanted.found.begin = info->dlpi_addr + segment.p_vaddr;
      wanted.found.end = wanted.found.begin + segment.p_memsz;
    }
    return 1;
  };
  real_iterate(visit, &search);
  return search.found;
}

std::array<os::MemoryRange, 3> RankHeaps::written_parts(std::uint64_t index) const {
  const heap::RegionHeap& heap = heap_of(index);
  const auto written = [&heap](std::uintptr_t begin, std::size_t part) {
    return os::MemoryRange{begin, begin + (heap.is_started() ? heap.written_bytes(part) : 0)};
  };
  return {{{begin_of(index), near_begin_ + ((index + 1) << near_bits)},
           written(middle_begin_of(index), 1),
           written(far_begin_of(index), 2)}};
}

std::size_t RankHeaps::far_usable_bytes(std::uint64_t index) const {
  const heap::RegionHeap& heap = heap_of(index);
  return heap.is_started() ? heap.far_usable_bytes() : 0;
}

void RankHeaps::clear(std::uint64_t index) const {
  SORREL_ASSERT(index < count_, "heap %zu of %zu", static_cast<std::size_t>(index),
                static_cast<std::size_t>(count_));
  const std::uintptr_t near = near_begin_ + (index << near_bits);
  const std::uintptr_t middle = near_begin_ + middle_offset_ + (index << middle_bits);
  const std::size_t far_bytes = far_usable_bytes(index);
  discard(reinterpret_cast<std::byte*>(near), std::size_t{1} << near_bits);
  discard(reinterpret_cast<std::byte*>(middle), std::size_t{1} << middle_bits);
  if (far_bytes == 0) return;
  auto* const begin = reinterpret_cast<std::byte*>(far_slot_of(index));
  const std::size_t bytes = far_begin_of(index) + far_bytes - far_slot_of(index);
  discard(begin, bytes);
  ::mprotect(begin, bytes, PROT_NONE);
  heaps_left.fetch_add(1, std::memory_order_relaxed);
}

void RankHeaps::end_rank(std::uint64_t index) const {
  SORREL_ASSERT(!sharing_[index].has_threads(), "%u threads of a rank that has ended",
                sharing_[index].thread_count);
  clear(index);
  sharing_[index] = {};
}

bool RankHeaps::open_far_part(std::uint64_t index, std::size_t bytes) const {
  if (bytes == 0) return true;
  return bytes <= far_bytes() && commit(reinterpret_cast<std::byte*>(far_begin_of(index)), bytes);
}

bool RankHeaps::reserve(std::size_t count) {
  const os::AddressBand& band = options_.band;
  are_in_band_ = band.begin != 0 && reserve_at({.begin = band.begin,
                                                .bytes_max = band.bytes,
                                                .count = options_.rank_count,
                                                .first = band.first},
                                               count);
  return are_in_band_ ||
         reserve_at({.begin = 0, .bytes_max = all_bytes_max, .count = count, .first = 0}, count);
}

bool RankHeaps::reserve_at(const Reservation& reservation, std::size_t count) {
  const std::size_t all_near = large_pages_up(reservation.count << near_bits);
  const std::size_t all_middle = large_pages_up(reservation.count << middle_bits);
  far_bits_ =
      std::min(static_cast<int>(std::bit_width(reservation.bytes_max / reservation.count)) - 1,
               far_bits_max);
  for (; far_bits_ >= far_bits_min; --far_bits_) {
    std::size_t bytes = all_near + all_middle + (reservation.count << far_bits_);
    const bool is_anywhere = reservation.begin == 0;
    if (!is_anywhere && bytes > reservation.bytes_max) continue;
    if (is_anywhere) bytes += large_page_bytes;
    // Without MAP_NORESERVE: the system would then grant a block that is larger than its memory.
    void* begin = os::map_memory(reservation.begin, bytes, PROT_NONE, 0, is_anywhere);
    if (begin == MAP_FAILED) continue;
    const std::uintptr_t aligned = large_pages_up(address_of(begin));
    first_ = reservation.first;
    near_begin_ = aligned + (first_ << near_bits);
    near_bytes_ = count << near_bits;
    middle_offset_ = aligned + all_near + (first_ << middle_bits) - near_begin_;
    middle_bytes_ = count << middle_bits;
    far_offset_ = aligned + all_near + all_middle + (first_ << far_bits_) - near_begin_;
    if (!open_parts(count)) {
      ::munmap(begin, bytes);
      near_begin_ = 0;
      return false;
    }
    bytes_ = far_offset_ + (count << far_bits_);
    SORREL_ASSERT(first_ + count <= reservation.count, "heaps %zu to %zu of %zu",
                  static_cast<std::size_t>(first_), static_cast<std::size_t>(first_) + count,
                  reservation.count);
    SORREL_ASSERT(near_bytes_ <= middle_offset_ && middle_offset_ + middle_bytes_ <= far_offset_,
                  "parts at 0x0, 0x%zx and 0x%zx", middle_offset_, far_offset_);
    return true;
  }
  return false;
}

bool RankHeaps::has_large_far_parts() const {
  return large_page_bytes <= options_.unused_bytes_max;
}

/// The first and second parts are one map each. Large pages also hold those of other processes'
/// ranks, which are not used here.
bool RankHeaps::open_parts(std::size_t count) const {
  const std::uintptr_t near_begin = large_pages_down(near_begin_);
  const std::size_t near_bytes = large_pages_up(near_begin_ + near_bytes_) - near_begin;
  const std::uintptr_t middle = near_begin_ + middle_offset_;
  const std::uintptr_t middle_begin = large_pages_down(middle);
  const std::size_t middle_bytes = large_pages_up(middle + middle_bytes_) - middle_begin;
  for (const auto& [begin, bytes] :
       {std::pair(near_begin, near_bytes), {middle_begin, middle_bytes}}) {
    if (::mmap(reinterpret_cast<void*>(begin), bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
      return false;
  }
  advise(near_begin, near_bytes, large_pages_up(near_bytes_) >= large_bytes_min);
  advise(middle_begin, middle_bytes, (std::size_t{1} << middle_bits) <= options_.unused_bytes_max);
  separate_groups({near_begin, near_begin + near_bytes}, near_begin_, near_bits);
  separate_groups({middle_begin, middle_begin + middle_bytes}, middle, middle_bits);
  advise(far_slot_of(0), count << far_bits_, has_large_far_parts());
  return true;
}

/// Large pages in `range` with parts of several groups are to be small ones. Parts begin at `parts`
/// and are side by side.
void RankHeaps::separate_groups(const os::MemoryRange& range,
                                std::uintptr_t parts,
                                int part_bits) const {
  const std::span<const int> groups = options_.page_groups;
  for (std::uintptr_t page = range.begin; page < range.end && !groups.empty();
       page += large_page_bytes) {
    const auto index_of = [&](std::uintptr_t address) {
      return std::min(groups.size(), address > parts ? (address - parts) >> part_bits : 0);
    };
    const std::size_t first = index_of(page);
    const std::size_t end = std::min(groups.size(), index_of(page + large_page_bytes - 1) + 1);
    const auto of_page = groups.subspan(first, end - first);
    if (std::ranges::adjacent_find(of_page, std::not_equal_to()) != of_page.end())
      advise(page, large_page_bytes, false);
  }
}

void RankHeaps::start(heap::RegionHeap& heap) const {
  const std::uint64_t index = owner_of(&heap);
  const std::uintptr_t near_end = near_begin_ + ((index + 1) << near_bits);
  const std::uintptr_t middle_end = near_begin_ + middle_offset_ + ((index + 1) << middle_bits);
  heap.start({.near_begin = reinterpret_cast<std::byte*>(begin_of(index)),
              .near_bytes = near_end - begin_of(index),
              .middle_begin = reinterpret_cast<std::byte*>(middle_begin_of(index)),
              .middle_bytes = middle_end - middle_begin_of(index),
              .far_begin = reinterpret_cast<std::byte*>(far_begin_of(index)),
              .far_bytes = far_slot_of(index + 1) - far_begin_of(index),
              .far_page_bytes = has_large_far_parts() ? large_page_bytes : page_bytes,
              .kept_bytes_max = options_.kept_bytes_max,
              .kept_bytes_least = options_.kept_bytes_least},
             hooks);
}

HeapSharing& RankHeaps::sharing_of(const heap::RegionHeap& heap) const {
  return sharing_[owner_of(&heap)];
}

bool RankHeaps::has_overflowed(std::uint64_t index) const {
  return std::atomic_ref(sharing_[index].has_overflowed).load(std::memory_order_relaxed) != 0;
}

heap::HeapUse RankHeaps::use_of(std::uint64_t index) const {
  return heap_of(index).use();
}

bool RankHeaps::is_in_opened_library(const void* caller) {
  return slab_at(address_of(caller)) != nullptr;
}

bool RankHeaps::commit(std::byte* begin, std::size_t bytes) {
  const RankHeaps& heaps = rank_heaps();
  const std::uint64_t index = heaps.owner_of(begin);
  SORREL_ASSERT(heaps.contains(begin) && index < heaps.count_, "%p is in no heap",
                static_cast<void*>(begin));
  const bool is_first = address_of(begin) == heaps.far_begin_of(index);
  // From the begin of the large page, or the first one would be many small ones.
  if (is_first) {
    const std::uintptr_t slot = heaps.far_slot_of(index);
    bytes += address_of(begin) - slot;
    begin = reinterpret_cast<std::byte*>(slot);
  }
  // relaxed: a count, nothing is read through it.
  const bool may_grow = !is_first || heaps_left.fetch_sub(1, std::memory_order_relaxed) > 0;
  const int saved_errno = errno;
  const bool is_usable = may_grow && ::mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0;
  errno = saved_errno;
  if (is_first && !is_usable) heaps_left.fetch_add(1, std::memory_order_relaxed);
  return is_usable;
}

void RankHeaps::discard(std::byte* begin, std::size_t bytes) {
  os::clear_memory(begin, bytes);
}

void RankHeaps::report(const void* heap, heap::Damage damage, const void* address) {
  const RankHeaps& heaps = rank_heaps();
  // What the program does at its end may allocate. The lock, if there is one, is this thread's.
  HeapSharing& sharing = heaps.sharing_[heaps.owner_of(heap)];
  if (sharing.has_threads()) {
    ::pthread_mutex_trylock(&sharing.mutex);
    ::pthread_mutex_unlock(&sharing.mutex);
  }
  heaps.options_.on_damage(static_cast<int>(heaps.owner_of(heap)), damage, address);
  std::abort();
}

}  // namespace sorrel::program
