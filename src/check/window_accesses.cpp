#include "check/window_accesses.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"

namespace sorrel::check {

namespace {

using mpi::Win;

/// Larger windows are not watched for stores of their own rank.
constexpr std::int64_t snapshot_bytes_max = std::int64_t{1} << 20;

bool is_lock(Win::Access access) {
  return access == Win::Access::lock || access == Win::Access::lock_all;
}

/// Whether members live in other processes: their operations on this process's memory are not seen.
bool has_remote_members(const Win& win) {
  for (std::int32_t i = 0; i < win.size(); ++i) {
    if (!win.target(i).is_here) return true;
  }
  return false;
}

/// The target's bytes; for a call without a count at the target, one element of `datatype`.
ByteRanges target_bytes(const Win& win, const CheckedCall& call, std::int32_t target) {
  ByteRanges bytes;
  const bool has_count = call.has("target_count");
  const auto handle = call.handle<MPI_Datatype>(has_count ? "target_datatype" : "datatype");
  const mpi::Datatype* type = mpi::datatype_from_handle(handle);
  const mpi::WinTarget& at = win.target(target);
  const std::int64_t displacement = call.word("target_disp");
  // A dynamic window has addresses in the place of displacements.
  const auto base = reinterpret_cast<std::uintptr_t>(at.address);
  const std::uintptr_t begin =
      win.shared->is_dynamic()
          ? static_cast<std::uintptr_t>(displacement)
          : base + static_cast<std::uintptr_t>(displacement * at.displacement_unit);
  const std::uint64_t count = has_count ? static_cast<std::uint64_t>(call.word("target_count")) : 1;
  if (type != nullptr) bytes.add(reinterpret_cast<const void*>(begin), count, *type);
  return bytes;
}

}  // namespace

bool WindowAccesses::conflict(const Access& a, const Access& b) {
  if (a.target != b.target) return false;
  if (a.operation == Operation::get && b.operation == Operation::get) return false;
  if (a.operation == Operation::accumulate && b.operation == Operation::accumulate) {
    // Accumulates of one origin are ordered. Default of accumulate_ops: the same operation or none.
    if (a.origin == b.origin || a.op == b.op || a.op == MPI_NO_OP || b.op == MPI_NO_OP ||
        a.op == MPI_OP_NULL || b.op == MPI_OP_NULL)
      return false;
  }
  if (a.epoch == Win::Access::fence && b.epoch == Win::Access::fence && a.fence != b.fence)
    return false;
  // A fence is over for all members as soon as one of them returns from it.
  if (a.epoch == Win::Access::fence && b.epoch != Win::Access::fence &&
      (a.is_closed || a.fence < b.fence))
    return false;
  if (a.origin == b.origin && a.is_flushed) return false;
  if (a.is_closed && (a.is_exclusive || b.is_exclusive)) return false;
  return a.bytes.overlap_with(b.bytes).has_value();
}

void WindowAccesses::find_conflict(const Window& window, const Access& access) {
  for (const Access& other : window.accesses) {
    if (!conflict(other, access)) continue;
    findings_.add({.kind = "rma-conflict",
                   .place = access.place,
                   .text = text_of("%s and %s access the same memory of rank %d without "
                                   "synchronization between them",
                                   access.place.name, other.place.name, access.target)});
    findings_.add_place(other.place, "the other access");
    return;
  }
}

namespace {

/// Whether the call has a target, whose memory is in this process.
bool has_target(const Win& win, const CheckedCall& call) {
  const std::intptr_t target = call.word("target_rank");
  return target >= 0 && target < win.size() &&
         win.target(static_cast<std::int32_t>(target)).is_here;
}

}  // namespace

WindowAccesses::Access WindowAccesses::access_of(Window& window,
                                                 const Win& win,
                                                 const CheckedCall& call,
                                                 const CallPlace& place) {
  const auto target = static_cast<std::int32_t>(call.word("target_rank"));
  SORREL_ASSERT(has_target(win, call), "member %d is the target of %s", target, place.name);
  Member& member = window.members[win.rank];
  Operation operation = Operation::accumulate;
  if (call.function() == Function::Put || call.function() == Function::Rput)
    operation = Operation::put;
  if (call.function() == Function::Get || call.function() == Function::Rget)
    operation = Operation::get;
  return {.origin = place.rank,
          .target = target,
          .bytes = target_bytes(win, call, target),
          .operation = operation,
          .op = call.has("op") ? call.handle<MPI_Op>("op") : MPI_OP_NULL,
          .place = place,
          .epoch = win.access,
          .fence = member.fence,
          .returns_data = operation == Operation::get || call.has("result_addr"),
          .is_exclusive = member.exclusive_targets.contains(target)};
}

void WindowAccesses::begin(const Win& win, const CheckedCall& call, const CallPlace& place) {
  if (!has_target(win, call)) return;
  Window& window = windows_[win.shared];
  const Access access = access_of(window, win, call, place);
  if (access.epoch != Win::Access::fence || access.target == win.rank) return;
  const bool is_updated = std::ranges::any_of(window.accesses, [&](const Access& other) {
    return other.operation != Operation::get && other.target == access.target &&
           other.fence + 1 >= access.fence && other.bytes.overlap_with(access.bytes).has_value();
  });
  // What another rank has written hides a store.
  if (!is_updated && differs_from_snapshot(window, access)) report_local_store(access);
}

void WindowAccesses::add(const Win& win, const CheckedCall& call, const CallPlace& place) {
  if (!has_target(win, call)) return;
  Window& window = windows_[win.shared];
  Access access = access_of(window, win, call, place);
  if (access.bytes.is_empty()) return;
  if (call.has("request")) {
    const auto* request = call.pointer<const std::uintptr_t>("request");
    SORREL_ASSERT(request != nullptr, "%s makes no request", place.name);
    access.request = *request;
    access.variable = call.own_variable(request);
  }
  find_conflict(window, access);
  if (access.operation != Operation::get && !has_remote_members(win)) {
    access.hash = access.bytes.hash();
    // An update below another one: neither explains the memory alone.
    for (Access& other : window.accesses) {
      if (other.bytes.overlap_with(access.bytes)) other.hash = access.hash = std::nullopt;
    }
  }
  window.accesses.push_back(std::move(access));
}

/// Whether the memory of an access is no longer what it was when its target's epoch began.
bool WindowAccesses::differs_from_snapshot(const Window& window, const Access& access) {
  const auto member = window.members.find(access.target);
  if (member == window.members.end() || member->second.fence != access.fence) return false;
  const Snapshot& snapshot = member->second.snapshot;
  const std::uintptr_t end = snapshot.begin + snapshot.bytes.size();
  for (const ByteRange& range : access.bytes.ranges()) {
    if (range.begin < snapshot.begin || range.end > end) continue;
    SORREL_ASSERT(range.begin <= range.end, "a range that ends before it begins");
    const auto* now = reinterpret_cast<const std::byte*>(range.begin);
    const std::byte* before = snapshot.bytes.data() + (range.begin - snapshot.begin);
    if (!std::equal(now, now + (range.end - range.begin), before)) return true;
  }
  return false;
}

void WindowAccesses::report_local_store(const Access& access) {
  findings_.add({.kind = "rma-conflict",
                 .place = access.place,
                 .text = text_of("rank %d of the window stores to its own memory in the epoch in "
                                 "which %s accesses it",
                                 access.target, access.place.name)});
}

/// Ends the member's epoch: differences that no access explains are stores of its own program.
void WindowAccesses::find_local_stores(const Window& window, const Win& win) {
  const auto member = window.members.find(win.rank);
  if (member == window.members.end()) return;
  for (const Access& access : window.accesses) {
    if (access.target != win.rank || access.epoch != Win::Access::fence ||
        access.fence != member->second.fence || access.origin == win.owner->world_rank)
      continue;
    if (access.operation != Operation::get) {
      if (access.hash && access.hash != access.bytes.hash()) return report_local_store(access);
      continue;
    }
    const bool is_updated = std::ranges::any_of(window.accesses, [&](const Access& other) {
      return other.operation != Operation::get && other.target == access.target &&
             other.bytes.overlap_with(access.bytes).has_value();
    });
    if (!is_updated && differs_from_snapshot(window, access)) return report_local_store(access);
  }
}

void WindowAccesses::begin_synchronization(const Win& win, const CheckedCall& call) {
  if (call.function() == Function::Win_fence) find_local_stores(windows_[win.shared], win);
}

void WindowAccesses::end_fence(Window& window, const Win& win) {
  SORREL_ASSERT(win.rank >= 0 && win.rank < win.size(), "member %d of %d", win.rank, win.size());
  Member& member = window.members[win.rank];
  ++member.fence;
  // Two epochs back, no member is any more.
  const std::uint64_t passed = member.fence;
  std::erase_if(window.accesses, [=](const Access& access) {
    return access.epoch == Win::Access::fence && access.fence + 2 <= passed;
  });
  for (Access& access : window.accesses) {
    if (access.origin == win.owner->world_rank && access.epoch == Win::Access::fence)
      access.is_closed = true;
  }
  const mpi::WinTarget& own = win.target(win.rank);
  member.snapshot = {};
  if (own.address == nullptr || own.bytes > snapshot_bytes_max || has_remote_members(win)) return;
  member.snapshot = {.begin = reinterpret_cast<std::uintptr_t>(own.address),
                     .bytes = {own.address, own.address + own.bytes}};
}

void WindowAccesses::end_synchronization(const Win& win, const CheckedCall& call) {
  Window& window = windows_[win.shared];
  const std::int32_t origin = win.owner->world_rank;
  const auto target = static_cast<std::int32_t>(call.has("rank") ? call.word("rank") : -1);
  const auto is_mine = [&](const Access& access) {
    return access.origin == origin && (target < 0 || access.target == target);
  };
  switch (call.function()) {
    case Function::Win_fence:
      end_fence(window, win);
      return;
    case Function::Win_lock:
      if (call.word("lock_type") == MPI_LOCK_EXCLUSIVE)
        window.members[win.rank].exclusive_targets.insert(target);
      return;
    case Function::Win_complete:
      for (Access& access : window.accesses) {
        if (is_mine(access) && access.epoch == Win::Access::start) access.is_closed = true;
      }
      return;
    case Function::Win_wait:
    case Function::Win_test:
      std::erase_if(window.accesses, [&](const Access& access) {
        return access.target == win.rank && access.epoch == Win::Access::start && access.is_closed;
      });
      return;
    case Function::Win_flush:
    case Function::Win_flush_all:
      for (Access& access : window.accesses) {
        if (is_mine(access)) access.is_flushed = true;
      }
      return;
    case Function::Win_unlock:
    case Function::Win_unlock_all:
      window.members[win.rank].exclusive_targets.erase(target);
      for (Access& access : window.accesses) {
        if (!is_mine(access) || !is_lock(access.epoch)) continue;
        access.is_closed = true;
        access.is_flushed = true;
      }
      return;
    default:
      return;
  }
}

void WindowAccesses::complete(std::int32_t world_rank,
                              std::uintptr_t request,
                              const void* variable) {
  for (auto& [shared, window] : windows_) {
    for (Access& access : window.accesses) {
      // Operations that are complete at once share a request: without the variable, any of them may
      // be meant.
      const bool is_its =
          variable != nullptr ? access.variable == variable : access.request == request;
      // The data of a put may still be on its way to the target.
      if (access.origin == world_rank && is_its && access.returns_data) access.is_flushed = true;
    }
  }
}

void WindowAccesses::on_communication(std::int32_t world_rank) {
  for (auto& [shared, window] : windows_) {
    std::erase_if(window.accesses, [=](const Access& access) {
      return access.origin == world_rank && is_lock(access.epoch) &&
             (access.is_closed || access.is_flushed);
    });
  }
}

void WindowAccesses::free(const Win& win, const CallPlace& place) {
  const char* open = win.is_in_passive_epoch()          ? "a lock is held"
                     : win.access == Win::Access::start ? "MPI_Win_complete is missing"
                     : win.is_exposed                   ? "MPI_Win_wait is missing"
                                                        : nullptr;
  if (open != nullptr) {
    findings_.add({.kind = "rma-synchronization",
                   .place = place,
                   .text = text_of("the window is freed in an open epoch: %s", open)});
  }
}

}  // namespace sorrel::check
