//! ImageSlab - the privatized images of all ranks, side by side in one span of addresses.
//!
//! make() fills one rank's image: any thread, each index once until clear(), different indices at
//! the same time. Everything else is constant once the slab is reserved: any thread, also from a
//! signal handler. The program's images are never unmapped before the slab is destroyed. A library
//! that ranks open has a slab of its own, in which a rank's image exists while the rank uses the
//! library. Limit: vm.max_map_count; reserve() reports how many images fit. This class runs no code
//! of the program (rank_process.hpp does).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "os/address_band.hpp"
#include "os/touched_pages.hpp"
#include "program/image/image.hpp"

namespace sorrel::program {

/// One rank's privatized image: the same offsets as the template image, at another base.
class PrivatizedImage {
 public:
  PrivatizedImage(const Image& image, std::uintptr_t base) : image_(&image), base_(base) {}

  [[nodiscard]] const Image& image() const { return *image_; }

  [[nodiscard]] std::uintptr_t base() const { return base_; }

  /// Whether this is the template image itself.
  [[nodiscard]] bool is_template() const { return base_ == image_->base(); }

  template <class T>
  [[nodiscard]] T* at(Offset offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

  /// The counterpart in this image of an address or function of the template image. Other addresses
  /// are returned unchanged.
  template <class T>
  [[nodiscard]] T* counterpart(T* in_template) const {
    const auto address = reinterpret_cast<std::uintptr_t>(in_template);
    const Module* module = image_->module_at(address);
    if (module == nullptr || is_template()) return in_template;
    return reinterpret_cast<T*>(base_ + module->offset_of(address));
  }

  [[nodiscard]] bool contains(std::uintptr_t address) const {
    if (is_template()) return image_->contains(address);
    return address - base_ - image_->begin() < image_->span;
  }

  /// The addresses of an image that is not the template image.
  [[nodiscard]] os::MemoryRange range() const {
    const std::uintptr_t begin = base_ + image_->begin();
    return {.begin = begin, .end = begin + image_->span};
  }

  /// The module of this image that holds `address`, or null.
  [[nodiscard]] const Module* module_at(std::uintptr_t address) const {
    return is_template() ? image_->module_at(address) : image_->module_at_offset(address - base_);
  }

  /// Where this image has a module: the address in memory = base_of() + the file's own address.
  [[nodiscard]] std::uintptr_t base_of(const Module& module) const {
    return is_template() ? module.base : base_ + module.shift;
  }

  /// This image's own address for `live`, a variable of a library or the program's COPY of one.
  /// `live` is the address that libraries use. nullptr if the program names no such variable.
  template <class T>
  [[nodiscard]] T* own(T& live) const {
    const auto address = reinterpret_cast<std::uintptr_t>(&live);
    if (is_template()) return &live;
    if (image_->contains(address)) return counterpart(&live);
    const PrivateObject* object = image_->private_object(address);
    return object != nullptr ? at<T>(object->offset) : nullptr;
  }

 private:
  const Image* image_;
  std::uintptr_t base_;
};

class ImageSlab {
 public:
  struct Counts {
    /// Images for which there are addresses.
    int reserved;
    /// The number of these images that are made in any case.
    int made;
  };

  /// Reserves addresses. `maps_per_rank` is the number of memory maps that the caller needs beside
  /// each image (stack and guard). Returns nullptr and one line in `error` if the image cannot be
  /// privatized or `counts.made` images do not fit. Images lie in `band` if that is possible. A
  /// single rank of a program that cannot be privatized runs in the template image.
  [[nodiscard]] static std::unique_ptr<ImageSlab> reserve(const Image& image,
                                                          const Counts& counts,
                                                          int maps_per_rank,
                                                          const os::AddressBand& band,
                                                          std::string& error);

  /// Reserves addresses for `count` images of a library that ranks open.
  [[nodiscard]] static std::unique_ptr<ImageSlab> reserve_for_library(const Image& image,
                                                                      int count,
                                                                      std::string& error);

  ImageSlab(const ImageSlab&) = delete;
  ImageSlab& operator=(const ImageSlab&) = delete;
  ~ImageSlab();

  [[nodiscard]] const Image& image() const { return image_; }

  [[nodiscard]] int count() const { return count_; }

  /// Whether the images lie in the band.
  [[nodiscard]] bool is_in_band() const { return is_in_band_; }

  /// Before make(): images use large pages for zero-initialised memory of the program, if each has
  /// at most `bytes_max` of it, and if there are maps.
  void use_large_pages(std::size_t bytes_max);

  /// Fills in image `index`. False if the kernel gives no memory; errno has the reason.
  [[nodiscard]] bool make(int index) const;

  /// Gives what has been written to the program's image `index` back: make() may be called again,
  /// while the image has its files (Image::close_files()).
  void clear(int index) const;

  /// Gives the memory of a library's image `index` back. No code or data of it may be in use.
  void remove(int index) const;

  /// Whether image `index` exists.
  [[nodiscard]] bool is_made(int index) const {
    return made_ == nullptr ||
           made_[static_cast<std::size_t>(index)].load(std::memory_order_acquire);
  }

  /// When the first image has just been made: each pointer into images of its rank has been
  /// shifted. O(slots).
  void check_invariants() const;

  [[nodiscard]] PrivatizedImage copy(int index) const { return {image_, base_of(index)}; }

  /// The addresses of all images; none if the program runs in the template image.
  [[nodiscard]] std::uintptr_t begin() const { return begin_; }

  [[nodiscard]] std::size_t bytes() const { return size_; }

  /// For the program's images: memory maps that the process may still make, when the images and
  /// what reserve() was told have theirs and some are spared.
  [[nodiscard]] long maps_left() const { return maps_left_; }

  /// The index of the image that holds `address`, or -1. Constant time.
  [[nodiscard]] int index_of(std::uintptr_t address) const {
    // Without images the size is 0.
    const std::uintptr_t distance = address - begin_;
    return distance < size_ ? static_cast<int>(distance / image_.span) : -1;
  }

  /// For a library that ranks open, and written before the slab is published: the number by which
  /// the loader finds its thread-local variables; 0 if it has none.
  std::size_t thread_local_module = 0;

 private:
  ImageSlab(const Image& image, int count) : image_(image), count_(count) {}

  /// False if there are no addresses left; errno has the reason.
  [[nodiscard]] bool reserve_addresses(int protection, const os::AddressBand& band);

  [[nodiscard]] std::uintptr_t base_of(int index) const {
    return is_template() ? image_.base()
                         : begin_ + static_cast<std::size_t>(index) * image_.span - image_.begin();
  }

  [[nodiscard]] bool is_template() const { return size_ == 0; }

  void advise_large_pages(std::uintptr_t base) const;

  const Image& image_;
  const int count_;
  std::uintptr_t begin_ = 0;
  std::size_t size_ = 0;
  void* reservation_ = nullptr;
  std::size_t reservation_size_ = 0;
  bool is_writable_ = false;
  bool is_in_band_ = false;
  bool has_large_pages_ = false;
  long maps_left_ = 0;
  /// For a library that ranks open: whether each image exists.
  std::unique_ptr<std::atomic<bool>[]> made_;
};

/// Why make() failed, from errno, in one line.
[[nodiscard]] std::string mapping_error();

/// The slab that lookups by address consult (unwind.cpp, dynamic_lookup.cpp); nullptr before the
/// ranks start.
[[nodiscard]] const ImageSlab* current_slab();

/// Publishes the slab: call once, before any rank runs.
void set_current_slab(const ImageSlab* slab);

/// The slabs of the program, first, and of all libraries that ranks have opened. Any thread, also
/// from a signal handler; empty before the ranks start.
[[nodiscard]] std::span<const ImageSlab* const> private_slabs();

inline constexpr std::size_t slab_count_max = 4096;

/// Publishes the slab of an opened library, which stays as long as the process. One thread at a
/// time; at most slab_count_max with the program's.
void publish_slab(const ImageSlab* slab);

/// The slab that holds `address` in one of its images, or null. O(opened libraries).
[[nodiscard]] const ImageSlab* slab_at(std::uintptr_t address);

}  // namespace sorrel::program
