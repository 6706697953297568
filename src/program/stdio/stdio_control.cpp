//! The C library's functions that manage a standard stream: flushing, buffering, state, closing and
//! reopening.
//!
//! A rank that closes or reopens a standard stream affects only itself.

#include <cstdio>

#include "program/base/libc.hpp"
#include "program/rank/current_files.hpp"
#include "program/rank/current_streams.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

using StreamFunction = int(FILE* stream);

[[nodiscard]] bool is_standard(FILE* stream) {
  return stream == stdin || stream == stdout || stream == stderr;
}

int flush(FILE* stream) {
  static auto* const real = next_definition<StreamFunction>("fflush");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(stream);
  if (stream == stdout) return process->streams().output().flush();
  if (stream == stderr) return process->streams().error().flush();
  if (stream == nullptr) {
    process->streams().output().flush();
    process->streams().error().flush();
  }
  return real(stream);
}

int set_buffer(FILE* stream, char* buffer, int mode, std::size_t size) {
  static auto* const real = next_definition<decltype(::setvbuf)>("setvbuf");
  return real(own_stream(stream), buffer, mode, size);
}

}  // namespace

SORREL_INTERPOSED int fflush(FILE* stream) {
  return flush(stream);
}

SORREL_INTERPOSED_AS(fflush) int fflush_unlocked(FILE* stream);

SORREL_INTERPOSED int setvbuf(FILE* stream, char* buffer, int mode, std::size_t size) noexcept {
  return set_buffer(stream, buffer, mode, size);
}

SORREL_INTERPOSED void setbuffer(FILE* stream, char* buffer, std::size_t size) noexcept {
  set_buffer(stream, buffer, buffer != nullptr ? _IOFBF : _IONBF, size);
}

SORREL_INTERPOSED void setbuf(FILE* stream, char* buffer) noexcept {
  set_buffer(stream, buffer, buffer != nullptr ? _IOFBF : _IONBF, BUFSIZ);
}

SORREL_INTERPOSED void setlinebuf(FILE* stream) noexcept {
  set_buffer(stream, nullptr, _IOLBF, 0);
}

SORREL_INTERPOSED int ferror(FILE* stream) noexcept {
  static auto* const real = next_definition<StreamFunction>("ferror");
  return real(own_stream(stream));
}

SORREL_INTERPOSED int feof(FILE* stream) noexcept {
  static auto* const real = next_definition<StreamFunction>("feof");
  return real(own_stream(stream));
}

SORREL_INTERPOSED void clearerr(FILE* stream) noexcept {
  static auto* const real = next_definition<decltype(::clearerr)>("clearerr");
  real(own_stream(stream));
}

SORREL_INTERPOSED int ferror_unlocked(FILE* stream) noexcept {
  return ::ferror(stream);
}

SORREL_INTERPOSED int feof_unlocked(FILE* stream) noexcept {
  return ::feof(stream);
}

SORREL_INTERPOSED void clearerr_unlocked(FILE* stream) noexcept {
  ::clearerr(stream);
}

SORREL_INTERPOSED int fclose(FILE* stream) {
  static auto* const real = next_definition<StreamFunction>("fclose");
  if (current_rank_process() == nullptr || !is_standard(stream)) return real(stream);
  return stream == stdin ? 0 : flush(stream);
}

SORREL_INTERPOSED FILE* freopen(const char* path, const char* mode, FILE* stream) {
  static auto* const real = next_definition<decltype(::freopen)>("freopen");
  RankProcess* process = current_rank_process();
  const void* const caller = __builtin_return_address(0);
  if (process == nullptr || !is_standard(stream)) {
    FILE* file = real(path, mode, stream);
    adopt_file(file, caller);
    return file;
  }
  if (path == nullptr) return stream;
  FILE* file = std::fopen(path, mode);
  if (file == nullptr) return nullptr;
  adopt_file(file, caller);
  RankStreams& streams = process->streams();
  if (stream == stdin) {
    streams.replace_input(file);
  } else {
    (stream == stdout ? streams.output() : streams.error()).replace(file);
  }
  return stream;
}

SORREL_INTERPOSED_AS(freopen) FILE* freopen64(const char* path, const char* mode, FILE* stream);
