#include "abi/device_call.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "abi/call.hpp"
#include "abi/check.hpp"
#include "abi/device_stage.hpp"
#include "base/check.hpp"
#include "device/direct_memory.hpp"
#include "mpi/base/status.hpp"
#include "mpi/comm/topology/topology.hpp"
#include "mpi/match/device_message.hpp"
#include "mpi/match/observer.hpp"
#include "mpi/rma/operations.hpp"
#include "mpi/rma/passive.hpp"

namespace sorrel::abi {

namespace {

constexpr std::size_t all_bytes = std::numeric_limits<std::size_t>::max();

constexpr const char* rejected_copy = "the driver of the GPU rejects a copy of a buffer";

/// A request whose buffers have stages.
struct StagedRequest {
  StagedRequest(MPI_Request handle, std::vector<DeviceStage>&& of_buffers)
      : request(handle), stages(std::move(of_buffers)) {
    if (Comm* of_request = mpi::object_of<mpi::Request>(handle)->comm; of_request != nullptr)
      comm.add(*of_request);
  }

  /// Whose error handler is called.
  [[nodiscard]] Comm& comm_of(RankState& self) const { return comm.value_or(self.self_comm); }

  MPI_Request request;
  std::vector<DeviceStage> stages;
  bool is_persistent = false;
  /// Started, and not complete.
  bool is_active = false;
  bool is_sized = false;
  /// In a partition; 0: the request has none.
  std::size_t partition_elements = 0;
  bool is_partitioned_send = false;
  /// The partitions whose data is on the device.
  std::vector<bool> arrived;
  /// That of the request: its handle may be freed before.
  FailedComm comm;
};

/// One rank alone uses it, one thread at a time.
struct RankCalls {
  std::vector<std::unique_ptr<StagedRequest>> requests;
  /// The next binding that the rank enters is called from here. Nothing suspends between.
  bool is_inner = false;

  /// Null: it has no stages.
  [[nodiscard]] StagedRequest* find(MPI_Request request) const {
    const auto found = std::ranges::find(requests, request, &StagedRequest::request);
    return found != requests.end() ? found->get() : nullptr;
  }

  /// Takes the request out; null: it has no stages.
  [[nodiscard]] std::unique_ptr<StagedRequest> take(MPI_Request request) {
    const auto found = std::ranges::find(requests, request, &StagedRequest::request);
    if (found == requests.end()) return nullptr;
    std::unique_ptr<StagedRequest> taken = std::move(*found);
    requests.erase(found);
    return taken;
  }

  void keep(std::unique_ptr<StagedRequest> request) {
    SORREL_ASSERT(request != nullptr && !request->stages.empty(), "a request without buffers");
    requests.push_back(std::move(request));
  }
};

/// The calls of all ranks of the process; their addresses stay.
class AllCalls {
 public:
  [[nodiscard]] RankCalls& of(const RankState& self) {
    const std::scoped_lock lock(mutex_);
    return all_[&self];
  }

  /// Returns what the rank had: its end copies nothing, and frees memory of the driver.
  [[nodiscard]] RankCalls take(const RankState& self) {
    const std::scoped_lock lock(mutex_);
    const auto node = all_.extract(&self);
    return node.empty() ? RankCalls() : std::move(node.mapped());
  }

 private:
  std::mutex mutex_;
  std::unordered_map<const RankState*, RankCalls> all_;
};

AllCalls& all_calls() {
  static AllCalls& all = *new AllCalls;
  return all;
}

/// The arguments of one call.
class DeviceCall {
 public:
  DeviceCall(RankState& self,
             RankCalls& calls,
             const DeviceFunction& function,
             std::intptr_t* words,
             CallWithWords call)
      : self_(self), calls_(calls), function_(function), words_(words), call_(call) {
    if (function.comm >= 0) comm_ = self.comm_of(argument<MPI_Comm>(function.comm));
  }

  /// Nothing: the call concerns no memory of a device.
  [[nodiscard]] std::optional<int> run();

 private:
  template <class T>
  [[nodiscard]] T argument(int number) const {
    return from_word<T>(words_[number]);
  }

  /// That of a one-sided operation; else null.
  [[nodiscard]] mpi::Win* window() const {
    return function_.win >= 0 ? mpi::win_of(argument<MPI_Win>(function_.win)) : nullptr;
  }

  [[nodiscard]] std::optional<int> run_with_buffers();
  [[nodiscard]] bool is_plain_send() const;
  [[nodiscard]] std::optional<mpi::SendArguments> direct_send(device::DirectMemory& memory) const;
  [[nodiscard]] int send_directly(const mpi::SendArguments& send, device::DirectMemory& memory);

  [[nodiscard]] bool is_within_device() const;

  /// The argument with the destination, in a send of the first buffer.
  [[nodiscard]] int destination_number() const { return function_.buffers[0].count + 2; }

  [[nodiscard]] int start(std::span<const MPI_Request> requests);
  [[nodiscard]] int free(MPI_Request request);
  [[nodiscard]] int make_ready(StagedRequest& staged);
  [[nodiscard]] int ask_for_arrival(StagedRequest& staged);
  [[nodiscard]] bool copy_partition_out(StagedRequest& staged, std::size_t partition) const;
  [[nodiscard]] int complete(std::span<const MPI_Request> requests);
  [[nodiscard]] std::vector<MPI_Request> given_requests() const;

  // What the function finds in its buffers.
  [[nodiscard]] std::optional<int> add_stage(const DeviceBuffer& buffer);
  [[nodiscard]] DeviceStage::Use use_of(const DeviceBuffer& buffer, std::size_t bytes) const;
  [[nodiscard]] std::vector<DeviceBlock> blocks_of(const DeviceBuffer& buffer) const;
  [[nodiscard]] std::vector<DeviceBlock> listed_blocks(const DeviceBuffer& buffer) const;
  [[nodiscard]] std::int64_t element_count(const DeviceBuffer& buffer) const;
  [[nodiscard]] std::int64_t operand_count(const DeviceBuffer& buffer) const;
  [[nodiscard]] std::vector<DeviceBlock> packed_block(const DeviceBuffer& buffer) const;
  [[nodiscard]] std::int64_t position_at(int number) const;
  [[nodiscard]] std::optional<int> position_of_packing() const;
  [[nodiscard]] MPI_Status& status_or(MPI_Status& own);
  [[nodiscard]] int type_number(const DeviceBuffer& buffer) const;
  [[nodiscard]] std::size_t block_count(DeviceShare share) const;
  [[nodiscard]] std::int64_t count_at(int number, std::size_t index) const;
  [[nodiscard]] std::int64_t displacement_at(const DeviceBuffer& buffer, std::size_t index) const;
  [[nodiscard]] bool is_root() const;
  [[nodiscard]] bool is_leaf() const;
  [[nodiscard]] bool is_in_place() const;

  [[nodiscard]] int call_inner();
  [[nodiscard]] int finish_operation() const;
  [[nodiscard]] int fail(int error_class, const char* reason) const;

  [[nodiscard]] int fail_copy() const { return fail(MPI_ERR_OTHER, rejected_copy); }

  [[nodiscard]] bool copy_in(std::vector<DeviceStage>& stages) const;
  [[nodiscard]] bool copy_out(std::vector<DeviceStage>& stages, std::size_t bytes) const;
  void keep_request(MPI_Request request);

  // Completion of requests.
  [[nodiscard]] std::vector<std::size_t> completed(std::size_t count) const;
  [[nodiscard]] StagedRequest* end_completed(std::span<StagedRequest* const> staged,
                                             int call_error,
                                             MPI_Status* statuses);
  [[nodiscard]] bool end_request(StagedRequest& staged, int error, const MPI_Status& status) const;

  /// Whether the call completes several requests, each with an error of its own.
  [[nodiscard]] bool has_error_for_each() const {
    return function_.request_count >= 0 && (function_.indices < 0 || function_.index_count >= 0);
  }

  RankState& self_;
  RankCalls& calls_;
  const DeviceFunction& function_;
  std::intptr_t* words_;
  const CallWithWords call_;
  /// Null: none is given, or its handle is not valid.
  Comm* comm_ = nullptr;
  std::vector<DeviceStage> stages_;
};

int DeviceCall::call_inner() {
  calls_.is_inner = true;
  return call_(words_);
}

int DeviceCall::fail(int error_class, const char* reason) const {
  self_.fiber.call = function_.name;
  const int error = self_.fail(error_class, "%s", reason);
  mpi::Win* win = window();
  if (win != nullptr) return raise(self_, *win, error);
  mpi::File* file =
      function_.file >= 0 ? mpi::file_of(argument<MPI_File>(function_.file)) : nullptr;
  if (file != nullptr) return raise(self_, *file, error);
  return raise(self_, comm_ != nullptr ? *comm_ : self_.self_comm, error);
}

/// Whether this rank is the root of a rooted collective. False in a member of an intercommunicator
/// that takes no part.
bool DeviceCall::is_root() const {
  SORREL_ASSERT(comm_ != nullptr && function_.root >= 0, "%s has no root", function_.name);
  return mpi::is_root_of(*comm_, argument<int>(function_.root));
}

bool DeviceCall::is_leaf() const {
  return comm_->inter == nullptr || argument<int>(function_.root) >= 0;
}

bool DeviceCall::is_in_place() const {
  return std::any_of(function_.buffers, function_.buffers + function_.buffer_count,
                     [this](const DeviceBuffer& buffer) {
                       return argument<const void*>(buffer.buffer) == MPI_IN_PLACE;
                     });
}

/// How many blocks of `count` a buffer has; 0 where it is not significant.
std::size_t DeviceCall::block_count(DeviceShare share) const {
  SORREL_ASSERT(share == DeviceShare::one || comm_ != nullptr, "%s has no communicator",
                function_.name);
  const auto size = [](std::int32_t count) { return static_cast<std::size_t>(count); };
  switch (share) {
    case DeviceShare::one:
      return 1;
    case DeviceShare::each:
      return size(comm_->size());
    case DeviceShare::local_each:
      return size(mpi::local_size_of(*comm_));
    case DeviceShare::one_at_root:
      return is_root() ? 1 : 0;
    case DeviceShare::each_at_root:
      return is_root() ? size(comm_->size()) : 0;
    case DeviceShare::one_at_leaf:
      return is_leaf() ? 1 : 0;
    case DeviceShare::root_to_leaf:
      return is_root() || is_leaf() ? 1 : 0;
    case DeviceShare::in_neighbors:
    case DeviceShare::out_neighbors:
      break;
  }
  if (comm_->topology == nullptr) return 0;
  const mpi::Neighborhood around = comm_->topology->neighborhood_of(comm_->rank);
  return share == DeviceShare::in_neighbors ? around.sources.size() : around.destinations.size();
}

std::int64_t DeviceCall::count_at(int number, std::size_t index) const {
  return function_.is_large ? argument<const MPI_Count*>(number)[index]
                            : argument<const int*>(number)[index];
}

std::int64_t DeviceCall::displacement_at(const DeviceBuffer& buffer, std::size_t index) const {
  const int number = buffer.count + 1;
  return function_.is_large || function_.has_address_displacements
             ? argument<const MPI_Aint*>(number)[index]
             : argument<const int*>(number)[index];
}

/// The number of elements of the operand of a reduction with a count for each member.
std::int64_t DeviceCall::operand_count(const DeviceBuffer& buffer) const {
  if (argument<const void*>(buffer.count) == nullptr) return 0;
  // In place, the receive buffer holds the whole operand.
  if (buffer.form == DeviceForm::own_block && !is_in_place())
    return count_at(buffer.count, static_cast<std::size_t>(comm_->rank));
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < block_count(DeviceShare::local_each); ++i)
    sum += count_at(buffer.count, i);
  return sum;
}

std::int64_t DeviceCall::element_count(const DeviceBuffer& buffer) const {
  if (buffer.form == DeviceForm::element) return 1;
  if (buffer.form == DeviceForm::partitions) {
    std::int64_t count = 0;
    const bool is_too_large = __builtin_mul_overflow(argument<MPI_Count>(buffer.count),
                                                     argument<MPI_Count>(buffer.count + 1), &count);
    return is_too_large ? 0 : count;
  }
  if (buffer.form != DeviceForm::typed) return operand_count(buffer);
  // MPI_Reduce_scatter_block in place.
  const bool is_operand = is_in_place() && buffer.share == DeviceShare::one &&
                          function_.buffers[0].share == DeviceShare::local_each;
  const DeviceShare share = is_operand ? DeviceShare::local_each : buffer.share;
  return argument<MPI_Count>(buffer.count) * static_cast<std::int64_t>(block_count(share));
}

/// The blocks of a buffer with one block for each member.
std::vector<DeviceBlock> DeviceCall::listed_blocks(const DeviceBuffer& buffer) const {
  std::vector<DeviceBlock> blocks;
  const bool has_types = buffer.form == DeviceForm::blocks_types;
  const std::size_t count = block_count(buffer.share);
  for (int i = 0; i < (has_types ? 3 : 2); ++i) {
    if (argument<const void*>(buffer.count + i) == nullptr) return blocks;
  }
  for (std::size_t i = 0; i < count; ++i) {
    mpi::Datatype* type =
        mpi::datatype_from_handle(has_types ? argument<const MPI_Datatype*>(buffer.count + 2)[i]
                                            : argument<MPI_Datatype>(buffer.count + 2));
    const std::int64_t elements = count_at(buffer.count, i);
    if (type == nullptr || !type->is_committed() || type->size() == 0 || elements <= 0) continue;
    const std::int64_t displacement = displacement_at(buffer, i) * (has_types ? 1 : type->extent());
    blocks.push_back({static_cast<std::uintptr_t>(words_[buffer.buffer]) +
                          static_cast<std::uintptr_t>(displacement),
                      static_cast<std::size_t>(elements), type});
  }
  return blocks;
}

/// The argument that is the datatype of a buffer.
int DeviceCall::type_number(const DeviceBuffer& buffer) const {
  return buffer.count + (buffer.form == DeviceForm::partitions ? 2 : 1);
}

std::int64_t DeviceCall::position_at(int number) const {
  return function_.is_large || function_.has_address_displacements
             ? *argument<const MPI_Count*>(number)
             : *argument<const int*>(number);
}

/// The bytes of packed data from its position on, as many as the other, typed buffer can fill.
std::vector<DeviceBlock> DeviceCall::packed_block(const DeviceBuffer& buffer) const {
  constexpr std::int64_t growth_max = 4;  // of an element in another representation
  if (argument<const void*>(buffer.count + 1) == nullptr) return {};
  const DeviceBuffer& typed = function_.buffers[&buffer == &function_.buffers[0] ? 1 : 0];
  mpi::Datatype* type = mpi::datatype_from_handle(argument<MPI_Datatype>(type_number(typed)));
  const std::int64_t position = position_at(buffer.count + 1);
  const std::int64_t rest = argument<MPI_Count>(buffer.count) - position;
  if (type == nullptr || position < 0 || rest <= 0) return {};
  std::int64_t most = 0;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(type->size()) * growth_max,
                             argument<MPI_Count>(typed.count), &most))
    most = rest;
  if (most <= 0) return {};
  return {
      {static_cast<std::uintptr_t>(words_[buffer.buffer]) + static_cast<std::uintptr_t>(position),
       static_cast<std::size_t>(std::min(rest, most)), mpi::datatype_from_handle(MPI_BYTE)}};
}

/// What the function finds in a buffer. Nothing for arguments in which it finds an error.
std::vector<DeviceBlock> DeviceCall::blocks_of(const DeviceBuffer& buffer) const {
  const bool is_own = buffer.form == DeviceForm::typed || buffer.form == DeviceForm::element ||
                      buffer.form == DeviceForm::packed;
  const bool needs_comm = buffer.share != DeviceShare::one || !is_own ||
                          function_.buffers[0].share == DeviceShare::local_each;
  if (needs_comm && comm_ == nullptr) return {};
  if (buffer.form == DeviceForm::blocks || buffer.form == DeviceForm::blocks_types)
    return listed_blocks(buffer);
  if (buffer.form == DeviceForm::packed) return packed_block(buffer);
  // An insignificant buffer may have any arguments.
  if (block_count(buffer.share) == 0) return {};
  mpi::Datatype* type = mpi::datatype_from_handle(argument<MPI_Datatype>(type_number(buffer)));
  if (type == nullptr || !type->is_committed() || type->size() == 0) return {};
  const std::int64_t count = element_count(buffer);
  if (count <= 0) return {};
  return {
      {static_cast<std::uintptr_t>(words_[buffer.buffer]), static_cast<std::size_t>(count), type}};
}

DeviceStage::Use DeviceCall::use_of(const DeviceBuffer& buffer, std::size_t bytes) const {
  const bool fits_count =
      function_.is_large || bytes <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  if (buffer.share == DeviceShare::root_to_leaf)
    return {DeviceStage::Form::mirror, is_root(), !is_root()};
  const bool is_written = buffer.direction != DeviceDirection::in;
  // As much as the position says is copied back.
  if (buffer.form == DeviceForm::packed)
    return {DeviceStage::Form::mirror, !is_written, is_written};
  // A checker compares the datatypes of send and receive.
  if (function_.is_message && fits_count && mpi::observer_of(self_) == nullptr)
    return {DeviceStage::Form::packed, buffer.direction != DeviceDirection::out, is_written};
  // What the function leaves as it is, the copy back must not change.
  const bool is_filled =
      function_.is_sized ||
      (function_.is_filling && (comm_ == nullptr || comm_->inter == nullptr) && !is_in_place());
  const bool is_read = buffer.direction != DeviceDirection::out || !is_filled;
  return {DeviceStage::Form::mirror, is_read, is_written};
}

/// Puts memory of the host in the place of a buffer on a device. Returns an error, or nothing.
std::optional<int> DeviceCall::add_stage(const DeviceBuffer& buffer) {
  const auto address = static_cast<std::uintptr_t>(words_[buffer.buffer]);
  if (argument<const void*>(buffer.buffer) == MPI_IN_PLACE) return std::nullopt;
  if (buffer.form == DeviceForm::unsupported) {
    if (!device::buffers().overlaps(address, address + 1)) return std::nullopt;
    return fail(
        MPI_ERR_BUFFER,
        "the buffer is in the memory of a GPU: one for messages of MPI_Bsend must be on the "
        "host");
  }
  std::vector<DeviceBlock> blocks = blocks_of(buffer);
  const DevicePlace place = place_of(blocks);
  if (place == DevicePlace::host) return std::nullopt;
  if (place == DevicePlace::mixed) {
    return fail(MPI_ERR_BUFFER,
                "a buffer is partly in the memory of a GPU: as a whole it must be in what is "
                "allocated there, or on the host");
  }
  std::size_t bytes = 0;
  for (const DeviceBlock& block : blocks)
    bytes += block.bytes();
  const DeviceStage::Use use = use_of(buffer, bytes);
  DeviceStage& stage = stages_.emplace_back(use, std::move(blocks));
  if (!stage.prepare())
    return fail(MPI_ERR_NO_MEM, "no memory of the host for a buffer in the memory of a GPU");
  device::DirectMemory* memory = device::direct_part_of(device::buffers().owned());
  if (use.form == DeviceStage::Form::packed && use.is_written && memory != nullptr)
    stage.offer(*memory);
  words_[buffer.buffer] = stage.host_of(address);
  if (use.form == DeviceStage::Form::packed) {
    words_[buffer.count] = static_cast<std::intptr_t>(bytes);
    words_[buffer.count + 1] = to_word(MPI_BYTE);
  }
  return std::nullopt;
}

bool DeviceCall::copy_in(std::vector<DeviceStage>& stages) const {
  return std::ranges::all_of(stages, [](DeviceStage& stage) { return stage.copy_in(); });
}

bool DeviceCall::copy_out(std::vector<DeviceStage>& stages, std::size_t bytes) const {
  return std::ranges::all_of(stages, [bytes](DeviceStage& stage) { return stage.copy_out(bytes); });
}

void DeviceCall::keep_request(MPI_Request request) {
  auto kept = std::make_unique<StagedRequest>(request, std::move(stages_));
  kept->is_persistent = function_.requests == DeviceRequests::persistent;
  kept->is_active = function_.requests == DeviceRequests::made;
  kept->is_sized = function_.is_sized;
  const DeviceBuffer& buffer = function_.buffers[0];
  if (buffer.form == DeviceForm::partitions) {
    kept->partition_elements = argument<std::size_t>(buffer.count + 1);
    kept->is_partitioned_send = buffer.direction == DeviceDirection::in;
    kept->arrived.resize(argument<std::size_t>(buffer.count));
  }
  calls_.keep(std::move(kept));
}

/// What a one-sided operation returns is there before its epoch ends: also from another process.
int DeviceCall::finish_operation() const {
  mpi::Win* win = window();
  const bool is_awaited = win != nullptr && std::ranges::any_of(stages_, &DeviceStage::is_written);
  if (!is_awaited) return MPI_SUCCESS;
  self_.fiber.call = function_.name;
  const int error = mpi::flush_messages(*win);
  return error == MPI_SUCCESS ? MPI_SUCCESS : raise(self_, *win, error);
}

/// Whether the first buffer is sent, and stays as it is until the message is received. One that a
/// persistent request sends, or one request together with a receive, is copied before.
bool DeviceCall::is_plain_send() const {
  const DeviceBuffer& buffer = function_.buffers[0];
  const bool is_buffered =
      std::string_view(function_.name).find("bsend") != std::string_view::npos ||
      std::string_view(function_.name).find("Bsend") != std::string_view::npos;
  const std::int8_t buffer_count_max = function_.requests == DeviceRequests::none ? 2 : 1;
  return function_.is_message && function_.buffer_count > 0 &&
         function_.requests != DeviceRequests::persistent &&
         function_.buffer_count <= buffer_count_max && buffer.form == DeviceForm::typed &&
         buffer.direction == DeviceDirection::in && !is_buffered;
}

/// The send of the first buffer, if the data can stay on the device until it is received. Nothing
/// also for arguments in which the function finds an error.
std::optional<mpi::SendArguments> DeviceCall::direct_send(device::DirectMemory& memory) const {
  if (!is_plain_send() || comm_ == nullptr || comm_->inter != nullptr ||
      mpi::observer_of(self_) != nullptr)
    return std::nullopt;
  if (function_.requests == DeviceRequests::made &&
      argument<MPI_Request*>(function_.request) == nullptr)
    return std::nullopt;
  const DeviceBuffer& buffer = function_.buffers[0];
  const int destination = argument<int>(destination_number());
  const int tag = argument<int>(destination_number() + 1);
  if (destination < 0 || destination >= comm_->size() || !is_tag(tag)) return std::nullopt;
  const std::vector<DeviceBlock> blocks = blocks_of(buffer);
  if (blocks.empty()) return std::nullopt;
  const DeviceBlock& block = blocks.front();
  const RankState& to = comm_->shared->member(destination);
  if (!mpi::can_send_from_device(self_, to, block.bytes()) ||
      !mpi::holds(memory, {.address = block.address, .count = block.count, .type = block.type}))
    return std::nullopt;
  return mpi::SendArguments{.buffer = argument<const void*>(buffer.buffer),
                            .count = block.count,
                            .type = *block.type,
                            .destination = destination,
                            .tag = tag};
}

/// Whether this is a put or a get whose function copies within a device. False also for arguments
/// in which the function finds an error. With a request, it is a copy through the host, which is
/// complete when the call returns.
bool DeviceCall::is_within_device() const {
  const std::string_view name(function_.name);
  const mpi::Win* win = window();
  if (win == nullptr || function_.buffer_count != 1 ||
      !(name.starts_with("MPI_Put") || name.starts_with("MPI_Get")) ||
      mpi::observer_of(self_) != nullptr)
    return false;
  const std::vector<DeviceBlock> blocks = blocks_of(function_.buffers[0]);
  if (blocks.empty()) return false;
  // Behind the buffer's datatype: rank, displacement, count, datatype.
  const int rank_number = function_.buffers[0].count + 2;
  const int rank = argument<int>(rank_number);
  const auto count = argument<MPI_Count>(rank_number + 2);
  const mpi::Datatype* type = mpi::datatype_from_handle(argument<MPI_Datatype>(rank_number + 3));
  if (rank < 0 || rank >= win->size() || count <= 0 || type == nullptr || !type->is_committed())
    return false;
  const DeviceBlock& block = blocks.front();
  return mpi::is_within_device(
      *win,
      {.buffer = from_word<void*>(static_cast<std::intptr_t>(block.address)),
       .count = block.count,
       .type = block.type},
      {.rank = rank,
       .displacement = argument<MPI_Aint>(rank_number + 1),
       .count = static_cast<std::size_t>(count),
       .type = type});
}

int DeviceCall::send_directly(const mpi::SendArguments& send, device::DirectMemory& memory) {
  MPI_Request request = handle_of(mpi::start_send_from_device(self_, *comm_, send, memory));
  if (function_.requests == DeviceRequests::made) {
    *argument<MPI_Request*>(function_.request) = request;
    return leave(self_, *comm_, MPI_SUCCESS);
  }
  int error = MPI_SUCCESS;
  if (function_.buffer_count > 1) {
    // The other buffer is that of a receive. The send is over, as the function sees it.
    words_[destination_number()] = MPI_PROC_NULL;
    words_[function_.buffers[0].count] = 0;
    const std::optional<int> received = run_with_buffers();
    error = received ? *received : call_inner();
    // Not received if the peer waits for what this call should have done.
    if (error != MPI_SUCCESS) static_cast<void>(mpi::cancel_request(self_, &request));
  }
  FailedComm failed;
  const int send_error = mpi::wait_one(self_, failed, &request, MPI_STATUS_IGNORE);
  return error != MPI_SUCCESS ? error : leave(self_, *comm_, send_error);
}

std::optional<int> DeviceCall::run_with_buffers() {
  device::DirectMemory* memory = device::direct_part_of(device::buffers().owned());
  if (memory != nullptr) {
    if (const std::optional<mpi::SendArguments> send = direct_send(*memory))
      return send_directly(*send, *memory);
  }
  if (is_within_device()) return std::nullopt;
  // A copy to such a buffer and back would undo what a get is still writing there.
  if (mpi::Win* win = window(); win != nullptr) mpi::finish_device_copies(*win);
  stages_.reserve(static_cast<std::size_t>(function_.buffer_count));
  for (int i = 0; i < function_.buffer_count; ++i) {
    if (const std::optional<int> error = add_stage(function_.buffers[i])) return error;
  }
  if (stages_.empty()) return std::nullopt;
  const bool is_persistent = function_.requests == DeviceRequests::persistent;
  if (!is_persistent && !copy_in(stages_)) return fail_copy();
  const std::optional<int> packing = position_of_packing();
  const std::int64_t position = packing ? position_at(*packing) : 0;
  MPI_Status own_status{};
  MPI_Status* status = &status_or(own_status);
  if (const int error = call_inner(); error != MPI_SUCCESS) return error;
  if (const int error = finish_operation(); error != MPI_SUCCESS) return error;
  if (is_persistent) {
    keep_request(*argument<MPI_Request*>(function_.request));
    return MPI_SUCCESS;
  }
  if (function_.requests == DeviceRequests::made) {
    const MPI_Request request = *argument<MPI_Request*>(function_.request);
    int is_complete = 0;
    // A complete request may be one that several calls have returned.
    const int error = PMPI_Request_get_status(request, &is_complete, status);
    if (error != MPI_SUCCESS) return error;
    if (is_complete == 0) {
      keep_request(request);
      return MPI_SUCCESS;
    }
  }
  std::size_t bytes = function_.is_sized ? mpi::status_bytes(*status) : all_bytes;
  if (packing) bytes = static_cast<std::size_t>(position_at(*packing) - position);
  return copy_out(stages_, bytes) ? MPI_SUCCESS : fail_copy();
}

/// The number of the argument that counts what the call has packed; nothing if it packs nothing.
std::optional<int> DeviceCall::position_of_packing() const {
  for (int i = 0; i < function_.buffer_count; ++i) {
    const DeviceBuffer& buffer = function_.buffers[i];
    if (buffer.form != DeviceForm::packed || buffer.direction != DeviceDirection::out) continue;
    const int position = buffer.count + 1;
    return argument<const void*>(position) == nullptr ? std::nullopt : std::optional(position);
  }
  return std::nullopt;
}

/// The status that the call writes: the program's, or `own` in its place.
MPI_Status& DeviceCall::status_or(MPI_Status& own) {
  if (function_.status < 0) return own;
  if (auto* given = argument<MPI_Status*>(function_.status); given != MPI_STATUS_IGNORE)
    return *given;
  words_[function_.status] = to_word(&own);
  return own;
}

/// The numbers of the requests that the call has completed, of `count`. Statuses are in this order.
std::vector<std::size_t> DeviceCall::completed(std::size_t count) const {
  std::vector<std::size_t> found;
  if (function_.flag >= 0 && *argument<const int*>(function_.flag) == 0) return found;
  if (function_.indices < 0) {
    for (std::size_t i = 0; i < count; ++i)
      found.push_back(i);
    return found;
  }
  const int* indices = argument<const int*>(function_.indices);
  const int index_count =
      function_.index_count >= 0 ? *argument<const int*>(function_.index_count) : 1;
  // MPI_UNDEFINED is negative.
  for (int i = 0; i < index_count; ++i) {
    if (indices[i] < 0) continue;
    SORREL_CHECK(static_cast<std::size_t>(indices[i]) < count, "request %d of %zu", indices[i],
                 count);
    found.push_back(static_cast<std::size_t>(indices[i]));
  }
  return found;
}

std::vector<MPI_Request> DeviceCall::given_requests() const {
  if (!function_.has_request_variable) return {argument<MPI_Request>(function_.request)};
  const auto* variables = argument<const MPI_Request*>(function_.request);
  const int count = function_.request_count >= 0 ? argument<int>(function_.request_count) : 1;
  if (variables == nullptr || count <= 0) return {};
  return {variables, variables + count};
}

int DeviceCall::start(std::span<const MPI_Request> requests) {
  std::vector<std::unique_ptr<StagedRequest>> taken;
  bool is_good = true;
  for (MPI_Request request : requests) {
    auto staged = calls_.take(request);
    if (staged == nullptr) continue;
    // A request that is active already is an error, which the function finds. Partitions are copied
    // when they are ready.
    if (is_good && !staged->is_active && !staged->is_partitioned_send) {
      is_good = copy_in(staged->stages);
      comm_ = &staged->comm_of(self_);
    }
    taken.push_back(std::move(staged));
  }
  const int error = is_good ? call_inner() : fail_copy();
  for (auto& staged : taken) {
    if (error == MPI_SUCCESS) {
      staged->is_active = true;
      staged->arrived.assign(staged->arrived.size(), false);
    }
    calls_.keep(std::move(staged));
  }
  return error;
}

int DeviceCall::free(MPI_Request request) {
  auto staged = calls_.take(request);
  SORREL_CHECK(staged != nullptr, "a request without a buffer on a device");
  if (staged->is_active) {
    calls_.keep(std::move(staged));
    return fail(MPI_ERR_REQUEST,
                "the request has a buffer in the memory of a GPU: it can be freed when it is "
                "complete");
  }
  const int error = call_inner();
  if (error != MPI_SUCCESS) calls_.keep(std::move(staged));
  return error;
}

bool DeviceCall::copy_partition_out(StagedRequest& staged, std::size_t partition) const {
  if (staged.arrived[partition]) return true;
  const bool is_good = staged.stages.front().copy_elements(device::Direction::to_device,
                                                           partition * staged.partition_elements,
                                                           staged.partition_elements);
  // Afterwards: another thread of the rank may ask meanwhile.
  staged.arrived[partition] = true;
  return is_good;
}

/// Before partitions are ready, their data is copied from the device. Several threads of the rank
/// may do so at a time, for other partitions.
int DeviceCall::make_ready(StagedRequest& staged) {
  const auto count = static_cast<std::int64_t>(staged.arrived.size());
  const bool is_list = function_.partition_count >= 0;
  const int* list = is_list ? argument<const int*>(function_.partition) : nullptr;
  const std::int64_t first = is_list ? 0 : argument<int>(function_.partition);
  std::int64_t last = first;
  if (is_list) last = std::int64_t{argument<int>(function_.partition_count)} - 1;
  if (function_.partition_high >= 0) last = argument<int>(function_.partition_high);
  if (is_list && list == nullptr) last = -1;
  bool is_good = true;
  for (std::int64_t i = first; is_good && staged.is_active && i <= last; ++i) {
    const std::int64_t partition = is_list ? list[i] : i;
    // The function finds the error.
    if (partition < 0 || partition >= count) break;
    is_good = staged.stages.front().copy_elements(
        device::Direction::to_host, static_cast<std::size_t>(partition) * staged.partition_elements,
        staged.partition_elements);
  }
  return is_good ? call_inner() : fail_copy();
}

int DeviceCall::ask_for_arrival(StagedRequest& staged) {
  if (const int error = call_inner(); error != MPI_SUCCESS) return error;
  if (*argument<const int*>(function_.flag) == 0 || !staged.is_active) return MPI_SUCCESS;
  return copy_partition_out(staged, argument<std::size_t>(function_.partition)) ? MPI_SUCCESS
                                                                                : fail_copy();
}

/// Copies what an active request has received. False: the driver has failed.
bool DeviceCall::end_request(StagedRequest& staged, int error, const MPI_Status& status) const {
  if (!staged.is_active) return true;
  staged.is_active = false;
  const bool is_good =
      error == MPI_SUCCESS || (error == MPI_ERR_IN_STATUS && status.MPI_ERROR == MPI_SUCCESS);
  if (!is_good || staged.is_partitioned_send) return true;
  bool are_partitions_copied = true;
  for (std::size_t i = 0; i < staged.arrived.size(); ++i)
    are_partitions_copied = copy_partition_out(staged, i) && are_partitions_copied;
  if (!staged.arrived.empty()) return are_partitions_copied;
  if (!staged.is_sized) return copy_out(staged.stages, all_bytes);
  const bool is_cancelled = status.MPI_internal[mpi::status_cancelled_index] != 0;
  return is_cancelled || copy_out(staged.stages, mpi::status_bytes(status));
}

int DeviceCall::complete(std::span<const MPI_Request> requests) {
  // A request with partitions stays in the list: threads of the rank make them ready meanwhile.
  std::vector<std::unique_ptr<StagedRequest>> taken(requests.size());
  std::vector<StagedRequest*> staged(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    staged[i] = calls_.find(requests[i]);
    if (staged[i] != nullptr && staged[i]->partition_elements == 0)
      taken[i] = calls_.take(requests[i]);
  }
  std::vector<MPI_Status> own(requests.size());
  auto* statuses = argument<MPI_Status*>(function_.status);
  if (statuses == nullptr) {
    statuses = own.data();
    words_[function_.status] = to_word(statuses);
  }
  const int call_error = call_inner();
  const StagedRequest* const failed = end_completed(staged, call_error, statuses);
  const bool is_query = function_.requests == DeviceRequests::queried;
  const auto* variables = is_query ? nullptr : argument<const MPI_Request*>(function_.request);
  const auto is_over = [&](std::size_t i) {
    return variables != nullptr && variables[i] != requests[i];
  };
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (taken[i] != nullptr && (taken[i]->is_persistent || !is_over(i)))
      calls_.keep(std::move(taken[i]));
  }
  // What the function has returned, it has raised.
  if (failed == nullptr || call_error != MPI_SUCCESS) return call_error;
  comm_ = &failed->comm_of(self_);
  return has_error_for_each() ? fail(MPI_ERR_IN_STATUS, rejected_copy) : fail_copy();
}

/// Ends the requests that the function has completed, which returned `call_error`. Null: requests
/// without a buffer on a device. Returns the first one whose copy has failed, or null.
StagedRequest* DeviceCall::end_completed(std::span<StagedRequest* const> staged,
                                         int call_error,
                                         MPI_Status* statuses) {
  if (call_error != MPI_SUCCESS && call_error != MPI_ERR_IN_STATUS) {
    if (staged.size() == 1 && staged[0] != nullptr) staged[0]->is_active = false;
    return nullptr;
  }
  StagedRequest* failed = nullptr;
  const std::vector<std::size_t> ended = completed(staged.size());
  for (std::size_t k = 0; k < ended.size(); ++k) {
    StagedRequest* request = staged[ended[k]];
    const bool is_pending = call_error != MPI_SUCCESS && statuses[k].MPI_ERROR == MPI_ERR_PENDING;
    if (request == nullptr || is_pending) continue;
    if (end_request(*request, call_error, statuses[k])) continue;
    if (failed == nullptr) failed = request;
    if (has_error_for_each()) statuses[k].MPI_ERROR = MPI_ERR_OTHER;
  }
  return failed;
}

std::optional<int> DeviceCall::run() {
  switch (function_.requests) {
    case DeviceRequests::none:
    case DeviceRequests::made:
    case DeviceRequests::persistent:
      return run_with_buffers();
    default:
      break;
  }
  if (calls_.requests.empty()) return std::nullopt;
  const std::vector<MPI_Request> requests = given_requests();
  const auto has_stages = [this](MPI_Request request) { return calls_.find(request) != nullptr; };
  if (std::ranges::none_of(requests, has_stages)) return std::nullopt;
  if (function_.requests == DeviceRequests::started) return start(requests);
  if (function_.requests == DeviceRequests::completed ||
      function_.requests == DeviceRequests::queried)
    return complete(requests);
  StagedRequest& staged = *calls_.find(requests.front());
  comm_ = &staged.comm_of(self_);
  if (function_.requests == DeviceRequests::freed) return free(requests.front());
  return function_.requests == DeviceRequests::readied ? make_ready(staged)
                                                       : ask_for_arrival(staged);
}

}  // namespace

std::optional<int> call_on_device(RankState& self,
                                  const DeviceFunction& function,
                                  std::intptr_t* words,
                                  CallWithWords call) {
  if (!mpi::is_running(self.phase)) return std::nullopt;
  RankCalls& calls = all_calls().of(self);
  if (std::exchange(calls.is_inner, false)) return std::nullopt;
  return DeviceCall(self, calls, function, words, call).run();
}

void end_device_calls(const RankState& self) {
  // The stages end after the lock is released.
  const RankCalls ended = all_calls().take(self);
}

}  // namespace sorrel::abi

/// MPIX_Query_cuda_support() for the translations of other MPIs' libraries (src/translate).
extern "C" int sorrel_query_cuda_support() {
  return sorrel::device::are_buffers_supported() ? 1 : 0;
}

/// Whether buffers may be in the memory of a GPU: the extension of Open MPI and MPICH.
extern "C" int MPIX_Query_cuda_support() {
  return sorrel_query_cuda_support();
}
