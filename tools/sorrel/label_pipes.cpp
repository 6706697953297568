#include "tools/sorrel/label_pipes.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>

namespace sorrel::tool {

namespace {

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

LabelPipes::LabelPipes(std::uint32_t process_count) {
  stop_descriptor_ = eventfd(0, EFD_CLOEXEC);
  is_valid_ = stop_descriptor_ >= 0;
  for (std::uint32_t i = 0; i < 2 * process_count && is_valid_; ++i) {
    std::array<int, 2> ends{};
    is_valid_ = pipe2(ends.data(), O_CLOEXEC) == 0;
    if (!is_valid_) break;
    // A reader that finds nothing must come back to the others; writers may wait.
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    streams_.push_back({.read_end = ends[0],
                        .write_end = ends[1],
                        .destination = i % 2 == 0 ? STDOUT_FILENO : STDERR_FILENO,
                        .label = "[" + std::to_string(i / 2) + "] ",
                        .line = {}});
  }
}

LabelPipes::~LabelPipes() {
  finish();
  for (const Stream& stream : streams_) {
    if (stream.read_end >= 0) close(stream.read_end);
    if (stream.write_end >= 0) close(stream.write_end);
  }
  if (stop_descriptor_ >= 0) close(stop_descriptor_);
}

void LabelPipes::redirect(std::uint32_t index) const {
  if (!is_valid_) return;
  for (const Stream* stream : {&streams_[2 * index], &streams_[2 * index + 1]})
    dup2(stream->write_end, stream->destination);
}

void LabelPipes::begin() {
  if (!is_valid_) return;
  for (Stream& stream : streams_) {
    close(stream.write_end);
    stream.write_end = -1;
  }
  reader_ = std::thread([this] { forward(); });
}

void LabelPipes::finish() {
  if (!reader_.joinable()) return;
  const std::uint64_t one = 1;
  write_all(stop_descriptor_, {reinterpret_cast<const char*>(&one), sizeof one});
  reader_.join();
}

void LabelPipes::forward() {
  std::vector<pollfd> watched;
  for (const Stream& stream : streams_)
    watched.push_back({.fd = stream.read_end, .events = POLLIN, .revents = 0});
  watched.push_back({.fd = stop_descriptor_, .events = POLLIN, .revents = 0});
  bool is_stopped = false;
  while (!is_stopped) {
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
    is_stopped = watched.back().revents != 0;
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      // After the stop once more for everybody: a process may have written and gone since.
      const bool has_news = watched[i].revents != 0 || is_stopped;
      // poll() passes over negative descriptors.
      if (watched[i].fd >= 0 && has_news && !take_from(streams_[i])) watched[i].fd = -1;
    }
  }
  for (Stream& stream : streams_)
    write_lines(stream, true);
}

bool LabelPipes::take_from(Stream& stream) {
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

void LabelPipes::write_lines(Stream& stream, bool is_end) {
  std::string text;
  std::size_t begin = 0;
  while (begin < stream.line.size()) {
    std::size_t end = stream.line.find('\n', begin);
    const bool is_long = stream.line.size() - begin > line_bytes_max;
    if (end == std::string::npos && !is_long && !is_end) break;
    if (end == std::string::npos) end = stream.line.size();
    text += stream.label;
    text.append(stream.line, begin, end - begin);
    text += '\n';
    begin = end + 1;
  }
  stream.line.erase(0, begin);
  write_all(stream.destination, text);
}

}  // namespace sorrel::tool
