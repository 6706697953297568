#include "runtime/user_tuning.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "base/printable.hpp"

namespace sorrel::runtime {

namespace {

constexpr const char* tuning_variable = "SORREL_TUNING";

/// The whole of a file; nothing if it cannot be read, errno tells why.
std::optional<std::string> contents_of(const char* path) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return std::nullopt;
  std::string text;
  std::array<char, 4096> part;
  while (const std::size_t count = std::fread(part.data(), 1, part.size(), file))
    text.append(part.data(), count);
  const int error = std::ferror(file) != 0 ? errno : 0;
  std::fclose(file);
  errno = error;
  return error == 0 ? std::optional(std::move(text)) : std::nullopt;
}

}  // namespace

mpi::TuningTable take_tuning_from_environment(const Config& config) {
  mpi::TuningTable tuning;
  const char* value = ::secure_getenv(tuning_variable);
  if (value == nullptr) return tuning;
  const std::string path = value;
  ::unsetenv(tuning_variable);
  std::string error;
  if (!config.host_mpi.name.empty()) {
    error = "not supported over a host MPI";
  } else if (const auto text = contents_of(path.c_str()); !text) {
    error = std::strerror(errno);
  } else {
    error = tuning.add(*text).value_or("");
  }
  if (!error.empty() && config.own_process == 0) {
    std::fprintf(stderr, "sorrel: %s=%s: %s; using the built-in limits\n", tuning_variable,
                 printable(path).c_str(), printable(error).c_str());
  }
  return tuning;
}

}  // namespace sorrel::runtime
