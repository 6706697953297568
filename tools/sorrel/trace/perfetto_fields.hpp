//! The numbers of the fields in Perfetto's format, by message, and the names in traces of Sorrel:
//! what PerfettoFile writes and JobTrace reads.
#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel::tool::perfetto {

namespace file_field {
inline constexpr std::uint32_t packet = 1;
}

namespace packet_field {
inline constexpr std::uint32_t timestamp = 8, sequence = 10, event = 11, definitions = 12,
                               sequence_flags = 13, descriptor = 60;
}

namespace event_field {
inline constexpr std::uint32_t category = 3, annotation = 4, type = 9, name = 10, track = 11,
                               counter_value = 30, place = 34, flow_begin = 47, flow_end = 48;
}

namespace descriptor_field {
inline constexpr std::uint32_t track = 1, name = 2, process = 3, thread = 4, parent = 5,
                               counter = 8, ordering = 11, order = 12;
}

namespace process_field {
inline constexpr std::uint32_t number = 1, name = 6;
}

namespace thread_field {
inline constexpr std::uint32_t process = 1, number = 2, name = 5;
}

namespace counter_field {
inline constexpr std::uint32_t unit_name = 6;
}

namespace definition_field {
inline constexpr std::uint32_t category = 1, event_name = 2, place = 4;
}

namespace name_field {
inline constexpr std::uint32_t number = 1, name = 2;
}

namespace place_field {
inline constexpr std::uint32_t number = 1, file = 2, function = 3, line = 4;
}

namespace annotation_field {
inline constexpr std::uint32_t unsigned_value = 3, signed_value = 4, name = 10;
}

/// The number of the first process: smaller ones are Perfetto's own.
inline constexpr std::uint32_t first_process = 1;

enum EventType : std::uint8_t { slice_begin = 1, slice_end = 2, instant = 3, counter = 4 };

// Names of tracks and slices.
inline constexpr std::string_view rank_prefix = "rank ", worker_prefix = "worker ",
                                  node_prefix = "ranks of simulated node ", idle_name = "idle",
                                  away_name = "no thread", wait_name = "waits",
                                  wait_prefix = "waits in ";
// Names of counters of a process.
inline constexpr std::string_view width_name = "threads granted", core_time_name = "core time",
                                  core_wait_name = "waiting for cores";
// Categories of slices that are no calls of MPI, and of events of packets.
inline constexpr std::string_view loop_category = "loop", task_category = "task",
                                  openmp_category = "openmp", loan_category = "loan",
                                  packet_category = "packet", move_category = "move";
// Names of annotations.
inline constexpr std::string_view comm_name = "communicator", root_name = "root", tag_name = "tag",
                                  bytes_name = "bytes";

}  // namespace sorrel::tool::perfetto
