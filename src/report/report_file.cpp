#include "report/report_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fixed_text.hpp"
#include "os/json_writer.hpp"
#include "report/wait_chains.hpp"

namespace sorrel::report {

namespace {

constexpr int format_version = 1;

void begin(os::JsonWriter& json, std::string_view kind, int status) {
  json.key("version").value(format_version).key("kind").value(kind);
  json.key("status").value(status);
}

void add(os::JsonWriter& json, std::string_view name, const auto& number) {
  json.key(name);
  if (number) {
    json.value(*number);
  } else {
    json.null();
  }
}

void add(os::JsonWriter& json, const RankWait& wait, std::optional<std::int32_t> awaited) {
  json.begin_object().key("rank").value(wait.rank);
  json.key("call").value(wait.call).key("peer").value(wait.peer).key("tag").value(wait.tag);
  json.key("communicator").value(wait.comm).key("place").value(wait.place);
  if (!wait.explanation.empty()) json.key("explanation").value(wait.explanation);
  add(json, "waits_for", awaited);
  json.end_object();
}

void report_error(const std::string& path, int error) {
  FixedText<600> line;
  const char* what = strerrordesc_np(error);
  line.add("sorrel: cannot write the report ").add(path).add(": ");
  line.add(what != nullptr ? what : "unknown error").add("\n");
  (void)!::write(STDERR_FILENO, line.c_str(), line.text().size());
}

/// Replaces the file by one object, whose members `fill(json)` writes. Nothing for the path "".
template <class Fill>
void write_object(const std::string& path, Fill&& fill) {
  if (path.empty()) return;
  constexpr mode_t mode = 0666;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (descriptor < 0) return report_error(path, errno);
  os::JsonWriter json(descriptor);
  json.begin_object();
  fill(json);
  json.end_object();
  if (const int error = json.flush(); error != 0) report_error(path, error);
  ::close(descriptor);
}

}  // namespace

void ReportFile::write(const Failure& failure) const {
  write_object(path_, [&](os::JsonWriter& json) {
    begin(json, failure.kind, failure.status);
    add(json, "rank", failure.rank);
    add(json, "process", failure.process);
    add(json, "signal", failure.signal);
    json.key("what").value(failure.what).key("calls").begin_array();
    for (const symbols::SourceText& call : failure.calls) {
      if (call[0] == '\0') break;
      json.value(std::string_view(call.data()));
    }
    json.end_array();
  });
}

void ReportFile::write_deadlock(const WaitTable& table, std::int32_t rank_count, int status) const {
  write_object(path_, [&](os::JsonWriter& json) {
    begin(json, "deadlock", status);
    json.key("ranks").value(rank_count).key("unknown").value(table.unknown_count());
    WaitChains chains(table);
    json.key("waits").begin_array();
    for (const RankWait& wait : table.waits())
      add(json, wait, chains.awaited_by(wait));
    json.end_array();
    json.key("unreceived").begin_array();
    for (const Unreceived& messages : table.unreceived()) {
      json.begin_object().key("rank").value(messages.rank).key("count").value(messages.count);
      json.key("what").value(messages.text).end_object();
    }
    json.end_array();
    const auto trail = chains.first_end(rank_count);
    json.key("cycle").begin_array();
    if (trail) {
      for (const std::int32_t rank : trail->cycle)
        json.value(rank);
    }
    json.end_array();
    add(json, "ended", trail ? trail->ended : std::nullopt);
  });
}

}  // namespace sorrel::report
