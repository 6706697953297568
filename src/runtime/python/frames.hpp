//! PythonFrames - the functions that a thread of CPython has called, read from its memory.
//!
//! CPython 3.9 to 3.15, where the interpreter has a lock (GIL). Takes no lock and allocates
//! nothing; calls one function of the interpreter, PyCode_Addr2Line(), which reads a table. So it
//! may be used while the interpreter's lock is free, or held by any thread, and in a signal
//! handler. The thread must not run Python code meanwhile, unless it is interrupted and the memory
//! is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "symbols/source_lines.hpp"

namespace sorrel::runtime {

/// Offsets in the structures of a version of CPython, in bytes. Those of `frame` are of a frame
/// object before 3.11, and of an interpreter frame from there on.
struct PythonLayout {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct Thread {
    /// The pointer to the innermost frame, or to a structure that has it.
    std::uint32_t innermost;
    /// The pointer in that structure; `none`: there is no such structure.
    std::uint32_t in_structure;
  } thread;

  struct Frame {
    std::uint32_t previous;
    std::uint32_t code;
    /// The instruction: its address, or before 3.11 an index.
    std::uint32_t instruction;
    /// A byte that tells whose the frame is; `none`: each frame is that of a function.
    std::uint32_t owner;
  } frame;

  struct Code {
    std::uint32_t file;
    std::uint32_t name;
    std::uint32_t first_line;
    /// The instructions; before 3.11 a pointer to the object that holds them.
    std::uint32_t instructions;
  } code;

  /// The bytes of an instruction's index; 0: frames have its address.
  std::uint32_t index_bytes;
  /// Sizes of the headers of texts: of ASCII, and of others.
  std::uint32_t ascii_header;
  std::uint32_t text_header;
};

/// The layout of a version, as "3.10.13 (main, ...)" of Py_GetVersion(); nothing if it is not
/// known.
[[nodiscard]] std::optional<PythonLayout> python_layout(std::string_view version);

/// Whether all that is read is sure to be as the layout says, as in the caller's own thread.
enum class PythonMemory : std::uint8_t { trusted, checked };

/// What reading needs of a rank's interpreter.
struct PythonTypes {
  /// PyCode_Addr2Line().
  int (*line_of)(const void* code, int offset);
  /// PyCode_Type and PyUnicode_Type.
  const void* code;
  const void* text;
};

/// Finds the first of the threads of an interpreter, which is the last of their list: each that
/// begins is put in front. Other threads may change the list meanwhile. `newest`: a PyThreadState,
/// or null; `read(value, address)` reads a word, and is false where no memory is. Null: there is no
/// thread, or none that can be found.
template <class Read>
[[nodiscard]] const void* first_python_thread(const void* newest, Read&& read) {
  // Alike in every version that has a layout here.
  constexpr std::ptrdiff_t next_offset = 8;
  // More are a list that is being changed.
  constexpr int count_max = 10'000;
  const void* thread = newest;
  for (int i = 0; thread != nullptr && i < count_max; ++i) {
    const void* older = nullptr;
    if (!read(older, static_cast<const std::byte*>(thread) + next_offset)) return nullptr;
    if (older == nullptr) return thread;
    thread = older;
  }
  return nullptr;
}

class PythonFrames {
 public:
  /// `thread`: a PyThreadState. Begins with its innermost function.
  PythonFrames(const PythonLayout& layout,
               const PythonTypes& types,
               PythonMemory memory,
               const void* thread);

  /// Writes the function as "main (script.py:12)", and goes on to its caller; false if there is
  /// none. Functions by which Python imports modules are left out, as in its own tracebacks.
  [[nodiscard]] bool next(symbols::SourceText& text);

 private:
  template <class Value>
  [[nodiscard]] bool read(Value& value, const void* object, std::uint64_t offset) const;
  [[nodiscard]] bool is_of_type(const void* object, const void* type) const;
  /// The instruction's offset among those of the code; -1: not known.
  [[nodiscard]] int offset_of_instruction(const void* code) const;
  /// False: it is left out.
  [[nodiscard]] bool describe(const void* code, symbols::SourceText& text) const;

  const PythonLayout& layout_;
  const PythonTypes& types_;
  const PythonMemory memory_;
  const void* frame_ = nullptr;
};

}  // namespace sorrel::runtime
