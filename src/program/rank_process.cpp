#include "program/rank_process.hpp"

#include <cstdlib>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "program/libc.hpp"

namespace sorrel::program {

namespace {

// Set before the first rank runs, constant afterwards.
RankHooks rank_hooks;
pid_t home_process = 0;

using Constructor = void (*)(int argc, char** argv, char** environment);
using Destructor = void (*)();

}  // namespace

RankProcess* current_rank_process() {
  return rank_hooks.current != nullptr ? rank_hooks.current() : nullptr;
}

void set_rank_hooks(const RankHooks& hooks) {
  rank_hooks = hooks;
  home_process = ::getpid();
}

bool is_forked_child() {
  return ::getpid() != home_process;
}

void end_rank(RankProcess& process, int status) {
  SORREL_CHECK(rank_hooks.end_rank != nullptr);
  rank_hooks.end_rank(process, status);
  std::abort();
}

RankProcess::RankProcess(const ProgramStart& start,
                         const ImageCopy& copy,
                         int rank,
                         const OutputFormat& format)
    : start_(start),
      copy_(copy),
      rank_(rank),
      arguments_(start.argc, start.argv),
      streams_(rank, format),
      getopt_(copy),
      destructors_left_(copy.image().fini_array().count) {}

RankProcess::~RankProcess() = default;

int RankProcess::run() {
  run_constructors();
  Main main = copy_.counterpart(start_.main);
  return finish(main(arguments_.count(), arguments_.values(), environ));
}

void RankProcess::run_constructors() {
  const Image& image = copy_.image();
  const int argc = arguments_.count();
  char** argv = arguments_.values();
  if (start_.init != nullptr) {
    copy_.counterpart(start_.init)(argc, argv, environ);
    return;
  }
  if (image.init() != 0) copy_.at<void(int, char**, char**)>(image.init())(argc, argv, environ);
  const auto* constructors = copy_.at<const Constructor>(image.init_array().offset);
  for (std::size_t i = 0; i < image.init_array().count; ++i)
    constructors[i](argc, argv, environ);
}

int RankProcess::finish(int status) {
  exit_handlers_.run(status);
  run_destructors();
  streams_.finish();
  return status;
}

void RankProcess::run_destructors() {
  const Image& image = copy_.image();
  const auto* destructors = copy_.at<const Destructor>(image.fini_array().offset);
  while (destructors_left_ > 0)
    destructors[--destructors_left_]();
  if (std::exchange(has_fini_left_, false) && image.fini() != 0) copy_.at<void()>(image.fini())();
}

}  // namespace sorrel::program
