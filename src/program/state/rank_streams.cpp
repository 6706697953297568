#include "program/state/rank_streams.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/write_all.hpp"
#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

constexpr std::size_t stream_buffer_bytes = 4096;
// A longer line is written in parts, which may mix with lines of other ranks.
constexpr std::size_t pending_bytes_max = std::size_t{1} << 20;

// Held while lines are written, by any rank, to either descriptor.
std::mutex& terminal_lock() {
  static std::mutex lock;
  return lock;
}

[[nodiscard]] bool is_terminal(int descriptor) {
  static const bool answers[] = {false, ::isatty(1) != 0, ::isatty(2) != 0};
  SORREL_ASSERT(descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO, "%d", descriptor);
  return answers[descriptor];
}

/// As the C library does it, or as the command `stdbuf` has asked: its library acts on the
/// process's own streams.
[[nodiscard]] int buffering_of(int descriptor) {
  const char* wanted = std::getenv(descriptor == 1 ? "_STDBUF_O" : "_STDBUF_E");
  if (wanted != nullptr && std::string_view(wanted) == "L") return _IOLBF;
  if (wanted != nullptr && std::string_view(wanted) == "0") return _IONBF;
  if (wanted == nullptr && descriptor == 2) return _IONBF;
  return wanted == nullptr && is_terminal(descriptor) ? _IOLBF : _IOFBF;
}

void no_signal_handler(int) {}

// A closed pipe must be an error of write(2), which is reported, and not a silent end. A handler,
// unlike SIG_IGN, is not inherited by programs that a rank starts.
void survive_broken_pipe() {
  [[maybe_unused]] static const bool once = [] {
    struct sigaction action{};
    ::sigaction(SIGPIPE, nullptr, &action);
    if (action.sa_handler == SIG_DFL) {
      action.sa_handler = no_signal_handler;
      action.sa_flags = SA_RESTART;
      ::sigaction(SIGPIPE, &action, nullptr);
    }
    return true;
  }();
}

[[noreturn]] void give_up(int descriptor, int error) {
  const std::string line = std::string("sorrel: cannot write to standard ") +
                           (descriptor == 1 ? "output: " : "error: ") + std::strerror(error) + "\n";
  [[maybe_unused]] const ssize_t ignored = ::write(2, line.data(), line.size());
  next_definition<decltype(::_exit)>("_exit")(1);
  __builtin_unreachable();
}

void write_all(int descriptor, const char* text, std::size_t size) {
  const std::lock_guard guard(terminal_lock());
  const int error = os::write_all(descriptor, {text, size});
  if (error != 0) give_up(descriptor, error);
}

ssize_t write_cookie(void* writer, const char* text, std::size_t size) {
  static_cast<LineWriter*>(writer)->write(text, size);
  return static_cast<ssize_t>(size);
}

// The input of every rank but the first.
[[nodiscard]] FILE* empty_input() {
  static FILE* const file = std::fopen("/dev/null", "re");
  SORREL_CHECK(file != nullptr, "cannot open /dev/null");
  return file;
}

[[nodiscard]] int flush_stream(FILE* stream) {
  static auto* const real = next_definition<decltype(::fflush)>("fflush");
  return real(stream);
}

/// The process's input gets a buffer of `bytes` at least, which stays: else the C library allocates
/// one when the first rank reads. It has read nothing yet.
void set_input_buffer(std::size_t bytes) {
  static auto* const real_set_buffer = next_definition<decltype(::setvbuf)>("setvbuf");
  static char buffer[BUFSIZ];
  const bool fits = bytes <= sizeof buffer;
  static_cast<void>(real_set_buffer(stdin, fits ? buffer : new char[bytes], _IOFBF,
                                    fits ? sizeof buffer : bytes));
}

// In FILE::_flags of the C library.
constexpr int is_at_end = 0x0010;
/// The stream reads characters that were put back. Those of its buffer follow.
constexpr int is_in_backup = 0x0100;

/// The process's input: what was read and not taken, and how far a regular file was read.
struct ReadInput {
  std::string unread;
  bool has_ended = false;
  dev_t device = 0;
  ino_t inode = 0;
  /// Below 0: the input is no regular file.
  off_t offset = -1;

  /// `offset`: that of the process's input when the rank was stopped.
  [[nodiscard]] static ReadInput with_offset(off_t offset);

  /// What was not taken comes first, then the rest of the same file; or another input, from its
  /// begin.
  void restore() const;

  /// False: the input is no regular file.
  bool find_file();
};

ReadInput ReadInput::with_offset(off_t offset) {
  const FILE& in = *stdin;
  ReadInput input;
  input.offset = offset;
  static_cast<void>(input.find_file());
  input.unread.assign(in._IO_read_ptr, in._IO_read_end);
  if ((in._flags & is_in_backup) != 0) input.unread.append(in._IO_save_base, in._IO_save_end);
  input.has_ended = (in._flags & is_at_end) != 0;
  return input;
}

bool ReadInput::find_file() {
  struct stat about{};
  if (::fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  device = about.st_dev;
  inode = about.st_ino;
  return true;
}

void ReadInput::restore() const {
  ReadInput here;
  const bool is_file = here.find_file();
  if (offset >= 0 && is_file && here.device == device && here.inode == inode)
    static_cast<void>(::lseek(STDIN_FILENO, offset, SEEK_SET));
  FILE& in = *stdin;
  set_input_buffer(unread.size());
  in._IO_read_base = in._IO_read_ptr = in._IO_buf_base;
  in._IO_write_base = in._IO_write_ptr = in._IO_write_end = in._IO_buf_base;
  in._IO_read_end = std::ranges::copy(unread, in._IO_buf_base).out;
  if (has_ended) in._flags |= is_at_end;
}

}  // namespace

LineWriter::LineWriter(int descriptor, int rank, const OutputFormat& format)
    : descriptor_(descriptor), format_(format) {
  if (format.has_rank_labels) label_.append("[").append(std::to_string(rank)).append("] ");
}

void LineWriter::write(const char* text, std::size_t size) {
  const void* last = ::memrchr(text, '\n', size);
  const std::size_t complete =
      last == nullptr ? 0 : static_cast<std::size_t>(static_cast<const char*>(last) - text) + 1;
  if (complete > 0 && pending_.empty()) {
    send_lines(text, complete);
  } else if (complete > 0) {
    pending_.append(text, complete);
    send_lines(pending_.data(), pending_.size());
    pending_.clear();
  }
  pending_.append(text + complete, size - complete);
  if (pending_.size() > pending_bytes_max) flush_partial_line();
}

void LineWriter::flush_partial_line() {
  if (pending_.empty()) return;
  send_lines(pending_.data(), pending_.size());
  pending_.clear();
}

void LineWriter::finish() {
  // The line and its newline in one write: another rank may write in between.
  const bool is_within_line = !pending_.empty() || !is_at_line_start_;
  if (is_within_line && format_.completes_last_line) pending_ += '\n';
  flush_partial_line();
}

void LineWriter::save(ByteWriter& to) const {
  to.add(is_at_line_start_);
  to.add_block(pending_);
}

void LineWriter::restore(ByteCursor& from) {
  is_at_line_start_ = from.take<bool>();
  pending_ = from.take_block();
}

void LineWriter::send_lines(const char* text, std::size_t size) {
  if (label_.empty()) {
    send(text, size);
    return;
  }
  std::string labelled;
  bool is_at_start = is_at_line_start_;
  for (const char* end = text + size; text < end;) {
    const void* newline = std::memchr(text, '\n', static_cast<std::size_t>(end - text));
    const char* stop = newline != nullptr ? static_cast<const char*>(newline) + 1 : end;
    if (is_at_start) labelled += label_;
    labelled.append(text, stop);
    is_at_start = true;
    text = stop;
  }
  send(labelled.data(), labelled.size());
}

void LineWriter::send(const char* text, std::size_t size) {
  SORREL_ASSERT(size > 0, "no text for descriptor %d", descriptor_);
  write_all(descriptor_, text, size);
  is_at_line_start_ = text[size - 1] == '\n';
}

RankOutput::~RankOutput() {
  // The rank has gone to another process; else the streams end with the process.
  if (made_ == nullptr) return;
  static auto* const real_close = next_definition<decltype(::fclose)>("fclose");
  real_close(made_);
}

FILE* RankOutput::stream() {
  // (O) acquire, pairs with the releases in open() and replace().
  FILE* stream = stream_.load(std::memory_order_acquire);
  return stream != nullptr ? stream : open();
}

FILE* RankOutput::open() {
  const std::lock_guard guard(opening_);
  // relaxed: the lock orders it after the store of the first caller.
  if (FILE* stream = stream_.load(std::memory_order_relaxed)) return stream;
  survive_broken_pipe();
  writer_ = std::make_unique<LineWriter>(descriptor_, rank_, format_);
  FILE* stream = ::fopencookie(writer_.get(), "w", {nullptr, write_cookie, nullptr, nullptr});
  SORREL_CHECK(stream != nullptr, "no memory for an output stream");
  static auto* const real_set_buffer = next_definition<decltype(::setvbuf)>("setvbuf");
  if (const int buffering = buffering_of(descriptor_); buffering == _IONBF) {
    real_set_buffer(stream, nullptr, _IONBF, 0);
  } else {
    buffer_ = std::make_unique<char[]>(stream_buffer_bytes);
    real_set_buffer(stream, buffer_.get(), buffering, stream_buffer_bytes);
  }
  made_ = stream;
  stream_.store(stream, std::memory_order_release);
  return stream;
}

void RankOutput::replace(FILE* file) {
  flush();
  finish_line();
  stream_.store(file, std::memory_order_release);
}

bool RankOutput::write_lines(std::string_view text) {
  FILE* stream = this->stream();
  if (is_replaced()) return false;
  ::flockfile(stream);
  writer_->write(text.data(), text.size());
  if (is_terminal(descriptor_)) writer_->flush_partial_line();
  ::funlockfile(stream);
  return true;
}

int RankOutput::flush() {
  // relaxed: only tests whether there is one; another thread flushes the stream that it has made.
  FILE* stream = stream_.load(std::memory_order_relaxed);
  if (stream == nullptr) return 0;
  const int result = flush_stream(stream);
  if (!is_replaced() && is_terminal(descriptor_)) {
    ::flockfile(stream);
    writer_->flush_partial_line();
    ::funlockfile(stream);
  }
  return result;
}

void RankOutput::flush_made() {
  if (made_ != nullptr) (void)flush_stream(made_);
}

void RankOutput::finish_line() {
  // relaxed, as in flush().
  FILE* stream = stream_.load(std::memory_order_relaxed);
  if (stream == nullptr || is_replaced()) return;
  ::flockfile(stream);
  writer_->finish();
  ::funlockfile(stream);
}

void RankOutput::save(ByteWriter& to) const {
  to.add(made_ != nullptr);
  if (made_ != nullptr) writer_->save(to);
  to.add(is_replaced() ? stream_if_used() : nullptr);
}

void RankOutput::restore(ByteCursor& from) {
  if (from.take<bool>()) {
    if (made_ == nullptr) static_cast<void>(open());
    writer_->restore(from);
  }
  // It lies in the memory of the rank.
  if (FILE* file = from.take<FILE*>()) stream_.store(file, std::memory_order_release);
}

void RankStreams::save(ByteWriter& to) const {
  output_.save(to);
  error_.save(to);
  to.add(input_);
  to.add(has_linked_fortran_);
  if (!reads_input_of_process()) return;
  const ReadInput input = ReadInput::with_offset(input_offset_);
  to.add_block(input.unread);
  to.add(input.has_ended);
  to.add(input.device);
  to.add(input.inode);
  to.add(input.offset);
}

void RankStreams::restore(ByteCursor& from) {
  output_.restore(from);
  error_.restore(from);
  input_ = from.take<FILE*>();
  has_linked_fortran_ = from.take<bool>();
  if (!reads_input_of_process()) return;
  ReadInput input{.unread = std::string(from.take_block())};
  input.has_ended = from.take<bool>();
  input.device = from.take<dev_t>();
  input.inode = from.take<ino_t>();
  input.offset = from.take<off_t>();
  if (from.is_good()) input.restore();
}

bool RankStreams::has_wide_input() const {
  return reads_input_of_process() && std::fwide(stdin, 0) > 0;
}

void RankStreams::prepare_save() {
  output_.flush_made();
  error_.flush_made();
  (void)flush_stream(stdout);
  if (reads_input_of_process())
    input_offset_ = ReadInput().find_file() ? ::lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
}

void RankStreams::add_made_to(std::vector<const FILE*>& streams) const {
  streams.push_back(output_.made());
  streams.push_back(error_.made());
}

FILE* RankStreams::own(FILE* stream) {
  if (stream == stdout) return output_.stream();
  if (stream == stderr) return error_.stream();
  if (stream == stdin) return input();
  return stream;
}

FILE* RankStreams::input() {
  if (input_ != nullptr) return input_;
  if (rank_ != 0) return empty_input();
  // Flushes a prompt, as the C library does before it reads from a terminal.
  if (is_terminal(output_descriptor)) output_.flush();
  return stdin;
}

void RankStreams::open() {
  [[maybe_unused]] static const bool once = (set_input_buffer(0), true);
  static_cast<void>(output_.stream());
  static_cast<void>(error_.stream());
  static_cast<void>(empty_input());
}

void RankStreams::finish() {
  flush();
  finish_lines();
}

void RankStreams::finish_lines() {
  output_.finish_line();
  error_.finish_line();
}

}  // namespace sorrel::program
