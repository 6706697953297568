// The part of Image that decides which pages an image maps from the file, and which bytes are
// written into it.

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/page_bytes.hpp"
#include "program/image/image.hpp"

namespace sorrel::program {

namespace {

// From this size on, unchanged initialised data is mapped from the file; each page is shared until
// it is written. That costs two more mappings per image and no memory. Below, copying is cheaper.
constexpr std::size_t shared_data_bytes_min = 256 * 1024;

using os::page_bytes;

[[nodiscard]] Offset page_floor(Offset offset) {
  return offset & ~(page_bytes() - 1);
}

[[nodiscard]] Offset page_ceiling(Offset offset) {
  return page_floor(offset + page_bytes() - 1);
}

[[nodiscard]] int protection_of(const ElfW(Phdr) & segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

// The pages of the template image that were written since the file was mapped, as the kernel
// reports them (/proc/self/pagemap). Without that file every page counts as written. The query is
// cheap, whereas comparing would read all of a large .data or .bss. Best queried in order.
class WrittenPages {
 public:
  /// `known` is an address that certainly was written: an emulator may report pages of other
  /// addresses.
  explicit WrittenPages(std::uintptr_t known)
      : file_(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)) {
    is_trusted_ = file_ >= 0;
    is_trusted_ = contains(known) && is_trusted_;
  }

  WrittenPages(const WrittenPages&) = delete;
  WrittenPages& operator=(const WrittenPages&) = delete;

  ~WrittenPages() {
    if (file_ >= 0) ::close(file_);
  }

  [[nodiscard]] bool contains(std::uintptr_t address) {
    const std::uintptr_t page = address / page_bytes();
    if (page - first_page_ >= page_count_) load(page);
    if (!is_trusted_) return true;
    constexpr std::uint64_t present = std::uint64_t{1} << 63;
    constexpr std::uint64_t swapped = std::uint64_t{1} << 62;
    constexpr std::uint64_t of_file = std::uint64_t{1} << 61;
    SORREL_ASSERT(page - first_page_ < page_count_, "page 0x%zx of %zu from 0x%zx on", page,
                  page_count_, first_page_);
    const std::uint64_t entry = entries_[page - first_page_];
    return (entry & (present | swapped)) != 0 && (entry & of_file) == 0;
  }

 private:
  void load(std::uintptr_t page) {
    const ssize_t size = ::pread(file_, entries_.data(), sizeof entries_,
                                 static_cast<off_t>(page * sizeof(std::uint64_t)));
    first_page_ = page;
    page_count_ = size > 0 ? static_cast<std::size_t>(size) / sizeof(std::uint64_t) : 0;
    if (page_count_ == 0) is_trusted_ = false;
  }

  int file_;
  bool is_trusted_ = false;
  std::uintptr_t first_page_ = 0;
  std::size_t page_count_ = 0;
  std::array<std::uint64_t, 4096> entries_{};
};

[[nodiscard]] bool is_zero(const char* page) {
  return page[0] == 0 && std::memcmp(page, page + 1, page_bytes() - 1) == 0;
}

}  // namespace

bool Image::is_writable(Offset offset) const {
  return std::any_of(pieces.begin(), pieces.end(), [offset](const Piece& piece) {
    return offset >= piece.begin && offset < piece.end && (piece.protection & PROT_WRITE) != 0;
  });
}

// Side by side, each behind the last.
void Image::place_modules() {
  alignment = page_bytes();
  Offset next = 0;
  for (Module& module : modules) {
    alignment = std::max(alignment, module.alignment);
    if (&module != &modules.front())
      module.shift = rounded_up(next - module.begin(), module.alignment);
    SORREL_ASSERT(module.begin() + module.shift >= next || &module == &modules.front(),
                  "%s begins at 0x%zx, before 0x%zx", module.path.c_str(),
                  module.begin() + module.shift, next);
    next = page_ceiling(module.end() + module.shift);
  }
  extra_objects_offset =
      rounded_up(modules.back().end() + modules.back().shift, extra_object_alignment);
}

void Image::lay_out() {
  for (const Module& module : modules) {
    for (int i = 0; i < module.segment_count; ++i) {
      const ElfW(Phdr)& segment = module.segments[i];
      if (segment.p_type == PT_LOAD) add_segment_piece(module, segment);
    }
  }
  // No holes: a hole would be one more mapping per image. The last piece ends where the next image
  // begins.
  const Offset end = std::max(modules.back().end() + modules.back().shift,
                              extra_objects_offset + extra_objects.size());
  span = rounded_up(end - begin(), alignment);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i].end = i + 1 < pieces.size() ? pieces[i + 1].begin : begin() + span;
  }
}

// Adjacent pieces of one kind are merged: read-only and executable parts that lie in the file as in
// memory, and all writable parts. Constants thus become executable in the privatized images, which
// loses a hardening and changes no function.
void Image::add_segment_piece(const Module& module, const ElfW(Phdr) & segment) {
  Piece piece;
  piece.module = &module;
  piece.begin = page_floor(segment.p_vaddr) + module.shift;
  piece.end = page_ceiling(segment.p_vaddr + segment.p_memsz) + module.shift;
  piece.protection = protection_of(segment);
  const bool is_file = (segment.p_flags & PF_W) == 0;
  if (is_file) piece.file_offset = static_cast<off_t>(page_floor(segment.p_offset));
  if (!pieces.empty() && pieces.back().module == &module) {
    Piece& last = pieces.back();
    const bool last_is_file = last.file_offset != Piece::anonymous;
    const bool is_in_line =
        is_file && last_is_file &&
        piece.file_offset - last.file_offset == static_cast<off_t>(piece.begin - last.begin);
    if (is_in_line || (!is_file && !last_is_file)) {
      last.end = piece.end;
      last.protection |= piece.protection;
      return;
    }
  }
  pieces.push_back(piece);
}

void Image::share_unchanged_data() {
  std::vector<Piece> split;
  for (const Piece& piece : pieces) {
    if (piece.file_offset != Piece::anonymous) {
      split.push_back(piece);
    } else {
      split_off_unchanged(piece, split);
    }
  }
  pieces = std::move(split);
}

/// Pages that the loader has mapped from the file and nothing has changed: [begin, end) in the
/// module, at `distance` from there in the file.
struct UnchangedRun {
  Offset begin;
  Offset end;
  Offset distance;
};

/// The long runs of a module's pages that are as in the file, among the segments that `is_wanted`.
/// Segments that follow each other in memory as in the file make one run: tools that change a file
/// (patchelf) add several.
template <class IsWanted>
[[nodiscard]] std::vector<UnchangedRun> unchanged_runs(const Module& module, IsWanted&& is_wanted) {
  WrittenPages written(module.base + module.dynamic);
  std::vector<UnchangedRun> runs;
  for (int i = 0; i < module.segment_count; ++i) {
    const ElfW(Phdr)& segment = module.segments[i];
    if (segment.p_type != PT_LOAD || !is_wanted(segment)) continue;
    const Offset first = page_floor(segment.p_vaddr);
    const Offset end = page_ceiling(segment.p_vaddr + segment.p_filesz);
    const Offset distance = page_floor(segment.p_offset) - first;
    // A page of two segments is that of the later one.
    if (!runs.empty()) runs.back().end = std::min(runs.back().end, first);
    for (Offset page = first; page < end; page += page_bytes()) {
      if (written.contains(module.base + page)) continue;
      if (!runs.empty() && runs.back().end == page && runs.back().distance == distance) {
        runs.back().end += page_bytes();
      } else {
        runs.push_back({.begin = page, .end = page + page_bytes(), .distance = distance});
      }
    }
  }
  std::erase_if(
      runs, [](const UnchangedRun& run) { return run.end < run.begin + shared_data_bytes_min; });
  return runs;
}

// Cuts the long runs of unchanged file pages out of an anonymous piece.
void Image::split_off_unchanged(Piece piece, std::vector<Piece>& split) const {
  const Module& module = *piece.module;
  const auto is_in_piece = [&](const ElfW(Phdr) & segment) {
    const Offset begin = segment.p_vaddr + module.shift;
    return begin >= piece.begin && begin < piece.end;
  };
  for (const UnchangedRun& run : unchanged_runs(module, is_in_piece)) {
    Piece part = piece;
    part.end = run.begin + module.shift;
    if (part.begin < part.end) split.push_back(part);
    part.begin = part.end;
    // A page that ends in the next piece is that piece's.
    part.end = std::min(run.end + module.shift, piece.end);
    if (part.begin >= part.end) continue;
    part.file_offset = static_cast<off_t>(run.begin + run.distance);
    split.push_back(part);
    piece.begin = part.end;
  }
  if (piece.begin < piece.end) split.push_back(piece);
}

void Image::collect_runs() {
  for (const Piece& piece : pieces) {
    if (piece.file_offset != Piece::anonymous) continue;
    const Module& module = *piece.module;
    const Offset piece_begin = piece.begin - module.shift;
    const Offset piece_end = piece.end - module.shift;
    for (int i = 0; i < module.segment_count; ++i) {
      const ElfW(Phdr)& segment = module.segments[i];
      if (segment.p_type != PT_LOAD) continue;
      const Offset begin = std::max(piece_begin, page_floor(segment.p_vaddr));
      const Offset end = std::min(piece_end, page_ceiling(segment.p_vaddr + segment.p_memsz));
      if (begin < end) add_runs(module, begin, end, segment.p_vaddr + segment.p_filesz);
    }
  }
}

// Pages from `file_end` on are .bss: zero unless written.
void Image::add_runs(const Module& module, Offset begin, Offset end, Offset file_end) {
  WrittenPages written(module.base + module.dynamic);
  for (Offset page = begin; page < end; page += page_bytes()) {
    const std::uintptr_t source = module.base + page;
    if (page >= file_end && !written.contains(source)) continue;
    if (is_zero(reinterpret_cast<const char*>(source))) continue;
    const Offset offset = page + module.shift;
    const Offset last_end = runs.empty() ? 0 : runs.back().offset + runs.back().size;
    if (last_end > offset) continue;
    if (last_end == offset && last_end != 0 && runs.back().source + runs.back().size == source) {
      runs.back().size += page_bytes();
    } else {
      runs.push_back({offset, page_bytes(), source});
    }
  }
}

}  // namespace sorrel::program
