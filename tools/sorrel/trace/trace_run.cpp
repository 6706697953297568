#include "tools/sorrel/trace/trace_run.hpp"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <system_error>
#include <thread>

#include "os/file_size_limit.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/interruptible_work.hpp"
#include "tools/sorrel/common/output_files.hpp"
#include "tools/sorrel/trace/merge.hpp"
#include "tools/sorrel/trace/otf2_merge.hpp"
#include "tools/sorrel/trace/profile.hpp"

namespace sorrel::tool {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t profile_row_count = 20;

void remove_parts(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code ignored;
    const fs::path extension = entry.path().extension();
    if (extension == ".part" || extension == ".rest" || extension == ".done")
      fs::remove(entry.path(), ignored);
  }
}

bool write_trace(const std::string& file, const std::string& folder) {
  const Result<MergedTrace> merged =
      is_otf2_name(file) ? merge_otf2(folder, file) : merge_trace(folder, file);
  if (!merged.has_value()) {
    print_diagnostic("no trace: " + merged.error());
    return false;
  }
  for (const std::string& warning : merged.value().warnings)
    print_diagnostic("warning: left out of the trace: " + warning);
  if (merged.value().cut_off.empty()) return true;
  print_diagnostic("warning: " + merged.value().cut_off);
  return false;
}

bool write_profile(const TraceRequest& request, const std::string& folder) {
  const Result<Profile> profile = read_profile(folder);
  if (!profile.has_value()) {
    print_diagnostic("no profile: " + profile.error());
    return false;
  }
  for (const std::string& warning : profile.value().warnings)
    print_diagnostic("warning: left out of the profile: " + warning);
  if (request.has_profile)
    fmt::print(stderr, "sorrel: {}", table_of(profile.value(), profile_row_count));
  if (request.has_summary) fmt::print(stderr, "sorrel: {}\n", summary_of(profile.value()));
  if (profile.value().use.are_taken()) print_red(profile.value().use.taken_text());
  return request.profile_json.empty() ||
         write_output_file(request.profile_json, json_text_of(profile.value()) + "\n");
}

/// Makes the folder, unless another process has. Returns its absolute path.
Result<std::string> make_folder(const char* option, const std::string& name) {
  std::error_code error;
  const fs::path folder = fs::absolute(name, error);
  if (!error) fs::create_directory(folder, error);
  if (error) {
    return Error{fmt::format("{}: the folder {} cannot be made: {}", option, folder.string(),
                             error.message())};
  }
  return folder.string();
}

/// The folder of the parts of a trace.
Result<std::string> make_parts_folder(const TraceRequest& request) {
  std::error_code error;
  if (is_otf2_name(request.trace)) {
    if (const std::string refusal = otf2_refusal(request.trace); !refusal.empty())
      return Error{"--trace: " + refusal};
  } else if (fs::is_directory(request.trace, error)) {
    return Error{fmt::format("--trace: {} is a folder", request.trace)};
  }
  return make_folder("--trace", request.trace + ".parts");
}

/// The file that a process writes when its parts are complete.
fs::path done_file(const std::string& folder, const std::string& job, std::uint32_t process) {
  return fs::path(folder) / fmt::format("{}-{}.done", job, process);
}

/// How many of the processes have complete parts.
std::uint32_t count_done(const std::string& folder, const HostProcess& own) {
  std::uint32_t count = 0;
  std::error_code error;
  for (std::uint32_t process = 0; process < own.count; ++process)
    count += fs::exists(done_file(folder, own.job, process), error) ? 1 : 0;
  return count;
}

}  // namespace

Result<std::string> make_trace_folder(const TraceRequest& request) {
  if (request.trace.empty()) return make_temporary_folder("--profile", "profile");
  Result<std::string> folder = make_parts_folder(request);
  if (folder.has_value()) remove_parts(folder.value());
  return folder;
}

Result<std::string> make_host_trace_folder(const TraceRequest& request, const std::string& job) {
  if (!request.trace.empty()) return make_parts_folder(request);
  return make_folder("--profile", fmt::format("sorrel-profile-{}.parts", job));
}

void finish_trace(const TraceRequest& request, const std::string& folder) {
  const auto remove_folder = [&] {
    remove_parts(folder);
    std::error_code ignored;
    fs::remove(folder, ignored);
  };
  bool is_interrupted = false;
  const int status = run_interruptibly(
      [&] {
        os::make_file_size_limit_an_error();
        const bool has_trace = request.trace.empty() || write_trace(request.trace, folder);
        const bool has_profile = !request.needs_profile() || write_profile(request, folder);
        return has_trace && has_profile ? 0 : 1;
      },
      [&] {
        is_interrupted = true;
        print_diagnostic("interrupted; the events of the job are removed");
        if (!request.trace.empty()) remove_trace(request.trace);
        remove_folder();
      });
  if (is_interrupted) return;
  if (status == 0) {
    remove_folder();
    return;
  }
  print_diagnostic(fmt::format(
      "note: the events of the job are in {}; `sorrel trace -o FILE {}` makes a trace of them",
      folder, folder));
}

void finish_host_trace(const TraceRequest& request,
                       const std::string& folder,
                       const HostProcess& own) {
  std::ofstream(done_file(folder, own.job, own.index)).flush();
  if (own.index != 0) return;
  constexpr std::chrono::milliseconds pause(5);
  // The launcher may wait for the end of a process that has failed before it ends the others.
  const std::chrono::milliseconds patience(own.has_failed ? 200 : 10'000);
  const auto give_up = std::chrono::steady_clock::now() + patience;
  std::uint32_t done = count_done(folder, own);
  for (; done < own.count && std::chrono::steady_clock::now() < give_up;
       done = count_done(folder, own))
    std::this_thread::sleep_for(pause);
  if (done == own.count) return finish_trace(request, folder);
  print_diagnostic(fmt::format(
      "note: {} of {} processes have written their events into {}, which the nodes must share; "
      "`sorrel trace -o FILE {}` makes a trace of all parts, put into one folder",
      done, own.count, folder, folder));
}

}  // namespace sorrel::tool
