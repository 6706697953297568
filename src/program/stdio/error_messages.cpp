//! err, warn, error and related functions: they print and exit inside the C library, which would
//! end the process for one rank.

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <err.h>
#include <error.h>

#include "program/base/libc.hpp"
#include "program/rank/current_streams.hpp"
#include "program/rank/rank_process.hpp"

extern "C" char* __progname;
extern "C" char* __progname_full;

using namespace sorrel::program;

namespace {

/// The rank's own instance of a variable of the C library, or the library's.
template <class T>
[[nodiscard]] T& of_rank(T& live) {
  const RankProcess* process = current_rank_process();
  T* own = process != nullptr ? process->copy().own(live) : nullptr;
  return own != nullptr ? *own : live;
}

void report_behind_name(const char* format, va_list values, int error) {
  FILE* stream = standard_stream(stderr);
  if (format != nullptr) std::vfprintf(stream, format, values);
  if (error != 0) std::fprintf(stream, "%s%s", format != nullptr ? ": " : "", std::strerror(error));
  std::fputc('\n', stream);
}

// "program: message[: reason]" on the caller's own standard error.
void report(const char* format, va_list values, int error) {
  std::fflush(standard_stream(stdout));
  std::fprintf(standard_stream(stderr), "%s: ", of_rank(__progname));
  report_behind_name(format, values, error);
}

// report() for error(), which counts messages and calls the program's function that prints its
// name. `place`: "file:line: ".
void report_error(const char* place, const char* format, va_list values, int error) {
  std::fflush(standard_stream(stdout));
  if (of_rank(error_print_progname) != nullptr) {
    of_rank(error_print_progname)();
  } else {
    std::fprintf(standard_stream(stderr), "%s:%s", of_rank(__progname_full),
                 *place == '\0' ? " " : "");
  }
  std::fputs(place, standard_stream(stderr));
  ++of_rank(error_message_count);
  report_behind_name(format, values, error);
}

/// Whether the rank has just reported this line and wants each line once only.
[[nodiscard]] bool is_repeated(const char* file, unsigned line) {
  static LastErrorLine outside_of_ranks;
  if (of_rank(error_one_per_line) == 0) return false;
  RankProcess* process = current_rank_process();
  LastErrorLine& last =
      process != nullptr ? process->libc_state().last_error_line() : outside_of_ranks;
  const bool is_same = last.line == line && last.file != nullptr && file != nullptr &&
                       std::strcmp(last.file, file) == 0;
  last = {file, line};
  return is_same;
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
  exit_rank(status);
}

SORREL_INTERPOSED void verrx(int status, const char* format, va_list values) {
  report(format, values, 0);
  exit_rank(status);
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
  exit_rank(status);
}

SORREL_INTERPOSED void errx(int status, const char* format, ...) {
  va_list values;
  va_start(values, format);
  report(format, values, 0);
  va_end(values);
  exit_rank(status);
}

SORREL_INTERPOSED void error(int status, int error, const char* format, ...) {
  va_list values;
  va_start(values, format);
  report_error("", format, values, error);
  va_end(values);
  if (status != 0) exit_rank(status);
}

SORREL_INTERPOSED void error_at_line(
    int status, int error, const char* file, unsigned line, const char* format, ...) {
  if (is_repeated(file, line)) return;
  char place[512] = " ";
  if (file != nullptr) std::snprintf(place, sizeof place, "%s:%u: ", file, line);
  va_list values;
  va_start(values, format);
  report_error(place, format, values, error);
  va_end(values);
  if (status != 0) exit_rank(status);
}
