//! first_glibc - the oldest version of the C library for the architecture, which its first
//! functions still have.
#pragma once

namespace sorrel::arch {

#if defined(__x86_64__)
inline constexpr const char* first_glibc = "GLIBC_2.2.5";
#else
inline constexpr const char* first_glibc = "GLIBC_2.17";
#endif

}  // namespace sorrel::arch
