//! err, warn, error and their kin: they print and exit inside the C library, which would end the
//! process for one rank.

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <err.h>
#include <error.h>

#include "program/libc.hpp"
#include "program/rank_process.hpp"

namespace {

// "program: message[: reason]" on the caller's own standard error.
void report(const char* format, va_list values, int error) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: ", program_invocation_short_name);
  if (format != nullptr) std::vfprintf(stderr, format, values);
  if (error != 0) std::fprintf(stderr, "%s%s", format != nullptr ? ": " : "", std::strerror(error));
  std::fputc('\n', stderr);
}

}  // namespace

SORREL_INTERPOSED void vwarn(const char* format, va_list values) {
  report(format, values, errno);
}

SORREL_INTERPOSED void vwarnx(const char* format, va_list values) {
  report(format, values, 0);
}

SORREL_INTERPOSED void verr(int status, const char* format, va_list values) {
  report(format, values, errno);
  sorrel::program::exit_rank(status);
}

SORREL_INTERPOSED void verrx(int status, const char* format, va_list values) {
  report(format, values, 0);
  sorrel::program::exit_rank(status);
}

SORREL_INTERPOSED void warn(const char* format, ...) {
  va_list values;
  va_start(values, format);
  report(format, values, errno);
  va_end(values);
}

SORREL_INTERPOSED void warnx(const char* format, ...) {
  va_list values;
  va_start(values, format);
  report(format, values, 0);
  va_end(values);
}

SORREL_INTERPOSED void err(int status, const char* format, ...) {
  va_list values;
  va_start(values, format);
  report(format, values, errno);
  va_end(values);
  sorrel::program::exit_rank(status);
}

SORREL_INTERPOSED void errx(int status, const char* format, ...) {
  va_list values;
  va_start(values, format);
  report(format, values, 0);
  va_end(values);
  sorrel::program::exit_rank(status);
}

SORREL_INTERPOSED void error(int status, int error, const char* format, ...) {
  va_list values;
  va_start(values, format);
  report(format, values, error);
  va_end(values);
  if (status != 0) sorrel::program::exit_rank(status);
}
