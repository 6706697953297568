//! WaitTable - which ranks wait, in which call, and for which rank: of a process or of a job.
//!
//! Each process makes its own table. Tables of other processes arrive as text, which contains no
//! pointer. For reports only: that of a deadlock, and that of what every rank does. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sorrel::report {

/// The beginning of RankWait::peer in a wait for work of a device.
inline constexpr const char* peer_on_gpu = "GPU";

struct RankWait {
  std::int32_t rank = 0;
  /// "runs on worker 0"; empty in a table of ranks all of which wait.
  std::string state;
  std::string call;
  std::string peer;  ///< "from 3", "to 3 +2 more", "from any", "GPU stream 0x5f00, 1.5 s", "-"
  std::string tag;
  std::string comm;
  std::string place;
  /// The explanation by a library of the rank; empty without one.
  std::string explanation;
  /// A rank of the job that it waits for, if one can be named.
  std::optional<std::int32_t> awaited;
  /// The context of the communicator of the collective in which it waits.
  std::optional<std::uint32_t> collective;
};

/// The heap of a rank, in bytes.
struct RankMemory {
  std::int32_t rank = 0;
  std::uint64_t in_use = 0;  ///< Blocks of the rank.
  std::uint64_t held = 0;    ///< These, and memory that is kept for later ones.
  std::uint64_t most = 0;    ///< The most that it has held.
};

/// Messages that have come to a rank, and that none of its receives matches.
struct Unreceived {
  std::int32_t rank = 0;
  std::uint64_t count = 0;
  /// "from 0 with tag 8 (4 bytes, MPI_COMM_WORLD): it waits for tag 7"
  std::string text;
};

class WaitTable {
 public:
  /// More rows than fit on a screen are of no use.
  static constexpr std::size_t row_count_max = 40;

  /// Ranks of the job from `first` to `last`, both included.
  struct Run {
    std::int32_t first;
    std::int32_t last;
  };

  /// Adds the row of a rank, above those added before.
  void add(RankWait wait) { waits_.push_back(std::move(wait)); }

  /// Adds the heap of a rank, above those added before.
  void add(RankMemory memory) { memory_.push_back(memory); }

  /// Adds messages of a rank, behind those added before.
  void add(Unreceived messages) { unreceived_.push_back(std::move(messages)); }

  struct StuckRank {
    std::int32_t rank;
    /// A rank that it waits for, if one can be named.
    std::optional<std::int32_t> awaited;
  };

  /// Leaves only these ranks, ascending, in the table, with the ranks that they wait for. The other
  /// ranks run, or wait for something else.
  void keep_only(const std::vector<StuckRank>& ranks);

  /// Whether keep_only() has left ranks out.
  [[nodiscard]] bool is_part() const { return is_part_; }

  /// Sets the members of a communicator, given the ranks of the job in its order; only the first
  /// call for a context has an effect.
  template <class RankOf>
  void add_members(std::uint32_t context, std::int32_t count, RankOf&& rank_of) {
    std::vector<Run>& runs = members_[context];
    if (!runs.empty()) return;
    for (std::int32_t member = 0; member < count; ++member)
      append(runs, rank_of(member));
  }

  /// As text of at most `bytes_max`. Ranks that do not fit are listed as unknown; those that wait
  /// alike with many others are dropped first. Before them, heaps and messages are left out.
  [[nodiscard]] std::string text(std::size_t bytes_max) const;

  /// Adds the text of another process's table.
  void add(std::string_view text);

  /// The ranks [first, last) belong to a process that has not answered.
  void add_unknown(std::int32_t first, std::int32_t last);

  /// Ascending by rank.
  [[nodiscard]] const std::vector<RankWait>& waits() const { return waits_; }

  /// Memory of the ranks that have a heap of their own. Ascending by rank.
  [[nodiscard]] const std::vector<RankMemory>& memory() const { return memory_; }

  /// In the order of the ranks.
  [[nodiscard]] const std::vector<Unreceived>& unreceived() const { return unreceived_; }

  [[nodiscard]] std::int32_t unknown_count() const;

  /// Whether the rank is listed as unknown: it may wait.
  [[nodiscard]] bool is_unknown(std::int32_t rank) const;

  /// Null when the rank does not wait.
  [[nodiscard]] const RankWait* wait_of(std::int32_t rank) const;

  /// The first member of the communicator that does not wait in a collective of it: the rank that
  /// the others wait for. O(members).
  [[nodiscard]] std::optional<std::int32_t> first_absent(std::uint32_t context) const;

 private:
  /// Ranks whose other fields are equal, as text.
  struct Line {
    std::string kind;
    std::vector<Run> ranks;
    std::string fields;
  };

  static void append(std::vector<Run>& runs, std::int32_t rank);
  [[nodiscard]] std::vector<Line> lines() const;
  void add_line(std::string_view line);
  void sort();

  std::vector<RankWait> waits_;
  std::vector<RankMemory> memory_;
  std::vector<Unreceived> unreceived_;
  bool is_part_ = false;
  /// By context, in the order of the communicator.
  std::map<std::uint32_t, std::vector<Run>> members_;
  std::vector<Run> unknown_;
};

}  // namespace sorrel::report
