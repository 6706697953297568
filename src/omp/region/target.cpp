#include "omp/region/target.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "omp/icv/environment.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/region.hpp"
#include "omp/tasking/tasking.hpp"
#include "omp/tasking/tool_events.hpp"
#include "omp/team/task_memory.hpp"

namespace sorrel::omp {

namespace {

/// The low byte of a kind; the high byte is the logarithm of the alignment.
constexpr unsigned kind_firstprivate = 12;
/// The device of a construct that names none. The host is device 0, or below.
constexpr int device_of_icv = -1;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

/// Addresses as the region's code gets them: firstprivate variables are copied, all others are
/// the program's.
class Mapped {
 public:
  explicit Mapped(const Target& target)
      : addresses_(target.addresses, target.addresses + target.count) {
    std::size_t bytes = 0;
    std::size_t alignment = 1;
    for_each_copy(target, [&](std::size_t i, std::size_t own_alignment) {
      alignment = std::max(alignment, own_alignment);
      bytes = aligned(bytes, own_alignment) + target.sizes[i];
    });
    if (bytes == 0) return;
    copies_.reset(aligned_memory(std::max(alignment, alignof(std::max_align_t)), bytes));
    std::size_t at = 0;
    for_each_copy(target, [&](std::size_t i, std::size_t own_alignment) {
      at = aligned(at, own_alignment);
      void* const copy = static_cast<std::byte*>(copies_.get()) + at;
      std::memcpy(copy, target.addresses[i], target.sizes[i]);
      addresses_[i] = copy;
      at += target.sizes[i];
    });
  }

  void** addresses() { return addresses_.data(); }

 private:
  static std::size_t aligned(std::size_t offset, std::size_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  }

  template <class Visit>
  static void for_each_copy(const Target& target, Visit visit) {
    for (std::size_t i = 0; i < target.count; ++i) {
      if ((target.kinds[i] & 0xFFU) == kind_firstprivate && target.addresses[i] != nullptr)
        visit(i, std::size_t{1} << (target.kinds[i] >> 8));
    }
  }

  std::vector<void*> addresses_;
  std::unique_ptr<void, Free> copies_;
};

/// Runs a target region whose data are mapped. May suspend.
void run_mapped(TeamThread& thread,
                void (*body)(void*),
                Mapped& mapped,
                std::uint32_t thread_limit,
                ompt::Target kind) {
  if (!has_tool()) [[likely]]
    return run_on_initial_thread(thread, body, mapped.addresses(), thread_limit);
  constexpr std::uint32_t unknown = 0;
  ToldTarget told{.kind = kind};
  tell_target(thread, told, ompt::Endpoint::begin);
  tell_target_submit(told, ompt::Endpoint::begin, unknown);
  run_on_initial_thread(thread, body, mapped.addresses(), thread_limit);
  tell_target_submit(told, ompt::Endpoint::end, unknown);
  tell_target(thread, told, ompt::Endpoint::end);
}

struct TargetTask {
  void (*body)(void*);
  std::uint32_t thread_limit;
  Mapped mapped;

  static void copy(void* into, void* from) {
    const auto& target = **static_cast<const Target**>(from);
    *static_cast<TargetTask**>(into) =
        new TargetTask{target.body, target.thread_limit, Mapped(target)};
  }

  static void run(void* data) {
    const std::unique_ptr<TargetTask> self(*static_cast<TargetTask**>(data));
    run_mapped(this_thread(), self->body, self->mapped, self->thread_limit,
               ompt::Target::target_nowait);
  }
};

}  // namespace

std::uint32_t thread_limit_of(void* const* arguments) {
  // Each argument is a word: device in bits 0 to 6, what it is in bits 8 to 15. Its value is in
  // the bits above, or in the next word.
  constexpr std::uintptr_t device_mask = 0x7F;
  constexpr std::uintptr_t has_next_word = 0x80;
  constexpr std::uintptr_t meaning_mask = 0xFF00;
  constexpr std::uintptr_t is_thread_limit = 0x200;
  constexpr unsigned value_shift = 16;
  if (arguments == nullptr) return 0;
  while (*arguments != nullptr) {
    const auto word = reinterpret_cast<std::uintptr_t>(*arguments++);
    std::intptr_t value = static_cast<std::intptr_t>(word) >> value_shift;
    if ((word & has_next_word) != 0) value = reinterpret_cast<std::intptr_t>(*arguments++);
    if ((word & device_mask) == 0 && (word & meaning_mask) == is_thread_limit)
      return static_cast<std::uint32_t>(std::clamp<std::intptr_t>(value, 0, 0x7FFF'FFFF));
  }
  return 0;
}

void run_target(TeamThread& thread, const Target& target, void** depend) {
  Mapped mapped(target);
  if (depend != nullptr) wait_for_dependences(thread, depend);
  run_mapped(thread, target.body, mapped, target.thread_limit, ompt::Target::target);
}

void make_target_task(TeamThread& thread, const Target& target, void** depend) {
  const Target* self = &target;
  make_task(thread, {.body = TargetTask::run,
                     .data = static_cast<void*>(&self),
                     .copy = TargetTask::copy,
                     .bytes = sizeof(TargetTask*),
                     .alignment = alignof(TargetTask*),
                     .flags = depend == nullptr ? 0 : task_depend,
                     .depend = depend,
                     .is_target = true});
}

void tell_mapping(const TeamThread& thread, ompt::Target kind) {
  if (!has_tool()) [[likely]]
    return;
  ToldTarget told{.kind = kind};
  tell_target(thread, told, ompt::Endpoint::begin);
  tell_target(thread, told, ompt::Endpoint::end);
}

void report_host(const Icv& icv, int device) {
  static std::atomic<bool> was_reported{false};
  const bool is_default = device == device_of_icv;
  const Offload offload = environment().offload;
  if (offload == Offload::mandatory) {
    const int number = is_default ? icv.default_device : device;
    if (number <= 0 && number != no_device) return;
    std::fputs("sorrel: OMP_TARGET_OFFLOAD is mandatory, but there is no device but the host\n",
               stderr);
    std::exit(EXIT_FAILURE);
  }
  if (!is_default) return;
  // Relaxed: a flag by itself.
  if (offload == Offload::disabled || was_reported.load(std::memory_order_relaxed) ||
      was_reported.exchange(true, std::memory_order_relaxed))
    return;
  std::fputs("sorrel: target regions run on the host: --omp has no other devices\n", stderr);
}

}  // namespace sorrel::omp
