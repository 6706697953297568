#include "symbols/backtrace.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string_view>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "base/fixed_text.hpp"

namespace sorrel::symbols {

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

namespace {

/// Whether an address lies in this library, or in another one of Sorrel.
bool is_own(const void* address) {
  dl_find_object object{};
  if (_dl_find_object(const_cast<void*>(address), &object) != 0) return false;
  if (object.dlfo_map_start == file_of(reinterpret_cast<const void*>(&are_in_one_file)))
    return true;
  const char* path = object.dlfo_link_map->l_name;
  const std::string_view name = path == nullptr ? "" : path;
  return name.substr(name.rfind('/') + 1).starts_with("libsorrel-") ||
         name.find("/omp/libgomp.so.") != std::string_view::npos;
}

/// What the user sees of a call in this library, in place: the name of a function of C that a
/// program can have called. False: nothing.
bool keep_name(SourceText& text) {
  const std::string_view whole = text.data();
  const std::string_view name = whole.substr(0, whole.find(" ("));
  const bool is_c =
      name.size() < whole.size() &&
      std::ranges::all_of(
          name,
          [](char letter) {
            return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
          });
  if (!is_c || name.starts_with("sorrel_context") || name.starts_with("__libc_start")) return false;
  const std::string_view shown = name.starts_with("PMPI_") ? name.substr(1) : name;
  std::memmove(text.data(), shown.data(), shown.size());
  text[shown.size()] = '\0';
  return true;
}

}  // namespace

bool are_in_one_file(const void* address, const void* other) {
  return file_of(address) == file_of(other);
}

bool is_of_this_library(const void* address) {
  return are_in_one_file(address, reinterpret_cast<const void*>(&is_of_this_library));
}

bool is_of_c_library(const void* address) {
  return are_in_one_file(address, reinterpret_cast<const void*>(&gnu_get_libc_version));
}

struct Backtrace::Walk {
  Backtrace& backtrace;
  /// The frames so far are left out.
  bool is_before = true;
  std::span<const void* const> left_out;
  /// The last address lies in this library.
  bool was_own = false;

  /// Keeps the outermost one of calls in this library that follow each other.
  void add(const void* address) {
    if (backtrace.is_in_bindings(address)) return;
    const bool is_ours = !backtrace.keeps_all_ && is_own(address);
    if (is_ours && was_own) --backtrace.count_;
    was_own = is_ours;
    backtrace.addresses_[backtrace.count_++] = address;
  }

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

  static _Unwind_Reason_Code visit_of_library(_Unwind_Context* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    const auto* address = reinterpret_cast<const void*>(_Unwind_GetIP(context));
    walk.is_before = walk.is_before && !walk.backtrace.keeps_all_ &&
                     (is_own(address) || walk.backtrace.is_in_bindings(address));
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

void Backtrace::take_of_library() {
  Walk walk{.backtrace = *this, .left_out = {}};
  _Unwind_Backtrace(Walk::visit_of_library, &walk);
}

bool Backtrace::is_in_bindings(const void* address) const {
  return !keeps_all_ && address >= bindings_begin_ && address < bindings_end_;
}

void write_calls(const Backtrace::Texts& calls) {
  for (std::size_t i = 0; i < calls.size() && calls[i][0] != '\0'; ++i) {
    FixedText<std::tuple_size_v<SourceText> + 16> line;
    line.add("  #").add(i).add(" ").add(calls[i].data()).add("\n");
    (void)!::write(STDERR_FILENO, line.c_str(), line.text().size());
  }
}

void Backtrace::describe(Texts& texts) const {
  for (SourceText& text : texts)
    text[0] = '\0';
  describe_source(addresses(), texts);
  if (keeps_all_) return;
  std::size_t count = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (is_own(addresses_[i]) && !keep_name(texts[i])) continue;
    if (i != count) texts[count] = texts[i];
    // Its callers are the system's.
    if (std::string_view(texts[count++].data()).starts_with("main (")) break;
  }
  for (std::size_t i = count; i < count_; ++i)
    texts[i][0] = '\0';
}

}  // namespace sorrel::symbols
