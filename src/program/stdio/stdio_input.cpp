//! The C library's input functions: rank 0 reads the process's standard input, every other rank
//! gets end of file.

#include <cstdarg>
#include <cstdio>
#include <unistd.h>

#include "program/base/libc.hpp"
#include "program/rank/current_streams.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

using ByteIn = int(FILE* stream);
using ScanFormat = int(FILE* stream, const char* format, va_list values);

int get_byte(FILE* stream) {
  static auto* const real = next_definition<ByteIn>("getc");
  return real(own_stream(stream));
}

int get_byte_unlocked(FILE* stream) {
  static auto* const real = next_definition<ByteIn>("getc_unlocked");
  return real(own_stream(stream));
}

// The three generations of scanf: glibc's own, C99's and (since glibc 2.38) C23's.
int scan(FILE* stream, const char* format, va_list values) {
  static auto* const real = next_definition<ScanFormat>("vfscanf");
  return real(own_stream(stream), format, values);
}

int scan_c99(FILE* stream, const char* format, va_list values) {
  static auto* const real = next_definition<ScanFormat>("__isoc99_vfscanf");
  return real(own_stream(stream), format, values);
}

int scan_c23(FILE* stream, const char* format, va_list values) {
  static auto* const real = next_definition<ScanFormat>("__isoc23_vfscanf");
  return real(own_stream(stream), format, values);
}

}  // namespace

// Fixed names of the C library's binary interface: a header redefines the first two.
extern "C" {
int sorrel_scanf(const char* format, ...) asm("scanf");
int sorrel_fscanf(FILE* stream, const char* format, ...) asm("fscanf");
int sorrel_vscanf(const char* format, va_list values) asm("vscanf");
int sorrel_vfscanf(FILE* stream, const char* format, va_list values) asm("vfscanf");
}

SORREL_INTERPOSED int sorrel_vscanf(const char* format, va_list values) {
  return scan(standard_stream(stdin), format, values);
}

SORREL_INTERPOSED int sorrel_vfscanf(FILE* stream, const char* format, va_list values) {
  return scan(stream, format, values);
}

SORREL_INTERPOSED int sorrel_scanf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = scan(standard_stream(stdin), format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int sorrel_fscanf(FILE* stream, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = scan(stream, format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int __isoc99_vscanf(const char* format, va_list values) {
  return scan_c99(standard_stream(stdin), format, values);
}

SORREL_INTERPOSED int __isoc99_vfscanf(FILE* stream, const char* format, va_list values) {
  return scan_c99(stream, format, values);
}

SORREL_INTERPOSED int __isoc99_scanf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = scan_c99(standard_stream(stdin), format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int __isoc99_fscanf(FILE* stream, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = scan_c99(stream, format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int __isoc23_vscanf(const char* format, va_list values) {
  return scan_c23(standard_stream(stdin), format, values);
}

SORREL_INTERPOSED int __isoc23_vfscanf(FILE* stream, const char* format, va_list values) {
  return scan_c23(stream, format, values);
}

SORREL_INTERPOSED int __isoc23_scanf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = scan_c23(standard_stream(stdin), format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int __isoc23_fscanf(FILE* stream, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int count = scan_c23(stream, format, values);
  va_end(values);
  return count;
}

SORREL_INTERPOSED int getc(FILE* stream) {
  return get_byte(stream);
}

SORREL_INTERPOSED_AS(getc) int fgetc(FILE* stream);
SORREL_INTERPOSED_AS(getc) int _IO_getc(FILE* stream);

SORREL_INTERPOSED int getchar() {
  return get_byte(standard_stream(stdin));
}

SORREL_INTERPOSED int getc_unlocked(FILE* stream) {
  return get_byte_unlocked(stream);
}

SORREL_INTERPOSED int fgetc_unlocked(FILE* stream) {
  return get_byte_unlocked(stream);
}

SORREL_INTERPOSED int getchar_unlocked() {
  return get_byte_unlocked(standard_stream(stdin));
}

// Called by inlined getc_unlocked when the buffer is empty.
SORREL_INTERPOSED int __uflow(FILE* stream) {
  static auto* const real = next_definition<ByteIn>("__uflow");
  FILE* own = own_stream(stream);
  return own == stream ? real(stream) : get_byte_unlocked(own);
}

SORREL_INTERPOSED int ungetc(int byte, FILE* stream) {
  static auto* const real = next_definition<decltype(::ungetc)>("ungetc");
  return real(byte, own_stream(stream));
}

SORREL_INTERPOSED char* fgets(char* line, int size, FILE* stream) {
  static auto* const real = next_definition<decltype(::fgets)>("fgets");
  return real(line, size, own_stream(stream));
}

SORREL_INTERPOSED char* fgets_unlocked(char* line, int size, FILE* stream) {
  static auto* const real = next_definition<decltype(::fgets_unlocked)>("fgets_unlocked");
  return real(line, size, own_stream(stream));
}

SORREL_INTERPOSED char* __fgets_chk(char* line, std::size_t room, int size, FILE* stream) {
  static auto* const real = next_definition<char*(char*, std::size_t, int, FILE*)>("__fgets_chk");
  return real(line, room, size, own_stream(stream));
}

SORREL_INTERPOSED std::size_t fread(void* data, std::size_t size, std::size_t count, FILE* stream) {
  static auto* const real = next_definition<decltype(::fread)>("fread");
  return real(data, size, count, own_stream(stream));
}

SORREL_INTERPOSED std::size_t fread_unlocked(void* data,
                                             std::size_t size,
                                             std::size_t count,
                                             FILE* stream) {
  static auto* const real = next_definition<decltype(::fread_unlocked)>("fread_unlocked");
  return real(data, size, count, own_stream(stream));
}

SORREL_INTERPOSED std::size_t __fread_chk(
    void* data, std::size_t room, std::size_t size, std::size_t count, FILE* stream) {
  static auto* const real =
      next_definition<std::size_t(void*, std::size_t, std::size_t, std::size_t, FILE*)>(
          "__fread_chk");
  return real(data, room, size, count, own_stream(stream));
}

SORREL_INTERPOSED ssize_t getdelim(char** line, std::size_t* room, int delimiter, FILE* stream) {
  static auto* const real = next_definition<ssize_t(char**, std::size_t*, int, FILE*)>("getdelim");
  return real(line, room, delimiter, own_stream(stream));
}

SORREL_INTERPOSED_AS(getdelim)
ssize_t __getdelim(char** line, std::size_t* room, int delimiter, FILE* stream);

SORREL_INTERPOSED ssize_t getline(char** line, std::size_t* room, FILE* stream) {
  static auto* const real = next_definition<decltype(::getline)>("getline");
  return real(line, room, own_stream(stream));
}

SORREL_INTERPOSED ssize_t read(int descriptor, void* data, std::size_t size) {
  static auto* const real = next_definition<ssize_t(int, void*, std::size_t)>("read");
  if (descriptor == STDIN_FILENO) {
    const RankProcess* process = current_rank_process();
    if (process != nullptr && process->rank() != 0) return 0;
  }
  return real(descriptor, data, size);
}
