//! IRIX directives - C$DOACROSS and C$PAR, which gfortran takes for comments.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sorrel::tool {

struct IrixDirective {
  std::string file;
  int line = 0;
  std::string name;  ///< "C$DOACROSS", as it is written.
};

/// Whether a file of this name is Fortran's for gfortran.
[[nodiscard]] bool is_fortran_source(std::string_view name);

/// The first line of the text that begins with one; `file` is left empty.
[[nodiscard]] std::optional<IrixDirective> first_irix_directive(std::istream& text);

/// That of the first of these arguments that is a source with one.
[[nodiscard]] std::optional<IrixDirective> first_irix_directive(std::span<const std::string> words);

}  // namespace sorrel::tool
