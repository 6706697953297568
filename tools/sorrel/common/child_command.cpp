#include "tools/sorrel/common/child_command.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/exit_status.hpp"
#include "tools/sorrel/common/program_file.hpp"

namespace sorrel::tool {

namespace {

constexpr std::chrono::milliseconds patience{1000};
/// Between two looks at a program whose end no descriptor shows (Linux before 5.3).
constexpr std::chrono::milliseconds tick{2};

void close_one(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

/// Keeps the end of `text`, from the beginning of a line.
void shorten(std::string& text, std::size_t last_bytes) {
  if (text.size() <= 2 * last_bytes) return;
  const std::size_t line = text.find('\n', text.size() - last_bytes);
  text.erase(0, line == std::string::npos ? text.size() - last_bytes : line + 1);
}

/// In the child: becomes the program; the errno of a failure goes into `report`.
[[noreturn]] void become(std::vector<std::string>& words,
                         const ChildSettings& settings,
                         const std::array<int, 3>& streams,
                         int report,
                         pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  // The parent may have died before prctl().
  if (getppid() != parent) _exit(1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int stream = 0; stream < 3; ++stream)
    dup2(streams[static_cast<std::size_t>(stream)], stream);
  for (const std::string& setting : settings.environment) {
    const std::size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
  }
  std::vector<char*> pointers = pointers_to(words);
  execvp(pointers[0], pointers.data());
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  _exit(exit_not_found);
}

}  // namespace

ChildCommand::ChildCommand(std::vector<std::string> words, const ChildSettings& settings)
    : last_bytes_(settings.last_bytes), begin_(Clock::now()) {
  start(words, settings);
  if (error_ == 0) return;
  has_ended_ = true;
  end_ = begin_;
  close_all();
}

ChildCommand::~ChildCommand() {
  end();
  close_all();
}

void ChildCommand::start(std::vector<std::string>& words, const ChildSettings& settings) {
  int out[2] = {-1, -1};
  int err[2] = {-1, -1};
  int report[2] = {-1, -1};
  int input = settings.input;
  if (input < 0) input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || pipe2(out, O_CLOEXEC) != 0 ||
      (!settings.joins_streams && pipe2(err, O_CLOEXEC) != 0) || pipe2(report, O_CLOEXEC) != 0)
    error_ = errno;
  const pid_t parent = getpid();
  if (error_ == 0) {
    pid_ = fork();
    if (pid_ < 0) error_ = errno;
  }
  const int errors = settings.joins_streams ? out[1] : err[1];
  if (pid_ == 0) become(words, settings, {input, out[1], errors}, report[1], parent);
  if (settings.input < 0) close_one(input);
  for (int* end : {&out[1], &err[1], &report[1]})
    close_one(*end);
  pipes_[0] = out[0];
  pipes_[1] = err[0];
  int failure = 0;
  if (error_ == 0 && ::read(report[0], &failure, sizeof failure) == sizeof failure) {
    error_ = failure;
    take_status(0);
  }
  close_one(report[0]);
  if (error_ != 0) return;
  for (const int pipe : pipes_) {
    if (pipe >= 0) fcntl(pipe, F_SETFL, O_NONBLOCK);
  }
  process_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
}

void ChildCommand::close_all() {
  for (int* descriptor : {&pipes_[0], &pipes_[1], &process_})
    close_one(*descriptor);
}

void ChildCommand::take_status(int flags) {
  if (has_ended_) return;
  pid_t ended = 0;
  while ((ended = waitpid(pid_, &status_, flags)) < 0 && errno == EINTR) {
  }
  if (ended == 0) return;
  has_ended_ = true;
  end_ = Clock::now();
}

/// Closes the pipe at its end. A program that always prints is not to keep the caller here: while
/// it runs, the pipe is read once.
void ChildCommand::read_available(int& pipe, std::string& text) const {
  char buffer[16384];
  while (pipe >= 0) {
    const ssize_t size = ::read(pipe, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) return close_one(pipe);
    const auto bytes = static_cast<std::size_t>(size);
    if (last_bytes_ != 0) {
      text.append(buffer, bytes);
      shorten(text, last_bytes_);
    } else {
      text.append(buffer, std::min(bytes, output_bytes_max - text.size()));
    }
    if (!has_ended_) return;
  }
}

bool ChildCommand::progress(std::chrono::milliseconds limit) {
  if (has_ended_) return false;
  const auto wait = process_ < 0 ? std::min(limit, tick) : limit;
  // poll() skips descriptors below 0.
  pollfd wanted[3] = {{.fd = pipes_[0], .events = POLLIN, .revents = 0},
                      {.fd = pipes_[1], .events = POLLIN, .revents = 0},
                      {.fd = process_, .events = POLLIN, .revents = 0}};
  poll(wanted, 3, static_cast<int>(std::max<std::int64_t>(wait.count(), 0)));
  take_status(WNOHANG);
  // After the end, so that nothing is lost; what it has left behind may hold the pipes open.
  read_available(pipes_[0], output_);
  read_available(pipes_[1], errors_);
  return !has_ended_;
}

bool ChildCommand::wait(std::chrono::milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  while (!has_ended_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    progress(std::min(left, std::chrono::milliseconds(60'000)));
  }
  return true;
}

bool ChildCommand::run_to_end(std::chrono::milliseconds limit) {
  const auto left = begin_ + limit - Clock::now();
  if (wait(std::chrono::ceil<std::chrono::milliseconds>(left))) return true;
  end();
  return false;
}

void ChildCommand::send(int number) const {
  if (!has_ended_) kill(pid_, number);
}

void ChildCommand::end() {
  if (has_ended_) return;
  send(SIGTERM);
  if (wait(patience)) return;
  send(SIGKILL);
  take_status(0);
}

bool ChildCommand::has_succeeded() const {
  return error_ == 0 && has_ended_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
}

std::string ChildCommand::text_of_end() const {
  if (error_ != 0) return fmt::format("cannot be started: {}", std::strerror(error_));
  if (WIFSIGNALED(status_)) return fmt::format("ended by signal {}", WTERMSIG(status_));
  return fmt::format("ended with status {}", WEXITSTATUS(status_));
}

double ChildCommand::seconds() const {
  return std::chrono::duration<double>((has_ended_ ? end_ : Clock::now()) - begin_).count();
}

void adopt_left_children() {
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

}  // namespace sorrel::tool
