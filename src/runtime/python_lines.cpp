#include "runtime/python_lines.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fixed_text.hpp"
#include "base/printable.hpp"
#include "program/image/image_slab.hpp"
#include "program/rank/rank_symbol.hpp"

namespace sorrel::runtime {

namespace {

/// Takes the text up to `end`, and `end`; empty if there is none.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return {};
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return taken;
}

/// Reads a line `  File "/home/u/script.py", line 12 in main`. False: it is another line.
bool describe(std::string_view line, symbols::SourceText& text) {
  constexpr std::string_view begin = "  File \"";
  if (!line.starts_with(begin)) return false;
  line.remove_prefix(begin.size());
  std::string_view path = take_until(line, "\", line ");
  const std::string_view number = take_until(line, " in ");
  if (path.empty() || number.empty()) return false;
  path.remove_prefix(path.rfind('/') + 1);
  FixedText<std::tuple_size_v<symbols::SourceText>> shown;
  add_printable(shown, line);
  shown.add(" (");
  add_printable(shown, path);
  shown.add(":").add(number).add(")");
  std::memcpy(text.data(), shown.c_str(), shown.text().size() + 1);
  return true;
}

using Dump = void(int descriptor, void* thread);
using GetThread = void*();
using GetNext = void*(void* object);

/// A function of the program or of its libraries, as the loader finds it; null if there is none.
template <class Function>
Function* find_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

std::size_t describe(Dump* dump, void* thread, std::span<symbols::SourceText> texts) {
  const int file =
      dump == nullptr || thread == nullptr ? -1 : ::memfd_create("sorrel-python", MFD_CLOEXEC);
  if (file < 0) return 0;
  dump(file, thread);
  std::array<char, 8192> memory;
  const ssize_t bytes = ::pread(file, memory.data(), memory.size(), 0);
  ::close(file);
  std::string_view written(memory.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  std::size_t count = 0;
  while (!written.empty() && count < texts.size()) {
    const std::size_t end = written.find('\n');
    if (describe(written.substr(0, end), texts[count])) ++count;
    written.remove_prefix(end == std::string_view::npos ? written.size() : end + 1);
  }
  return count;
}

}  // namespace

std::size_t describe_python(std::span<symbols::SourceText> texts) {
  using program::definition_of_rank;
  auto* const get_thread =
      definition_of_rank(find_function<GetThread>("PyGILState_GetThisThreadState"));
  auto* const dump = definition_of_rank(find_function<Dump>("_Py_DumpTraceback"));
  return describe(dump, get_thread == nullptr ? nullptr : get_thread(), texts);
}

std::size_t describe_python_of(const void* code, std::span<symbols::SourceText> texts) {
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  const program::ImageSlab* slab = program::slab_at(address);
  if (slab == nullptr) return 0;
  const program::PrivatizedImage image = program::current_slab()->copy(slab->index_of(address));
  const auto of_rank = [&image](auto* function) { return image.counterpart(function); };
  auto* const get_main = of_rank(find_function<GetThread>("PyInterpreterState_Main"));
  auto* const get_head = of_rank(find_function<GetNext>("PyInterpreterState_ThreadHead"));
  auto* const get_next = of_rank(find_function<GetNext>("PyThreadState_Next"));
  if (get_main == nullptr || get_head == nullptr || get_next == nullptr) return 0;
  void* const interpreter = get_main();
  void* main_thread = interpreter == nullptr ? nullptr : get_head(interpreter);
  // Each thread that begins is put first.
  while (main_thread != nullptr) {
    void* const older = get_next(main_thread);
    if (older == nullptr) break;
    main_thread = older;
  }
  return describe(of_rank(find_function<Dump>("_Py_DumpTraceback")), main_thread, texts);
}

}  // namespace sorrel::runtime
