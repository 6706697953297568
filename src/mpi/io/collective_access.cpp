#include "mpi/io/collective_access.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "mpi/collectives/agreement.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/io/coverage.hpp"
#include "mpi/io/disk_error.hpp"
#include "mpi/io/pieces.hpp"

namespace sorrel::mpi {

namespace {

/// Parts shorter than this are worth a copy to save a call of the system.
constexpr std::int64_t short_bytes_max = 64 << 10;
/// With less data than this part of the span, each member accesses its own.
constexpr std::int64_t sparse_ratio = 16;
/// Domains of the aggregators begin at multiples of it.
constexpr std::int64_t domain_alignment = 4096;

struct CollectivePlan;

/// What a member publishes.
struct MemberAccess {
  const FileView* view;
  const FileAccess* access;
  /// In the file; equal if there is no data.
  std::int64_t begin = 0;
  std::int64_t end = 0;
  core::Worker* worker = nullptr;
  /// The leader's plan.
  CollectivePlan* plan = nullptr;
};

/// Made by the leader of the process for its members.
struct CollectivePlan {
  bool is_two_phase = false;
  std::vector<const MemberAccess*> members;
  /// Indices of members; each accesses one domain of [begin, end).
  std::vector<std::size_t> aggregators;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = 0;
  std::int64_t file_bytes = 0;
  /// errno of an aggregator. Relaxed: read after a barrier.
  std::atomic<int> disk_error{0};
};

bool is_worth_two_phases(const File& file, bool is_write, const CollectivePlan& plan) {
  const auto buffering = is_write ? file.hints.write_buffering : file.hints.read_buffering;
  // Atomic mode locks each member's access.
  if (buffering == FileHints::Buffering::never || file.is_atomic) return false;
  for (const MemberAccess* member : plan.members) {
    if (!member->view->is_invertible()) return false;
  }
  if (buffering == FileHints::Buffering::always) return true;
  std::int64_t bytes = 0;
  std::int64_t previous_end = 0;
  std::int64_t count = 0;
  bool is_interleaved = false;
  for (const MemberAccess* member : plan.members) {
    if (member->begin == member->end) continue;
    if (member->begin < previous_end) is_interleaved = true;
    previous_end = member->end;
    bytes += static_cast<std::int64_t>(member->access->buffer.bytes());
    ++count;
  }
  const std::int64_t span = plan.end - plan.begin;
  if (is_interleaved) return bytes >= span / sparse_ratio;
  return count > 1 && bytes >= span / 2 && bytes / count < short_bytes_max;
}

/// On the leader.
void make_plan(const File& file, CollectivePlan& plan) {
  bool is_write = false;
  for (const MemberAccess* member : plan.members) {
    if (member->begin == member->end) continue;
    is_write = member->access->is_write;
    plan.begin = std::min(plan.begin, member->begin);
    plan.end = std::max(plan.end, member->end);
  }
  if (plan.begin >= plan.end) return;
  plan.is_two_phase = is_worth_two_phases(file, is_write, plan);
  if (!plan.is_two_phase) return;
  if (const int number = file.shared->disk.get_size(&plan.file_bytes); number != 0)
    plan.disk_error.store(number, std::memory_order_relaxed);
  const std::int32_t count_max = file.hints.aggregator_count_max;
  std::vector<const core::Worker*> workers;
  for (std::size_t i = 0; i < plan.members.size(); ++i) {
    const core::Worker* worker = plan.members[i]->worker;
    if (std::find(workers.begin(), workers.end(), worker) != workers.end()) continue;
    if (count_max != 0 && workers.size() == static_cast<std::size_t>(count_max)) break;
    workers.push_back(worker);
    plan.aggregators.push_back(i);
  }
}

/// The part of one aggregator, window by window.
class Aggregator {
 public:
  Aggregator(File& file, CollectivePlan& plan, bool is_write)
      : file_(file),
        plan_(plan),
        is_write_(is_write),
        window_bytes_(static_cast<std::int64_t>(
            std::min(file.hints.buffer_bytes, static_cast<std::size_t>(plan.end - plan.begin)))),
        room_(std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(window_bytes_))),
        coverage_(is_write ? static_cast<std::size_t>(window_bytes_) : 0) {}

  /// errno.
  [[nodiscard]] int run(os::FileRange domain) {
    for (std::int64_t begin = next_data(domain.begin); begin < domain.end;
         begin = next_data(begin + window_bytes_)) {
      window_ = {.begin = begin, .end = std::min(begin + window_bytes_, domain.end)};
      const int number = is_write_ ? write_window() : read_window();
      if (number != 0) return number;
      let_other_ranks_run(*file_.owner);
    }
    return 0;
  }

 private:
  /// The first offset from `begin` on at which a member has data; the plan's end if there is none.
  [[nodiscard]] std::int64_t next_data(std::int64_t begin) const {
    std::int64_t next = plan_.end;
    for (const MemberAccess* member : plan_.members) {
      if (member->end <= begin || member->begin == member->end) continue;
      const std::uint64_t position =
          std::max(member->access->position, member->view->position_below(begin));
      next = std::min(next, std::max(begin, member->view->offset_of(position)));
    }
    return next;
  }

  /// Calls visit(member, from, to) for the members with data in the window: their data bytes
  /// [from, to).
  template <class Visit>
  void visit_members(Visit&& visit) const {
    for (const MemberAccess* member : plan_.members) {
      if (member->end <= window_.begin || member->begin >= window_.end) continue;
      const FileAccess& access = *member->access;
      const std::uint64_t from =
          std::max(access.position, member->view->position_below(window_.begin));
      const std::uint64_t to = std::min(access.end(), member->view->position_below(window_.end));
      if (from < to) visit(*member, from, to);
    }
  }

  int write_window() {
    coverage_.clear();
    visit_members([&](const MemberAccess& member, std::uint64_t from, std::uint64_t to) {
      auto at = static_cast<std::size_t>(from - member.access->position);
      member.view->visit_runs(from, to, [&](std::int64_t offset, std::size_t bytes) {
        const auto place = static_cast<std::size_t>(offset - window_.begin);
        take_from_buffer(member.access->buffer, at, bytes, room_.get() + place);
        coverage_.add(place, bytes);
        at += bytes;
        return true;
      });
    });
    std::vector<os::FilePiece> pieces;
    coverage_.visit_runs([&](std::size_t place, std::size_t bytes) {
      pieces.push_back(
          {window_.begin + static_cast<std::int64_t>(place), bytes, room_.get() + place});
    });
    return write_pieces(file_.shared->disk, pieces).error;
  }

  int read_window() {
    os::FileRange needed{.begin = window_.end, .end = window_.begin};
    visit_members([&](const MemberAccess& member, std::uint64_t from, std::uint64_t to) {
      needed.begin = std::min(needed.begin, member.view->offset_of(from));
      needed.end = std::max(needed.end, member.view->offset_of(to - 1) + 1);
    });
    if (needed.begin >= needed.end) return 0;
    const auto first = static_cast<std::size_t>(needed.begin - window_.begin);
    const os::Moved moved = file_.shared->disk.read(
        room_.get() + first, static_cast<std::size_t>(needed.end - needed.begin), needed.begin);
    if (moved.error != 0) return moved.error;
    const std::int64_t end = needed.begin + static_cast<std::int64_t>(moved.bytes);
    visit_members([&](const MemberAccess& member, std::uint64_t from, std::uint64_t to) {
      auto at = static_cast<std::size_t>(from - member.access->position);
      member.view->visit_runs(from, to, [&](std::int64_t offset, std::size_t bytes) {
        if (offset >= end) return false;
        const std::size_t here = std::min(bytes, static_cast<std::size_t>(end - offset));
        put_into_buffer(member.access->buffer, at, here,
                        room_.get() + static_cast<std::size_t>(offset - window_.begin));
        at += bytes;
        return true;
      });
    });
    return 0;
  }

  File& file_;
  CollectivePlan& plan_;
  const bool is_write_;
  const std::int64_t window_bytes_;
  os::FileRange window_{};
  std::unique_ptr<std::byte[]> room_;
  Coverage coverage_;
};

os::FileRange domain_of(const CollectivePlan& plan, std::size_t index) {
  const auto count = static_cast<std::int64_t>(plan.aggregators.size());
  const std::int64_t begin = plan.begin / domain_alignment;
  const std::int64_t blocks = (plan.end + domain_alignment - 1) / domain_alignment - begin;
  const auto border = [&](std::int64_t i) {
    return std::clamp((begin + blocks * i / count) * domain_alignment, plan.begin, plan.end);
  };
  const auto i = static_cast<std::int64_t>(index);
  return {.begin = border(i), .end = border(i + 1)};
}

/// The bytes of a member that the file has.
std::size_t bytes_in_file(const MemberAccess& member, std::int64_t file_bytes) {
  const FileAccess& access = *member.access;
  if (access.is_write || member.end <= file_bytes) return access.buffer.bytes();
  const std::uint64_t end = std::min(access.end(), member.view->position_below(file_bytes));
  return end <= access.position ? 0 : static_cast<std::size_t>(end - access.position);
}

/// A member that has failed takes part without data, so that the others do not wait for it.
MemberAccess describe(const Member& member, const File& file, const FileAccess& access, int error) {
  MemberAccess own{.view = &file.view, .access = &access};
  own.worker = member.self.worker;
  if (error != MPI_SUCCESS || access.buffer.bytes() == 0) return own;
  own.begin = file.view.offset_of(access.position);
  own.end = file.view.offset_of(access.end() - 1) + 1;
  return own;
}

/// Both phases, for this member. *number: errno, the same for all members here.
int run_two_phases(const Member& member,
                   File& file,
                   CollectivePlan& plan,
                   const MemberAccess& own,
                   std::size_t* moved,
                   int* number) {
  for (std::size_t i = 0; i < plan.aggregators.size(); ++i) {
    if (plan.members[plan.aggregators[i]] != &own) continue;
    Aggregator aggregator(file, plan, own.access->is_write);
    const int own_number = aggregator.run(domain_of(plan, i));
    if (own_number != 0) plan.disk_error.store(own_number, std::memory_order_relaxed);
  }
  if (const int error = local_barrier(member); error != MPI_SUCCESS) return error;
  *number = plan.disk_error.load(std::memory_order_relaxed);
  *moved = *number == 0 ? bytes_in_file(own, plan.file_bytes) : 0;
  // The plan is the leader's.
  return local_barrier(member);
}

int move_together(
    const Member& member, File& file, const FileAccess& access, int error, std::size_t* moved) {
  const std::vector<std::int32_t> ranks = members_here(member.comm);
  if (ranks.size() == 1) return error != MPI_SUCCESS ? error : move_alone(file, access, moved);
  CollectiveSlots& slots = member.comm.shared->slots();
  CollectivePlan plan;
  MemberAccess own = describe(member, file, access, error);
  own.plan = &plan;
  slots.publish(member.comm, &own);
  if (const int mismatch = local_barrier(member); mismatch != MPI_SUCCESS) return mismatch;
  const bool is_leader = member.comm.rank == ranks.front();
  if (is_leader) {
    for (const std::int32_t rank : ranks)
      plan.members.push_back(&slots.published_by<MemberAccess>(rank));
    make_plan(file, plan);
  }
  if (const int mismatch = local_barrier(member); mismatch != MPI_SUCCESS) return mismatch;
  CollectivePlan& common = *slots.published_by<MemberAccess>(ranks.front()).plan;
  if (common.is_two_phase) {
    int number = 0;
    const int mismatch = run_two_phases(member, file, common, own, moved, &number);
    if (mismatch != MPI_SUCCESS || number == 0) return mismatch != MPI_SUCCESS ? mismatch : error;
    return fail_disk(member.self, access.is_write ? "writing" : "reading",
                     file.shared->path.c_str(), number);
  }
  if (const int mismatch = local_barrier(member); mismatch != MPI_SUCCESS) return mismatch;
  if (error != MPI_SUCCESS) return error;
  return move_alone(file, access, moved);
}

}  // namespace

int access_together(const Member& member,
                    File& file,
                    const FileAccess& access,
                    std::size_t* moved) {
  *moved = 0;
  FileData data;
  const int prepared = data.prepare(file, access);
  const ErrorDetail detail = member.self.detail();
  std::size_t file_bytes = 0;
  const int error = move_together(member, file, data.access(), prepared, &file_bytes);
  // Other ranks of the worker have used the place of the text meanwhile.
  if (prepared != MPI_SUCCESS) member.self.detail() = detail;
  return error != MPI_SUCCESS ? error : data.finish(file, file_bytes, moved);
}

}  // namespace sorrel::mpi
