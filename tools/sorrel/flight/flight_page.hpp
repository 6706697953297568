//! FlightPage - the page that a flight recorder writes, and the command that shows more. Pure.
#pragma once

#include <string>

#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/flight/flight_recorder.hpp"

namespace sorrel::tool {

/// The names in `data` are those of docs/reference/file-formats.md, "Flights".
[[nodiscard]] std::string flight_page(const Json& data);

/// The command that has started the job.
[[nodiscard]] std::string command_line(const FlightPlan& plan);

/// A command with which the user learns more about a job that has ended so (`kind`); "": there is
/// none.
[[nodiscard]] std::string next_command(const FlightPlan& plan, const std::string& kind);

/// At most `count_max` elements of each array that has one for each rank. "left_out" and
/// "messages_left_out" have the numbers of the others.
void limit_ranks(Json& data, std::size_t count_max);

}  // namespace sorrel::tool
