#include "mpi/partitioned/partitioned_message.hpp"

#include <algorithm>

#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"
#include "mpi/partitioned/partitioned_comm.hpp"

namespace sorrel::mpi {

PartitionedMessage::PartitionedMessage(RankState& self,
                                       Comm& comm,
                                       const PartitionedArguments& arguments)
    : self_(self), arguments_(arguments), request_(&make_operation_request(self, comm, *this)) {
  arguments_.type.retain();
  make_persistent(*request_);
  main_part_.kind = Request::Kind::operation;
  main_part_.operation = this;
  if (arguments_.peer == MPI_PROC_NULL) return;
  channel_ = &PartitionedComm::of(comm).channel();
  retain(*channel_);
}

PartitionedMessage::~PartitionedMessage() {
  for (Request* unit : units_)
    recycle(*unit);
  if (channel_ != nullptr) release(*channel_);
  arguments_.type.release();
}

Request& PartitionedMessage::as_part(Request& part) {
  part.duties.is_part = true;
  part.main_part = &main_part_;
  return part;
}

Request& PartitionedMessage::add_send(const void* buffer,
                                      std::size_t count,
                                      Datatype& type,
                                      std::int32_t tag) {
  return as_part(make_send(
      self_, *channel_,
      {.buffer = buffer, .count = count, .type = type, .destination = arguments_.peer, .tag = tag},
      SendMode::standard));
}

Request& PartitionedMessage::add_receive(void* buffer,
                                         std::size_t count,
                                         Datatype& type,
                                         std::int32_t tag) {
  return as_part(make_receive(
      self_, *channel_,
      {.buffer = buffer, .count = count, .type = type, .source = arguments_.peer, .tag = tag}));
}

void PartitionedMessage::start_handshake_part(Request& part) {
  ++handshake_count_;
  const int error = mpi::start(part);
  SORREL_ASSERT(error == MPI_SUCCESS, "only buffered sends can fail to start");
  static_cast<void>(error);
}

void PartitionedMessage::lay_out(const PartitionedIntroduction& sender, std::size_t element_bytes) {
  SORREL_ASSERT(!is_laid_out());
  if (request_ == nullptr) return;
  first_number_ = sender.first_number;
  layout_ = TransferUnits::of(sender.total_bytes, sender.partition_bytes, element_bytes);
  for (std::size_t unit = 0; unit < layout_.count; ++unit) {
    const std::size_t first = unit * layout_.bytes;
    const std::size_t last = std::min<std::size_t>(first + layout_.bytes, sender.total_bytes);
    const std::int32_t tag = unit_tag(first_number_ + static_cast<std::int32_t>(unit));
    Request& part = make_unit(first, last, tag);
    make_persistent(part);
    units_.push_back(&part);
  }
  if (request_->is_active) begin_transfer();
}

void PartitionedMessage::meet(const PartitionedIntroduction& sender,
                              const PartitionedAnswer& receiver) {
  if (receiver.total_bytes >= sender.total_bytes) {
    lay_out(sender, receiver.element_bytes);
    return;
  }
  // Every transfer fails.
  sent_bytes_ = sender.total_bytes;
  room_bytes_ = receiver.total_bytes;
  if (request_ != nullptr && request_->is_active) begin_transfer();
}

void PartitionedMessage::start_unit(std::size_t unit) {
  Request& part = *units_[unit];
  const int error = restart(part);
  SORREL_ASSERT(error == MPI_SUCCESS, "only buffered sends can fail to start");
  static_cast<void>(error);
  // The caller waits for the whole, so a send that a wait could detach is detached now.
  (void)is_complete(part);
}

int PartitionedMessage::start() {
  reset();
  if (is_laid_out() || sent_bytes_ != room_bytes_ || !has_peer()) begin_transfer();
  return MPI_SUCCESS;
}

void PartitionedMessage::begin_transfer() {
  // One more, so that the transfer does not end before all units have started.
  missing_unit_count_ = units_.size() + 1;
  if (is_laid_out()) start_units();
  count_one();
}

void PartitionedMessage::count_one() {
  SORREL_ASSERT(missing_unit_count_ != 0, "more units have ended than were started");
  if (--missing_unit_count_ != 0) return;
  request_->status_source = arguments_.peer;
  if (has_peer()) request_->status_tag = arguments_.tag;
  if (sent_bytes_ != room_bytes_) request_->error = MPI_ERR_TRUNCATE;
  for (const Request* unit : units_)
    request_->status_bytes += unit->status_bytes;
  complete(*request_);
}

void PartitionedMessage::finish_part(Request& part) {
  if (part.life == Request::Life::persistent) {
    deactivate(part);
    end_unit(static_cast<std::size_t>(unit_number(part.tag) - first_number_));
    count_one();
    return;
  }
  const bool is_from_peer = part.kind == Request::Kind::receive;
  recycle(part);
  if (is_from_peer) meet_peer();
  if (--handshake_count_ == 0 && request_ == nullptr) delete this;
}

int PartitionedMessage::explain(RankState& self, int error_class) const {
  return self.fail(error_class,
                   "the partitions of the sender have %zu bytes, those of the receiver %zu; the "
                   "receiver must have room for all",
                   sent_bytes_, room_bytes_);
}

std::optional<std::int32_t> PartitionedMessage::awaited_rank() const {
  if (!has_peer()) return std::nullopt;
  return channel_->shared->group()->world_rank(arguments_.peer);
}

void PartitionedMessage::end() {
  request_ = nullptr;
  if (handshake_count_ == 0) delete this;
}

}  // namespace sorrel::mpi
