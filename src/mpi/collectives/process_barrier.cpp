#include "mpi/collectives/process_barrier.hpp"

#include <algorithm>
#include <cstdio>

#include "base/copy_bytes.hpp"
#include "mpi/collectives/barrier_tree.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/match/worker_state.hpp"
#include "mpi/net/traced_packet.hpp"

namespace sorrel::mpi {

namespace {

/// The ranks whose values come from the subtree below `index`, itself first.
void append_subtree(const ContributionMap& contributions,
                    const BarrierTree& tree,
                    std::int32_t index,
                    std::vector<std::int32_t>& ranks) {
  const auto& own = contributions.values_of(index);
  ranks.insert(ranks.end(), own.begin(), own.end());
  for (const std::int32_t child : tree.children_of(index))
    append_subtree(contributions, tree, child, ranks);
}

// The last word of a packet: all bytes of the values, and what processes want (mpi/safepoint).
constexpr int wanted_shift = 28;
constexpr std::uint32_t wanted_max = 15;
constexpr std::uint32_t bytes_max = (1U << wanted_shift) - 1;

std::uint32_t with_wanted(std::size_t bytes, std::uint32_t wanted) {
  SORREL_CHECK(bytes <= bytes_max && wanted <= wanted_max, "values of a barrier have %zu bytes",
               bytes);
  return static_cast<std::uint32_t>(bytes) | wanted << wanted_shift;
}

ProcessBarrier& barrier_of(void* owner,
                           const core::Worker& receiver,
                           const transport::Packet& packet) {
  return static_cast<World*>(owner)->state_of(receiver).process_barriers->of(packet.words[0]);
}

void take_contribution(void* owner,
                       core::Worker& receiver,
                       Endpoint from,
                       const transport::Packet& packet,
                       const std::byte* payload) {
  barrier_of(owner, receiver, packet).take_contribution(from.process, packet, payload);
}

void take_result(void* owner,
                 core::Worker& receiver,
                 Endpoint,
                 const transport::Packet& packet,
                 const std::byte* payload) {
  barrier_of(owner, receiver, packet).take_result(packet, payload);
}

}  // namespace

ContributionMap::ContributionMap(const ProcessMap& processes, std::int32_t block_rank_count)
    : values_(static_cast<std::size_t>(processes.count())) {
  // A run shows whether a process has all of a block.
  for (const ProcessMap::Run& run : processes.runs()) {
    auto& values = values_[static_cast<std::size_t>(run.process_index)];
    const std::int32_t size = processes.runs().back().last;
    for (std::int32_t rank = run.first; rank < run.last;) {
      const std::int32_t block_first = rank - rank % block_rank_count;
      const std::int32_t block_last = std::min(block_first + block_rank_count, size);
      values.push_back(rank);
      rank = rank == block_first && block_last <= run.last ? block_last : rank + 1;
    }
  }
}

void ProcessBarrier::attach(const ProcessMap& processes,
                            const ContributionMap& contributions,
                            BarrierSite& site,
                            SendQueue& send_queue) {
  SORREL_ASSERT(site_ == nullptr && state_ == State::idle);
  site_ = &site;
  send_queue_ = &send_queue;
  const BarrierTree tree(processes);
  const std::int32_t own = processes.own_index();
  const auto ranks_from = [&](std::int32_t index) {
    std::vector<std::int32_t> ranks;
    append_subtree(contributions, tree, index, ranks);
    return ranks;
  };
  own_ranks_ = ranks_from(own);
  for (const std::int32_t child : tree.children_of(own)) {
    const Endpoint place = processes.barrier_endpoint(child);
    Source& source = source_of(place.process);
    source.ranks = ranks_from(child);
    source.is_child = true;
    result_targets_.push_back(place);
  }
  for (const std::int32_t peer : tree.peers_of(own)) {
    const Endpoint place = processes.barrier_endpoint(peer);
    source_of(place.process).ranks = ranks_from(peer);
    contribution_targets_.push_back(place);
  }
  const std::int32_t parent = tree.parent_of(own);
  awaits_result_ = parent >= 0;
  if (awaits_result_) contribution_targets_.push_back(processes.barrier_endpoint(parent));
}

ProcessBarrier::Source& ProcessBarrier::source_of(std::uint32_t process) {
  for (Source& source : sources_) {
    if (source.process == process) return source;
  }
  sources_.push_back({.process = process, .ranks = {}, .incoming = {}});
  return sources_.back();
}

bool ProcessBarrier::have_contributed(bool is_child) const {
  return std::ranges::all_of(sources_, [&](const Source& source) {
    return source.is_child != is_child || source.incoming[sequence_ % 2].is_complete;
  });
}

bool ProcessBarrier::begin(const MemberCall& call,
                           std::uint32_t value_bytes,
                           std::uint32_t wanted) {
  SORREL_ASSERT(!is_abandoned_);
  change_state(State::idle, State::gathering);
  call_ = call;
  value_bytes_ = value_bytes;
  wanted_ = wanted;
  return advance();
}

/// Sends the values of this process or subtree.
void ProcessBarrier::contribute() {
  std::vector<std::byte>& data = contribution_[sequence_ % 2];
  data.resize(own_ranks_.size() * value_bytes_);
  std::byte* place = data.data();
  for (const std::int32_t rank : own_ranks_) {
    if (value_bytes_ == 0) break;
    copy_bytes(place, site_->value(rank), value_bytes_);
    place += value_bytes_;
  }
  for (const Endpoint& to : contribution_targets_)
    send(to, PacketKind::contribution, data);
}

/// Returns true if the barrier is complete, and the members are released.
bool ProcessBarrier::advance() {
  if (state_ == State::gathering) {
    if (!have_contributed(true)) return false;
    take_values(true);
    contribute();
    change_state(State::gathering, awaits_result_ ? State::awaiting_result : State::awaiting_peers);
  }
  if (state_ == State::awaiting_peers) {
    if (!have_contributed(false)) return false;
    take_values(false);
    return finish(value_bytes_ == 0 ? nullptr : site_->combine());
  }
  if (state_ != State::awaiting_result || !has_result_) return false;
  return finish(value_bytes_ == 0 ? nullptr : result_.data());
}

/// Stores the values of all children, or peers, under their ranks, and makes room for the barrier
/// after the next.
void ProcessBarrier::take_values(bool is_child) {
  for (Source& source : sources_) {
    if (source.is_child != is_child) continue;
    Incoming& incoming = source.incoming[sequence_ % 2];
    check_call(source);
    wanted_ |= incoming.wanted;
    SORREL_CHECK(incoming.values.size() == source.ranks.size() * value_bytes_,
                 "the members of a reduction disagree on its size");
    const std::byte* place = incoming.values.data();
    for (const std::int32_t rank : source.ranks) {
      if (value_bytes_ == 0) break;
      copy_bytes(site_->value(rank), place, value_bytes_);
      place += value_bytes_;
    }
    incoming.arrived_bytes = 0;
    incoming.is_complete = false;
  }
}

void ProcessBarrier::check_call(const Source& source) const {
  const std::uint16_t theirs = source.incoming[sequence_ % 2].digest;
  if (theirs == call_.call.digest()) [[likely]]
    return;
  char text[200];
  const CollectiveName own_name = name_of(call_.call);
  const char* name = own_name.c_str();
  const CollectiveKind kind = kind_of_digest(theirs);
  if (kind != call_.call.kind()) {
    std::snprintf(text, sizeof text, "%s: called on rank %d while ranks of process %u are in %s",
                  name, call_.rank, source.process, name_of(kind, call_.call.form()).c_str());
  } else {
    std::snprintf(
        text, sizeof text,
        "%s: the arguments on rank %d differ from those on ranks of process %u; root, op, "
        "count and datatype must be the same on all ranks",
        name, call_.rank, source.process);
  }
  send_queue_->world().job().end_job(nullptr, MPI_ERR_OTHER, text);
}

/// Returns false if the members wait for a safepoint.
bool ProcessBarrier::finish(const std::byte* result) {
  change_state(awaits_result_ ? State::awaiting_result : State::awaiting_peers, State::idle);
  has_result_ = false;
  if (!result_targets_.empty()) {
    if (result == nullptr) {
      result_.clear();
    } else if (result != result_.data()) {
      result_.assign(result, result + value_bytes_);
    }
    for (const Endpoint& to : result_targets_)
      send(to, PacketKind::result, result_);
  }
  ++sequence_;
  return site_->release_all(result, wanted_);
}

void ProcessBarrier::send(Endpoint to, PacketKind kind, const std::vector<std::byte>& data) {
  Dispatch& dispatch = idle_dispatch();
  dispatch.send = send_some;
  dispatch.barrier = this;
  dispatch.kind = kind;
  dispatch.sequence_and_digest = std::uint32_t{call_.call.digest()} << 16 | (sequence_ & 0xffff);
  dispatch.wanted = wanted_;
  dispatch.data = &data;
  dispatch.sent_bytes = 0;
  dispatch.is_queued = true;
  ++dispatch_count_;
  send_queue_->send(to, dispatch);
}

ProcessBarrier::Dispatch& ProcessBarrier::idle_dispatch() {
  for (auto& dispatch : dispatches_) {
    if (!dispatch->is_queued) return *dispatch;
  }
  dispatches_.push_back(std::make_unique<Dispatch>());
  return *dispatches_.back();
}

bool ProcessBarrier::send_some(PendingSend& pending_send, SendQueue& send_queue, Endpoint to) {
  auto& dispatch = static_cast<Dispatch&>(pending_send);
  ProcessBarrier& barrier = *dispatch.barrier;
  const std::vector<std::byte>& data = *dispatch.data;
  const std::size_t payload_max = send_queue.world().transport()->payload_bytes_max(to.process);
  do {
    const std::size_t bytes = std::min(data.size() - dispatch.sent_bytes, payload_max);
    const transport::Packet packet{.kind = number_of(dispatch.kind),
                                   .words = {barrier.context_, dispatch.sequence_and_digest,
                                             static_cast<std::uint32_t>(dispatch.sent_bytes),
                                             with_wanted(data.size(), dispatch.wanted)},
                                   .payload_bytes = static_cast<std::uint32_t>(bytes)};
    if (!send_queue.try_send_next(to, packet, data.data() + dispatch.sent_bytes)) return false;
    dispatch.sent_bytes += bytes;
  } while (dispatch.sent_bytes < data.size());
  SORREL_ASSERT(dispatch.is_queued && barrier.dispatch_count_ != 0);
  dispatch.is_queued = false;
  --barrier.dispatch_count_;
  barrier.remove_if_abandoned();
  return true;
}

void ProcessBarrier::abandon() {
  SORREL_ASSERT(!is_abandoned_ && state_ == State::idle);
  is_abandoned_ = true;
  remove_if_abandoned();
}

void ProcessBarrier::remove_if_abandoned() {
  if (is_abandoned_ && dispatch_count_ == 0) owner_.remove(context_);
}

void ProcessBarrier::take_contribution(std::uint32_t process,
                                       const transport::Packet& packet,
                                       const std::byte* payload) {
  const auto& [context, sequence_and_digest, offset, total_and_wanted] = packet.words;
  const std::uint32_t total = total_and_wanted & bytes_max;
  const std::uint32_t sequence = sequence_and_digest & 0xffff;
  SORREL_ASSERT(((sequence - sequence_) & 0xffff) <= 1);
  Source& source = source_of(process);
  SORREL_ASSERT(site_ == nullptr || !source.ranks.empty(),
                "process %u is no child and no peer in this barrier", process);
  Incoming& incoming = source.incoming[sequence % 2];
  SORREL_ASSERT(!incoming.is_complete && incoming.arrived_bytes == offset &&
                    packet.payload_bytes <= total - offset,
                "a packet of the contribution is missing, or came twice");
  incoming.digest = static_cast<std::uint16_t>(sequence_and_digest >> 16);
  incoming.wanted = total_and_wanted >> wanted_shift;
  incoming.values.resize(total);
  copy_bytes(incoming.values.data() + offset, payload, packet.payload_bytes);
  incoming.arrived_bytes += packet.payload_bytes;
  incoming.is_complete = incoming.arrived_bytes == total;
  if (incoming.is_complete) advance();
}

void ProcessBarrier::take_result(const transport::Packet& packet, const std::byte* payload) {
  SORREL_ASSERT(state_ == State::awaiting_result && !has_result_,
                "the result came before this process had contributed");
  SORREL_ASSERT((packet.words[1] & 0xffff) == (sequence_ & 0xffff) &&
                (packet.words[3] & bytes_max) == packet.payload_bytes);
  wanted_ = packet.words[3] >> wanted_shift;
  result_.assign(payload, payload + packet.payload_bytes);
  has_result_ = true;
  advance();
}

ProcessBarrier& ProcessBarriers::of(std::uint32_t context) {
  auto& barrier = barriers_[context];
  if (barrier == nullptr) barrier = std::make_unique<ProcessBarrier>(*this, context);
  return *barrier;
}

void ProcessBarriers::remove(std::uint32_t context) {
  barriers_.erase(context);
}

void set_barrier_handlers(transport::Transport& transport, World& world) {
  set_packet_handler<take_contribution>(transport, PacketKind::contribution, world);
  set_packet_handler<take_result>(transport, PacketKind::result, world);
}

}  // namespace sorrel::mpi
