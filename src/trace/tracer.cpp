#include "trace/tracer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>

#include "arch/cpu.hpp"
#include "base/small_file.hpp"
#include "os/clock.hpp"
#include "os/code_map.hpp"

namespace sorrel::trace {

namespace {

/// A longer one is cut.
constexpr std::size_t text_bytes_max = 4096;

std::int64_t wall_clock_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

Tracer::Tracer(const std::string& folder,
               Origin origin,
               std::uint64_t bytes_max,
               std::atomic_flag& has_reported)
    : has_reported_(has_reported),
      path_(folder + "/" + std::to_string(origin.process) + "-" +
            (origin.worker == no_worker ? "governor" : std::to_string(origin.worker))),
      bytes_max_(bytes_max) {
  if (const int error = file_.create(path_ + ".part", path_ + ".rest", buffer_bytes); error != 0) {
    stop(std::strerror(error));
    return;
  }
  next_ = file_.buffer();
  end_ = next_ + buffer_bytes;
  const std::uint64_t number = std::uint64_t{origin.process} << 32 | origin.worker;
  add(Record::now(Kind::begin, number, file_format, file_version));
  add_clock();
  std::string machine;
  if (read_small_file("/proc/sys/kernel/random/boot_id", text_bytes_max, machine).empty())
    add_text(static_cast<std::uint64_t>(TextName::machine), machine);
}

Tracer::~Tracer() {
  if (has_stopped_) return;
  add_clock();
  if (!has_stopped_) file_.finish();
}

void Tracer::add(const Record& record) {
  if (!has_space(record_bytes_max)) [[unlikely]]
    return;
  next_ = encoder_.encode(record, next_);
  set_filled();
}

bool Tracer::has_space(std::size_t bytes) {
  return static_cast<std::size_t>(end_ - next_) >= bytes || empty_buffer();
}

bool Tracer::empty_buffer() {
  if (has_stopped_) return false;
  if (const int error = file_.append(); error != 0) {
    stop(std::strerror(error));
    return false;
  }
  next_ = file_.buffer();
  add_clock();
  // Space for one more buffer, and for the last clock.
  if (file_.appended_bytes() + buffer_bytes + record_bytes_max <= bytes_max_) return true;
  stop_at_limit();
  return false;
}

void Tracer::stop_at_limit() {
  file_.finish();
  char reason[120];
  std::snprintf(reason, sizeof reason,
                "it has %llu MiB, the share of a worker in the limit of %llu MiB",
                static_cast<unsigned long long>(file_.appended_bytes() >> 20),
                static_cast<unsigned long long>(job_bytes_max >> 20));
  stop(reason);
}

/// Merging compares the clocks of processes by it. The thread may be interrupted between the
/// readings, which then do not belong together: the closest ones of several are taken.
void Tracer::add_clock() {
  constexpr int attempts = 4;
  std::uint64_t least_cycles = ~std::uint64_t{0};
  Record closest;
  for (int i = 0; i < attempts; ++i) {
    const std::uint64_t began = arch::cycles();
    Record record{.time_and_kind = static_cast<std::uint8_t>(Kind::clock),
                  .subject = static_cast<std::uint64_t>(os::monotonic_ns()),
                  .first = static_cast<std::uint64_t>(wall_clock_ns())};
    const std::uint64_t cycles = arch::cycles() - began;
    if (cycles >= least_cycles) continue;
    least_cycles = cycles;
    record.set_time(began + cycles / 2);
    closest = record;
  }
  add(closest);
}

void Tracer::stop(const char* reason) {
  has_stopped_ = true;
  next_ = end_;
  if (has_reported_.test_and_set(std::memory_order_relaxed)) return;
  std::fprintf(stderr, "sorrel: the trace ends here: %s.part: %s\n", path_.c_str(), reason);
}

void Tracer::add_text(std::uint64_t name, std::string_view text) {
  text = text.substr(0, text_bytes_max);
  // Record and text together: a reader finds both or none.
  if (!has_space(record_bytes_max + text.size())) return;
  next_ = encoder_.encode(Record::now(Kind::text, name, text.size()), next_);
  std::memcpy(next_, text.data(), text.size());
  next_ += text.size();
  set_filled();
}

void Tracer::add_code() {
  const std::vector<os::CodeRange> ranges = os::read_code_map();
  std::map<std::string_view, std::uint64_t> names;
  for (const os::CodeRange& range : ranges) {
    const auto [name, is_new] = names.try_emplace(
        range.path, static_cast<std::uint64_t>(TextName::first_path) + names.size());
    constexpr std::uint64_t name_count_max = 0xffff;
    if (name->second > name_count_max) continue;
    if (is_new) add_text(name->second, range.path);
    add(Record::now(Kind::code, range.begin, range.end, name->second << 48 | range.offset));
  }
}

}  // namespace sorrel::trace
