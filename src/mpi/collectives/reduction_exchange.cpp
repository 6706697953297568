#include "mpi/collectives/reduction_exchange.hpp"

#include <algorithm>

#include "mpi/collectives/slots.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// Bound on the totals that a member has at a time, for each direction.
constexpr std::size_t round_bytes = std::size_t{8} << 20;

std::size_t quotient_up(std::size_t number, std::size_t by) {
  return (number + by - 1) / by;
}

}  // namespace

/// A part of a shard, with the totals that come from other processes.
struct ReductionExchange::Piece {
  const Shard* shard;
  ElementRange range;
  std::vector<PartialTotal> totals;
};

/// Messages of one round, and the memory of their totals.
class ReductionExchange::Round {
 public:
  explicit Round(ReductionExchange& exchange)
      : exchange_(exchange),
        tag_(tag_of(exchange.member_)),
        from_node_(exchange.member_, tag_),
        from_nodes_(exchange.member_, tag_),
        sent_(exchange.member_, tag_) {}

  void expect(Piece& piece, std::int32_t process, const std::vector<RankTree::Node>& cover) {
    const bool is_near = exchange_.processes_.node_of(process) == exchange_.processes_.own_node();
    for (const RankTree::Node& node : cover) {
      void* room = make_room(piece.range);
      exchange_.for_each_message(process, {.first = 0, .count = piece.range.count},
                                 [&](ElementRange range) {
                                   (is_near ? from_node_ : from_nodes_)
                                       .receive(exchange_.elements(room, range.first, range.count),
                                                exchange_.computer(process, piece.shard->slot));
                                 });
      piece.totals.push_back({.node = node, .elements = room, .first = piece.range.first});
    }
  }

  /// The totals of the given nodes, of which the piece has parts.
  std::vector<PartialTotal> fold(const Piece& piece, const std::vector<RankTree::Node>& cover) {
    const std::vector<PartialTotal> parts = merged(piece);
    std::vector<PartialTotal> totals;
    auto begin = parts.begin();
    for (const RankTree::Node& node : cover) {
      const std::int32_t last = exchange_.processes_.tree().last(node);
      const auto end = std::find_if(
          begin, parts.end(), [&](const PartialTotal& part) { return part.node.first >= last; });
      totals.push_back(*begin);
      if (end - begin > 1) {
        void* room = make_room(piece.range);
        exchange_.fold_.fold({begin, end}, piece.range, room);
        totals.back() = {.node = node, .elements = room, .first = piece.range.first};
      }
      begin = end;
    }
    return totals;
  }

  void send(const Piece& piece, const std::vector<PartialTotal>& totals, std::int32_t process) {
    for (const PartialTotal& total : totals) {
      const ElementRange elements{.first = piece.range.first - total.first,
                                  .count = piece.range.count};
      exchange_.for_each_message(process, elements, [&](ElementRange range) {
        sent_.send(exchange_.elements(total.elements, range.first, range.count),
                   exchange_.computer(process, piece.shard->slot));
      });
    }
  }

  void finish(const Piece& piece, const Done& done) {
    const Scratch total(piece.range.count, exchange_.arguments_.type);
    exchange_.fold_.fold(merged(piece), piece.range, total.buffer());
    done(*piece.shard, piece.range, total.buffer());
  }

  void wait_for_node() { (void)from_node_.finish(); }

  void wait_for_nodes() { (void)from_nodes_.finish(); }

  void wait_for_sends() { (void)sent_.finish(); }

 private:
  void* make_room(ElementRange range) {
    return rooms_.emplace_back(range.count, exchange_.arguments_.type).buffer();
  }

  /// With the operands of the members here; ascending.
  [[nodiscard]] std::vector<PartialTotal> merged(const Piece& piece) const {
    std::vector<PartialTotal> all = exchange_.own_;
    all.insert(all.end(), piece.totals.begin(), piece.totals.end());
    std::ranges::sort(all, {}, [](const PartialTotal& total) { return total.node.first; });
    return all;
  }

  ReductionExchange& exchange_;
  std::int32_t tag_;
  std::vector<Scratch> rooms_;
  Traffic from_node_;
  Traffic from_nodes_;
  Traffic sent_;
};

ReductionExchange::ReductionExchange(const Member& member,
                                     const ReductionArguments& arguments,
                                     std::int32_t slot_count,
                                     std::size_t shard_count)
    : member_(member),
      arguments_(arguments),
      processes_(*member.comm.shared->processes()),
      slot_count_(slot_count),
      fold_(processes_.tree(), arguments) {
  const std::size_t computer_count = quotient_up(static_cast<std::size_t>(member.comm.size()),
                                                 static_cast<std::size_t>(processes_.count()));
  const std::size_t shards_of_computer =
      quotient_up(shard_count, std::min(static_cast<std::size_t>(slot_count), computer_count));
  const std::size_t element_bytes = shards_of_computer * processes_.cover_size_max() *
                                    std::max<std::size_t>(arguments.type.size(), 1);
  part_ = std::max<std::size_t>(round_bytes / element_bytes, 1);
  const CollectiveSlots& slots = member.comm.shared->slots();
  for (const std::int32_t rank : processes_.own_members()) {
    own_.push_back({.node = processes_.tree().leaf(rank),
                    .elements = slots.published_by<Operands>(rank).input});
  }
}

std::size_t ReductionExchange::message_element_count(std::int32_t process) const {
  // The longest message that may be sent eagerly.
  constexpr std::size_t eager_bytes = 16384;
  if (processes_.node_of(process) == processes_.own_node()) return part_;
  return std::max<std::size_t>(eager_bytes / std::max<std::size_t>(arguments_.type.size(), 1), 1);
}

std::int32_t ReductionExchange::computer(std::int32_t process_index, std::int32_t slot) const {
  SORREL_ASSERT(slot >= 0 && slot < slot_count_);
  const auto& members = processes_.members(process_index);
  const auto count = static_cast<std::int64_t>(members.size());
  return members[static_cast<std::size_t>(slot * count / slot_count_)];
}

TypedBuffer ReductionExchange::elements(const void* buffer,
                                        std::size_t first,
                                        std::size_t count) const {
  return {.buffer = element_at(buffer, first, arguments_.type),
          .count = count,
          .type = &arguments_.type};
}

void ReductionExchange::reduce(std::span<const Shard> shards, const Done& done) {
  std::size_t longest = 0;
  for (const Shard& shard : shards)
    longest = std::max(longest, shard.range.count);
  for (std::size_t offset = 0; offset < longest; offset += part_) {
    std::vector<Piece> pieces;
    for (const Shard& shard : shards) {
      if (!is_computer(shard.slot) || shard.range.count <= offset) continue;
      const ElementRange range{.first = shard.range.first + offset,
                               .count = std::min(part_, shard.range.count - offset)};
      pieces.push_back({.shard = &shard, .range = range, .totals = {}});
    }
    reduce_pieces(pieces, done);
  }
}

template <class Destination>
std::vector<const ReductionExchange::Piece*> ReductionExchange::by_destination(
    const std::vector<Piece>& pieces, Destination&& destination) const {
  const std::int32_t count = processes_.count();
  const std::int32_t next = processes_.own_index() + 1;
  std::vector<const Piece*> sorted;
  for (const Piece& piece : pieces)
    sorted.push_back(&piece);
  std::ranges::stable_sort(
      sorted, {}, [&](const Piece* piece) { return (destination(*piece) - next + count) % count; });
  return sorted;
}

void ReductionExchange::reduce_pieces(std::vector<Piece>& pieces, const Done& done) {
  const std::int32_t own = processes_.own_index();
  const std::int32_t own_node = processes_.own_node();
  const auto deputy = [&](const Piece& piece) {
    return processes_.deputy(piece.shard->process, own_node);
  };
  Round round(*this);
  for (Piece& piece : pieces) {
    if (deputy(piece) != own) continue;
    for (const std::int32_t other : processes_.on_node(own_node)) {
      if (other != own) round.expect(piece, other, processes_.cover_of_process(other));
    }
    for (std::int32_t node = 0; node < processes_.node_count(); ++node) {
      if (piece.shard->process != own || node == own_node) continue;
      round.expect(piece, processes_.deputy(own, node), processes_.cover_of_node(node));
    }
  }
  for (const Piece* piece : by_destination(pieces, deputy)) {
    if (deputy(*piece) != own)
      round.send(*piece, round.fold(*piece, processes_.cover_of_process(own)), deputy(*piece));
  }
  round.wait_for_node();
  const auto process = [](const Piece& piece) { return piece.shard->process; };
  for (const Piece* piece : by_destination(pieces, process)) {
    if (deputy(*piece) != own || process(*piece) == own) continue;
    round.send(*piece, round.fold(*piece, processes_.cover_of_node(own_node)), process(*piece));
  }
  round.wait_for_nodes();
  for (const Piece& piece : pieces) {
    if (piece.shard->process == own) round.finish(piece, done);
  }
  round.wait_for_sends();
}

void ReductionExchange::reduce_everywhere(const Done& done) {
  const std::int32_t own = processes_.own_index();
  const Shard shard{.process = own, .slot = 0, .range = {.first = 0, .count = arguments_.count}};
  if (!is_computer(shard.slot)) return;
  Piece piece{.shard = &shard, .range = shard.range, .totals = {}};
  Round round(*this);
  const std::vector<PartialTotal> totals = round.fold(piece, processes_.cover_of_process(own));
  for (std::int32_t other = 0; other < processes_.count(); ++other) {
    if (other != own) round.expect(piece, other, processes_.cover_of_process(other));
  }
  // Each starts with the next one, so that not all send to the same one at once.
  for (std::int32_t i = 1; i < processes_.count(); ++i)
    round.send(piece, totals, (own + i) % processes_.count());
  round.wait_for_node();
  round.wait_for_nodes();
  // In place, the total overwrites what is sent.
  round.wait_for_sends();
  round.finish(piece, done);
}

}  // namespace sorrel::mpi
