//! SpawnService - what the root of a spawn needs of the processes in which new ranks are to run: of
//! its own at once, of another one by a question (process_calls.hpp).
//!
//! A process is asked three times: which program it runs, to make ranks, and to start or drop them.
//! Between the last two the root learns the numbers of all new ranks, since MPI_COMM_WORLD of these
//! may be in several processes. A process that has made ranks may get messages for them.
//!
//! Any rank; functions may suspend where they ask another process.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/comm/spawn_command.hpp"
#include "mpi/job/process_calls.hpp"

namespace sorrel::mpi {

class ProcessWorld;

/// All ranks of a spawn and their parents, by number, and the contexts of what they share.
struct SpawnedFamily {
  std::vector<std::int32_t> ranks;
  std::vector<std::int32_t> parents;
  /// The context of MPI_COMM_WORLD, and of the intercommunicator to the parents and the local
  /// communicator in it.
  std::uint32_t world_context = 0;
  std::uint32_t parent_context = 0;
  std::uint32_t local_context = 0;
};

class SpawnService {
 public:
  struct Room {
    /// Whether the process runs the program.
    bool has_program = false;
    std::int32_t free_count = 0;
    /// Ranks that have finalized MPI soon give their places.
    bool are_any_leaving = false;
  };

  struct Made {
    /// Why there are none, for a user; "": there are.
    std::string error;
    /// In the order of the commands.
    std::vector<std::int32_t> numbers;
  };

  /// `world`, which finds it from here on, outlives it.
  explicit SpawnService(ProcessWorld& world);
  SpawnService(const SpawnService&) = delete;
  SpawnService& operator=(const SpawnService&) = delete;

  /// The room of a process for ranks of the program in `file`; none in one that has ended.
  [[nodiscard]] Room room(std::uint32_t process, const std::string& file);

  /// Makes the ranks of commands whose files are known. They do not run.
  [[nodiscard]] Made make(std::uint32_t process, std::span<const SpawnCommand> commands);

  /// The ranks of the family that this process has made run from here on.
  void start(std::uint32_t process, const SpawnedFamily& family);

  /// The ranks among these numbers that this process has made do not run after all.
  void drop(std::uint32_t process, const std::vector<std::int32_t>& numbers);

 private:
  enum class Operation : std::uint8_t { room, make, start, drop };

  [[nodiscard]] Room own_room(const std::string& file);
  [[nodiscard]] Made make_own(std::span<const SpawnCommand> commands);
  void start_own(const SpawnedFamily& family);
  void drop_own(const std::vector<std::int32_t>& numbers);
  [[nodiscard]] std::vector<RankState*> own_of(const std::vector<std::int32_t>& numbers) const;
  [[nodiscard]] std::optional<std::string> ask(std::uint32_t process, const ByteWriter& question);
  void answer_call(ByteCursor question, ByteWriter& answer);

  ProcessWorld& world_;
  ProcessCalls& calls_;
};

}  // namespace sorrel::mpi
