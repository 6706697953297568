#include "runtime/backtrace.hpp"

#include <algorithm>
#include <cstdint>
#include <dlfcn.h>
#include <ucontext.h>
#include <unwind.h>

namespace sorrel::runtime {

namespace {

/// The first mapped byte of the file that an address lies in; null if it lies in none.
const void* file_of(const void* address) {
  dl_find_object object{};
  if (_dl_find_object(const_cast<void*>(address), &object) != 0) return nullptr;
  return object.dlfo_map_start;
}

/// The unwinder cannot begin where a jump to an unmapped address has set the program counter: makes
/// the registers those of the caller.
void leave_nowhere(ucontext_t& context) {
  mcontext_t& machine = context.uc_mcontext;
#if defined(__x86_64__)
  auto& counter = machine.gregs[REG_RIP];
  if (file_of(reinterpret_cast<const void*>(counter)) != nullptr) return;
  const auto* stack = reinterpret_cast<const greg_t*>(machine.gregs[REG_RSP]);
  // If the stack pointer is wild too, this faults, and the report ends here.
  if (file_of(reinterpret_cast<const void*>(*stack)) == nullptr) return;
  counter = *stack;
  machine.gregs[REG_RSP] += static_cast<greg_t>(sizeof *stack);
#elif defined(__aarch64__)
  constexpr int link_register = 30;
  if (file_of(reinterpret_cast<const void*>(machine.pc)) == nullptr)
    machine.pc = machine.regs[link_register];
#endif
}

}  // namespace

bool are_in_one_file(const void* address, const void* other) {
  return file_of(address) == file_of(other);
}

struct Backtrace::Walk {
  Backtrace& backtrace;
  /// The frames so far are left out.
  bool is_before = true;
  std::span<const void* const> left_out;

  void add(const void* address) { backtrace.addresses_[backtrace.count_++] = address; }

  [[nodiscard]] _Unwind_Reason_Code next() const {
    return backtrace.count_ < backtrace.addresses_.size() ? _URC_NO_REASON : _URC_END_OF_STACK;
  }

  static _Unwind_Reason_Code visit_of_signal(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    int is_interrupted = 0;
    const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
    walk.is_before = walk.is_before && is_interrupted == 0;
    if (walk.is_before) return _URC_NO_REASON;
    // The interrupted frame is at an instruction, the frames above are behind a call.
    walk.add(reinterpret_cast<const void*>(is_interrupted != 0 ? address + 1 : address));
    return walk.next();
  }

  static _Unwind_Reason_Code visit_of_caller(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    const auto* address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
    walk.is_before =
        walk.is_before && std::ranges::any_of(walk.left_out, [&](const void* function) {
          return are_in_one_file(function, address);
        });
    if (walk.is_before) return _URC_NO_REASON;
    walk.add(address);
    return walk.next();
  }

  static _Unwind_Reason_Code visit_nothing(_Unwind_Context* /*context*/, void* /*argument*/) {
    return _URC_END_OF_STACK;
  }
};

void Backtrace::prepare() {
  _Unwind_Backtrace(Walk::visit_nothing, nullptr);
  (void)file_of(reinterpret_cast<const void*>(&Backtrace::prepare));
}

void Backtrace::take_of_signal(void* context) {
  leave_nowhere(*static_cast<ucontext_t*>(context));
  take_of_interruption();
}

void Backtrace::take_of_interruption() {
  Walk walk{.backtrace = *this, .left_out = {}};
  _Unwind_Backtrace(Walk::visit_of_signal, &walk);
}

void Backtrace::take_of_caller(std::span<const void* const> left_out) {
  Walk walk{.backtrace = *this, .left_out = left_out};
  _Unwind_Backtrace(Walk::visit_of_caller, &walk);
}

void Backtrace::describe(Texts& texts) const {
  for (SourceText& text : texts)
    text[0] = '\0';
  describe_source(addresses(), texts);
}

}  // namespace sorrel::runtime
