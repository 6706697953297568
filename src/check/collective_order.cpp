#include "check/collective_order.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/op/op.hpp"

namespace sorrel::check {

namespace {

using mpi::Comm;

struct Row {
  const char* name;
  CollectiveShape shape;
};

/// Each also has a nonblocking and a persistent form, of the same shape.
constexpr Row collectives[] = {
    {"Barrier", CollectiveShape::order_only},
    {"Bcast", CollectiveShape::broadcast},
    {"Gather", CollectiveShape::gather},
    {"Gatherv", CollectiveShape::gather_list},
    {"Scatter", CollectiveShape::scatter},
    {"Scatterv", CollectiveShape::scatter_list},
    {"Allgather", CollectiveShape::all_to_all},
    {"Allgatherv", CollectiveShape::all_gather_list},
    {"Alltoall", CollectiveShape::all_to_all},
    {"Alltoallv", CollectiveShape::all_to_all_list},
    {"Alltoallw", CollectiveShape::all_to_all_types},
    {"Reduce", CollectiveShape::reduction},
    {"Allreduce", CollectiveShape::reduction},
    {"Scan", CollectiveShape::reduction},
    {"Exscan", CollectiveShape::reduction},
    {"Reduce_scatter", CollectiveShape::reduce_scatter},
    {"Reduce_scatter_block", CollectiveShape::reduce_blocks},
    {"Neighbor_allgather", CollectiveShape::order_only},
    {"Neighbor_allgatherv", CollectiveShape::order_only},
    {"Neighbor_alltoall", CollectiveShape::order_only},
    {"Neighbor_alltoallv", CollectiveShape::order_only},
    {"Neighbor_alltoallw", CollectiveShape::order_only},
};

/// Compared by their order alone.
constexpr const char* makers[] = {
    "MPI_Comm_dup",
    "MPI_Comm_dup_with_info",
    "MPI_Comm_idup",
    "MPI_Comm_idup_with_info",
    "MPI_Comm_create",
    "MPI_Comm_split",
    "MPI_Comm_split_type",
    "MPI_Cart_create",
    "MPI_Cart_sub",
    "MPI_Graph_create",
    "MPI_Dist_graph_create",
    "MPI_Dist_graph_create_adjacent",
    "MPI_Intercomm_create",
    "MPI_Win_create",
    "MPI_Win_create_dynamic",
    "MPI_Win_allocate",
    "MPI_Win_allocate_shared",
    "MPI_File_open",
};

/// Without the suffix of the form with large counts.
std::string_view name_of(const CheckedCall& call) {
  std::string_view name = call.name();
  if (call.is_large()) name.remove_suffix(2);
  return name;
}

/// Whether a buffer argument of the call is MPI_IN_PLACE.
bool is_in_place(const CheckedCall& call, std::string_view buffer) {
  return call.has(buffer) && call.pointer<const void>(buffer) == MPI_IN_PLACE;
}

TypeSignature signature_of(const CheckedCall& call,
                           std::string_view count,
                           std::string_view datatype) {
  const mpi::Datatype* type = mpi::datatype_from_handle(call.handle<MPI_Datatype>(datatype));
  const std::int64_t number = call.word(count);
  if (type == nullptr || number < 0) return {};
  return {*type, static_cast<std::uint64_t>(number)};
}

/// Signature of block i of a list.
TypeSignature signature_at(const CheckedCall& call,
                           std::string_view counts,
                           std::string_view datatypes,
                           std::size_t i,
                           bool has_types) {
  const MPI_Datatype handle = has_types ? call.pointer<const MPI_Datatype>(datatypes)[i]
                                        : call.handle<MPI_Datatype>(datatypes);
  const mpi::Datatype* type = mpi::datatype_from_handle(handle);
  const std::int64_t number = call.count_at(counts, i);
  if (type == nullptr || number < 0) return {};
  return {*type, static_cast<std::uint64_t>(number)};
}

const char* op_name(MPI_Op op) {
  struct Named {
    MPI_Op op;
    const char* name;
  };

  const Named named[] = {
      {MPI_SUM, "MPI_SUM"},   {MPI_PROD, "MPI_PROD"},     {MPI_MIN, "MPI_MIN"},
      {MPI_MAX, "MPI_MAX"},   {MPI_BAND, "MPI_BAND"},     {MPI_BOR, "MPI_BOR"},
      {MPI_BXOR, "MPI_BXOR"}, {MPI_LAND, "MPI_LAND"},     {MPI_LOR, "MPI_LOR"},
      {MPI_LXOR, "MPI_LXOR"}, {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"}};
  for (const Named& row : named) {
    if (row.op == op) return row.name;
  }
  return "an operation of the program";
}

/// What differs between two signatures, from the view of the first.
std::string text_of_difference(const TypeSignature& own, const TypeSignature& other) {
  return text_of("%s here and %s there", own.text().c_str(), other.text().c_str());
}

/// Whether members exchange blocks of different lengths.
bool is_list(CollectiveShape shape) {
  switch (shape) {
    case CollectiveShape::gather_list:
    case CollectiveShape::scatter_list:
    case CollectiveShape::all_gather_list:
    case CollectiveShape::all_to_all_list:
    case CollectiveShape::all_to_all_types:
      return true;
    default:
      return false;
  }
}

/// What all members of a collective without lists must have alike, as this member has it: once, or
/// twice where it both sends and receives.
std::vector<std::vector<TypeSignature>> alike_of(const Comm& comm,
                                                 const CheckedCall& call,
                                                 CollectiveShape shape) {
  const bool is_root = call.has("root") && call.word("root") == comm.rank;
  std::vector<std::vector<TypeSignature>> alike;
  const auto add = [&](const char* count, const char* datatype) {
    alike.push_back({signature_of(call, count, datatype)});
  };
  switch (shape) {
    case CollectiveShape::broadcast:
    case CollectiveShape::reduction:
      add("count", "datatype");
      break;
    case CollectiveShape::reduce_blocks:
      add("recvcount", "datatype");
      break;
    case CollectiveShape::reduce_scatter: {
      alike.emplace_back();
      for (std::int32_t i = 0; i < comm.size(); ++i) {
        alike.back().push_back(signature_at(call, "recvcounts", "datatype",
                                            static_cast<std::size_t>(i),
                                            /*has_types=*/false));
      }
      break;
    }
    case CollectiveShape::gather:
      if (is_root) add("recvcount", "recvtype");
      if (!is_in_place(call, "sendbuf")) add("sendcount", "sendtype");
      break;
    case CollectiveShape::scatter:
      if (is_root) add("sendcount", "sendtype");
      if (!is_in_place(call, "recvbuf")) add("recvcount", "recvtype");
      break;
    case CollectiveShape::all_to_all:
      add("recvcount", "recvtype");
      if (!is_in_place(call, "sendbuf")) add("sendcount", "sendtype");
      break;
    default:
      break;
  }
  return alike;
}

/// A value that is not negative, and is never CollectiveRecord::none.
std::int64_t field_of(std::uint64_t hash) {
  return static_cast<std::int64_t>(hash >> 1);
}

/// The operation of a call; all of the program's own are alike, since ranks have handles of their
/// own for one of them.
std::int64_t op_field(MPI_Op handle) {
  const mpi::Op* op = mpi::op_from_handle(handle);
  if (op == nullptr) return CollectiveRecord::none;
  return op->is_predefined() ? static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(handle))
                             : INT64_MAX;
}

bool differ(const TypeSignature& a, const TypeSignature& b) {
  return a.compared_with(b).kind != TypeSignature::Difference::Kind::none;
}

}  // namespace

CollectiveOrder::CollectiveOrder(FindingLog& findings) : findings_(findings) {
  for (const Row& row : collectives) {
    std::string nonblocking = row.name;
    nonblocking.front() = static_cast<char>(std::tolower(nonblocking.front()));
    shapes_.emplace(std::string("MPI_") + row.name, row.shape);
    shapes_.emplace("MPI_I" + nonblocking, row.shape);
    shapes_.emplace(std::string("MPI_") + row.name + "_init", row.shape);
  }
  for (const char* maker : makers)
    shapes_.emplace(maker, CollectiveShape::order_only);
}

bool CollectiveOrder::has(const CheckedCall& call) const {
  return shapes_.contains(name_of(call));
}

bool CollectiveOrder::may_return_early(const CheckedCall& call) {
  const std::string_view name = name_of(call);
  return name.starts_with("MPI_I") ? !name.starts_with("MPI_Inter")
                                   : name.find("_idup") != name.npos || name.ends_with("_init");
}

CollectiveOrder::Round CollectiveOrder::begin_round(const CheckedCall& call,
                                                    const CallPlace& place) {
  Round round{.function = call.function(), .first = place};
  if (call.has("root")) round.root = static_cast<std::int32_t>(call.word("root"));
  if (call.has("op")) round.op = call.handle<MPI_Op>("op");
  return round;
}

/// `earlier`: a hash of the member's calls that may have returned before the others arrived.
void CollectiveOrder::add_early(std::uint64_t& earlier, const CheckedCall& call) {
  const std::int64_t root = call.has("root") ? call.word("root") : 0;
  const std::int64_t op = call.has("op") ? op_field(call.handle<MPI_Op>("op")) : 0;
  earlier = hash_of(text_of("%d %lld %lld", static_cast<int>(call.function()),
                            static_cast<long long>(root), static_cast<long long>(op)),
                    earlier);
}

/// Drops the rounds in which all members of this process have arrived; `round`: the latest one.
void CollectiveOrder::end_rounds(Sequence& sequence, const Comm& group, const Round& round) {
  const mpi::ProcessMap* processes = group.shared->processes();
  const auto here = processes == nullptr
                        ? group.size()
                        : static_cast<std::int32_t>(processes->own_members().size());
  SORREL_ASSERT(round.arrived_count <= here, "%d members of %d have called %s",
                static_cast<int>(round.arrived_count), here, round.first.name);
  if (round.arrived_count != here) return;
  // A member is at most one round behind a complete one.
  while (!sequence.rounds.empty() && sequence.rounds.front().arrived_count == here) {
    sequence.rounds.pop_front();
    ++sequence.first;
  }
  SORREL_ASSERT(std::ranges::all_of(sequence.counts,
                                    [&](std::uint64_t count) {
                                      return count <= sequence.first + sequence.rounds.size();
                                    }),
                "a member has made more calls than there are rounds");
}

bool CollectiveOrder::add(const mpi::RankState& self, const Comm& comm, const CheckedCall& call) {
  // In an intercommunicator, the order is that within the caller's group.
  const Comm& group = mpi::local_part_of(comm);
  const std::int32_t size = group.size();
  const auto own = static_cast<std::size_t>(group.rank);
  SORREL_ASSERT(group.rank >= 0 && group.rank < size, "member %d of %d", group.rank, size);
  Sequence& sequence = sequences_[group.shared->context()];
  sequence.counts.resize(static_cast<std::size_t>(size));
  sequence.earlier.resize(static_cast<std::size_t>(size));
  const std::uint64_t number = sequence.counts[own]++;
  const CallPlace place{
      .rank = self.world_rank, .name = call.name(), .site = call.site(), .script = call.script()};
  const std::uint64_t at = number - sequence.first;
  SORREL_CHECK(at <= sequence.rounds.size(), "call %llu of a member, in %zu rounds from %llu on",
               static_cast<unsigned long long>(number), sequence.rounds.size(),
               static_cast<unsigned long long>(sequence.first));
  if (at == sequence.rounds.size()) sequence.rounds.push_back(begin_round(call, place));
  Round& round = sequence.rounds[at];
  if (round.function != call.function()) {
    findings_.add(
        {.kind = "collective-order",
         .place = place,
         .text = text_of("rank %d calls %s where rank %d calls %s: all members of a communicator "
                         "must make the same collective calls in the same order",
                         place.rank, call.name(), round.first.rank, round.first.name)});
    findings_.add_place(round.first, "the call of the other rank");
    return false;
  }
  ++round.arrived_count;
  if (may_return_early(call)) add_early(sequence.earlier[own], call);
  SORREL_ASSERT(has(call), "%s is no collective call", call.name());
  const CollectiveShape shape = shapes_.find(name_of(call))->second;
  bool can_continue = true;
  if (shape != CollectiveShape::order_only && comm.inter == nullptr) {
    can_continue = compare_root(round, call, place);
    compare_op(round, call, place);
    if (can_continue) compare_data(round, comm, call, place, shape);
  }
  end_rounds(sequence, group, round);
  return can_continue;
}

CollectiveRecord CollectiveOrder::record_of(const mpi::RankState& self,
                                            const Comm& comm,
                                            const CheckedCall& call) {
  using Record = CollectiveRecord;
  Record record;
  record.rank = self.world_rank;
  record.name.add(call.name());
  record.fields[Record::function] = static_cast<std::int64_t>(call.function());
  const auto sequence = sequences_.find(comm.shared->context());
  record.fields[Record::earlier] =
      sequence == sequences_.end()
          ? 0
          : field_of(sequence->second.earlier[static_cast<std::size_t>(comm.rank)]);
  if (call.has("root"))
    record.fields[Record::root] = std::max<std::int64_t>(call.word("root"), Record::none);
  if (call.has("op")) {
    record.fields[Record::op] = op_field(call.handle<MPI_Op>("op"));
    record.op_name.add(op_name(call.handle<MPI_Op>("op")));
  }
  const auto shape = shapes_.find(name_of(call));
  if (shape == shapes_.end()) return record;
  const auto alike = alike_of(comm, call, shape->second);
  if (alike.empty()) return record;
  std::uint64_t bytes = 0;
  std::uint64_t hash = hash_of("");
  bool has_hash = true;
  for (const TypeSignature& signature : alike.front()) {
    bytes += signature.bytes();
    const std::optional<std::uint64_t> own = signature.hash();
    has_hash = has_hash && own;
    hash = hash_of(std::to_string(own.value_or(0)), hash);
  }
  record.fields[Record::bytes] = static_cast<std::int64_t>(bytes);
  if (has_hash) record.fields[Record::types] = field_of(hash);
  record.data.add(alike.front().size() == 1 ? alike.front().front().text()
                                            : text_of("blocks of %llu bytes in all",
                                                      static_cast<unsigned long long>(bytes)));
  return record;
}

bool CollectiveOrder::add_difference(const CollectiveRecord& own,
                                     const CallPlace& place,
                                     const CollectiveRecord& other) {
  using Record = CollectiveRecord;
  const char* kind = "collective-order";
  std::string text;
  const std::size_t field = own.difference_from(other);
  switch (field) {
    case Record::function:
      text = text_of(
          "rank %d calls %s where rank %d of another process calls %s: all members of a "
          "communicator must make the same collective calls in the same order",
          own.rank, own.name.c_str(), other.rank, other.name.c_str());
      break;
    case Record::root:
      kind = "collective-root";
      text = text_of(
          "root is %lld on rank %d and %lld on rank %d of another process; it must be "
          "the same on all ranks",
          static_cast<long long>(own.fields[field]), own.rank,
          static_cast<long long>(other.fields[field]), other.rank);
      break;
    case Record::op:
      kind = "collective-op";
      text = text_of(
          "op is %s on rank %d and %s on rank %d of another process; it must be the "
          "same on all ranks",
          own.op_name.c_str(), own.rank, other.op_name.c_str(), other.rank);
      break;
    case Record::earlier:
      text = text_of(
          "before this call, ranks %d and %d of another process have made different "
          "nonblocking or persistent collective calls on the communicator: they must be "
          "the same in the same order, with the same root and operation",
          own.rank, other.rank);
      break;
    default:
      // Also where the first member has no such value, but other ones differ.
      kind = "collective-type";
      text =
          text_of("count and datatype differ: %s on rank %d and %s on rank %d of another process",
                  own.data.c_str(), own.rank, other.data.c_str(), other.rank);
      break;
  }
  findings_.add({.kind = kind, .place = place, .text = text});
  findings_.add_place(
      other.rank, other.name.c_str(),
      {.path = other.path.c_str(), .offset = other.offset, .script = other.script.c_str()},
      "the call of the other rank");
  return field != Record::function && field != Record::root;
}

bool CollectiveOrder::compare_root(const Round& round,
                                   const CheckedCall& call,
                                   const CallPlace& place) {
  if (!call.has("root") || call.word("root") == round.root) return true;
  findings_.add({.kind = "collective-root",
                 .place = place,
                 .text = text_of("root is %d on rank %d and %d on rank %d; it must be the same on "
                                 "all ranks",
                                 static_cast<int>(call.word("root")), place.rank, round.root,
                                 round.first.rank)});
  findings_.add_place(round.first, "the call of the other rank");
  return false;
}

void CollectiveOrder::compare_op(const Round& round,
                                 const CheckedCall& call,
                                 const CallPlace& place) {
  if (!call.has("op")) return;
  const auto handle = call.handle<MPI_Op>("op");
  const mpi::Op* op = mpi::op_from_handle(handle);
  const mpi::Op* first = mpi::op_from_handle(round.op);
  if (op == nullptr || first == nullptr) return;
  // Ranks have handles of their own for an operation of the program.
  if (handle == round.op || (!op->is_predefined() && !first->is_predefined())) return;
  findings_.add(
      {.kind = "collective-op",
       .place = place,
       .text = text_of("op is %s on rank %d and %s on rank %d; it must be the same on "
                       "all ranks",
                       op_name(handle), place.rank, op_name(round.op), round.first.rank)});
  findings_.add_place(round.first, "the call of the other rank");
}

void CollectiveOrder::compare_data(Round& round,
                                   const Comm& comm,
                                   const CheckedCall& call,
                                   const CallPlace& place,
                                   CollectiveShape shape) {
  if (is_list(shape)) return compare_lists(round, comm, call, place, shape);
  for (std::vector<TypeSignature>& own : alike_of(comm, call, shape))
    compare_alike(round, std::move(own), place);
}

void CollectiveOrder::compare_alike(Round& round,
                                    std::vector<TypeSignature> own,
                                    const CallPlace& place) {
  if (round.alike.empty()) {
    round.alike = std::move(own);
    return;
  }
  for (std::size_t i = 0; i < std::min(own.size(), round.alike.size()); ++i) {
    if (!differ(own[i], round.alike[i])) continue;
    findings_.add({.kind = "collective-type",
                   .place = place,
                   .text = text_of("count and datatype differ: %s",
                                   text_of_difference(own[i], round.alike[i]).c_str())});
    if (place.rank != round.first.rank)
      findings_.add_place(round.first, "the call of the other rank");
    return;
  }
}

void CollectiveOrder::compare_lists(Round& round,
                                    const Comm& comm,
                                    const CheckedCall& call,
                                    const CallPlace& place,
                                    CollectiveShape shape) {
  using Shape = CollectiveShape;
  const std::int32_t size = comm.size();
  const auto root = static_cast<std::int32_t>(call.has("root") ? call.word("root") : -1);
  const bool is_root = root == comm.rank;
  const bool sends = !is_in_place(call, "sendbuf");
  const bool receives = !is_in_place(call, "recvbuf");
  const bool has_types = shape == Shape::all_to_all_types;
  Member member{.rank = comm.rank, .place = place};
  const auto add_list = [&](std::vector<Flow>& flows, const char* counts, const char* types) {
    for (std::int32_t i = 0; i < size; ++i)
      flows.push_back(
          {i, signature_at(call, counts, types, static_cast<std::size_t>(i), has_types)});
  };
  switch (shape) {
    case Shape::gather_list:
      if (sends) member.sends.push_back({root, signature_of(call, "sendcount", "sendtype")});
      if (is_root) add_list(member.receives, "recvcounts", "recvtype");
      break;
    case Shape::scatter_list:
      if (is_root) add_list(member.sends, "sendcounts", "sendtype");
      if (receives) member.receives.push_back({root, signature_of(call, "recvcount", "recvtype")});
      break;
    case Shape::all_gather_list: {
      const TypeSignature own =
          sends ? signature_of(call, "sendcount", "sendtype") : TypeSignature();
      for (std::int32_t i = 0; sends && i < size; ++i)
        member.sends.push_back({i, own});
      add_list(member.receives, "recvcounts", "recvtype");
      break;
    }
    default:
      if (sends) add_list(member.sends, "sendcounts", has_types ? "sendtypes" : "sendtype");
      add_list(member.receives, "recvcounts", has_types ? "recvtypes" : "recvtype");
      break;
  }
  SORREL_ASSERT(round.members.size() < static_cast<std::size_t>(size), "%zu members of %d",
                round.members.size() + 1, size);
  for (const Member& other : round.members) {
    compare_flows(member, other);
    compare_flows(other, member);
  }
  compare_flows(member, member);
  round.members.push_back(std::move(member));
}

void CollectiveOrder::compare_flows(const Member& sender, const Member& receiver) {
  const auto flow_to = [](const std::vector<Flow>& flows, std::int32_t peer) -> const Flow* {
    const auto at = static_cast<std::size_t>(peer);
    // A list for all members, or one flow.
    if (at < flows.size() && flows[at].peer == peer) return &flows[at];
    return flows.size() == 1 && flows[0].peer == peer ? flows.data() : nullptr;
  };
  const Flow* sent = flow_to(sender.sends, receiver.rank);
  const Flow* received = flow_to(receiver.receives, sender.rank);
  if (sent == nullptr || received == nullptr || !differ(sent->signature, received->signature))
    return;
  findings_.add(
      {.kind = "collective-type",
       .place = sender.place,
       .text = text_of("rank %d sends %s to rank %d of the communicator, which expects %s",
                       sender.place.rank, sent->signature.text().c_str(), receiver.rank,
                       received->signature.text().c_str())});
  if (&sender != &receiver) findings_.add_place(receiver.place, "the call of the other rank");
}

}  // namespace sorrel::check
