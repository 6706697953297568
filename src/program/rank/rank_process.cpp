#include "program/rank/rank_process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/invariants.hpp"
#include "core/worker.hpp"
#include "program/base/driver_code.hpp"
#include "program/base/durations.hpp"
#include "program/base/libc.hpp"
#include "program/base/program_calls.hpp"
#include "program/heap/rank_heaps.hpp"
#include "program/rank/device_states.hpp"
#include "program/rank/outside_call.hpp"
#include "program/state/rank_files.hpp"

namespace sorrel::program {

namespace {

// Set before the first rank runs, constant afterwards.
RankHooks rank_hooks;

using Constructor = void (*)(int argc, char** argv, char** environment);
using Destructor = void (*)();

/// The rank's own variables of the C library with the program's name: at first they point to the
/// arguments of the process, which a rank does not find again after a restart or a move.
void set_program_names(const PrivatizedImage& copy, const Arguments& arguments) {
  if (copy.is_template() || arguments.count() == 0) return;
  char* const name = arguments.values()[0];
  char* const slash = std::strrchr(name, '/');
  if (char** own = copy.own(program_invocation_name); own != nullptr) *own = name;
  if (char** own = copy.own(program_invocation_short_name); own != nullptr)
    *own = slash != nullptr ? slash + 1 : name;
}

}  // namespace

RankProcess* current_rank_process() {
  return rank_hooks.current != nullptr ? rank_hooks.current() : nullptr;
}

bool runs_worker() {
  return core::Worker::current() != nullptr;
}

RankProcess* peek_rank_process() {
  return rank_hooks.peek != nullptr ? rank_hooks.peek() : nullptr;
}

RankProcess* process_that_may_wait(const void* caller) {
  // First: this library's own waits and reads of clocks come from the middle of a scheduler's work,
  // where a rank must not return to its worker.
  if (is_of_process(caller)) return nullptr;
  RankProcess* process = current_rank_process();
  // A thread outside of a worker waits by itself.
  const bool may_wait = process != nullptr && core::Worker::current() != nullptr &&
                        !process->signals().must_return() && !is_forked_child();
  return may_wait ? process : nullptr;
}

RankProcess* process_on_own_thread(const void* caller) {
  if (is_of_process(caller)) return nullptr;
  RankProcess* process = current_rank_process();
  const bool is_own = process != nullptr && !runs_worker() && !is_forked_child();
  return is_own ? process : nullptr;
}

void set_rank_hooks(const RankHooks& hooks) {
  rank_hooks = hooks;
  os::record_own_process();
}

bool has_ranks() {
  return rank_hooks.current != nullptr;
}

void end_rank(RankProcess& process, int status) {
  SORREL_CHECK(rank_hooks.end_rank != nullptr);
  rank_hooks.end_rank(process, status);
  std::abort();
}

void end_by_signal(RankProcess& process, int number) {
  SORREL_CHECK(rank_hooks.end_by_signal != nullptr);
  rank_hooks.end_by_signal(process, number);
  std::abort();
}

void end_by_jump(RankProcess& process) {
  SORREL_CHECK(rank_hooks.end_by_jump != nullptr);
  rank_hooks.end_by_jump(process);
  std::abort();
}

void end_by_thread(RankProcess& process, int status) {
  SORREL_CHECK(rank_hooks.end_by_thread != nullptr);
  rank_hooks.end_by_thread(process, status);
}

struct RankProcess::RecordedState {
  explicit RecordedState(int rank) : files(rank) {}

  RankFiles files;
  RankMappings mappings;
  UnsavedState unsaved;
};

RankProcess::RankProcess(const ProgramStart& start,
                         const PrivatizedImage& copy,
                         int rank,
                         const OutputFormat& format,
                         std::string own_variables)
    : start_(start),
      copy_(copy),
      rank_(rank),
      arguments_(start.argc, start.argv),
      streams_(rank, format),
      getopt_(copy),
      environment_(copy, std::move(own_variables)),
      libraries_(*this),
      modules_left_(copy.image().initialization_order.size()),
      recorded_(are_saved_ ? std::make_unique<RecordedState>(rank) : nullptr) {}

RankProcess::~RankProcess() {
  SORREL_ASSERT(sleep_ == nullptr, "rank %d ends while it sleeps", rank_);
  remove_device_state(*this);
}

void RankProcess::set_fiber(core::Fiber& fiber, const void* stack_bottom, std::size_t stack_bytes) {
  SORREL_ASSERT(fiber_ == nullptr && stack_bottom != nullptr && stack_bytes != 0,
                "rank %d has a stack of %zu bytes", rank_, stack_bytes);
  fiber_ = &fiber;
  settings_.set_fiber(fiber);
  stack_bottom_ = static_cast<const std::byte*>(stack_bottom);
  stack_bytes_ = stack_bytes;
  set_stack_end();
  // Except in main().
  pin();
}

RankProcess::RecordedState& RankProcess::recorded() {
  SORREL_CHECK(recorded_ != nullptr);
  return *recorded_;
}

RankFiles& RankProcess::files() {
  return recorded().files;
}

RankMappings& RankProcess::mappings() {
  return recorded().mappings;
}

UnsavedState& RankProcess::unsaved() {
  return recorded().unsaved;
}

/// The loader's variable, which conservative garbage collectors read: the end of the main stack.
void RankProcess::set_stack_end() const {
  static auto* const live =
      static_cast<const void**>(loader_dlsym()(RTLD_DEFAULT, "__libc_stack_end"));
  if (live == nullptr || copy_.is_template()) return;
  if (const void** own = copy_.own(*live); own != nullptr) *own = stack_bottom_ + stack_bytes_;
}

bool RankProcess::is_own_code(const void* caller) const {
  return contains(reinterpret_cast<std::uintptr_t>(caller)) || rank_heaps().is_code_of_rank(caller);
}

void RankProcess::pin() {
  if (fiber_ != nullptr) ++fiber_->pin_count;
}

void RankProcess::unpin() {
  SORREL_ASSERT(fiber_ == nullptr || fiber_->pin_count > 0, "rank %d is not pinned", rank_);
  if (fiber_ != nullptr) --fiber_->pin_count;
}

const char* RankProcess::reason_not_saved() const {
  if (device_state_of(*this) != nullptr) return "it uses a GPU, whose memory is not saved";
  if (settings_.are_changed())
    return "it has a working directory, file mode mask or locale of its own";
  if (streams_.has_wide_input()) return "it has read wide characters of the standard input";
  if (environment_.is_changed()) return "it has changed its environment (setenv, putenv)";
  if (signals_.is_in_handler()) return "it is in a handler of a signal";
  if (signals_.has_handler_of_library())
    return "it has set a handler of a signal that lies in a library of the process";
  if (started_threads_.any()) return "it has threads of its own";
  if (own_thread() != 0) return "it runs on a thread of its own";
  if (!children_.all().empty()) return "it has a child process";
  if (recorded_ != nullptr) {
    const RecordedState& recorded = *recorded_;
    if (const char* reason = recorded.mappings.reason_not_saved(); reason != nullptr) return reason;
    if (const char* reason = recorded.unsaved.reason_not_saved(); reason != nullptr) return reason;
  }
  if (thread_keys_.has_value_of_library())
    return "a library of the process keeps a thread-specific value for it (pthread_setspecific)";
  if (libraries_.any()) return "it has opened a library (dlopen)";
  return libc_ == nullptr ? nullptr : libc_->reason_not_saved();
}

void RankProcess::check_invariants() const {
  SORREL_CHECK(sleep_ == nullptr || own_thread() == 0, "rank %d sleeps on two threads", rank_);
  SORREL_CHECK(modules_left_ <= copy_.image().initialization_order.size(),
               "rank %d has to end %zu modules of %zu", rank_, modules_left_,
               copy_.image().initialization_order.size());
  SORREL_CHECK(started_threads_.count() >= 0, "rank %d has %d threads", rank_,
               started_threads_.count());
  if (fiber_ != nullptr) {
    SORREL_CHECK(stack_bottom_ != nullptr && stack_bytes_ != 0, "rank %d has no stack", rank_);
  }
  signals_.check_invariants();
  thread_keys_.check_invariants();
  fork_handlers_.check_invariants();
}

void RankProcess::save(ByteWriter& to) {
  SORREL_ASSERT_INVARIANTS(*this);
  SORREL_ASSERT(!signals_.is_in_handler(), "rank %d is saved in a handler of a signal", rank_);
  to.add(fiber_->pin_count);
  exit_handlers_.save(to);
  fork_handlers_.save(to);
  to.add(thread_cleanups_.last);
  streams_.save(to);
  getopt_.save(to);
  to.add(libc_ != nullptr);
  if (libc_ != nullptr) libc_->save(to);
  to.add(environment_.values());
  thread_keys_.save(to);
  signals_.save(to);
}

bool RankProcess::restore(ByteCursor& from) {
  fiber_->pin_count = from.take<std::uint16_t>();
  exit_handlers_.restore(from);
  fork_handlers_.restore(from);
  thread_cleanups_.last = from.take<__pthread_unwind_buf_t*>();
  streams_.restore(from);
  getopt_.restore(from);
  if (from.take<bool>()) libc_state().restore(from);
  environment_.restore(from.take<char**>());
  thread_keys_.restore(from);
  const bool has_signals = signals_.restore(from);
  SORREL_ASSERT_INVARIANTS(*this);
  return has_signals;
}

void RankProcess::leave() {
  files().leave();
  signals_.leave();
}

int RankProcess::run() {
  if (are_saved_) {
    arguments_.move_to(__builtin_alloca(arguments_.bytes()));
    // One place for both: a place of constant size would be in the frame of every rank.
    auto* place = static_cast<std::byte*>(__builtin_alloca_with_align(
        sizeof(Generators) + environment_.bytes(), 8 * alignof(Generators)));
    libc_state().make_generators(place);
    environment_.move_to(place + sizeof(Generators));
    set_program_names(copy_, arguments_);
  }
  run_constructors();
  const int status = run_main();
  // A rank that was restored returns from main() to frames of a process that is no more.
  RankProcess& self = *current_rank_process();
  self.pin();
  return self.finish(status);
}

[[gnu::noinline]] int RankProcess::run_main() {
  Main main = copy_.counterpart(start_.main);
  unpin();
  return call_program(main, arguments_.count(), arguments_.values(), environment_.values());
}

void RankProcess::run_constructors() {
  const Image& image = copy_.image();
  run_constructors(copy_, image.executable(), image.executable().preinit_array);
  for (const Module* module : image.initialization_order) {
    if (module == &image.executable() && start_.init != nullptr) {
      call_program(copy_.counterpart(start_.init), arguments_.count(), arguments_.values(),
                   environment_.values());
    } else {
      run_constructors(copy_, *module);
    }
  }
}

void RankProcess::run_constructors(const PrivatizedImage& copy, const Module& module) {
  if (module.init != 0)
    call_program(copy.at<void(int, char**, char**)>(module.init + module.shift), arguments_.count(),
                 arguments_.values(), environment_.values());
  run_constructors(copy, module, module.init_array);
}

void RankProcess::run_constructors(const PrivatizedImage& copy,
                                   const Module& module,
                                   const FunctionTable& table) {
  const auto* constructors = copy.at<const Constructor>(table.offset + module.shift);
  for (std::size_t i = 0; i < table.count; ++i)
    call_program(constructors[i], arguments_.count(), arguments_.values(), environment_.values());
}

void RankProcess::run_destructors(const PrivatizedImage& copy, const Module& module) {
  const auto* destructors = copy.at<const Destructor>(module.fini_array.offset + module.shift);
  for (std::size_t i = module.fini_array.count; i-- > 0;)
    call_program(destructors[i]);
  if (module.fini != 0) call_program(copy.at<void()>(module.fini + module.shift));
}

std::int64_t RankProcess::sleep(const OutsideWait& wait, std::int64_t duration_ns) {
  if (core::Worker::current() == nullptr) return sleep_on_own_thread(duration_ns);
  core::Worker& worker = *core::Worker::current();
  const std::int64_t end_ns = worker.now_ns() + duration_ns;
  std::int64_t left_ns = duration_ns;
  // The delivery thread may interrupt this call and run a handler, too.
  const std::uint64_t runs_before = signals_.run_count();
  for (;;) {
    signals_.run_pending(RankSignals::Interrupts::program, nullptr);
    if (signals_.run_count() != runs_before) break;
    end_if_signalled();
    SORREL_ASSERT(sleep_ == nullptr, "rank %d sleeps already", rank_);
    core::Sleep sleep;
    sleep_ = &sleep;
    {
      const OutsideCall call(outside_wait_, worker.running(), wait);
      worker.sleep(sleep, left_ns);
    }
    sleep_ = nullptr;
    left_ns = end_ns - worker.now_ns();
    if (left_ns <= 0 && !signals_.has_work()) return 0;
  }
  return std::max<std::int64_t>(left_ns, 1);
}

std::int64_t RankProcess::sleep_on_own_thread(std::int64_t duration_ns) {
  static auto* const real = next_definition<decltype(::nanosleep)>("nanosleep");
  const timespec duration{.tv_sec = duration_ns / ns_per_second,
                          .tv_nsec = duration_ns % ns_per_second};
  timespec left{};
  return real(&duration, &left) == 0 ? 0 : to_ns(left);
}

bool RankProcess::end_sleep() {
  if (sleep_ == nullptr) return false;
  core::Worker::current()->end_sleep(*std::exchange(sleep_, nullptr));
  return true;
}

void RankProcess::end_if_signalled() {
  const SignalMask unaccepted = signals_.pending() & ~signals_.blocked() & ~signals_.handled();
  // Acquire, pairs with the release of an action that changes: one that is no longer handled is
  // seen as ignored, if it is.
  std::atomic_thread_fence(std::memory_order_acquire);
  const SignalMask unhandled = unaccepted & ~signals_.ignored();
  if (unhandled == 0) return;
  const int number = signals_.take(unhandled);
  if (number != 0 && (harmless & mask_of(number)) == 0) end_by_signal(*this, number);
}

void RankProcess::leave_handlers(std::uintptr_t from, std::uintptr_t to) {
  if (!signals_.leave_handlers(from, to)) end_by_jump(*this);
}

int RankProcess::finish(int status) {
  // Perhaps called by exit() in main().
  pin();
  exit_handlers_.run(status);
  libraries_.run_destructors();
  run_destructors();
  end_device_state(*this);
  signals_.end();
  streams_.finish();
  return status;
}

void RankProcess::run_destructors() {
  const std::vector<const Module*>& modules = copy_.image().initialization_order;
  while (modules_left_ > 0) {
    const Module& module = *modules[modules_left_ - 1];
    const auto* destructors = copy_.at<const Destructor>(module.fini_array.offset + module.shift);
    SORREL_ASSERT(destructors_run_ <= module.fini_array.count, "%zu of %zu destructors of %s",
                  destructors_run_, module.fini_array.count, module.path.c_str());
    // A destructor may call exit(), which runs the remaining ones.
    while (destructors_run_ < module.fini_array.count)
      call_program(destructors[module.fini_array.count - ++destructors_run_]);
    --modules_left_;
    destructors_run_ = 0;
    if (module.fini != 0) call_program(copy_.at<void()>(module.fini + module.shift));
  }
}

}  // namespace sorrel::program
