// Calls each function that packaging/glibc/fallbacks.c has. Status 1 and a line if a result is
// wrong.
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

int status = 0;

void expect(bool is_right, const char* what) {
  if (!is_right) std::printf("wrong: %s\n", what);
  if (!is_right) status = 1;
}

// By a constructor, which an older glibc calls by another way.
const std::string made_before_main(100, 'x');

bool is_folder(const struct stat& about) {
  return S_ISDIR(about.st_mode);
}

}  // namespace

int main() {
  expect(made_before_main.size() == 100, "constructors");

  struct stat about{};
  expect(stat("/", &about) == 0 && is_folder(about), "stat");
  about = {};
  expect(lstat("/", &about) == 0 && is_folder(about), "lstat");
  about = {};
  const int root = open("/", O_RDONLY | O_CLOEXEC);
  expect(fstat(root, &about) == 0 && is_folder(about), "fstat");
  about = {};
  expect(fstatat(root, ".", &about, 0) == 0 && is_folder(about), "fstatat");
  struct stat64 about_64{};
  expect(fstat64(root, &about_64) == 0 && S_ISDIR(about_64.st_mode), "fstat64");

  expect(gettid() == syscall(SYS_gettid), "gettid");
  const pid_t child = _Fork();
  if (child == 0) _exit(42);
  int ended = 0;
  expect(waitpid(child, &ended, 0) == child && WEXITSTATUS(ended) == 42, "_Fork");

  expect(std::strcmp(strerrordesc_np(ENOENT), "No such file or directory") == 0, "strerrordesc_np");
  expect(strerrordesc_np(-1) == nullptr && strerrordesc_np(1000000) == nullptr, "strerrordesc_np");
  expect(std::strcmp(sigdescr_np(SIGSEGV), "Segmentation fault") == 0, "sigdescr_np");
  expect(sigdescr_np(-1) == nullptr && sigdescr_np(1000000) == nullptr, "sigdescr_np");

  std::random_device random;
  int others = 0;
  const auto first = random();
  for (int i = 0; i < 10; ++i)
    others += random() != first ? 1 : 0;
  expect(others > 0, "std::random_device");

  // By the steady clock: not before the time is over.
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  const auto waited = never.wait_for(lock, std::chrono::milliseconds(20));
  expect(waited == std::cv_status::timeout, "std::condition_variable");
  expect(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(20), "its time");

  try {
    throw std::runtime_error("thrown");
  } catch (const std::exception& error) {
    return std::strcmp(error.what(), "thrown") == 0 ? status : 1;
  }
}
