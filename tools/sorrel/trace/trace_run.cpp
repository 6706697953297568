#include "tools/sorrel/trace/trace_run.hpp"

#include <cstdio>
#include <filesystem>
#include <fmt/core.h>
#include <system_error>

#include "os/file_size_limit.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
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
    if (extension == ".part" || extension == ".rest") fs::remove(entry.path(), ignored);
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
  return request.profile_json.empty() ||
         write_output_file(request.profile_json, json_text_of(profile.value()) + "\n");
}

}  // namespace

Result<std::string> make_trace_folder(const TraceRequest& request, bool is_only_process) {
  if (request.trace.empty()) return make_temporary_folder("--profile", "profile");
  std::error_code error;
  if (is_otf2_name(request.trace)) {
    if (const std::string refusal = otf2_refusal(request.trace); !refusal.empty())
      return Error{"--trace: " + refusal};
  } else if (fs::is_directory(request.trace, error)) {
    return Error{fmt::format("--trace: {} is a folder", request.trace)};
  }
  const fs::path folder = fs::absolute(request.trace + ".parts", error);
  if (!error) fs::create_directory(folder, error);
  if (error) {
    return Error{
        fmt::format("--trace: the folder {} cannot be made: {}", folder.string(), error.message())};
  }
  if (is_only_process) remove_parts(folder);
  return folder.string();
}

void finish_trace(const TraceRequest& request, const std::string& folder) {
  os::make_file_size_limit_an_error();
  bool is_written = request.trace.empty() || write_trace(request.trace, folder);
  if (request.needs_profile()) is_written = write_profile(request, folder) && is_written;
  if (!is_written) {
    print_diagnostic(fmt::format(
        "note: the events of the job are in {}; `sorrel trace -o FILE {}` makes a trace of them",
        folder, folder));
    return;
  }
  remove_parts(folder);
  std::error_code ignored;
  fs::remove(folder, ignored);
}

}  // namespace sorrel::tool
