#include "launch/job_spec.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdlib>

#include "base/hash.hpp"
#include "base/text.hpp"

namespace sorrel::launch {

namespace {

constexpr char field_end = ':';
constexpr char element_end = ',';
constexpr char part_end = '/';
constexpr std::string_view digits = "0123456789abcdef";

/// Calls `field(name, member)` for every field, in the order in which they are written.
template <class Spec, class Field>
void for_each_field(Spec& spec, Field&& field) {
  field("ranks", spec.rank_count);
  field("workers", spec.worker_count);
  field("processes", spec.process_count);
  field("universe", spec.universe_size);
  field("parts", spec.parts);
  field("process", spec.own_process);
  field("process_mode", spec.process_mode);
  field("comm_worker", spec.has_comm_worker);
  field("cpus", spec.cpus);
  field("unbound", spec.is_unbound);
  field("stack", spec.stack_bytes);
  field("label", spec.has_rank_labels);
  field("verbose", spec.is_verbose);
  field("balance", spec.balance);
  field("moves_between", spec.moves_between);
  field("seed", spec.seed);
  field("wire", spec.wire);
  field("eager", spec.eager_bytes_max);
  field("shared", spec.shared_libraries);
  field("private", spec.private_libraries);
  field("memory", spec.memory_descriptor);
  field("launcher", spec.launcher);
  field("blocks_requests", spec.blocks_requests);
  field("wrapper", spec.wrapper.name);
  field("wrapped", spec.wrapper.program);
  field("command", spec.wrapper.command);
  field("library_path", spec.wrapper.library_path);
  field("claims", spec.wrapper.claims_descriptor);
  field("host", spec.host_mpi.name);
  field("host_plugin", spec.host_mpi.plugin);
  field("host_library", spec.host_mpi.library);
  field("host_status", spec.host_mpi.status_descriptor);
  field("host_daemon", spec.host_mpi.daemon);
  field("host_aborts", spec.host_mpi.must_abort);
  field("trace", spec.trace_folder);
  field("check", spec.check_folder);
  field("report", spec.report_file);
  field("checkpoint", spec.checkpoint_folder);
  field("checkpoint_lock", spec.checkpoint_lock);
  field("checkpoint_key", spec.checkpoint_key);
  field("checkpoint_files", spec.checkpoint_files);
  field("every", spec.save_period_ns);
  field("restart", spec.restart_generation);
  field("restart_note", spec.restart_note_descriptor);
  field("old_library_path", spec.old_library_path);
  field("preloaded", spec.preloaded);
}

/// Calls `part(member)` for the parts of a wire, in the order in which they are written.
template <class Spec, class Part>
void for_each_part(Spec& wire, Part&& part) {
  part(wire.node_count);
  part(wire.latency_ns);
  part(wire.jitter_ns);
  part(wire.bytes_per_second);
  part(wire.seed);
}

std::string text_of_value(bool value) {
  return value ? "1" : "0";
}

std::string text_of_value(std::integral auto value) {
  return std::to_string(value);
}

std::string text_of_value(Balance value) {
  return std::to_string(static_cast<int>(value));
}

std::string text_of_value(double value) {
  return text_of("%.17g", value);
}

/// All but letters, digits and a few harmless characters as %XX.
std::string text_of_value(const std::string& value) {
  std::string text;
  for (const char letter : value) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool is_plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= 'a' && byte <= 'z') ||
                          std::string_view("/._-+=@").find(letter) != std::string_view::npos;
    text +=
        is_plain ? std::string(1, letter) : std::string{'%', digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

std::string text_of_value(const WireSpec& wire) {
  std::string text;
  for_each_part(wire, [&](const auto& part) {
    text += (text.empty() ? "" : std::string(1, element_end)) + text_of_value(part);
  });
  return text;
}

std::string text_of_value(const PartSpec& part) {
  return text_of("%d/%u/%u", part.rank_count, part.process_count, part.worker_count);
}

template <class Value>
std::string text_of_value(const std::optional<Value>& value) {
  return text_of_value(*value);
}

template <class Value>
std::string text_of_value(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values) {
    if (&value != values.data()) text += element_end;
    text += text_of_value(value);
  }
  return text;
}

bool read(std::string_view text, bool& value) {
  value = true;
  return text == "1";
}

bool read(std::string_view text, std::integral auto& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool read(std::string_view text, Balance& value) {
  int number = 0;
  if (!read(text, number) || number < 0 || number > static_cast<int>(Balance::measured))
    return false;
  value = static_cast<Balance>(number);
  return true;
}

bool read(std::string_view text, double& value) {
  value = std::strtod(std::string(text).c_str(), nullptr);
  return true;
}

bool read(std::string_view text, std::string& value) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      value += text[i];
      continue;
    }
    const std::size_t high = i + 2 < text.size() ? digits.find(text[i + 1]) : digits.npos;
    const std::size_t low = i + 2 < text.size() ? digits.find(text[i + 2]) : digits.npos;
    if (high == digits.npos || low == digits.npos) return false;
    value += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return true;
}

/// Removes the text up to `end`, or all of it, from the front.
std::string_view take_until(char end, std::string_view& text) {
  const std::string_view taken = text.substr(0, text.find(end));
  text.remove_prefix(std::min(taken.size() + 1, text.size()));
  return taken;
}

bool read(std::string_view text, WireSpec& wire) {
  bool is_valid = true;
  for_each_part(
      wire, [&](auto& part) { is_valid = is_valid && read(take_until(element_end, text), part); });
  return is_valid;
}

bool read(std::string_view text, PartSpec& part) {
  return read(take_until(part_end, text), part.rank_count) &&
         read(take_until(part_end, text), part.process_count) && read(text, part.worker_count);
}

template <class Value>
bool read(std::string_view text, std::optional<Value>& value) {
  return read(text, value.emplace());
}

template <class Value>
bool read(std::string_view text, std::vector<Value>& values) {
  const auto count = std::count(text.begin(), text.end(), element_end) + 1;
  values.resize(static_cast<std::size_t>(count));
  return std::all_of(values.begin(), values.end(),
                     [&](Value& value) { return read(take_until(element_end, text), value); });
}

/// A hash in hexadecimal digits.
std::string seal_of(std::string_view text) {
  const std::uint64_t hash = hash_of(text);
  std::string seal;
  for (int shift = 60; shift >= 0; shift -= 4)
    seal += digits[hash >> shift & 15];
  return seal;
}

}  // namespace

std::string encode(const JobSpec& spec) {
  std::string text;
  for_each_field(spec, [&]<class Value>(const char* name, const Value& value) {
    if (value != Value{}) text += std::string(name) + '=' + text_of_value(value) + field_end;
  });
  return text + "seal=" + seal_of(text);
}

std::optional<JobSpec> decode(std::string_view text) {
  JobSpec spec;
  bool is_valid = true;
  std::string_view rest = text;
  for_each_field(spec, [&]<class Value>(std::string_view name, Value& value) {
    value = Value{};
    std::string_view word = rest.substr(0, rest.find(field_end));
    if (take_until('=', word) != name) return;
    (void)take_until(field_end, rest);
    is_valid = is_valid && read(word, value);
  });
  // Every job has one text: whatever was left over or written in another way shows here.
  if (!is_valid || encode(spec) != text) return std::nullopt;
  return spec;
}

}  // namespace sorrel::launch
