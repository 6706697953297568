//! FileView - which bytes of a file a rank sees, and in which order: a displacement, and a file
//! type that is repeated from there (MPI 5.0, 14.3).
//!
//! A position counts the data bytes of the view; an offset counts bytes from the beginning of the
//! file. A view belongs to its rank, whose worker alone makes and ends it; any thread may read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/datatype/datatype.hpp"
#include "mpi/io/layout_runs.hpp"
#include "mpi/io/representation.hpp"

namespace sorrel::mpi {

class FileView {
 public:
  /// The whole file, as bytes.
  FileView();
  ~FileView();
  FileView(const FileView&) = delete;
  FileView& operator=(const FileView&) = delete;
  FileView(FileView&& other) noexcept;
  FileView& operator=(FileView&& other) noexcept;

  struct Arguments {
    std::int64_t displacement;
    Datatype& etype;
    Datatype& filetype;
    const Representation& representation;
    bool is_for_writing;
  };

  /// MPI_ERR_IO, MPI_ERR_TYPE, MPI_ERR_UNSUPPORTED_DATAREP with a text in `detail`: then the view
  /// is unchanged.
  [[nodiscard]] int set(const Arguments& arguments, ErrorDetail& detail);

  [[nodiscard]] std::int64_t displacement() const { return displacement_; }

  [[nodiscard]] Datatype& etype() const { return *etype_; }

  [[nodiscard]] Datatype& filetype() const { return *filetype_; }

  [[nodiscard]] const Representation& representation() const { return *representation_; }

  /// Bytes of an etype in the file.
  [[nodiscard]] std::size_t etype_bytes() const { return etype_bytes_; }

  /// The file type has no data.
  [[nodiscard]] bool is_empty() const { return tile_bytes_ == 0; }

  /// All bytes from the displacement on.
  [[nodiscard]] bool is_contiguous() const { return layout_ == nullptr && !is_empty(); }

  /// Whether positions follow from offsets: neither the file type nor its repetitions overlap.
  [[nodiscard]] bool is_invertible() const { return !has_overlap_ && !tiles_overlap_; }

  /// Whether the offsets of the data bytes [from, to) do not decrease and, for writing, do not
  /// overlap. From one repetition of the file type to the next they may, where its extent is
  /// shorter than its data.
  [[nodiscard]] bool can_move(std::uint64_t from, std::uint64_t to, bool is_write) const;

  /// The offset of the data byte at `position`; of an empty view, its displacement.
  [[nodiscard]] std::int64_t offset_of(std::uint64_t position) const;

  /// How many data bytes lie below `offset`; about as many unless is_invertible().
  [[nodiscard]] std::uint64_t position_below(std::int64_t offset) const;

  /// Whether all bytes before `position` exist, and their offsets fit into an MPI_Offset.
  [[nodiscard]] bool can_address(std::uint64_t position) const;

  /// Calls visit(offset, bytes) for the runs of the data bytes [from, to), until it returns false.
  template <class Visit>
  void visit_runs(std::uint64_t from, std::uint64_t to, Visit&& visit) const {
    if (from >= to || is_empty()) return;
    if (is_contiguous()) {
      (void)visit(displacement_ + static_cast<std::int64_t>(from), to - from);
      return;
    }
    for (std::uint64_t tile = from / tile_bytes_; tile * tile_bytes_ < to; ++tile) {
      const std::uint64_t begin = tile * tile_bytes_;
      if (!mpi::visit_runs(*layout_, place_of(tile), std::max(from, begin) - begin,
                           std::min(to - begin, tile_bytes_), visit))
        return;
    }
  }

 private:
  [[nodiscard]] std::int64_t place_of(std::uint64_t tile) const {
    return displacement_ + static_cast<std::int64_t>(tile) * tile_extent_ + layout_offset_;
  }

  void release();

  std::int64_t displacement_ = 0;
  Datatype* etype_;
  Datatype* filetype_;
  const Representation* representation_;
  std::size_t etype_bytes_ = 1;
  /// Layout of the filetype. Null if it is one run without gaps.
  const Layout* layout_ = nullptr;
  std::int64_t layout_offset_ = 0;
  std::uint64_t tile_bytes_ = 1;
  std::int64_t tile_extent_ = 1;
  bool has_overlap_ = false;
  bool tiles_decrease_ = false;
  bool tiles_overlap_ = false;
};

}  // namespace sorrel::mpi
