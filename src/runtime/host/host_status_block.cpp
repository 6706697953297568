#include "runtime/host/host_status_block.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <poll.h>
#include <string_view>
#include <unistd.h>

#include "os/shared_segment.hpp"

namespace sorrel::runtime {

using transport::HostPhase;
using transport::HostStatus;

namespace {

// A process has one, until it ends; null without a parent that reads it.
HostStatus* the_host_status = nullptr;

/// Records the host's segments, which the parent unlinks after a failure.
void record_segments() {
  static constexpr std::string_view folder = "/dev/shm/";
  std::ifstream maps("/proc/self/maps");
  std::string names;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t at = line.find(folder);
    if (at == std::string::npos) continue;
    const std::string name = line.substr(at + folder.size()) + "\n";
    // A segment that is already unlinked has a remark after its name.
    if (!transport::is_host_segment(name) || name.find(' ') != std::string::npos) continue;
    if (names.find(name) == std::string::npos &&
        names.size() + name.size() < the_host_status->segments.size())
      names += name;
  }
  std::memcpy(the_host_status->segments.data(), names.data(), names.size());
}

}  // namespace

void map_host_status(int descriptor, const std::string& wrapper) {
  static os::SharedSegment& segment = *new os::SharedSegment;
  segment = os::SharedSegment::adopt(descriptor, sizeof(HostStatus));
  if (segment.is_valid()) the_host_status = reinterpret_cast<HostStatus*>(segment.base());
  if (wrapper.empty()) return;
  if (the_host_status == nullptr) {
    end_host_process(host_usage_error_status,
                     "%s has closed descriptor %d, by which `sorrel run` passes the job on",
                     wrapper.c_str(), descriptor);
  }
  // Acquire: orders this after the earlier program's end.
  if (the_host_status->phase.load(std::memory_order_acquire) != HostPhase::starting) {
    // The first process reports for all; the launcher ends the others.
    if (the_host_status->process != 0) ::poll(nullptr, 0, 1000);
    end_host_process(host_usage_error_status,
                     "%s has started a second MPI program; under a host MPI a process can run one",
                     wrapper.c_str());
  }
}

void publish_host_status(std::uint32_t process,
                         std::uint32_t process_count,
                         std::int32_t first_rank,
                         std::int32_t last_rank) {
  if (the_host_status == nullptr) return;
  record_segments();
  the_host_status->process = process;
  the_host_status->process_count = process_count;
  the_host_status->first_rank = first_rank;
  the_host_status->last_rank = last_rank;
  set_host_phase(HostPhase::joined);
}

void set_host_phase(HostPhase phase) {
  // Release, pairs with the parent's acquire: the data of the status block.
  if (the_host_status != nullptr) the_host_status->phase.store(phase, std::memory_order_release);
}

void end_host_process(int status, const char* format, ...) {
  char text[400];
  va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  set_host_phase(HostPhase::ending);
  std::fprintf(stderr, "sorrel: %s\n", text);
  _exit(status);
}

}  // namespace sorrel::runtime
