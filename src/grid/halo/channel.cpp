#include "grid/halo/channel.hpp"

#include <limits>
#include <utility>

#include "base/check.hpp"

namespace sorrel::grid {
namespace {

// A datatype of the runs, relative to their first byte.
MPI_Datatype type_of(const Runs& runs) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(runs.run_bytes), MPI_BYTE, &type);
  for (const Runs::Loop& loop : runs.loops) {
    if (loop.count == 1) continue;
    MPI_Datatype outer = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(static_cast<int>(loop.count), 1,
                            static_cast<MPI_Aint>(loop.stride_bytes), type, &outer);
    MPI_Type_free(&type);
    type = outer;
  }
  return type;
}

// A datatype of all fields, at their addresses.
MPI_Datatype type_of(const std::vector<Runs>& fields) {
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> places(fields.size());
  const std::vector<int> ones(fields.size(), 1);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    types.push_back(type_of(fields[i]));
    MPI_Get_address(fields[i].first, &places[i]);
  }
  MPI_Datatype all = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(static_cast<int>(fields.size()), ones.data(), places.data(), types.data(),
                         &all);
  MPI_Type_commit(&all);
  for (MPI_Datatype& type : types)
    MPI_Type_free(&type);
  return all;
}

}  // namespace

Channel::Channel(const Side& side, std::span<const ArrayView> fields, MemoryOrder order)
    : side_(side),
      out_(payload_of(side.sent, fields, order, side.pack)),
      // The ghosts of a part are copied once, directly from the message.
      in_(payload_of(side.ghosts, fields, order, side.is_part ? Pack::datatype : side.pack)) {}

Channel::Channel(Channel&& other) noexcept
    : side_(other.side_), out_(std::exchange(other.out_, {})), in_(std::exchange(other.in_, {})) {}

Channel::~Channel() {
  for (Payload* payload : {&out_, &in_})
    if (payload->type != MPI_BYTE) MPI_Type_free(&payload->type);
}

Channel::Payload Channel::payload_of(const Box<3>& box,
                                     std::span<const ArrayView> fields,
                                     MemoryOrder order,
                                     Pack pack) {
  Payload payload;
  std::int64_t bytes = 0;
  for (const ArrayView& field : fields) {
    payload.runs.push_back(runs_of(field, box, order));
    bytes += payload.runs.back().bytes();
  }
  SORREL_CHECK(bytes <= std::numeric_limits<int>::max(), "a face of %lld bytes",
               static_cast<long long>(bytes));
  payload.count = static_cast<int>(bytes);
  if (payload.runs.size() == 1 && payload.runs[0].is_one()) {
    payload.data = payload.runs[0].first;
  } else if (pack == Pack::datatype) {
    payload.type = type_of(payload.runs);
    payload.count = 1;
  } else {
    payload.buffer.resize(static_cast<std::size_t>(bytes));
    payload.data = payload.buffer.data();
  }
  return payload;
}

void Channel::receive(MPI_Comm comm, MPI_Request* request) {
  MPI_Irecv(in_.type == MPI_BYTE ? in_.data : MPI_BOTTOM, in_.count, in_.type, side_.neighbour,
            tag_towards(side_.dimension, 1 - side_.end), comm, request);
}

void Channel::send(MPI_Comm comm, MPI_Request* request) {
  std::byte* end = out_.buffer.data();
  if (!out_.buffer.empty())
    for (const Runs& runs : out_.runs)
      end += pack(runs, side_.pack, end);
  MPI_Isend(out_.type == MPI_BYTE ? out_.data : MPI_BOTTOM, out_.count, out_.type, side_.neighbour,
            tag_towards(side_.dimension, side_.end), comm, request);
}

void Channel::unpack_ghosts() {
  const std::byte* end = in_.buffer.data();
  if (!in_.buffer.empty())
    for (const Runs& runs : in_.runs)
      end += unpack(runs, side_.pack, end);
}

void Channel::copy_from(Channel& opposite) {
  std::vector<std::byte> passing;
  for (std::size_t i = 0; i < in_.runs.size(); ++i) {
    passing.resize(static_cast<std::size_t>(in_.runs[i].bytes()));
    pack(opposite.out_.runs[i], Pack::rows, passing.data());
    unpack(in_.runs[i], Pack::rows, passing.data());
  }
}

}  // namespace sorrel::grid
