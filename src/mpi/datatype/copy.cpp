#include "mpi/datatype/copy.hpp"

#include "mpi/datatype/transfer.hpp"

namespace sorrel::mpi {

namespace {

/// Displacements may be absolute addresses from MPI_BOTTOM, for which pointer arithmetic is
/// undefined.
std::byte* place(const void* base, std::int64_t offset) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                      static_cast<std::uintptr_t>(offset));
}

}  // namespace

void* find_single_run(const void* base, std::size_t count, const Datatype& type) {
  const Layout* layout = type.layout();
  if (layout == nullptr || layout->kind != Layout::Kind::block) return nullptr;
  if (count > 1 && type.extent() != static_cast<std::int64_t>(layout->bytes)) return nullptr;
  return place(base, type.offset());
}

void pack_range(const void* base, const Datatype& type, PackedRange range, void* out) {
  SORREL_ASSERT(range.from <= range.to);
  if (range.from == range.to) return;
  if (type.is_dense())
    return copy_bytes(out, static_cast<const std::byte*>(base) + range.from, range.to - range.from);
  gather({*type.layout(), type.extent(), range.from, range.to}, place(base, type.offset()), out);
}

std::size_t pack(const void* base, std::size_t count, const Datatype& type, void* out) {
  const std::size_t bytes = count * type.size();
  pack_range(base, type, {0, bytes}, out);
  return bytes;
}

void unpack_range(const void* in, PackedRange range, void* base, const Datatype& type) {
  SORREL_ASSERT(range.from <= range.to);
  if (range.from == range.to) return;
  if (type.is_dense())
    return copy_bytes(static_cast<std::byte*>(base) + range.from, in, range.to - range.from);
  scatter({*type.layout(), type.extent(), range.from, range.to}, in, place(base, type.offset()));
}

std::size_t unpack(
    const void* in, std::size_t bytes, void* base, std::size_t count, const Datatype& type) {
  bytes = std::min(bytes, count * type.size());
  unpack_range(in, {0, bytes}, base, type);
  return bytes;
}

std::size_t copy_sparse(const void* source,
                        std::size_t source_count,
                        const Datatype& source_type,
                        void* target,
                        std::size_t target_count,
                        const Datatype& target_type) {
  const std::size_t bytes =
      std::min(source_count * source_type.size(), target_count * target_type.size());
  if (bytes == 0) return 0;
  const void* source_run = single_run(source, source_count, source_type);
  void* target_run = single_run(target, target_count, target_type);
  if (source_run != nullptr && target_run != nullptr) {
    copy_bytes(target_run, source_run, bytes);
  } else if (source_run != nullptr) {
    unpack_range(source_run, {0, bytes}, target, target_type);
  } else if (target_run != nullptr) {
    pack_range(source, source_type, {0, bytes}, target_run);
  } else {
    std::byte chunk[copy_chunk_bytes];
    for (std::size_t from = 0; from < bytes;) {
      const std::size_t to = std::min(bytes, from + copy_chunk_bytes);
      pack_range(source, source_type, {from, to}, chunk);
      unpack_range(chunk, {from, to}, target, target_type);
      from = to;
    }
  }
  return bytes;
}

}  // namespace sorrel::mpi
