#include "runtime/python/lines.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <dlfcn.h>
#include <link.h>
#include <optional>
#include <string_view>

#include "program/base/libc.hpp"
#include "program/base/user_memory.hpp"
#include "program/rank/rank_symbol.hpp"
#include "runtime/python/frames.hpp"
#include "symbols/backtrace.hpp"

namespace sorrel::runtime {

namespace {

using GetPointer = void*();
using GetFirst = void*(void* interpreter);
using GetLine = int(const void* code, int offset);

enum class Search : std::uint8_t { none, running, failed, done };

/// An interpreter as the loader has found it. Each rank has its own instance of it.
struct Interpreter {
  // Release by the thread that has found it; acquire by its users.
  std::atomic<Search> search{Search::none};
  // Relaxed: whether frames were found to be as the layout says.
  std::atomic<bool> is_layout_proven{false};

  // Constant when it is found.
  GetPointer* thread_of_caller = nullptr;
  GetPointer* main_interpreter = nullptr;
  GetFirst* first_thread = nullptr;
  GetLine* line_of = nullptr;
  void* code_type = nullptr;
  void* text_type = nullptr;
  PythonLayout layout{};
};

Interpreter interpreter;

/// A function or variable of the program or of its libraries, as the loader finds it: that of the
/// template image, also for a rank.
template <class Pointer>
bool find(Pointer*& pointer, const char* name) {
  pointer = reinterpret_cast<Pointer*>(program::loader_dlsym()(RTLD_DEFAULT, name));
  return pointer != nullptr;
}

/// Nothing if the version has none that is known. The version is constant, so the loader's instance
/// has it, too. Only names that every version has are sought: see seems_to_have_python().
std::optional<PythonLayout> layout_of_interpreter() {
  using GetText = const char*();
  GetText* text = nullptr;
  return find(text, "Py_GetVersion") ? python_layout(text()) : std::nullopt;
}

bool is_named_python(std::string_view path) {
  return path.substr(path.rfind('/') + 1).find("python") != path.npos;
}

/// Whether the program or one of its libraries is called so. Asked first, because a search of the
/// loader's that finds nothing leaves a message in the memory of the calling rank, which could not
/// change its process then.
bool seems_to_have_python() {
  auto* const iterate = program::next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  const auto visit = [](dl_phdr_info* info, std::size_t, void*) {
    return info->dlpi_name != nullptr && is_named_python(info->dlpi_name) ? 1 : 0;
  };
  return is_named_python(program_invocation_name) || iterate(visit, nullptr) != 0;
}

bool find_interpreter(Interpreter& found) {
  if (!seems_to_have_python() || !find(found.thread_of_caller, "PyGILState_GetThisThreadState") ||
      !find(found.main_interpreter, "PyInterpreterState_Main") ||
      !find(found.first_thread, "PyInterpreterState_ThreadHead") ||
      !find(found.line_of, "PyCode_Addr2Line") || !find(found.code_type, "PyCode_Type") ||
      !find(found.text_type, "PyUnicode_Type"))
    return false;
  const auto layout = layout_of_interpreter();
  if (layout) found.layout = *layout;
  return layout.has_value();
}

/// What frames of a rank refer to. `of_rank` finds the rank's instance of a symbol.
template <class OfRank>
PythonTypes types_of(OfRank&& of_rank) {
  return {.line_of = reinterpret_cast<GetLine*>(of_rank(interpreter.line_of)),
          .code = of_rank(interpreter.code_type),
          .text = of_rank(interpreter.text_type)};
}

std::size_t describe(const PythonTypes& types,
                     const void* thread,
                     PythonState state,
                     std::span<symbols::SourceText> texts) {
  if (thread == nullptr || types.line_of == nullptr) return 0;
  const bool is_trusted =
      state == PythonState::at_rest && interpreter.is_layout_proven.load(std::memory_order_relaxed);
  PythonFrames frames(interpreter.layout, types,
                      is_trusted ? PythonMemory::trusted : PythonMemory::checked, thread);
  std::size_t count = 0;
  while (count < texts.size() && frames.next(texts[count]))
    ++count;
  if (count > 0 && state == PythonState::at_rest && !is_trusted)
    interpreter.is_layout_proven.store(true, std::memory_order_relaxed);
  return count;
}

std::size_t describe_caller(std::span<symbols::SourceText> texts) {
  const auto of_rank = [](auto* symbol) {
    return program::symbol_of_rank(reinterpret_cast<void*>(symbol));
  };
  auto* const get_thread = reinterpret_cast<GetPointer*>(of_rank(interpreter.thread_of_caller));
  if (get_thread == nullptr) return 0;
  return describe(types_of(of_rank), get_thread(), PythonState::at_rest, texts);
}

}  // namespace

void find_python(PythonSearch kind) {
  Search expected = interpreter.search.load(std::memory_order_relaxed);
  if (expected != Search::none && (expected != Search::failed || kind == PythonSearch::first))
    return;
  // A thread that comes meanwhile finds nothing. Acquire: after the writes of a search that failed.
  if (!interpreter.search.compare_exchange_strong(
          expected, Search::running, std::memory_order_acquire, std::memory_order_relaxed))
    return;
  interpreter.search.store(find_interpreter(interpreter) ? Search::done : Search::failed,
                           std::memory_order_release);
}

bool is_python_found() {
  return interpreter.search.load(std::memory_order_acquire) == Search::done;
}

std::size_t describe_python(std::span<symbols::SourceText> texts) {
  find_python(PythonSearch::again);
  return is_python_found() ? describe_caller(texts) : 0;
}

std::size_t describe_python_of(std::size_t index,
                               PythonState state,
                               std::span<symbols::SourceText> texts) {
  if (!is_python_found()) return 0;
  const auto of_rank = [index](auto* symbol) {
    return program::symbol_of_rank(reinterpret_cast<void*>(symbol), static_cast<int>(index));
  };
  auto* const get_main = reinterpret_cast<GetPointer*>(of_rank(interpreter.main_interpreter));
  auto* const get_first = reinterpret_cast<GetFirst*>(of_rank(interpreter.first_thread));
  if (get_main == nullptr || get_first == nullptr) return 0;
  void* const of_main = get_main();
  if (of_main == nullptr) return 0;
  const auto read = [](const void*& value, const void* address) {
    return program::copy_from_user(&value, address, sizeof value);
  };
  const void* const main_thread = first_python_thread(get_first(of_main), read);
  return describe(types_of(of_rank), main_thread, state, texts);
}

bool is_code_of_python(std::size_t index, const void* address) {
  if (!is_python_found()) return false;
  const void* const own = program::symbol_of_rank(reinterpret_cast<void*>(interpreter.line_of),
                                                  static_cast<int>(index));
  return own != nullptr && symbols::are_in_one_file(address, own);
}

}  // namespace sorrel::runtime
