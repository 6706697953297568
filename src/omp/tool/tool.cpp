#include "omp/tool/tool.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <strings.h>

#include "arch/cpu.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"

namespace sorrel::omp {

constinit std::atomic<ToolPhase> tool_phase{ToolPhase::unknown};

namespace {

using StartTool = ompt::StartResult* (*)(unsigned version, const char* runtime);

constexpr unsigned omp_version = 201511;
constexpr const char* runtime_name = "Sorrel";

enum class Start : std::uint32_t { none, running, done };

/// What the process has once.
struct ToolOfProcess {
  std::atomic<Start> start{Start::none};
  std::atomic<std::uintptr_t> starter{0};  ///< thread pointer
  ToolHooks hooks{};
  ompt::StartResult* result = nullptr;
  /// Release by the thread of the tool that sets one, acquire by a thread that calls it.
  std::array<std::atomic<ompt::Function>, ompt::event_count> callbacks{};
  /// Threads that are in a callback, and the one that ends the tool.
  std::atomic<std::uint32_t> call_count{0};
  std::atomic<std::int32_t> implicit_tasks{0};  ///< open ones
  std::atomic<std::uint64_t> last_id{0};
};

constinit ToolOfProcess tool;

/// `sometimes`: some compilers' code does not call the library there, or a thread ends with the
/// process.
ompt::SetResult result_of(int event) {
  switch (event) {
    case ompt::thread_begin:
    case ompt::parallel_begin:
    case ompt::parallel_end:
    case ompt::task_create:
    case ompt::task_schedule:
    case ompt::implicit_task:
    case ompt::control_tool:
    case ompt::sync_region_wait:
    case ompt::mutex_released:
    case ompt::dependences:
    case ompt::task_dependence:
    case ompt::sync_region:
    case ompt::lock_init:
    case ompt::lock_destroy:
    case ompt::mutex_acquire:
    case ompt::mutex_acquired:
    case ompt::nest_lock:
    case ompt::cancel:
    case ompt::error:
      return ompt::SetResult::always;
    case ompt::thread_end:
    case ompt::target:
    case ompt::target_emi:
    case ompt::target_submit:
    case ompt::target_submit_emi:
    case ompt::work:
    case ompt::masked:
    case ompt::flush:
    case ompt::reduction:
    case ompt::dispatch:
      return ompt::SetResult::sometimes;
    default:
      return ompt::SetResult::never;
  }
}

ompt::SetResult set_callback(int event, ompt::Function callback) {
  if (event < 1 || event >= ompt::event_count) return ompt::SetResult::error;
  tool.callbacks[static_cast<std::size_t>(event)].store(callback, std::memory_order_release);
  return result_of(event);
}

int get_callback(int event, ompt::Function* callback) {
  if (event < 1 || event >= ompt::event_count) return 0;
  *callback = tool.callbacks[static_cast<std::size_t>(event)].load(std::memory_order_acquire);
  return *callback == nullptr ? 0 : 1;
}

/// For a second at most.
template <class Condition>
void nap_while(Condition condition) {
  constexpr int naps_max = 1000;
  constexpr std::int64_t nap_ns = 1'000'000;
  for (int i = 0; i < naps_max && condition(); ++i)
    os::sleep_ns(nap_ns);
}

void finalize_tool() {
  ompt::StartResult* const ended = std::exchange(tool.result, nullptr);
  if (ended == nullptr) return;
  tool.hooks.end_thread();
  // Seq_cst, with ToolCall: a thread in a callback is seen, or sees that the tool has ended.
  tool_phase.store(ToolPhase::off, std::memory_order_seq_cst);
  // A callback may end the process itself.
  nap_while([] { return tool.call_count.load(std::memory_order_seq_cst) != 0; });
  if (ended->finalize != nullptr) ended->finalize(&ended->tool_data);
}

ompt::Function look_up(const char* name) {
  struct Entry {
    const char* name;
    ompt::Function function;
  };

  const Entry entries[] = {{"ompt_set_callback", reinterpret_cast<ompt::Function>(set_callback)},
                           {"ompt_get_callback", reinterpret_cast<ompt::Function>(get_callback)},
                           {"ompt_get_unique_id", reinterpret_cast<ompt::Function>(new_tool_id)},
                           {"ompt_finalize_tool", reinterpret_cast<ompt::Function>(finalize_tool)}};
  for (const Entry& entry : entries) {
    if (std::strcmp(entry.name, name) == 0) return entry.function;
  }
  return tool.hooks.find_inquiry(name);
}

/// What OMP_TOOL_VERBOSE_INIT requests: how a tool is found, on a standard stream or in a file.
class SearchLog {
 public:
  SearchLog() {
    const char* const setting = secure_getenv("OMP_TOOL_VERBOSE_INIT");
    if (setting == nullptr || *setting == '\0' || strcasecmp(setting, "disabled") == 0) return;
    if (strcasecmp(setting, "stdout") == 0) {
      output_ = stdout;
    } else if (strcasecmp(setting, "stderr") == 0) {
      output_ = stderr;
    } else {
      output_ = file_ = std::fopen(setting, "we");
      if (file_ == nullptr)
        std::fprintf(stderr, "sorrel: OMP_TOOL_VERBOSE_INIT: %s: %s\n", setting,
                     std::strerror(errno));
    }
  }

  ~SearchLog() {
    if (file_ != nullptr) std::fclose(file_);
  }

  SearchLog(const SearchLog&) = delete;
  SearchLog& operator=(const SearchLog&) = delete;

  void line(const std::string& text) const {
    if (output_ != nullptr) std::fprintf(output_, "sorrel: OMPT: %s\n", text.c_str());
  }

 private:
  std::FILE* output_ = nullptr;
  std::FILE* file_ = nullptr;
};

/// The tool of the program or of a preloaded library, else the first one of the listed libraries.
ompt::StartResult* find_tool(const SearchLog& log) {
  const auto start_in = [&](void* library, const std::string& name) -> ompt::StartResult* {
    const auto start = reinterpret_cast<StartTool>(dlsym(library, "ompt_start_tool"));
    ompt::StartResult* const found = start == nullptr ? nullptr : start(omp_version, runtime_name);
    const char* const declined = "ompt_start_tool() has declined";
    const char* const result = start == nullptr ? "no ompt_start_tool()" : declined;
    log.line(name + ": " + (found != nullptr ? "a tool" : result));
    return found;
  };
  if (ompt::StartResult* const found = start_in(RTLD_DEFAULT, "program and loaded libraries"))
    return found;
  const char* const listed = secure_getenv("OMP_TOOL_LIBRARIES");
  std::string rest = listed == nullptr ? "" : listed;
  while (!rest.empty()) {
    const std::string path = rest.substr(0, rest.find(':'));
    rest.erase(0, path.size() + 1);
    if (path.empty()) continue;
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const std::string reason = dlerror();
      std::fprintf(stderr, "sorrel: OMP_TOOL_LIBRARIES: %s\n", reason.c_str());
      log.line(path + ": cannot be opened: " + reason);
      continue;
    }
    if (ompt::StartResult* const found = start_in(library, path)) return found;
  }
  return nullptr;
}

void find_and_start() {
  const char* const setting = secure_getenv("OMP_TOOL");
  const SearchLog log;
  if (setting != nullptr && strcasecmp(setting, "disabled") == 0) {
    log.line("OMP_TOOL is disabled");
    return;
  }
  tool.result = find_tool(log);
  if (tool.result == nullptr) {
    log.line("no tool");
    return;
  }
  // Callbacks of events come only after the tool has been initialized.
  ompt::StartResult& found = *tool.result;
  if (found.initialize == nullptr || found.initialize(look_up, 0, &found.tool_data) == 0) {
    tool.result = nullptr;
    log.line("the tool's initialization has declined: no tool");
    return;
  }
  log.line("the tool is initialized");
  tool_phase.store(ToolPhase::on, std::memory_order_relaxed);
  std::atexit(finalize_tool);
}

}  // namespace

void start_tool(const ToolHooks& hooks) {
  if (tool.start.load(std::memory_order_acquire) == Start::done) return;
  Start expected = Start::none;
  if (tool.start.compare_exchange_strong(expected, Start::running, std::memory_order_acquire)) {
    tool.starter.store(arch::thread_pointer(), std::memory_order_relaxed);
    tool.hooks = hooks;
    find_and_start();
    if (!has_tool()) tool_phase.store(ToolPhase::off, std::memory_order_relaxed);
    // Release: the tool's own thread has set its callbacks.
    tool.start.store(Start::done, std::memory_order_release);
    return;
  }
  while (tool.start.load(std::memory_order_acquire) != Start::done &&
         tool.starter.load(std::memory_order_relaxed) != arch::thread_pointer())
    os::yield_core();
}

ToolCall::ToolCall() {
  tool.call_count.fetch_add(1, std::memory_order_seq_cst);
  is_allowed_ = tool_phase.load(std::memory_order_seq_cst) == ToolPhase::on;
}

ToolCall::~ToolCall() {
  tool.call_count.fetch_sub(1, std::memory_order_release);
}

ompt::Function callback_of(ompt::Event event) {
  return tool.callbacks[static_cast<std::size_t>(event)].load(std::memory_order_acquire);
}

void count_implicit_task(std::int32_t change) {
  // Release, pairs with await_implicit_tasks(): the callback has returned.
  tool.implicit_tasks.fetch_add(change, std::memory_order_release);
}

void await_implicit_tasks() {
  nap_while([] { return tool.implicit_tasks.load(std::memory_order_acquire) != 0; });
}

std::uint64_t new_tool_id() {
  // Relaxed: a number by itself.
  return tool.last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace sorrel::omp
