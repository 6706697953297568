//! Checks - a violated invariant ends the process, with the source line and the values.
//!
//! SORREL_CHECK is always on, SORREL_ASSERT from assert level 1 (dev), SORREL_AUDIT from level 2
//! (O(n) walks); SORREL_AUDIT_INVARIANTS(object) calls object.check_invariants() then, which walks
//! a structure and fails a SORREL_CHECK where it is inconsistent. The message is a printf format
//! with its values. Expected errors are not checks: they are returned values.
#pragma once

#include <cstdio>

namespace sorrel {

/// Prints "sorrel: file:line: check failed: condition: message" on stderr and aborts.
[[noreturn, gnu::cold, gnu::format(printf, 4, 5)]] void check_failed(
    const char* file, int line, const char* condition, const char* format, ...);

}  // namespace sorrel

#define SORREL_CHECK(condition, ...)                                           \
  do {                                                                         \
    if (!(condition)) [[unlikely]]                                             \
      ::sorrel::check_failed(__FILE__, __LINE__, #condition, " " __VA_ARGS__); \
  } while (false)

#define SORREL_UNCHECKED(condition) \
  do {                              \
    (void)sizeof(!(condition));     \
  } while (false)

#if SORREL_ASSERT_LEVEL >= 1
#define SORREL_ASSERT(condition, ...) SORREL_CHECK(condition, __VA_ARGS__)
#else
#define SORREL_ASSERT(condition, ...) SORREL_UNCHECKED(condition)
#endif

#if SORREL_ASSERT_LEVEL >= 2
#define SORREL_AUDIT(condition, ...) SORREL_CHECK(condition, __VA_ARGS__)
#define SORREL_AUDIT_INVARIANTS(object) (object).check_invariants()
#else
#define SORREL_AUDIT(condition, ...) SORREL_UNCHECKED(condition)
#define SORREL_AUDIT_INVARIANTS(object) SORREL_UNCHECKED(&(object))
#endif
