#include "check/collective_order.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "mpi/op/op.hpp"

namespace sorrel::check {

namespace {

using mpi::Comm;

struct Row {
  const char* name;
  CollectiveShape shape;
};

/// Names of all forms: a row for each of them, so that a call is found by its own name.
constexpr Row rows[] = {
#define SORREL_FORMS(blocking, nonblocking, persistent, shape)                               \
  {"MPI_" #blocking, CollectiveShape::shape}, {"MPI_" #nonblocking, CollectiveShape::shape}, \
      {"MPI_" #persistent, CollectiveShape::shape},
    SORREL_FORMS(Barrier, Ibarrier, Barrier_init, order_only) SORREL_FORMS(
        Bcast, Ibcast, Bcast_init, broadcast) SORREL_FORMS(Gather, Igather, Gather_init, gather)
        SORREL_FORMS(Gatherv, Igatherv, Gatherv_init, gather_list) SORREL_FORMS(
            Scatter, Iscatter, Scatter_init, scatter)
            SORREL_FORMS(Scatterv, Iscatterv, Scatterv_init, scatter_list) SORREL_FORMS(
                Allgather, Iallgather, Allgather_init, all_to_all) SORREL_FORMS(Allgatherv,
                                                                                Iallgatherv,
                                                                                Allgatherv_init,
                                                                                all_gather_list)
                SORREL_FORMS(Alltoall, Ialltoall, Alltoall_init, all_to_all) SORREL_FORMS(
                    Alltoallv, Ialltoallv, Alltoallv_init, all_to_all_list)
                    SORREL_FORMS(Alltoallw, Ialltoallw, Alltoallw_init, all_to_all_types)
                        SORREL_FORMS(Reduce, Ireduce, Reduce_init, reduction) SORREL_FORMS(
                            Allreduce, Iallreduce, Allreduce_init, reduction)
                            SORREL_FORMS(Scan, Iscan, Scan_init, reduction)
                                SORREL_FORMS(Exscan, Iexscan, Exscan_init, reduction) SORREL_FORMS(
                                    Reduce_scatter,
                                    Ireduce_scatter,
                                    Reduce_scatter_init,
                                    reduce_scatter) SORREL_FORMS(Reduce_scatter_block,
                                                                 Ireduce_scatter_block,
                                                                 Reduce_scatter_block_init,
                                                                 reduce_blocks)
                                    SORREL_FORMS(Neighbor_allgather,
                                                 Ineighbor_allgather,
                                                 Neighbor_allgather_init,
                                                 order_only) SORREL_FORMS(Neighbor_allgatherv,
                                                                          Ineighbor_allgatherv,
                                                                          Neighbor_allgatherv_init,
                                                                          order_only)
                                        SORREL_FORMS(Neighbor_alltoall,
                                                     Ineighbor_alltoall,
                                                     Neighbor_alltoall_init,
                                                     order_only)
                                            SORREL_FORMS(Neighbor_alltoallv,
                                                         Ineighbor_alltoallv,
                                                         Neighbor_alltoallv_init,
                                                         order_only)
                                                SORREL_FORMS(Neighbor_alltoallw,
                                                             Ineighbor_alltoallw,
                                                             Neighbor_alltoallw_init,
                                                             order_only)
#undef SORREL_FORMS
                                                    {"MPI_Comm_dup", CollectiveShape::order_only},
    {"MPI_Comm_dup_with_info", CollectiveShape::order_only},
    {"MPI_Comm_idup", CollectiveShape::order_only},
    {"MPI_Comm_idup_with_info", CollectiveShape::order_only},
    {"MPI_Comm_create", CollectiveShape::order_only},
    {"MPI_Comm_split", CollectiveShape::order_only},
    {"MPI_Comm_split_type", CollectiveShape::order_only},
    {"MPI_Cart_create", CollectiveShape::order_only},
    {"MPI_Cart_sub", CollectiveShape::order_only},
    {"MPI_Graph_create", CollectiveShape::order_only},
    {"MPI_Dist_graph_create", CollectiveShape::order_only},
    {"MPI_Dist_graph_create_adjacent", CollectiveShape::order_only},
    {"MPI_Intercomm_create", CollectiveShape::order_only},
    {"MPI_Win_create", CollectiveShape::order_only},
    {"MPI_Win_create_dynamic", CollectiveShape::order_only},
    {"MPI_Win_allocate", CollectiveShape::order_only},
    {"MPI_Win_allocate_shared", CollectiveShape::order_only},
    {"MPI_File_open", CollectiveShape::order_only},
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

/// Of block i of a list.
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

bool differ(const TypeSignature& a, const TypeSignature& b) {
  return a.compared_with(b).kind != TypeSignature::Difference::Kind::none;
}

}  // namespace

CollectiveOrder::CollectiveOrder(FindingLog& findings) : findings_(findings) {
  for (const Row& row : rows)
    shapes_.emplace(row.name, row.shape);
}

bool CollectiveOrder::has(const CheckedCall& call) const {
  return shapes_.contains(name_of(call));
}

bool CollectiveOrder::add(const mpi::RankState& self, const Comm& comm, const CheckedCall& call) {
  // Of an intercommunicator: the order within the caller's group.
  const Comm& group = mpi::local_part_of(comm);
  const std::int32_t size = group.size();
  const auto own = static_cast<std::size_t>(group.rank);
  Sequence& sequence = sequences_[group.shared->context()];
  sequence.counts.resize(static_cast<std::size_t>(size));
  const std::uint64_t number = sequence.counts[own]++;
  const CallPlace place{.rank = self.world_rank, .name = call.name(), .site = call.site()};
  const std::uint64_t at = number - sequence.first;
  if (at == sequence.rounds.size()) {
    sequence.rounds.push_back({.function = call.function(), .first = place});
    if (call.has("root"))
      sequence.rounds.back().root = static_cast<std::int32_t>(call.word("root"));
    if (call.has("op")) sequence.rounds.back().op = call.handle<MPI_Op>("op");
  }
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
  const CollectiveShape shape = shapes_.at(name_of(call));
  bool can_continue = true;
  if (shape != CollectiveShape::order_only && comm.inter == nullptr) {
    can_continue = compare_root(round, call, place);
    compare_op(round, call, place);
    if (can_continue) compare_data(round, comm, call, place, shape);
  }
  if (round.arrived_count == size) {
    SORREL_ASSERT(at == 0 || !sequence.rounds.empty());
    // A member is at most one round behind a complete one.
    while (!sequence.rounds.empty() && sequence.rounds.front().arrived_count == size) {
      sequence.rounds.pop_front();
      ++sequence.first;
    }
  }
  return can_continue;
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
  const bool is_root = call.has("root") && call.word("root") == comm.rank;
  const auto send = [&] { return signature_of(call, "sendcount", "sendtype"); };
  const auto receive = [&] { return signature_of(call, "recvcount", "recvtype"); };
  switch (shape) {
    case CollectiveShape::broadcast:
    case CollectiveShape::reduction:
      return compare_alike(round, {signature_of(call, "count", "datatype")}, place);
    case CollectiveShape::reduce_blocks:
      return compare_alike(round, {signature_of(call, "recvcount", "datatype")}, place);
    case CollectiveShape::reduce_scatter: {
      std::vector<TypeSignature> own;
      for (std::int32_t i = 0; i < comm.size(); ++i) {
        own.push_back(signature_at(call, "recvcounts", "datatype", static_cast<std::size_t>(i),
                                   /*has_types=*/false));
      }
      return compare_alike(round, std::move(own), place);
    }
    case CollectiveShape::gather:
      if (!is_root) return compare_alike(round, {send()}, place);
      compare_alike(round, {receive()}, place);
      if (!is_in_place(call, "sendbuf")) compare_alike(round, {send()}, place);
      return;
    case CollectiveShape::scatter:
      if (!is_root) return compare_alike(round, {receive()}, place);
      compare_alike(round, {send()}, place);
      if (!is_in_place(call, "recvbuf")) compare_alike(round, {receive()}, place);
      return;
    case CollectiveShape::all_to_all:
      compare_alike(round, {receive()}, place);
      if (!is_in_place(call, "sendbuf")) compare_alike(round, {send()}, place);
      return;
    default:
      return compare_lists(round, comm, call, place, shape);
  }
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
