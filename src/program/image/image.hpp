//! Image - the template image: the private set, that is the user's executable and those of its
//! libraries of which each rank has its own, as the loader mapped and relocated them, before any of
//! their constructors ran.
//!
//! Read once, by the thread that starts the process; constant afterwards, any thread may read. It
//! holds the description of a privatized image (pieces to map, bytes to fill in, pointers to shift)
//! and the modules with their entry points. It makes no image itself (image_slab.hpp). An image has
//! all modules side by side, the executable first. Offsets are distances from the base of the
//! executable; for the executable itself they are its own virtual addresses. README.md describes
//! the method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

#include "base/check.hpp"
#include "program/image/module.hpp"

namespace sorrel::program {

class ImageSlab;

/// A run of pages of an image that one call maps.
struct Piece {
  static constexpr off_t anonymous = -1;

  Offset begin = 0;
  Offset end = 0;
  off_t file_offset = anonymous;
  int protection = 0;  // PROT_*
  const Module* module = nullptr;
};

/// Bytes that are copied from the template image.
struct ByteRun {
  Offset offset = 0;
  std::size_t size = 0;
  std::uintptr_t source = 0;
};

/// A pointer into the image itself: base + `offset` holds base + `value`.
struct Slot {
  Offset offset = 0;
  Offset value = 0;
};

/// A pointer into another image of the same rank: `value` is the offset there.
struct OutsideSlot {
  Offset offset = 0;
  const ImageSlab* slab = nullptr;
  Offset value = 0;
};

/// A place in a library's image that the loader has bound by name, and that could be bound
/// otherwise in another rank: to what that rank has opened.
struct Binding {
  Offset offset = 0;
  std::uintptr_t addend = 0;
  const char* name = nullptr;
  bool is_weak = false;
  /// One definition for the process, wherever the first one is (STB_GNU_UNIQUE).
  bool is_unique = false;
  /// The symbol in a template image; 0 if there was none.
  std::uintptr_t address = 0;
};

/// An object of a shared library of which every image holds its own (optind, std::cout). Either the
/// executable has a COPY relocation for it, or it is reached through a global offset table. Then it
/// is an extra object behind the last module.
struct PrivateObject {
  Offset offset = 0;
  std::size_t size = 0;
  std::uintptr_t source = 0;  // the live object, which shared libraries use
};

class Image {
 public:
  /// Reads the private set: the modules whose constructors libsorrel-early.so.0 has held back, or
  /// the executable alone. Returns nullptr and one line in `error` if a file or its tables cannot
  /// be read.
  [[nodiscard]] static std::unique_ptr<Image> read(std::string& error);

  /// Reads a library that a rank opens, which no code of has run: what its slab needs. Returns
  /// nullptr and the reason in `error` if ranks cannot have private instances of it.
  [[nodiscard]] static std::unique_ptr<Image> read_library(Module module, std::string& error);

  /// The rest of read_library(): its pointers into itself and into `slabs`, those of the program
  /// and of all opened libraries. Returns why ranks cannot have private instances, or "".
  [[nodiscard]] std::string read_pointers(std::span<const ImageSlab* const> slabs);

  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image();

  /// When all images are made.
  void close_files();

  [[nodiscard]] const Module& executable() const { return modules.front(); }

  /// The address in the template image of an offset of the executable is base() + offset.
  [[nodiscard]] std::uintptr_t base() const { return executable().base; }

  [[nodiscard]] bool has_libraries() const { return modules.size() > 1; }

  /// Why ranks cannot share this module, which is none of the image's; "" if they can: it has no
  /// pointer into the image, except to objects and code that may be shared.
  [[nodiscard]] std::string find_pointer_from(const Module& module) const;
  /// Binds calls that lead from a shared library into the set to the system's functions.
  void release_calls(const Module& module) const;

  /// The module that holds an address of the template image, or null.
  [[nodiscard]] const Module* module_at(std::uintptr_t address) const;

  [[nodiscard]] bool contains(std::uintptr_t address) const {
    return module_at(address) != nullptr;
  }

  /// The module at this offset of an image; null in the gap behind it.
  [[nodiscard]] const Module* module_at_offset(Offset offset) const;

  /// The offset in an image of what has this address in the template image or, for a private
  /// object, in its library.
  [[nodiscard]] std::optional<Offset> offset_of(std::uintptr_t address) const;

  /// First offset.
  [[nodiscard]] Offset begin() const { return executable().begin(); }

  /// For an image that ranks can have: pieces cover it without gaps, and what is copied and shifted
  /// lies in it. O(slots).
  void check_invariants() const;

  /// By the address at which shared libraries use it.
  [[nodiscard]] const PrivateObject* private_object(std::uintptr_t source) const;

  /// Whether each rank needs a ThreadBlock: for its own thread-locals, for those of an OpenMP
  /// library (the region of the thread), or because it may go on with a thread of its own.
  [[nodiscard]] bool needs_thread_block() const { return needs_thread_block_; }

  /// Whether an OpenMP library is loaded, or needed by a module.
  [[nodiscard]] bool uses_openmp() const;

  // Written by read(), whose result is constant but for files.
  /// The executable first.
  std::vector<Module> modules;
  /// In the order in which constructors run: libraries before those that need them.
  std::vector<const Module*> initialization_order;
  /// Why the program cannot be privatized, in one line; empty if it can. A single rank can still
  /// run in the template image, unless its libraries' constructors were held back.
  std::string privatization_error;
  /// The distance between neighbouring images.
  std::size_t span = 0;
  std::size_t alignment = 0;
  /// The initial bytes of the extra objects, and their offset.
  std::vector<std::byte> extra_objects;
  Offset extra_objects_offset = 0;
  std::vector<Slot> slots;
  /// The outside slots of a library that a rank opens.
  std::vector<OutsideSlot> outside_slots;
  std::vector<Binding> bindings;
  std::vector<Piece> pieces;
  std::vector<ByteRun> runs;

 private:
  Image() = default;

  // image.cpp: finds the modules.
  [[nodiscard]] bool find_modules(std::string& error);
  [[nodiscard]] std::string find_privatization_error() const;
  [[nodiscard]] bool find_thread_local_use() const;
  void start_iostreams() const;

  // image_relocations.cpp: pointers to shift and objects to keep apart.
  void bind_lazy_slots() const;
  void interpose_calls() const;
  [[nodiscard]] bool uses_dynamic_loading() const;
  void add_objects_for_libraries();
  [[nodiscard]] std::string find_object_of_process() const;
  [[nodiscard]] std::string interpose_thread_local_access() const;
  void collect_binding(const Module& module, const ElfW(Rela) & relocation, Offset offset);
  void find_private_objects();
  void find_private_objects(const Module& module);
  void add_extra_object(std::uintptr_t source, std::size_t size);
  void fill_extra_objects();
  void collect_slots();
  void collect_slots(const Module& module);
  void add_slot_if_pointer(Offset offset, std::uintptr_t value, std::uintptr_t addend = 0);

  static constexpr std::size_t extra_object_alignment = 64;

  [[nodiscard]] static constexpr std::size_t rounded_up(std::size_t value, std::size_t step) {
    return (value + step - 1) / step * step;
  }

  // image_pages.cpp: what to map and what to fill in.
  void place_modules();
  void lay_out();
  void add_segment_piece(const Module& module, const ElfW(Phdr) & segment);
  void share_unchanged_data();
  void split_off_unchanged(Piece piece, std::vector<Piece>& split) const;
  void add_runs(const Module& module, Offset begin, Offset end, Offset file_end);
  void collect_runs();
  [[nodiscard]] bool is_writable(Offset offset) const;

  /// The images that a library's pointers may lead to; while its pointers are read.
  std::span<const ImageSlab* const> slabs_;
  /// What else is loaded; while the image is read, and if it has libraries.
  std::vector<Module> outside_;
  bool needs_thread_block_ = false;
  bool is_library_ = false;
  std::vector<PrivateObject> private_objects_;
};

}  // namespace sorrel::program
