#include "mpi/io/view.hpp"

#include <limits>
#include <utility>

namespace sorrel::mpi {

namespace {

Datatype* bytes_type() {
  return datatype_from_handle(MPI_BYTE);
}

/// What the standard demands of the layouts of etype and file type. It names no error class; this
/// is the one that other implementations give.
int check_layout(const Datatype& type, const char* name, bool is_for_writing, ErrorDetail& detail) {
  if (type.extent() <= 0)
    return detail.fail(MPI_ERR_IO, "%s has the extent %lld; it must be positive", name,
                       static_cast<long long>(type.extent()));
  const Layout& layout = *type.layout();
  if (type.offset() + span_of(layout).first < 0)
    return detail.fail(MPI_ERR_IO, "%s has a negative displacement", name);
  const LayoutOrder order = check_order(layout, type.extent());
  if (!order.is_ascending)
    return detail.fail(MPI_ERR_IO, "the displacements of %s decrease; in a file they must not",
                       name);
  if (order.has_overlap && is_for_writing)
    return detail.fail(MPI_ERR_IO, "%s overlaps itself, and the file is open for writing", name);
  return MPI_SUCCESS;
}

}  // namespace

FileView::FileView()
    : etype_(bytes_type()), filetype_(bytes_type()), representation_(&Representation::native()) {}

FileView::~FileView() {
  release();
}

void FileView::release() {
  if (etype_ == nullptr) return;
  etype_->release();
  filetype_->release();
}

FileView::FileView(FileView&& other) noexcept : FileView() {
  *this = std::move(other);
}

FileView& FileView::operator=(FileView&& other) noexcept {
  std::swap(displacement_, other.displacement_);
  std::swap(etype_, other.etype_);
  std::swap(filetype_, other.filetype_);
  std::swap(representation_, other.representation_);
  std::swap(etype_bytes_, other.etype_bytes_);
  std::swap(layout_, other.layout_);
  std::swap(layout_offset_, other.layout_offset_);
  std::swap(tile_bytes_, other.tile_bytes_);
  std::swap(tile_extent_, other.tile_extent_);
  std::swap(has_overlap_, other.has_overlap_);
  std::swap(tiles_decrease_, other.tiles_decrease_);
  std::swap(tiles_overlap_, other.tiles_overlap_);
  return *this;
}

int FileView::set(const Arguments& arguments, ErrorDetail& detail) {
  Datatype& etype = arguments.etype;
  Datatype& filetype = arguments.filetype;
  if (etype.size() == 0) return detail.fail(MPI_ERR_TYPE, "etype has no data");
  int error = check_layout(etype, "etype", arguments.is_for_writing, detail);
  if (error == MPI_SUCCESS && filetype.size() != 0)
    error = check_layout(filetype, "filetype", arguments.is_for_writing, detail);
  if (error != MPI_SUCCESS) return error;
  if (filetype.size() % etype.size() != 0)
    return detail.fail(MPI_ERR_TYPE, "filetype has %zu bytes, which are no multiple of etype's %zu",
                       filetype.size(), etype.size());
  FileSizes sizes;
  error = arguments.representation.sizes_of(etype, filetype, &sizes, detail);
  if (error != MPI_SUCCESS) return error;
  FileView made;
  etype.retain();
  filetype.retain();
  made.displacement_ = arguments.displacement;
  made.etype_ = &etype;
  made.filetype_ = &filetype;
  made.representation_ = &arguments.representation;
  made.etype_bytes_ = sizes.etype_bytes;
  made.tile_bytes_ = sizes.filetype_bytes;
  made.tile_extent_ = static_cast<std::int64_t>(sizes.filetype_bytes);
  if (filetype.size() != 0 && !filetype.is_dense()) {
    made.layout_ = filetype.layout();
    made.layout_offset_ = filetype.offset();
    made.tile_extent_ = filetype.extent();
    const LayoutOrder order = check_order(*made.layout_, made.tile_extent_);
    made.has_overlap_ = order.has_overlap;
    made.tiles_decrease_ = order.repetitions_decrease;
    made.tiles_overlap_ = order.repetitions_overlap;
  }
  *this = std::move(made);
  return MPI_SUCCESS;
}

std::int64_t FileView::offset_of(std::uint64_t position) const {
  std::int64_t offset = displacement_;
  visit_runs(position, position + 1, [&](std::int64_t run, std::size_t /*bytes*/) {
    offset = run;
    return false;
  });
  return offset;
}

std::uint64_t FileView::position_below(std::int64_t offset) const {
  if (is_empty()) return 0;
  if (is_contiguous())
    return offset <= displacement_ ? 0 : static_cast<std::uint64_t>(offset - displacement_);
  const LayoutSpan span = span_of(*layout_);
  const std::int64_t first = offset - displacement_ - layout_offset_;
  // The number of tiles that lie below entirely: those whose end is not above.
  const std::int64_t above_end = first - span.end;
  const std::uint64_t tile =
      above_end < 0 ? 0 : static_cast<std::uint64_t>(above_end / tile_extent_) + 1;
  return tile * tile_bytes_ + bytes_below(*layout_, place_of(tile), offset);
}

bool FileView::can_move(std::uint64_t from, std::uint64_t to, bool is_write) const {
  const bool is_for_one_tile = tiles_decrease_ || (tiles_overlap_ && is_write);
  return !is_for_one_tile || from >= to || from / tile_bytes_ == (to - 1) / tile_bytes_;
}

bool FileView::can_address(std::uint64_t position) const {
  if (is_empty()) return position == 0;
  const __int128 end = __int128{displacement_} + layout_offset_ +
                       (static_cast<__int128>(position / tile_bytes_) + 1) * tile_extent_;
  return end <= std::numeric_limits<std::int64_t>::max();
}

}  // namespace sorrel::mpi
