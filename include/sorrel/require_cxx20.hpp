//! require_cxx20 - included first by the C++ headers of Sorrel: a compiler with an older language
//! level says so in its first error.
#pragma once

#if __cplusplus < 202002L
#error "the C++ headers of Sorrel need C++20: compile with -std=c++20 or a newer standard"
#endif
