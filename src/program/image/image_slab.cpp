#include "program/image/image_slab.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/mman.h>

#include "base/check.hpp"
#include "base/invariants.hpp"
#include "os/cleared_memory.hpp"
#include "os/page_bytes.hpp"

namespace sorrel::program {

namespace {

// Memory maps that the process may still need: malloc arenas, threads, files that the ranks map.
constexpr long spare_maps = 1000;
constexpr long default_map_count_max = 65530;

// What is in large pages is a map of its own, with others on both sides.
constexpr long maps_per_large_piece = 2;
constexpr int anonymous_protection = PROT_READ | PROT_WRITE;

// The program's slab is the first. Entries below the count are constant.
std::array<const ImageSlab*, slab_count_max> published_slabs;
std::atomic<std::size_t> published_count{0};

/// Whether an image's piece has zero-initialised memory of a large page at least, wherever it lies.
[[nodiscard]] bool may_have_large_pages(const Piece& piece) {
  return piece.file_offset == Piece::anonymous && piece.protection == anonymous_protection &&
         piece.end - piece.begin >= 2 * os::large_page_bytes;
}

[[nodiscard]] long map_count_max() {
  std::ifstream file("/proc/sys/vm/max_map_count");
  long value = 0;
  return file >> value ? value : default_map_count_max;
}

[[nodiscard]] long map_count() {
  std::ifstream file("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>(), '\n');
}

[[nodiscard]] std::string too_many(int count, long per_rank, long fitting) {
  return std::to_string(count) + " ranks need " + std::to_string(per_rank * count) +
         " memory maps and vm.max_map_count is " + std::to_string(map_count_max()) + ": at most " +
         std::to_string(fitting) + " ranks fit (raise it with sysctl -w vm.max_map_count=N)";
}

}  // namespace

const ImageSlab* current_slab() {
  const auto slabs = private_slabs();
  return slabs.empty() ? nullptr : slabs.front();
}

void set_current_slab(const ImageSlab* slab) {
  SORREL_ASSERT(slab == nullptr || private_slabs().empty(), "the program has %zu slabs already",
                private_slabs().size());
  published_slabs[0] = slab;
  // Release, pairs with (L).
  published_count.store(slab == nullptr ? 0 : 1, std::memory_order_release);
}

std::span<const ImageSlab* const> private_slabs() {
  // (L) acquire, pairs with the releases: the slabs and their images are complete.
  return {published_slabs.data(), published_count.load(std::memory_order_acquire)};
}

void publish_slab(const ImageSlab* slab) {
  const std::size_t count = published_count.load(std::memory_order_relaxed);
  SORREL_CHECK(count > 0 && count < slab_count_max, "a library is opened behind %zu slabs", count);
  published_slabs[count] = slab;
  // Release, pairs with (L).
  published_count.store(count + 1, std::memory_order_release);
}

const ImageSlab* slab_at(std::uintptr_t address) {
  for (const ImageSlab* slab : private_slabs()) {
    if (slab->index_of(address) >= 0) return slab;
  }
  return nullptr;
}

std::string mapping_error() {
  if (errno != ENOMEM) return std::strerror(errno);
  return "no memory, or more than " + std::to_string(map_count_max()) +
         " memory maps (raise vm.max_map_count with sysctl -w vm.max_map_count=N)";
}

std::unique_ptr<ImageSlab> ImageSlab::reserve(const Image& image,
                                              const Counts& counts,
                                              int maps_per_rank,
                                              const os::AddressBand& band,
                                              std::string& error) {
  const int count = counts.reserved;
  SORREL_ASSERT(count > 0 && counts.made <= count, "%d images of %d are made", counts.made, count);
  std::unique_ptr<ImageSlab> slab(new ImageSlab(image, count));
  if (!image.privatization_error.empty()) {
    if (count == 1 && !image.has_libraries()) return slab;
    error = image.privatization_error;
    return nullptr;
  }
  const long per_rank = static_cast<long>(image.pieces.size()) + maps_per_rank;
  const long maps = map_count_max() - map_count() - spare_maps;
  const long fitting = std::max(0L, maps / per_rank);
  if (counts.made > fitting) {
    error = too_many(counts.made, per_rank, fitting);
    return nullptr;
  }
  slab->maps_left_ = std::max(0L, maps - per_rank * count);
  // Writable, so that make() maps files only. A kernel that sets memory aside for all writable
  // addresses (vm.overcommit_memory = 2) may refuse that.
  slab->is_writable_ = slab->reserve_addresses(anonymous_protection, band);
  if (!slab->is_writable_ && !slab->reserve_addresses(PROT_NONE, band)) {
    error = "cannot reserve addresses for " + std::to_string(count) + " images of the program, " +
            std::to_string(image.span) + " bytes each: " + std::strerror(errno);
    return nullptr;
  }
  return slab;
}

std::unique_ptr<ImageSlab> ImageSlab::reserve_for_library(const Image& image,
                                                          int count,
                                                          std::string& error) {
  std::unique_ptr<ImageSlab> slab(new ImageSlab(image, count));
  slab->made_ = std::make_unique<std::atomic<bool>[]>(static_cast<std::size_t>(count));
  if (slab->reserve_addresses(PROT_NONE, {})) return slab;
  error = "cannot reserve addresses for " + std::to_string(count) + " instances, " +
          std::to_string(image.span) + " bytes each: " + std::strerror(errno);
  return nullptr;
}

bool ImageSlab::reserve_addresses(int protection, const os::AddressBand& band) {
  const auto count = static_cast<std::size_t>(count_);
  const std::size_t size = image_.span * count;
  const std::uintptr_t place = band.place(count, image_.span, image_.alignment);
  void* reserved = os::map_memory(place % image_.alignment == 0 ? place : 0,
                                  size + image_.alignment, protection, MAP_NORESERVE);
  if (reserved == MAP_FAILED) return false;
  is_in_band_ = reinterpret_cast<std::uintptr_t>(reserved) == place;
  reservation_ = reserved;
  reservation_size_ = size + image_.alignment;
  size_ = size;
  begin_ = (reinterpret_cast<std::uintptr_t>(reserved) + image_.alignment - 1) / image_.alignment *
           image_.alignment;
  SORREL_ASSERT(begin_ + size_ <= reinterpret_cast<std::uintptr_t>(reserved) + reservation_size_,
                "%zu bytes at 0x%zx are not in the reservation", size_, begin_);
  return true;
}

ImageSlab::~ImageSlab() {
  if (current_slab() == this) set_current_slab(nullptr);
  if (reservation_ != nullptr) ::munmap(reservation_, reservation_size_);
}

void ImageSlab::use_large_pages(std::size_t bytes_max) {
  std::size_t bytes = 0;
  long maps = 0;
  for (const Piece& piece : image_.pieces) {
    if (!may_have_large_pages(piece)) continue;
    bytes += piece.end - piece.begin;
    maps += maps_per_large_piece * count_;
  }
  if (bytes == 0 || bytes > bytes_max) return;
  // Heaps of ranks take maps, too.
  if (!is_template() && maps_left_ < 4 * maps) return;
  has_large_pages_ = true;
  maps_left_ -= maps;
}

/// For the whole large pages of zero-initialised memory.
void ImageSlab::advise_large_pages(std::uintptr_t base) const {
  if (!has_large_pages_) return;
  for (const Piece& piece : image_.pieces) {
    if (!may_have_large_pages(piece)) continue;
    const std::uintptr_t begin = os::large_pages_up(base + piece.begin);
    const std::uintptr_t end = os::large_pages_down(base + piece.end);
    // Without support, small pages are used.
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
  }
}

bool ImageSlab::make(int index) const {
  SORREL_ASSERT(index >= 0 && index < count_, "image %d of %d", index, count_);
  SORREL_ASSERT(made_ == nullptr || !is_made(index), "image %d is made twice", index);
  const std::uintptr_t base = base_of(index);
  if (is_template()) {
    advise_large_pages(base);
    return true;
  }
  for (const Piece& piece : image_.pieces) {
    const bool is_anonymous = piece.file_offset == Piece::anonymous;
    if (is_anonymous && is_writable_ && piece.protection == anonymous_protection) continue;
    SORREL_ASSERT(is_anonymous || piece.module->file >= 0, "the file of %s is closed",
                  piece.module->path.c_str());
    const int flags = MAP_PRIVATE | MAP_FIXED | (is_anonymous ? MAP_ANONYMOUS | MAP_NORESERVE : 0);
    if (::mmap(reinterpret_cast<void*>(base + piece.begin), piece.end - piece.begin,
               piece.protection, flags, is_anonymous ? -1 : piece.module->file,
               is_anonymous ? 0 : piece.file_offset) == MAP_FAILED) {
      return false;
    }
  }
  advise_large_pages(base);
  for (const ByteRun& run : image_.runs) {
    // All pages of the run in one call: a page fault each takes longer. Kernels before 5.14 have no
    // such call.
    ::madvise(reinterpret_cast<void*>(base + run.offset), run.size, MADV_POPULATE_WRITE);
    std::memcpy(reinterpret_cast<void*>(base + run.offset),
                reinterpret_cast<const void*>(run.source), run.size);
  }
  if (!image_.extra_objects.empty()) {
    std::memcpy(reinterpret_cast<void*>(base + image_.extra_objects_offset),
                image_.extra_objects.data(), image_.extra_objects.size());
  }
  for (const Slot& slot : image_.slots) {
    const std::uintptr_t address = base + slot.value;
    std::memcpy(reinterpret_cast<void*>(base + slot.offset), &address, sizeof address);
  }
  for (const OutsideSlot& slot : image_.outside_slots) {
    const std::uintptr_t address = slot.slab->base_of(index) + slot.value;
    std::memcpy(reinterpret_cast<void*>(base + slot.offset), &address, sizeof address);
  }
  // All images are made alike: one stands for them.
  if (index == 0) SORREL_ASSERT_INVARIANTS(*this);
  if (made_ != nullptr)
    made_[static_cast<std::size_t>(index)].store(true, std::memory_order_release);
  return true;
}

void ImageSlab::check_invariants() const {
  const std::uintptr_t base = base_of(0);
  const auto check = [&](Offset offset, std::uintptr_t expected) {
    std::uintptr_t found = 0;
    std::memcpy(&found, reinterpret_cast<const void*>(base + offset), sizeof found);
    SORREL_CHECK(found == expected, "the pointer at 0x%zx is 0x%zx, not 0x%zx", offset, found,
                 expected);
  };
  for (const Slot& slot : image_.slots)
    check(slot.offset, base + slot.value);
  for (const OutsideSlot& slot : image_.outside_slots)
    check(slot.offset, slot.slab->base_of(0) + slot.value);
}

void ImageSlab::clear(int index) const {
  SORREL_ASSERT(!is_template() && index < count_, "image %d of %d", index, count_);
  for (const Piece& piece : image_.pieces) {
    if ((piece.protection & PROT_WRITE) == 0) continue;
    os::clear_memory(reinterpret_cast<void*>(base_of(index) + piece.begin),
                     piece.end - piece.begin);
  }
}

void ImageSlab::remove(int index) const {
  SORREL_ASSERT(made_ != nullptr && is_made(index), "image %d of a library is not there", index);
  made_[static_cast<std::size_t>(index)].store(false, std::memory_order_release);
  void* begin = reinterpret_cast<void*>(base_of(index) + image_.begin());
  ::mmap(begin, image_.span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
         0);
}

}  // namespace sorrel::program
