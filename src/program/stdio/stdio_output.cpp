//! The C library's output functions, sent to the rank's own stream.
//!
//! Every function replaces the stream argument by the rank's own stream and calls the C library.
//! libstdc++'s standard streams come through here too, because they write with fwrite, putc and
//! fflush. Not covered: wide output (fopencookie streams have none), which is passed on
//! unchanged. descriptor_output.cpp has write(2).

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "program/base/libc.hpp"
#include "program/rank/current_streams.hpp"

using namespace sorrel::program;

namespace {

using ByteOut = int(int byte, FILE* stream);
using TextOut = int(const char* text, FILE* stream);
using StreamIn = int(FILE* stream);

int print(FILE* stream, const char* format, va_list values) {
  static auto* const real = next_definition<decltype(::vfprintf)>("vfprintf");
  return real(own_stream(stream), format, values);
}

int print_checked(FILE* stream, int flag, const char* format, va_list values) {
  static auto* const real =
      next_definition<int(FILE*, int, const char*, va_list)>("__vfprintf_chk");
  return real(own_stream(stream), flag, format, values);
}

int put_byte(int byte, FILE* stream) {
  static auto* const real = next_definition<ByteOut>("fputc");
  return real(byte, own_stream(stream));
}

int put_text(const char* text, FILE* stream) {
  static auto* const real = next_definition<TextOut>("fputs");
  return real(text, own_stream(stream));
}

int put_byte_unlocked(int byte, FILE* stream) {
  static auto* const real = next_definition<ByteOut>("fputc_unlocked");
  return real(byte, own_stream(stream));
}

}  // namespace

SORREL_INTERPOSED int vfprintf(FILE* stream, const char* format, va_list values) {
  return print(stream, format, values);
}

SORREL_INTERPOSED int vprintf(const char* format, va_list values) {
  return print(standard_stream(stdout), format, values);
}

SORREL_INTERPOSED int printf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = print(standard_stream(stdout), format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int fprintf(FILE* stream, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = print(stream, format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list values) {
  return print_checked(stream, flag, format, values);
}

SORREL_INTERPOSED int __vprintf_chk(int flag, const char* format, va_list values) {
  return print_checked(standard_stream(stdout), flag, format, values);
}

SORREL_INTERPOSED int __printf_chk(int flag, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = print_checked(standard_stream(stdout), flag, format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int __fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = print_checked(stream, flag, format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int fputc(int byte, FILE* stream) {
  return put_byte(byte, stream);
}

SORREL_INTERPOSED_AS(fputc) int putc(int byte, FILE* stream);

SORREL_INTERPOSED int _IO_putc(int byte, FILE* stream) {
  return put_byte(byte, stream);
}

SORREL_INTERPOSED int putchar(int byte) {
  return put_byte(byte, standard_stream(stdout));
}

SORREL_INTERPOSED int fputc_unlocked(int byte, FILE* stream) {
  return put_byte_unlocked(byte, stream);
}

SORREL_INTERPOSED int putc_unlocked(int byte, FILE* stream) {
  return put_byte_unlocked(byte, stream);
}

SORREL_INTERPOSED int putchar_unlocked(int byte) {
  return put_byte_unlocked(byte, standard_stream(stdout));
}

// Called by inlined putc_unlocked when the buffer is full. That of the shared streams always is: no
// rank writes to them.
SORREL_INTERPOSED int __overflow(FILE* stream, int byte) {
  static auto* const real = next_definition<int(FILE*, int)>("__overflow");
  FILE* own = own_stream(stream);
  return own == stream ? real(stream, byte) : put_byte_unlocked(byte, own);
}

SORREL_INTERPOSED int fputs(const char* text, FILE* stream) {
  return put_text(text, stream);
}

SORREL_INTERPOSED int fputs_unlocked(const char* text, FILE* stream) {
  static auto* const real = next_definition<TextOut>("fputs_unlocked");
  return real(text, own_stream(stream));
}

SORREL_INTERPOSED int puts(const char* text) {
  FILE* stream = standard_stream(stdout);
  const int result = put_text(text, stream);
  return result < 0 || put_byte('\n', stream) < 0 ? EOF : 1;
}

SORREL_INTERPOSED std::size_t fwrite(const void* data,
                                     std::size_t size,
                                     std::size_t count,
                                     FILE* stream) {
  static auto* const real = next_definition<decltype(::fwrite)>("fwrite");
  return real(data, size, count, own_stream(stream));
}

SORREL_INTERPOSED std::size_t fwrite_unlocked(const void* data,
                                              std::size_t size,
                                              std::size_t count,
                                              FILE* stream) {
  static auto* const real = next_definition<decltype(::fwrite_unlocked)>("fwrite_unlocked");
  return real(data, size, count, own_stream(stream));
}

SORREL_INTERPOSED void perror(const char* prefix) {
  const char* reason = std::strerror(errno);
  const bool has_prefix = prefix != nullptr && *prefix != '\0';
  ::fprintf(standard_stream(stderr), "%s%s%s\n", has_prefix ? prefix : "", has_prefix ? ": " : "",
            reason);
}
