#include "tools/sorrel/run/output_pipes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.hpp"

namespace sorrel::tool {

OutputPipes::OutputPipes(const std::vector<std::string>& labels)
    : has_labels_(std::ranges::any_of(labels, [](const auto& label) { return !label.empty(); })) {
  getrlimit(RLIMIT_NOFILE, &files_before_);
  find_destinations();
  if (!output_.is_collected && !error_.is_collected) return;
  raise_file_limit();
  event_descriptor_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  abandon_descriptor_ = eventfd(0, EFD_CLOEXEC);
  is_valid_ = event_descriptor_ >= 0 && abandon_descriptor_ >= 0;
  for (const std::string& label : labels) {
    if (is_valid_) add_streams(label);
  }
  first_streams_.push_back(streams_.size());
  SORREL_ASSERT(!is_valid_ || first_streams_.size() == labels.size() + 1,
                "streams of %zu processes, not %zu", first_streams_.size() - 1, labels.size());
}

OutputPipes::~OutputPipes() {
  abandon();
  (void)finish(std::chrono::hours(1));
  for (const Stream& stream : streams_) {
    for (const int end : {stream.read_end, stream.write_end}) {
      if (end >= 0) close(end);
    }
  }
  for (const int descriptor : {event_descriptor_, abandon_descriptor_}) {
    if (descriptor >= 0) close(descriptor);
  }
  // For the processes of a restarted job.
  setrlimit(RLIMIT_NOFILE, &files_before_);
}

void OutputPipes::find_destinations() {
  std::array<struct stat, 2> files{};
  std::array<Destination*, 2> destinations{&output_, &error_};
  for (std::size_t i = 0; i < 2; ++i) {
    Destination& destination = *destinations[i];
    if (fstat(destination.descriptor, &files[i]) != 0) continue;
    const mode_t mode = files[i].st_mode;
    destination.is_pipe = S_ISFIFO(mode) || S_ISSOCK(mode);
    destination.is_collected = has_labels_ || destination.is_pipe || S_ISREG(mode);
  }
  const bool is_same = output_.is_collected && error_.is_collected &&
                       files[0].st_dev == files[1].st_dev && files[0].st_ino == files[1].st_ino;
  destination_of_error_ = is_same ? &output_ : &error_;
}

/// Makes room for pipes of more processes than the usual limit of 1024 files allows. The children
/// get the old limit back.
void OutputPipes::raise_file_limit() {
  rlimit files = files_before_;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

void OutputPipes::add_streams(const std::string& label) {
  first_streams_.push_back(streams_.size());
  for (const Destination* source : {&output_, &error_}) {
    if (!source->is_collected) continue;
    std::array<int, 2> ends{};
    is_valid_ = is_valid_ && pipe2(ends.data(), O_CLOEXEC) == 0;
    if (!is_valid_) return;
    // The reader must not block on an empty pipe while other pipes have data; writers may block.
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    Stream stream{.read_end = ends[0],
                  .write_end = ends[1],
                  .source = source->descriptor,
                  .destination = source == &output_ ? &output_ : destination_of_error_,
                  .label = label,
                  .line = {}};
    streams_.push_back(std::move(stream));
  }
}

void OutputPipes::redirect(std::uint32_t index) const {
  setrlimit(RLIMIT_NOFILE, &files_before_);
  if (!is_valid_ || streams_.empty()) return;
  SORREL_CHECK(
      index + 1 < first_streams_.size() && first_streams_[index] <= first_streams_[index + 1],
      "process %u of %zu", index, first_streams_.size() - 1);
  for (std::size_t i = first_streams_[index]; i < first_streams_[index + 1]; ++i)
    dup2(streams_[i].write_end, streams_[i].source);
}

void OutputPipes::begin() {
  if (!is_valid_ || streams_.empty()) return;
  for (Stream& stream : streams_) {
    close(stream.write_end);
    stream.write_end = -1;
  }
  SORREL_ASSERT(!reader_.joinable(), "the pipes are read already");
  reader_ = std::thread([this] { forward(); });
}

void OutputPipes::wake() const {
  const std::uint64_t one = 1;
  (void)!write(event_descriptor_, &one, sizeof one);
}

void OutputPipes::catch_up() {
  if (!reader_.joinable()) return;
  std::unique_lock guard(lock_);
  const std::uint64_t request = ++requests_;
  wake();
  changed_.wait_for(guard, std::chrono::seconds(1),
                    [&] { return answers_ >= request || has_ended_; });
}

bool OutputPipes::finish(std::chrono::milliseconds limit) {
  if (!reader_.joinable()) return true;
  {
    std::unique_lock guard(lock_);
    is_stopping_ = true;
    wake();
    if (!changed_.wait_for(guard, limit, [&] { return has_ended_; })) return false;
  }
  reader_.join();
  return true;
}

void OutputPipes::abandon() {
  if (!reader_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!write(abandon_descriptor_, &one, sizeof one);
}

std::string OutputPipes::error() {
  const std::lock_guard guard(lock_);
  return write_error_;
}

void OutputPipes::forward() {
  // A closed pipe is an error of write(), not a signal.
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);
  std::vector<pollfd> watched;
  for (const Stream& stream : streams_)
    watched.push_back({.fd = stream.read_end, .events = POLLIN, .revents = 0});
  watched.push_back({.fd = event_descriptor_, .events = POLLIN, .revents = 0});
  for (bool is_last = false; !is_last;) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
    std::uint64_t count = 0;
    (void)!read(event_descriptor_, &count, sizeof count);
    std::uint64_t request = 0;
    bool is_asked = false;
    {
      const std::lock_guard guard(lock_);
      request = requests_;
      // After the stop, all streams are read once more: a process may have written and ended since.
      is_last = is_stopping_;
      is_asked = is_last || request != answers_;
    }
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const bool has_event = watched[i].revents != 0 || is_asked;
      // poll() ignores negative descriptors.
      if (watched[i].fd >= 0 && has_event && !take_from(streams_[i])) watched[i].fd = -1;
    }
    finish_round(request);
  }
  for (Stream& stream : streams_)
    write_lines(stream, true);
  const std::lock_guard guard(lock_);
  has_ended_ = true;
  changed_.notify_all();
}

void OutputPipes::finish_round(std::uint64_t request) {
  const std::lock_guard guard(lock_);
  SORREL_ASSERT(request >= answers_ && request <= requests_, "answer %llu to %llu requests",
                static_cast<unsigned long long>(request),
                static_cast<unsigned long long>(requests_));
  answers_ = request;
  changed_.notify_all();
}

bool OutputPipes::take_from(Stream& stream) {
  std::array<char, 16u << 10> bytes;
  for (;;) {
    const ssize_t count = read(stream.read_end, bytes.data(), bytes.size());
    if (count == 0) return false;
    if (count < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN;
    }
    stream.line.append(bytes.data(), static_cast<std::size_t>(count));
    write_lines(stream, false);
  }
}

void OutputPipes::write_lines(Stream& stream, bool is_end) {
  const std::size_t bytes_max = !stream.label.empty() ? labelled_bytes_max : line_bytes_max;
  Destination& destination = *stream.destination;
  std::string text;
  std::size_t begin = 0;
  while (begin < stream.line.size()) {
    std::size_t end = stream.line.find('\n', begin);
    const bool is_whole = end != std::string::npos;
    if (!is_whole && !is_end && stream.line.size() - begin <= bytes_max) break;
    end = is_whole ? end + 1 : stream.line.size();
    if (!text.empty() || destination.within_line_of != &stream) text += stream.label;
    SORREL_ASSERT(begin < end && end <= stream.line.size(), "a line from %zu to %zu of %zu", begin,
                  end, stream.line.size());
    text.append(stream.line, begin, end - begin);
    // With labels, each part of a line becomes a line.
    if (!is_whole && !stream.label.empty()) text += '\n';
    begin = end;
  }
  if (text.empty()) return;
  stream.line.erase(0, begin);
  const Stream* open_line = destination.within_line_of;
  if (open_line != nullptr && open_line != &stream) write_all(destination, "\n");
  write_all(destination, text);
  destination.within_line_of = text.back() == '\n' ? nullptr : &stream;
}

/// False if the rest is to be discarded.
bool OutputPipes::wait_for_room(const Destination& destination) const {
  std::array<pollfd, 2> watched{{{.fd = destination.descriptor, .events = POLLOUT, .revents = 0},
                                 {.fd = abandon_descriptor_, .events = POLLIN, .revents = 0}}};
  while (poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
  }
  return watched[1].revents == 0;
}

void OutputPipes::write_all(Destination& destination, std::string_view text) {
  while (!text.empty() && destination.error == 0) {
    if (!wait_for_room(destination)) return;
    // A pipe with room takes this size without blocking.
    const std::size_t size =
        destination.is_pipe ? std::min<std::size_t>(text.size(), PIPE_BUF) : text.size();
    const ssize_t written = write(destination.descriptor, text.data(), size);
    SORREL_ASSERT(written <= static_cast<ssize_t>(size), "%zd bytes of %zu", written, size);
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR && errno != EAGAIN) {
      destination.error = errno;
      const std::lock_guard guard(lock_);
      if (write_error_.empty()) {
        write_error_ = std::string("cannot write to standard ") +
                       (destination.descriptor == STDOUT_FILENO ? "output: " : "error: ") +
                       std::strerror(destination.error);
        kill(getpid(), SIGCHLD);
      }
    }
  }
}

}  // namespace sorrel::tool
