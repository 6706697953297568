#include "mpi/rma/cells.hpp"

#include <algorithm>

#include "base/copy_bytes.hpp"

namespace sorrel::mpi {

namespace {

/// Elements of the stack buffers; no packed element is longer than 32 bytes.
constexpr std::size_t chunk_bytes = 1024;

/// For how many bytes of plain memory the lock is held at a time: other workers wait for it.
constexpr std::size_t held_bytes_max = 32768;

constexpr std::size_t padded_bytes_max = 2 * chunk_bytes;

MPI_Datatype pair_type(Element element) {
  switch (element) {
    case Element::float_int:
      return MPI_FLOAT_INT;
    case Element::double_int:
      return MPI_DOUBLE_INT;
    case Element::long_int:
      return MPI_LONG_INT;
    case Element::int_int:
      return MPI_2INT;
    case Element::short_int:
      return MPI_SHORT_INT;
    case Element::long_double_int:
      return MPI_LONG_DOUBLE_INT;
    case Element::float_float:
      return MPI_2REAL;
    case Element::double_double:
      return MPI_2DOUBLE_PRECISION;
    default:
      return MPI_DATATYPE_NULL;
  }
}

void apply_to_run(const Cells& call,
                  std::byte* run,
                  PackedRange range,
                  const std::byte* operand,
                  std::byte* result) {
  const std::size_t step = held_bytes_max / call.unit.packed_bytes * call.unit.packed_bytes;
  for (std::size_t at = range.from; at < range.to; at += step) {
    const std::size_t bytes = std::min(step, range.to - at);
    const std::size_t done = at - range.from;
    call.lock.lock();
    if (result != nullptr) copy_bytes(result + done, run + at, bytes);
    if (call.kernel != nullptr)
      call.kernel(operand + done, run + at, run + at, bytes / call.unit.packed_bytes);
    call.lock.unlock();
  }
}

}  // namespace

CellUnit cell_unit_of(const Datatype& type) {
  if (type.element() == Element::mixed || type.element() == Element::none) return {};
  return cell_unit_of(type.element(), static_cast<std::uint32_t>(type.element_size()));
}

CellUnit cell_unit_of(Element element, std::uint32_t packed_bytes) {
  const MPI_Datatype handle = pair_type(element);
  if (handle == MPI_DATATYPE_NULL)
    return {.element = element, .packed_bytes = packed_bytes, .padded = nullptr};
  const Datatype* pair = datatype_from_handle(handle);
  return {.element = element,
          .packed_bytes = static_cast<std::uint32_t>(pair->size()),
          .padded = pair->is_dense() ? nullptr : pair};
}

void combine_packed(const CellUnit& unit,
                    ReduceKernel kernel,
                    const std::byte* operand,
                    std::byte* cells,
                    std::size_t bytes) {
  if (unit.padded == nullptr) {
    kernel(operand, cells, cells, bytes / unit.packed_bytes);
    return;
  }
  const Datatype& pair = *unit.padded;
  const std::size_t step = chunk_bytes / unit.packed_bytes * unit.packed_bytes;
  alignas(32) std::byte left[padded_bytes_max];
  alignas(32) std::byte right[padded_bytes_max];
  for (std::size_t at = 0; at < bytes; at += step) {
    const std::size_t part = std::min(step, bytes - at);
    const std::size_t count = part / unit.packed_bytes;
    SORREL_ASSERT(count * static_cast<std::size_t>(pair.extent()) <= padded_bytes_max, "%zu pairs",
                  count);
    unpack(operand + at, part, left, count, pair);
    unpack(cells + at, part, right, count, pair);
    kernel(left, right, right, count);
    pack(right, count, pair, cells + at);
  }
}

void Cells::apply(PackedRange range, const std::byte* operand, std::byte* result) const {
  SORREL_ASSERT(range.from % unit.packed_bytes == 0 && range.to % unit.packed_bytes == 0);
  auto* run = static_cast<std::byte*>(single_run(target.buffer, target.count, *target.type));
  if (run != nullptr && unit.padded == nullptr) {
    apply_to_run(*this, run, range, operand, result);
    return;
  }
  const std::size_t step = chunk_bytes / unit.packed_bytes * unit.packed_bytes;
  alignas(32) std::byte cells[chunk_bytes];
  for (std::size_t at = range.from; at < range.to; at += step) {
    const PackedRange piece{.from = at, .to = std::min(at + step, range.to)};
    const std::size_t bytes = piece.to - piece.from;
    const std::size_t done = at - range.from;
    lock.lock();
    pack_range(target.buffer, *target.type, piece, cells);
    if (result != nullptr) copy_bytes(result + done, cells, bytes);
    if (kernel != nullptr) {
      combine_packed(unit, kernel, operand + done, cells, bytes);
      unpack_range(cells, piece, target.buffer, *target.type);
    }
    lock.unlock();
  }
}

void Cells::apply_all(const TypedBuffer* operand, const TypedBuffer* result) const {
  const std::size_t total = target.bytes();
  SORREL_ASSERT(kernel == nullptr || (operand != nullptr && operand->bytes() == total));
  SORREL_ASSERT(result == nullptr || result->bytes() == total);
  if (total == 0) return;
  const auto is_dense = [](const TypedBuffer* buffer) {
    return buffer == nullptr || buffer->type->is_dense();
  };
  // One element, as of counters and locks: without the divisions of the general case.
  if (total == unit.packed_bytes && unit.padded == nullptr && is_dense(&target) &&
      is_dense(operand) && is_dense(result)) {
    lock.lock();
    if (result != nullptr) copy_bytes(result->buffer, target.buffer, total);
    if (kernel != nullptr) kernel(operand->buffer, target.buffer, target.buffer, 1);
    lock.unlock();
    return;
  }
  const auto run_of = [](const TypedBuffer* buffer) {
    return buffer == nullptr
               ? nullptr
               : static_cast<std::byte*>(single_run(buffer->buffer, buffer->count, *buffer->type));
  };
  std::byte* operand_run = run_of(operand);
  std::byte* result_run = run_of(result);
  if ((operand == nullptr || operand_run != nullptr) &&
      (result == nullptr || result_run != nullptr)) {
    apply({.from = 0, .to = total}, operand_run, result_run);
    return;
  }
  const std::size_t step = chunk_bytes / unit.packed_bytes * unit.packed_bytes;
  alignas(32) std::byte operand_chunk[chunk_bytes];
  alignas(32) std::byte result_chunk[chunk_bytes];
  for (std::size_t at = 0; at < total; at += step) {
    const PackedRange piece{.from = at, .to = std::min(at + step, total)};
    if (operand != nullptr) pack_range(operand->buffer, *operand->type, piece, operand_chunk);
    apply(piece, operand_chunk, result == nullptr ? nullptr : result_chunk);
    if (result != nullptr) unpack_range(result_chunk, piece, result->buffer, *result->type);
  }
}

}  // namespace sorrel::mpi
