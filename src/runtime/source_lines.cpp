#include "runtime/source_lines.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace sorrel::runtime {

namespace {

// addr2line reads the whole debug information; a report must not hang on it.
constexpr int patience_ms = 5000;

struct Place {
  std::string file;
  std::uintptr_t offset = 0;
};

Place place_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  // The address is that of the instruction after the call.
  return {.file = info.dli_fname,
          .offset = reinterpret_cast<std::uintptr_t>(address) -
                    reinterpret_cast<std::uintptr_t>(info.dli_fbase) - 1};
}

std::string read_until_end(int descriptor) {
  std::string text;
  char piece[4096];
  pollfd ready{.fd = descriptor, .events = POLLIN, .revents = 0};
  while (::poll(&ready, 1, patience_ms) > 0) {
    const ssize_t count = read(descriptor, piece, sizeof piece);
    if (count <= 0) break;
    text.append(piece, static_cast<std::size_t>(count));
  }
  return text;
}

/// The output of addr2line for some offsets of one file; empty when it cannot be had.
std::string run_addr2line(const std::string& file, const std::vector<std::string>& offsets) {
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) return {};
  std::vector<char*> arguments;
  for (const char* word : {"addr2line", "-s", "-f", "-C", "-e", file.c_str()})
    arguments.push_back(const_cast<char*>(word));
  for (const std::string& offset : offsets)
    arguments.push_back(const_cast<char*>(offset.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int error = posix_spawnp(&child, "addr2line", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::string text;
  if (error == 0) {
    text = read_until_end(pipe_ends[0]);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  close(pipe_ends[0]);
  return text;
}

std::string plain(const Place& place) {
  if (place.file.empty()) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "+0x%zx", static_cast<std::size_t>(place.offset));
  const std::size_t slash = place.file.rfind('/');
  return place.file.substr(slash == std::string::npos ? 0 : slash + 1) + text;
}

/// The next line of addr2line's output.
std::string next_line(const std::string& text, std::size_t& at) {
  const std::size_t end = text.find('\n', at);
  if (end == std::string::npos) return {};
  std::string line = text.substr(at, end - at);
  at = end + 1;
  return line;
}

}  // namespace

std::vector<std::string> source_lines(const std::vector<const void*>& addresses) {
  std::vector<Place> places;
  std::vector<std::string> texts;
  for (const void* address : addresses) {
    places.push_back(place_of(address));
    texts.push_back(plain(places.back()));
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    // One run for each file, when its first address comes.
    bool is_first_of_file = !places[i].file.empty();
    for (std::size_t k = 0; k < i; ++k)
      is_first_of_file &= places[k].file != places[i].file;
    if (!is_first_of_file) continue;
    std::vector<std::string> offsets;
    std::vector<std::size_t> indices;
    for (std::size_t k = i; k < places.size(); ++k) {
      if (places[k].file != places[i].file) continue;
      char offset[32];
      std::snprintf(offset, sizeof offset, "0x%zx", static_cast<std::size_t>(places[k].offset));
      offsets.emplace_back(offset);
      indices.push_back(k);
    }
    const std::string output = run_addr2line(places[i].file, offsets);
    std::size_t at = 0;
    for (const std::size_t k : indices) {
      const std::string function = next_line(output, at);
      const std::string line = next_line(output, at);
      if (!line.empty() && line[0] != '?') {
        texts[k] = function + " (" + line.substr(0, line.find(" (discriminator")) + ")";
      } else if (!function.empty() && function[0] != '?') {
        texts[k] = function + " (" + texts[k] + ")";
      }
    }
  }
  return texts;
}

}  // namespace sorrel::runtime
