//! ProcessMap - the assignment of a communicator's members to processes.
//!
//! Made only for communicators that span several processes; every process that has members computes
//! the same map. Processes are numbered by *index*, in ascending order of their number in the job.
//! So are the nodes, in the order of their first processes, the node leaders. Constant after
//! construction, any thread may read. Size: O(members).
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/base/rank_layout.hpp"
#include "mpi/comm/rank_tree.hpp"

namespace sorrel::mpi {

class Group;

class ProcessMap {
 public:
  /// Consecutive members that live in one process.
  struct Run {
    std::int32_t process_index;
    std::int32_t first;
    std::int32_t last;  ///< One behind.
  };

  ProcessMap(const RankLayout& layout, const Group& group, const transport::Transport& transport);

  /// Whether a group has members in more than one process.
  static bool spans(const RankLayout& layout, const Group& group);

  [[nodiscard]] std::int32_t count() const { return static_cast<std::int32_t>(processes_.size()); }

  [[nodiscard]] std::int32_t own_index() const { return own_index_; }

  [[nodiscard]] std::int32_t index_of(std::int32_t rank) const {
    SORREL_ASSERT(static_cast<std::size_t>(rank) < index_of_rank_.size());
    return index_of_rank_[static_cast<std::size_t>(rank)];
  }

  /// The members in a process, ascending.
  [[nodiscard]] const std::vector<std::int32_t>& members(std::int32_t index) const {
    return at(index).members;
  }

  [[nodiscard]] const std::vector<std::int32_t>& own_members() const { return members(own_index_); }

  /// The first member of a process, which represents it.
  [[nodiscard]] std::int32_t process_leader(std::int32_t index) const {
    return members(index).front();
  }

  /// The first member of this process.
  [[nodiscard]] std::int32_t own_leader() const { return process_leader(own_index_); }

  [[nodiscard]] std::int32_t node_count() const { return static_cast<std::int32_t>(nodes_.size()); }

  /// The node of a process.
  [[nodiscard]] std::int32_t node_of(std::int32_t index) const { return at(index).node; }

  [[nodiscard]] std::int32_t own_node() const { return node_of(own_index_); }

  /// The processes of a node, ascending.
  [[nodiscard]] const std::vector<std::int32_t>& on_node(std::int32_t node) const {
    SORREL_ASSERT(node >= 0 && node < node_count());
    return nodes_[static_cast<std::size_t>(node)];
  }

  /// The process of a node that acts there for process `index`: itself on its own node. Each
  /// process of a node acts for as many as the others, or one more.
  [[nodiscard]] std::int32_t deputy(std::int32_t index, std::int32_t node) const {
    const auto& processes = on_node(node);
    return processes[static_cast<std::size_t>(at(index).position) % processes.size()];
  }

  [[nodiscard]] const RankTree& tree() const { return tree_; }

  /// The nodes of the tree that are the members of a process, or of a node of the machine.
  [[nodiscard]] const std::vector<RankTree::Node>& cover_of_process(std::int32_t index) const {
    return at(index).cover;
  }

  [[nodiscard]] const std::vector<RankTree::Node>& cover_of_node(std::int32_t node) const {
    return node_covers_[static_cast<std::size_t>(node)];
  }

  /// The size of the largest cover.
  [[nodiscard]] std::size_t cover_size_max() const { return cover_size_max_; }

  /// The first process of a node, which communicates with other nodes for it.
  [[nodiscard]] std::int32_t node_leader(std::int32_t node) const { return on_node(node).front(); }

  /// The endpoint of the barriers of a process: its first worker that runs a member.
  [[nodiscard]] Endpoint barrier_endpoint(std::int32_t index) const {
    return at(index).barrier_endpoint;
  }

  /// All members, in order.
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

 private:
  struct Process {
    std::uint32_t number;
    Endpoint barrier_endpoint;
    std::int32_t node = 0;
    /// Among the processes of its node.
    std::int32_t position = 0;
    std::vector<std::int32_t> members;
    std::vector<RankTree::Node> cover;
  };

  [[nodiscard]] const Process& at(std::int32_t index) const {
    SORREL_ASSERT(index >= 0 && index < count());
    return processes_[static_cast<std::size_t>(index)];
  }

  void find_nodes(const transport::Transport& transport);
  void find_covers();

  std::vector<Process> processes_;
  /// The processes of each node.
  std::vector<std::vector<std::int32_t>> nodes_;
  std::vector<std::int32_t> index_of_rank_;
  std::vector<Run> runs_;
  std::int32_t own_index_ = -1;
  RankTree tree_;
  std::vector<std::vector<RankTree::Node>> node_covers_;
  std::size_t cover_size_max_ = 0;
};

/// The first member of a communicator in this process. `processes`: null if all members are here.
[[nodiscard]] inline std::int32_t first_member_here(const ProcessMap* processes) {
  return processes == nullptr ? 0 : processes->own_leader();
}

}  // namespace sorrel::mpi
