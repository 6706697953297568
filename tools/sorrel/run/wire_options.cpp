#include "tools/sorrel/run/wire_options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <span>

#include "tools/sorrel/common/numbers.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint64_t nodes_max = 1024;
constexpr double rate_max = 1e15;

struct Unit {
  std::string_view name;
  double factor;
};

constexpr std::array time_units = {Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3},
                                   Unit{"s", 1.0},   Unit{"min", 60},  Unit{"h", 3600}};
constexpr std::array rate_units = {Unit{"B/s", 1.0}, Unit{"kB/s", 1e3}, Unit{"MB/s", 1e6},
                                   Unit{"GB/s", 1e9}};

/// A finite number that is not negative, directly followed by one of the units; in the unit of
/// factor 1.
std::optional<double> parse_quantity(std::string_view text, std::span<const Unit> units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  // from_chars accepts "nan" and "inf" too.
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit_name(end, text.data() + text.size());
  const auto unit = std::ranges::find(units, unit_name, &Unit::name);
  if (unit == units.end()) return std::nullopt;
  value *= unit->factor;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::string read_delay(std::string_view name, std::string_view value, std::int64_t& ns) {
  const auto delay_ns = parse_delay(value);
  if (!delay_ns)
    return fmt::format("{} must be a time such as 500ns, 20us or 1ms, at most 10s, not '{}'", name,
                       value);
  ns = *delay_ns;
  return {};
}

std::string read_part(std::string_view name, std::string_view value, WireOptions& wire) {
  if (name == "latency") return read_delay("latency", value, wire.latency_ns);
  if (name == "jitter") {
    wire.has_jitter = true;
    return read_delay("jitter", value, wire.jitter_ns);
  }
  if (name == "bandwidth") {
    const auto rate = parse_quantity(value, rate_units);
    if (!rate || *rate < 1 || *rate > rate_max)
      return fmt::format(
          "bandwidth must be a rate such as 100MB/s or 1GB/s, from 1B/s to 1e6GB/s, not '{}'",
          value);
    wire.bytes_per_second = *rate;
    return {};
  }
  if (name == "nodes") {
    const auto count = parse_count(value);
    if (!count || *count < 2 || *count > nodes_max)
      return fmt::format("nodes must be a whole number from 2 to {}, not '{}'", nodes_max, value);
    wire.node_count = static_cast<std::uint32_t>(*count);
    return {};
  }
  return fmt::format("'{}' is not one of latency=TIME, bandwidth=RATE, nodes=N, jitter=TIME", name);
}

}  // namespace

std::optional<std::int64_t> parse_delay(std::string_view text, double seconds_max) {
  const auto seconds = parse_quantity(text, time_units);
  if (!seconds || *seconds > seconds_max) return std::nullopt;
  return static_cast<std::int64_t>(*seconds * 1e9 + 0.5);
}

std::string parse_wire(std::string_view text, WireOptions& wire) {
  std::set<std::string_view> seen;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    if (name.empty()) return "each part must be NAME=VALUE, and one has no name";
    if (equals == std::string_view::npos)
      return fmt::format("'{}' is not one of latency=TIME, bandwidth=RATE, nodes=N, jitter=TIME",
                         part);
    if (!seen.insert(name).second) return fmt::format("{} is given twice", name);
    std::string error = read_part(name, part.substr(equals + 1), wire);
    if (!error.empty()) return error;
  }
  if (seen.empty())
    return "give at least one of latency=TIME, bandwidth=RATE, nodes=N, jitter=TIME";
  return {};
}

}  // namespace sorrel::tool
