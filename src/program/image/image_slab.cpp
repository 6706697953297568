#include "program/image/image_slab.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sys/mman.h>

namespace sorrel::program {

namespace {

// Memory maps that the process may still need: malloc arenas, threads, files that the ranks map.
constexpr long spare_maps = 1000;
constexpr long default_map_count_max = 65530;

constexpr int anonymous_protection = PROT_READ | PROT_WRITE;

std::atomic<const ImageSlab*> published_slab{nullptr};

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
  // (L) acquire, pairs with the release in set_current_slab(): the slab and its image are complete.
  return published_slab.load(std::memory_order_acquire);
}

void set_current_slab(const ImageSlab* slab) {
  // Release, pairs with (L).
  published_slab.store(slab, std::memory_order_release);
}

std::unique_ptr<ImageSlab> ImageSlab::reserve(const Image& image,
                                              int count,
                                              int maps_per_rank,
                                              std::string& error) {
  std::unique_ptr<ImageSlab> slab(new ImageSlab(image, count));
  if (!image.privatization_error.empty()) {
    if (count == 1 && !image.has_libraries()) return slab;
    error = image.privatization_error;
    return nullptr;
  }
  const long per_rank = static_cast<long>(image.pieces.size()) + maps_per_rank;
  const long fitting = std::max(0L, (map_count_max() - map_count() - spare_maps) / per_rank);
  if (count > fitting) {
    error = too_many(count, per_rank, fitting);
    return nullptr;
  }
  slab->size_ = image.span * static_cast<std::size_t>(count);
  slab->reservation_size_ = slab->size_ + image.alignment;
  // Writable, so that make() maps files only. A kernel that sets memory aside for all writable
  // addresses (vm.overcommit_memory = 2) may refuse that.
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  slab->reservation_ = ::mmap(nullptr, slab->reservation_size_, anonymous_protection, flags, -1, 0);
  slab->is_writable_ = slab->reservation_ != MAP_FAILED;
  if (!slab->is_writable_)
    slab->reservation_ = ::mmap(nullptr, slab->reservation_size_, PROT_NONE, flags, -1, 0);
  if (slab->reservation_ == MAP_FAILED) {
    slab->reservation_ = nullptr;
    error = "cannot reserve addresses for " + std::to_string(count) + " images of the program, " +
            std::to_string(image.span) + " bytes each: " + std::strerror(errno);
    return nullptr;
  }
  const auto reserved = reinterpret_cast<std::uintptr_t>(slab->reservation_);
  slab->begin_ = (reserved + image.alignment - 1) / image.alignment * image.alignment;
  return slab;
}

ImageSlab::~ImageSlab() {
  if (current_slab() == this) set_current_slab(nullptr);
  if (reservation_ != nullptr) ::munmap(reservation_, reservation_size_);
}

bool ImageSlab::make(int index) const {
  if (is_template()) return true;
  const std::uintptr_t base = base_of(index);
  for (const Piece& piece : image_.pieces) {
    const bool is_anonymous = piece.file_offset == Piece::anonymous;
    if (is_anonymous && is_writable_ && piece.protection == anonymous_protection) continue;
    const int flags = MAP_PRIVATE | MAP_FIXED | (is_anonymous ? MAP_ANONYMOUS | MAP_NORESERVE : 0);
    if (::mmap(reinterpret_cast<void*>(base + piece.begin), piece.end - piece.begin,
               piece.protection, flags, is_anonymous ? -1 : piece.module->file,
               is_anonymous ? 0 : piece.file_offset) == MAP_FAILED) {
      return false;
    }
  }
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
  return true;
}

}  // namespace sorrel::program
