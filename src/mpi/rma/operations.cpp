#include "mpi/rma/operations.hpp"

#include <array>
#include <cstring>

#include "mpi/datatype/copy.hpp"
#include "mpi/match/complete.hpp"
#include "mpi/match/receive.hpp"
#include "mpi/rma/cells.hpp"
#include "mpi/rma/device_access.hpp"
#include "mpi/rma/message.hpp"
#include "mpi/rma/passive.hpp"
#include "mpi/rma/target_sync.hpp"

namespace sorrel::mpi {

namespace {

int fail_no_epoch(const Win& win, std::int32_t rank) {
  switch (win.access) {
    case Win::Access::start:
      return win.owner->fail(MPI_ERR_RMA_SYNC, "rank %d is not in the group of MPI_Win_start",
                             rank);
    case Win::Access::lock:
      return win.owner->fail(MPI_ERR_RMA_SYNC, "rank %d is not locked", rank);
    default:
      return win.owner->fail(MPI_ERR_RMA_SYNC,
                             "no access epoch is open: MPI_Win_fence, _start, _lock or _lock_all "
                             "begins one");
  }
}

/// Checks that the epoch allows an operation on the target; locks it under MPI_Win_lock_all. May
/// suspend.
[[gnu::always_inline]] inline int begin_operation(Win& win, std::int32_t rank, bool is_requested) {
  if (win.access == Win::Access::fence && !is_requested) {
    win.is_fence_used = true;
    return MPI_SUCCESS;
  }
  if (is_requested && !win.is_in_passive_epoch())
    return win.owner->fail(MPI_ERR_RMA_SYNC,
                           "an operation with a request needs MPI_Win_lock or MPI_Win_lock_all");
  if (rank == MPI_PROC_NULL)
    return win.access == Win::Access::none ? fail_no_epoch(win, rank) : MPI_SUCCESS;
  switch (win.access) {
    case Win::Access::start:
      return win.has_bits(rank, Win::in_start_group) ? MPI_SUCCESS : fail_no_epoch(win, rank);
    case Win::Access::lock:
      return win.has_bits(rank, Win::locked | Win::unchecked) ? MPI_SUCCESS
                                                              : fail_no_epoch(win, rank);
    case Win::Access::lock_all:
      if (!win.has_bits(rank, Win::locked | Win::unchecked)) lock_under_lock_all(win, rank);
      return MPI_SUCCESS;
    default:
      return fail_no_epoch(win, rank);
  }
}

int fail_size(const Win& win, std::size_t origin_bytes, std::size_t target_bytes) {
  return win.owner->fail(MPI_ERR_TRUNCATE,
                         "the origin's buffer describes %zu bytes and the target's %zu",
                         origin_bytes, target_bytes);
}

void mark_dirty(Win& win, std::int32_t rank) {
  std::uint8_t& bits = win.bits_of(rank);
  if ((bits & Win::is_dirty) != 0) return;
  bits |= Win::is_dirty;
  win.dirty_targets.push_back(rank);
}

/// The request of an operation that is complete.
void give_finished(const Win& win, Requested requested) {
  if (requested.request != nullptr)
    *requested.request = handle_of(*win.owner->worker_state->finished_send);
}

/// What every operation begins with: its epoch, its request, the place of its target. False: the
/// call ends here with *error, which is MPI_SUCCESS for MPI_PROC_NULL. May suspend.
[[gnu::always_inline]] inline bool begin(
    Win& win, const TargetBuffer& target, Requested requested, TargetPlace* place, int* error) {
  *error = begin_operation(win, target.rank, requested.request != nullptr);
  if (*error != MPI_SUCCESS) return false;
  give_finished(win, requested);
  if (target.rank == MPI_PROC_NULL) return false;
  *error = find_place(win, target, place);
  return *error == MPI_SUCCESS;
}

/// What brings data back to `into`; with a request, if one is wanted.
PendingGet& start_get(
    Win& win, const TypedBuffer& into, std::size_t bytes, std::int32_t rank, Requested requested) {
  Request* request = nullptr;
  if (requested.request != nullptr) {
    Datatype& type = const_cast<Datatype&>(*into.type);
    request = &make_receive(
        *win.owner, *win.comm,
        {.buffer = nullptr, .count = 0, .type = type, .source = rank, .tag = MPI_UNDEFINED});
    activate(*request);
    *requested.request = handle_of(*request);
  }
  const_cast<Datatype*>(into.type)->retain();
  return *new PendingGet{.window = &win, .request = request, .into = into, .bytes = bytes};
}

MessageHead head_of(MessageKind kind, const TargetPlace& place, const TargetBuffer& target) {
  MessageHead head;
  head.kind = kind;
  head.displacement = place.displacement;
  head.count = target.count;
  return head;
}

void describe_operation(MessageHead& head, const Op& op, const Datatype& type) {
  const CellUnit unit = cell_unit_of(type);
  head.op = op.kind();
  head.element = unit.element;
  head.element_bytes = unit.packed_bytes;
}

ReduceKernel kernel_for(const Op& op, const CellUnit& unit) {
  return op.kind() == PredefinedOp::no_op ? nullptr : kernel_of(op.kind(), unit.element);
}

/// The elements of a target that this process can access.
Cells cells_at(const Win& win, std::byte* address, const TargetBuffer& target, const Op& op) {
  const CellUnit unit = cell_unit_of(*target.type);
  return {.lock = *win.target(target.rank).accumulate_lock,
          .target = {.buffer = address, .count = target.count, .type = target.type},
          .unit = unit,
          .kernel = kernel_for(op, unit)};
}

// Operations on memory on a device of this process.

DeviceTarget device_target(const Win& win, const TargetPlace& place, const TargetBuffer& target) {
  return {.memory = *place.device,
          .address = device_address_of(win, target.rank, place),
          .count = target.count,
          .type = *target.type};
}

int explain_device(const Win& win, std::int32_t rank, int error) {
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return win.owner->fail(error, "rank %d: %s", rank, text_of_device_error(error));
}

[[gnu::cold]] int accumulate_on_device(const Win& win,
                                       const TargetPlace& place,
                                       const TargetBuffer& target,
                                       const Op& op,
                                       const TypedBuffer* operand,
                                       const TypedBuffer* result) {
  const CellUnit unit = cell_unit_of(*target.type);
  const DeviceCells cells{
      .target = device_target(win, place, target), .unit = unit, .kernel = kernel_for(op, unit)};
  return explain_device(win, target.rank, cells.apply_all(operand, result));
}

/// A put or a get.
[[gnu::cold]] int copy_on_device(Win& win,
                                 const TypedBuffer& origin,
                                 const TargetBuffer& target,
                                 const TargetPlace& place,
                                 bool is_put) {
  const DeviceTarget there = device_target(win, place, target);
  int error = MPI_SUCCESS;
  if (is_within_device(there, origin)) {
    error = is_put ? put_within_device(there, origin, win.device_copies)
                   : get_within_device(there, origin, win.device_copies);
  } else if (is_on_device(origin)) {
    // The target's memory was freed while this rank waited for a lock.
    error = MPI_ERR_RMA_RANGE;
  } else {
    error = is_put ? put_on_device(there, origin) : get_from_device(there, origin);
  }
  return explain_device(win, target.rank, error);
}

}  // namespace

bool is_within_device(const Win& win, const TypedBuffer& origin, const TargetBuffer& target) {
  TargetPlace place;
  return origin.bytes() != 0 && target.bytes() != 0 &&
         find_place(win, target, &place) == MPI_SUCCESS && place.device != nullptr &&
         is_within_device(device_target(win, place, target), origin);
}

int put(Win& win, const TypedBuffer& origin, const TargetBuffer& target, Requested requested) {
  int error = MPI_SUCCESS;
  TargetPlace place;
  if (!begin(win, target, requested, &place, &error)) [[unlikely]]
    return error;
  const std::size_t target_bytes = target.count * target.type->size();
  if (origin.bytes() > target_bytes) [[unlikely]]
    return fail_size(win, origin.bytes(), target_bytes);
  if (origin.bytes() == 0) return MPI_SUCCESS;
  if (place.address != nullptr) {
    (void)copy(origin.buffer, origin.count, *origin.type, place.address, target.count,
               *target.type);
    return MPI_SUCCESS;
  }
  if (place.device != nullptr) return copy_on_device(win, origin, target, place, true);
  mark_dirty(win, target.rank);
  send_message(win, target.rank, head_of(MessageKind::put, place, target), target.type, &origin);
  return MPI_SUCCESS;
}

int get(Win& win, const TypedBuffer& origin, const TargetBuffer& target, Requested requested) {
  int error = MPI_SUCCESS;
  TargetPlace place;
  if (!begin(win, target, requested, &place, &error)) [[unlikely]]
    return error;
  const std::size_t target_bytes = target.count * target.type->size();
  if (target_bytes > origin.bytes()) [[unlikely]]
    return fail_size(win, origin.bytes(), target_bytes);
  if (target_bytes == 0) return MPI_SUCCESS;
  if (place.address != nullptr) {
    (void)copy(place.address, target.count, *target.type, origin.buffer, origin.count,
               *origin.type);
    return MPI_SUCCESS;
  }
  if (place.device != nullptr) return copy_on_device(win, origin, target, place, false);
  mark_dirty(win, target.rank);
  MessageHead head = head_of(MessageKind::get, place, target);
  head.token = reinterpret_cast<std::uintptr_t>(
      &start_get(win, origin, target_bytes, target.rank, requested));
  send_message(win, target.rank, head, target.type, nullptr);
  return MPI_SUCCESS;
}

int accumulate(Win& win,
               const TypedBuffer& origin,
               const TargetBuffer& target,
               const Op& op,
               Requested requested) {
  int error = MPI_SUCCESS;
  TargetPlace place;
  if (!begin(win, target, requested, &place, &error)) [[unlikely]]
    return error;
  const std::size_t target_bytes = target.count * target.type->size();
  if (origin.bytes() != target_bytes) [[unlikely]]
    return fail_size(win, origin.bytes(), target_bytes);
  if (target_bytes == 0 || op.kind() == PredefinedOp::no_op) return MPI_SUCCESS;
  if (place.address != nullptr) {
    cells_at(win, place.address, target, op).apply_all(&origin, nullptr);
    return MPI_SUCCESS;
  }
  if (place.device != nullptr)
    return accumulate_on_device(win, place, target, op, &origin, nullptr);
  mark_dirty(win, target.rank);
  MessageHead head = head_of(MessageKind::accumulate, place, target);
  describe_operation(head, op, *target.type);
  send_message(win, target.rank, head, target.type, &origin);
  return MPI_SUCCESS;
}

int get_accumulate(Win& win,
                   const TypedBuffer& origin,
                   const TypedBuffer& result,
                   const TargetBuffer& target,
                   const Op& op,
                   Requested requested) {
  int error = MPI_SUCCESS;
  TargetPlace place;
  if (!begin(win, target, requested, &place, &error)) [[unlikely]]
    return error;
  const bool is_read_only = op.kind() == PredefinedOp::no_op;
  const std::size_t target_bytes = target.count * target.type->size();
  if (!is_read_only && origin.bytes() != target_bytes) [[unlikely]]
    return fail_size(win, origin.bytes(), target_bytes);
  if (result.bytes() != target_bytes) [[unlikely]]
    return fail_size(win, result.bytes(), target_bytes);
  if (target_bytes == 0) return MPI_SUCCESS;
  const TypedBuffer* operand = is_read_only ? nullptr : &origin;
  if (place.address != nullptr) {
    cells_at(win, place.address, target, op).apply_all(operand, &result);
    return MPI_SUCCESS;
  }
  if (place.device != nullptr)
    return accumulate_on_device(win, place, target, op, operand, &result);
  mark_dirty(win, target.rank);
  MessageHead head = head_of(MessageKind::get_accumulate, place, target);
  describe_operation(head, op, *target.type);
  head.token = reinterpret_cast<std::uintptr_t>(
      &start_get(win, result, target_bytes, target.rank, requested));
  send_message(win, target.rank, head, target.type, operand);
  return MPI_SUCCESS;
}

int compare_and_swap(
    Win& win, const void* origin, const void* compare, void* result, const TargetBuffer& target) {
  int error = MPI_SUCCESS;
  TargetPlace place;
  if (!begin(win, target, {}, &place, &error)) [[unlikely]]
    return error;
  const std::size_t bytes = target.type->size();
  if (place.address != nullptr) {
    compare_and_swap_in(*win.target(target.rank).accumulate_lock, place.address,
                        {.origin = origin, .compare = compare, .result = result}, bytes);
    return MPI_SUCCESS;
  }
  if (place.device != nullptr) {
    const int failure = compare_and_swap_on_device(
        device_target(win, place, target), {.origin = origin, .compare = compare, .result = result},
        device::Waiting::suspending);
    return explain_device(win, target.rank, failure);
  }
  mark_dirty(win, target.rank);
  std::array<std::byte, 64> values;
  SORREL_ASSERT(2 * bytes <= values.size());
  std::memcpy(values.data(), origin, bytes);
  std::memcpy(values.data() + bytes, compare, bytes);
  const TypedBuffer data{
      .buffer = values.data(), .count = 2 * bytes, .type = datatype_from_handle(MPI_BYTE)};
  MessageHead head = head_of(MessageKind::compare_and_swap, place, target);
  head.element_bytes = static_cast<std::uint32_t>(2 * bytes);
  head.token = reinterpret_cast<std::uintptr_t>(
      &start_get(win, {.buffer = result, .count = 1, .type = target.type}, bytes, target.rank, {}));
  send_message(win, target.rank, head, target.type, &data);
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
