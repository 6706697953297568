//! add_demangled - a C++ name or type in source form, in memory of the caller. Safe in a signal
//! handler; its use of stack grows with the name, whose length is therefore bounded.
#pragma once

#include <cstddef>
#include <cstring>

/// The C++ library's demangler, which allocates nothing; null if that library does not export it.
extern "C" [[gnu::weak]] int __gcclibcxx_demangle_callback(  // NOLINT(bugprone-reserved-identifier)
    const char* name,
    void (*take)(const char* part, std::size_t bytes, void* text),
    void* text);

namespace sorrel::symbols {

inline constexpr std::size_t demangled_bytes_max = 1024;

/// Appends to a FixedText. A name that is too long or not of C++ is appended as it is.
template <class Text>
void add_demangled(Text& text, const char* name) {
  const auto take = [](const char* part, std::size_t bytes, void* whole) {
    static_cast<Text*>(whole)->add({part, bytes});
  };
  const bool can_try =
      __gcclibcxx_demangle_callback != nullptr && std::strlen(name) <= demangled_bytes_max;
  if (!can_try || __gcclibcxx_demangle_callback(name, take, &text) != 0) text.add(name);
}

}  // namespace sorrel::symbols
