#include "os/lock_file.hpp"

#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/text.hpp"
#include "os/clock.hpp"
#include "os/shared_page.hpp"

namespace sorrel::os {

namespace {

constexpr std::int64_t poll_ns = 5'000'000;
constexpr std::int64_t patience_ns = 10'000'000'000;

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

/// What a process writes into the file that it holds.
struct Holder {
  std::uint64_t identity = 0;
  long process = 0;
  std::string space;
  std::string host;

  static Holder own() {
    return {.identity = own_process_identity(),
            .process = ::getpid(),
            .space = process_namespace_text(),
            .host = host_name()};
  }

  static Holder in(int file) {
    std::array<char, 512> text{};
    Holder found;
    const ssize_t bytes = ::pread(file, text.data(), text.size() - 1, 0);
    std::array<char, 32> space{};
    std::array<char, 256> host{};
    if (bytes > 0 && std::sscanf(text.data(), "%" SCNu64 " %ld %31s %255s", &found.identity,
                                 &found.process, space.data(), host.data()) == 4) {
      found.space = space.data();
      found.host = host.data();
    }
    return found;
  }

  [[nodiscard]] std::string text() const {
    return text_of("%" PRIu64 " %ld %s %s\n", identity, process, space.c_str(), host.c_str());
  }

  /// Whether it is certain that it has ended. Processes of other machines and namespaces are not
  /// visible.
  [[nodiscard]] bool is_dead() const {
    return space == process_namespace_text() && host == host_name() && !is_process_alive(identity);
  }
};

int try_lock(int file) {
  int error = 0;
  do {
    error = ::flock(file, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  } while (error == EINTR);
  return error == ENOSYS || error == EOPNOTSUPP || error == EINVAL ? ENOLCK : error;
}

}  // namespace

int LockFile::take(const std::string& path) {
  SORREL_ASSERT(descriptor_ < 0, "%s is taken by this object already", path.c_str());
  constexpr mode_t own = S_IRUSR | S_IWUSR;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, own);
  if (file < 0) return errno;
  int error = ::fchmod(file, own) == 0 ? try_lock(file) : errno;
  const std::int64_t give_up_ns = monotonic_ns() + patience_ns;
  while (error == EWOULDBLOCK) {
    const Holder holder = Holder::in(file);
    holder_ = text_of("process %ld on %s", holder.process, holder.host.c_str());
    // The holder may not have written yet.
    if ((holder.process != 0 && !holder.is_dead()) || monotonic_ns() >= give_up_ns) break;
    sleep_ns(poll_ns);
    error = try_lock(file);
  }
  if (error != 0) {
    ::close(file);
    return error;
  }
  descriptor_ = file;
  const std::string text = Holder::own().text();
  // A full disk: the lock holds, only its holder's name is missing.
  if (::ftruncate(file, 0) == 0) (void)!::pwrite(file, text.data(), text.size(), 0);
  return 0;
}

}  // namespace sorrel::os
