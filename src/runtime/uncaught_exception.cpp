#include "runtime/uncaught_exception.hpp"

#include <array>
#include <csignal>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <new>
#include <string_view>
#include <typeinfo>

#include "base/fixed_text.hpp"
#include "base/printable.hpp"
#include "runtime/crash_report.hpp"
#include "symbols/demangle.hpp"

namespace sorrel::runtime {

namespace {

constexpr const char* set_terminate_name = "_ZSt13set_terminatePFvvE";
/// In the unwinder's library.
constexpr const char* raise_exception_name = "_Unwind_RaiseException";

/// The functions of the program's C++ library that are used. Constant once found.
struct CxxLibrary {
  std::terminate_handler (*set_terminate)(std::terminate_handler) noexcept = nullptr;
  std::terminate_handler (*get_terminate)() noexcept = nullptr;
  std::terminate_handler verbose_handler = nullptr;
  std::type_info* (*current_exception_type)() noexcept = nullptr;
  std::exception_ptr (*current_exception)() noexcept = nullptr;
  const std::type_info* exception_type = nullptr;

  [[nodiscard]] bool is_complete() const {
    return set_terminate != nullptr && get_terminate != nullptr && verbose_handler != nullptr &&
           current_exception_type != nullptr && current_exception != nullptr &&
           exception_type != nullptr;
  }
};

template <class T>
void find(T& pointer, const char* name) {
  pointer = reinterpret_cast<T>(dlsym(RTLD_DEFAULT, name));
}

CxxLibrary find_library() {
  CxxLibrary library;
  find(library.set_terminate, set_terminate_name);
  find(library.get_terminate, "_ZSt13get_terminatev");
  find(library.verbose_handler, "_ZN9__gnu_cxx27__verbose_terminate_handlerEv");
  find(library.current_exception_type, "__cxa_current_exception_type");
  find(library.current_exception, "_ZSt17current_exceptionv");
  find(library.exception_type, "_ZTISt9exception");
  return library;
}

CxxLibrary library;

/// The exception that is being handled, if its class is derived from std::exception.
const std::exception* current_standard_exception(const std::type_info& type) {
  // Never destroyed: this library's own C++ library would do that.
  alignas(std::exception_ptr) std::array<std::byte, sizeof(std::exception_ptr)> memory;
  new (memory.data()) std::exception_ptr(library.current_exception());
  void* object = nullptr;
  std::memcpy(&object, memory.data(), sizeof object);
  if (object == nullptr || !library.exception_type->__do_catch(&type, &object, 1)) return nullptr;
  return static_cast<const std::exception*>(object);
}

/// In one line, with blanks between its lines.
void add_line(FixedText<400>& to, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    add_printable(to, text.substr(0, end));
    if (end == std::string_view::npos) return;
    to.add(" ");
    text.remove_prefix(end + 1);
  }
}

void end_at_uncaught_exception() {
  // Otherwise the program handles an abort itself.
  if (!is_watching(SIGABRT)) library.verbose_handler();
  FixedText<400> what;
  if (const std::type_info* type = library.current_exception_type()) {
    what.add("uncaught exception ");
    symbols::add_demangled(what, type->name());
    if (const std::exception* exception = current_standard_exception(*type))
      add_line(what.add(": "), exception->what());
  } else {
    what.add("std::terminate was called without an exception");
  }
  // A rank may have its own C++ library: looked up again, on its behalf.
  const std::array<const void*, 3> left_out = {
      reinterpret_cast<const void*>(&end_at_uncaught_exception),
      dlsym(RTLD_DEFAULT, set_terminate_name), dlsym(RTLD_DEFAULT, raise_exception_name)};
  end_with_backtrace(what.c_str(), left_out);
}

}  // namespace

void watch_for_uncaught_exceptions() {
  library = find_library();
  if (library.is_complete() && library.get_terminate() == library.verbose_handler)
    library.set_terminate(end_at_uncaught_exception);
}

}  // namespace sorrel::runtime
