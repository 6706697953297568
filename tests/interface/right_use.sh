#!/bin/sh
# right_use.sh INCLUDE FILE COMPILER...: FILE compiles as C++23 with each compiler whose library has what it includes. Exits 77 (skipped) if none has.
include=$1
file=$2
shift 2
tried=0
for compiler in "$@"; do
  for library in "" "-stdlib=libc++"; do
    # An option that a compiler does not know, and a header that its library lacks.
    printf '#include <expected>\n#include <mdspan>\n#if !defined(__cpp_lib_mdspan) || !defined(__cpp_lib_expected)\n#error\n#endif\n' |
      "$compiler" -std=c++23 $library -fsyntax-only -x c++ - 2>/dev/null || continue
    tried=1
    "$compiler" -std=c++23 $library -Wall -Wextra -Werror -fsyntax-only "-I$include" "$file" || exit 1
  done
done
[ $tried = 1 ] || exit 77
