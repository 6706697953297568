//! Image - the template image: the user's executable as the loader mapped and relocated it, before
//! any of its constructors ran.
//!
//! Read once, by the thread that starts the process; constant afterwards, any thread may read. It
//! holds the description of a privatized image (pieces to map, bytes to fill in, pointers to shift)
//! and the program's entry points. It makes no image itself (image_slab.hpp). Offsets are the
//! executable's own virtual addresses: the address in an image is base + offset. Limits:
//! position-independent executables of x86_64 and AArch64, without text relocations. README.md
//! describes the method.
#pragma once

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <link.h>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sorrel::program {

/// A distance from an image's base.
using Offset = std::uintptr_t;

/// A run of pages of an image that one call maps.
struct Piece {
  static constexpr off_t anonymous = -1;

  Offset begin = 0;
  Offset end = 0;
  off_t file_offset = anonymous;
  int protection = 0;  // PROT_*
};

/// Bytes that are copied from the template image.
struct ByteRun {
  Offset offset = 0;
  std::size_t size = 0;
};

/// A pointer into the image itself: base + `offset` holds base + `value`.
struct Slot {
  Offset offset = 0;
  Offset value = 0;
};

/// An object of a library of which every image holds its own (optind, std::cout). Either the
/// executable has a COPY relocation for it, or it is reached through the global offset table. Then
/// it is an extra object behind .bss.
struct PrivateObject {
  Offset offset = 0;
  std::size_t size = 0;
  std::uintptr_t source = 0;  // the live object, which libraries use
};

/// Functions to call in order: their addresses are read from an image's own, relocated table.
struct FunctionTable {
  Offset offset = 0;
  std::size_t count = 0;
};

class Image {
 public:
  /// Reads the main program. Returns nullptr and one line in `error` if its file or its tables
  /// cannot be read.
  [[nodiscard]] static std::unique_ptr<const Image> read(std::string& error);

  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image();

  [[nodiscard]] bool contains(std::uintptr_t address) const {
    return address - base - begin_ <= end_ - begin_;
  }

  /// First offset; `span` is the distance between neighbouring images.
  [[nodiscard]] Offset begin() const { return begin_; }

  /// Behind the last byte of .bss.
  [[nodiscard]] Offset end() const { return end_; }

  /// By the address at which libraries use it.
  [[nodiscard]] const PrivateObject* private_object(std::uintptr_t source) const;

  /// Whether each rank needs a ThreadBlock: for its own thread-local variables, or for those of an
  /// OpenMP library, which record the calling thread's parallel region.
  [[nodiscard]] bool needs_thread_block() const {
    return thread_local_segment != nullptr || uses_openmp_;
  }

  /// Keeps the loader from running the template image's destructors at process exit, since its
  /// constructors have not run either.
  void silence_destructors() const;

  // Written by read(), whose result is constant.
  std::string path;
  /// Why the program cannot be privatized, in one line; empty if it can. A single rank can still
  /// run in the template image.
  std::string privatization_error;
  int file = -1;
  /// The address in the template image is base + offset.
  std::uintptr_t base = 0;
  const ElfW(Phdr) * segments = nullptr;
  std::uint16_t segment_count = 0;
  const ElfW(Phdr) * thread_local_segment = nullptr;
  std::size_t span = 0;
  std::size_t alignment = 0;
  Offset dynamic = 0;
  /// Offset of .eh_frame_hdr, 0 if there is none.
  Offset unwind_table = 0;
  // Entry points; 0 or empty if the program has none. The loader has run the preinit array, once
  // for all ranks.
  Offset init = 0;
  Offset fini = 0;
  FunctionTable init_array;
  FunctionTable fini_array;
  /// The loader's record of what is loaded, as debuggers find it (DT_DEBUG).
  r_debug* debugger_record = nullptr;
  /// The initial bytes of the extra objects, and their offset.
  std::vector<std::byte> extra_objects;
  Offset extra_objects_offset = 0;
  std::vector<Slot> slots;
  std::vector<Piece> pieces;
  std::vector<ByteRun> runs;

 private:
  struct SymbolTable {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    std::size_t name_bytes = 0;
    const ElfW(Versym) * versions = nullptr;
    const ElfW(Verneed) * needed_versions = nullptr;
  };

  struct Relocations {
    const ElfW(Rela) * begin = nullptr;
    std::size_t count = 0;
  };

  Image() = default;

  // image.cpp: reads the headers and the dynamic section.
  [[nodiscard]] bool find_main_program(std::string& error);
  [[nodiscard]] bool open_file(std::string& error);
  void read_segments();
  void read_dynamic();
  void read_needed_libraries();
  [[nodiscard]] bool has_dynamic_section_of_file() const;
  [[nodiscard]] bool has_tables_inside() const;
  [[nodiscard]] std::string find_privatization_error() const;

  // image_relocations.cpp: pointers to shift and objects to keep apart.
  template <class Visit>
  void for_each_relocation(Visit&& visit) const;
  template <class Visit>
  void for_each_packed_relocation(Visit&& visit) const;
  void bind_lazy_slots() const;
  [[nodiscard]] bool has_sound_relocations() const;
  void interpose_math_calls() const;
  [[nodiscard]] const char* needed_version(std::size_t symbol) const;
  void find_private_objects();
  void add_extra_object(std::uintptr_t source, std::size_t size);
  void fill_extra_objects();
  void collect_slots();
  void add_slot_if_pointer(Offset offset, std::uintptr_t value);

  // image_pages.cpp: what to map and what to fill in.
  void lay_out();
  void add_segment_piece(const ElfW(Phdr) & segment);
  void share_unchanged_data();
  void split_off_unchanged(Piece piece, std::vector<Piece>& split) const;
  void add_runs(Offset begin, Offset end, Offset file_end);
  void collect_runs();
  [[nodiscard]] bool is_writable(Offset offset) const;

  const ElfW(Ehdr) * header_ = nullptr;
  Offset begin_ = 0;
  Offset end_ = 0;

  bool has_text_relocations_ = false;
  bool uses_openmp_ = false;

  SymbolTable symbols_;
  Relocations data_relocations_;
  Relocations call_relocations_;
  const ElfW(Relr) * packed_relocations_ = nullptr;
  std::size_t packed_relocation_count_ = 0;

  std::vector<PrivateObject> private_objects_;
};

}  // namespace sorrel::program
