#include "trace/tracer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>

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

Tracer::Tracer(const std::string& folder, Origin origin, std::atomic_flag& has_reported)
    : has_reported_(has_reported),
      path_(folder + "/" + std::to_string(origin.process) + "-" +
            (origin.worker == no_worker ? "governor" : std::to_string(origin.worker)) + ".part") {
  if (const int error = file_.create(path_.c_str()); error != 0) {
    stop(error);
    return;
  }
  if (!grow()) return;
  // The file begins with it; the clock follows.
  const std::uint64_t number = std::uint64_t{origin.process} << 32 | origin.worker;
  const Record clock = next_[-1];
  next_[-1] = Record::now(Kind::begin, number, file_format, file_version);
  add(clock);
  std::string machine;
  if (read_small_file("/proc/sys/kernel/random/boot_id", text_bytes_max, machine).empty())
    add_text(static_cast<std::uint64_t>(TextName::machine), machine);
}

Tracer::~Tracer() {
  if (has_stopped_) return;
  add_clock();
  const std::int64_t unused = (end_ - next_) * static_cast<std::int64_t>(sizeof(Record));
  file_.finish(size_ - unused);
}

bool Tracer::grow() {
  if (has_stopped_) return false;
  if (const int error = file_.next_chunk(chunk_bytes_); error != 0) {
    stop(error);
    return false;
  }
  size_ += static_cast<std::int64_t>(chunk_bytes_);
  next_ = reinterpret_cast<Record*>(file_.chunk());
  end_ = next_ + chunk_bytes_ / sizeof(Record);
  chunk_bytes_ = std::min(2 * chunk_bytes_, chunk_bytes_max);
  add_clock();
  return true;
}

/// Merging compares the clocks of processes by it.
void Tracer::add_clock() {
  add(Record::now(Kind::clock, static_cast<std::uint64_t>(os::monotonic_ns()),
                  static_cast<std::uint64_t>(wall_clock_ns())));
}

void Tracer::stop(int error) {
  has_stopped_ = true;
  next_ = end_;
  if (has_reported_.test_and_set(std::memory_order_relaxed)) return;
  std::fprintf(stderr, "sorrel: the trace ends here: %s: %s\n", path_.c_str(),
               std::strerror(error));
}

void Tracer::add_text(std::uint64_t name, std::string_view text) {
  text = text.substr(0, text_bytes_max);
  const auto record_count =
      static_cast<std::ptrdiff_t>(1 + (text.size() + sizeof(Record) - 1) / sizeof(Record));
  // In one chunk: the next one begins with a clock.
  if (end_ - next_ < record_count && !grow()) return;
  add(Record::now(Kind::text, name, text.size()));
  std::memcpy(static_cast<void*>(next_), text.data(), text.size());
  next_ += record_count - 1;
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
