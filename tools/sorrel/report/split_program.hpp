//! split_program - a traced job with several times as many ranks, each of which has a part of the
//! work of a rank.
//!
//! Each rank becomes `factor` parts on its worker, each with 1/factor of its computing and with as
//! many calls. What a rank computes longer after others have used the caches (cold_start.hpp) is
//! divided by the fourth root of the factor, which fits cg2d with 16 to 256 ranks. Which messages
//! the parts exchange is known for two shapes:
//!
//! *apart*: part j of a rank exchanges what the rank did with the parts j of the others. All parts
//! of two ranks on different nodes then wait for the network, and no two parts wait for each other:
//! right only where messages in flight do not matter.
//!
//! *rows*: consecutive ranks that exchange messages are a row, as in a ring or a grid, which is cut
//! into more pieces. So a part exchanges with the parts before and behind it, and only the first
//! and the last one of a rank with other ranks of the row, by messages as long as before. Part j
//! exchanges with the parts j of ranks of other rows, by messages of 1/factor of the bytes.
#pragma once

#include <cstdint>

#include <sorrel/result.hpp>

#include "tools/sorrel/report/replay_program.hpp"

namespace sorrel::tool {

enum class SplitShape : std::uint8_t { apart, rows };

/// The error says what the messages are, if they are not those of rows, as the end of a sentence.
[[nodiscard]] Result<ReplayProgram> split_program(const ReplayProgram& program,
                                                  std::uint32_t factor,
                                                  SplitShape shape);

}  // namespace sorrel::tool
