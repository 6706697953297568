#include "mpi/io/nonblocking.hpp"

#include "mpi/collectives/operation_pool.hpp"
#include "mpi/io/collective_access.hpp"

namespace sorrel::mpi {

namespace {

/// An access of one rank. Ends with its request.
class AloneAccess final : public Operation {
 public:
  AloneAccess(File& file, const FileAccess& access)
      : file_(file),
        access_(access),
        request_(make_operation_request(*file.owner, *file.comm, *this)) {
    type().retain();
  }

  [[nodiscard]] Request& request() const { return request_; }

  [[nodiscard]] int start() override {
    ++file_.outstanding_count;
    RankState& self = *file_.owner;
    if (OperationPool::of(self).fibers().run(self.fiber, run, this)) return MPI_SUCCESS;
    --file_.outstanding_count;
    return self.fail(MPI_ERR_NO_MEM, "no memory for the stack of a nonblocking access");
  }

  [[nodiscard]] int explain(RankState& self, int error_class) const override {
    return self.fail(error_class, "%s", detail_.text());
  }

  void name(OperationName& to) const override {
    to.add(access_.is_write ? "MPI_File_iwrite" : "MPI_File_iread");
  }

  [[nodiscard]] std::optional<std::int32_t> awaited_rank() const override { return std::nullopt; }

  void end() override {
    type().release();
    delete this;
  }

 private:
  ~AloneAccess() = default;

  /// A request holds a reference to its type.
  [[nodiscard]] Datatype& type() const { return const_cast<Datatype&>(*access_.buffer.type); }

  static void run(void* argument) {
    auto& self = *static_cast<AloneAccess*>(argument);
    RankState& rank = *self.file_.owner;
    self.request_.error = access_alone(self.file_, self.access_, &self.request_.status_bytes);
    if (self.request_.error != MPI_SUCCESS) {
      self.detail_ = rank.detail();
      rank.detail() = {};
    }
    --self.file_.outstanding_count;
    // The request may end in this call.
    complete(self.request_);
  }

  File& file_;
  const FileAccess access_;
  Request& request_;
  /// The error of a failed access.
  ErrorDetail detail_;
};

/// The arguments of a CollectiveOperation.
struct TogetherAccess {
  File* file;
  Request* request;
  FileAccess access;

  int operator()(const Member& member) const {
    const int error = access_together(member, *file, access, &request->status_bytes);
    --file->outstanding_count;
    return error;
  }

  void hold(CollectiveOperation& operation, const Comm& /*comm*/) const {
    operation.hold(access.buffer.type);
  }
};

}  // namespace

int start_alone(File& file, const FileAccess& access, MPI_Request* request) {
  // Owned by its request.
  auto* operation = new AloneAccess(file, access);
  Request& made = operation->request();
  activate(made);
  if (const int error = operation->start(); error != MPI_SUCCESS) {
    made.is_active = false;
    end_operation(made);
    return error;
  }
  *request = handle_of(made);
  return MPI_SUCCESS;
}

int start_together(File& file,
                   CollectiveKind kind,
                   const FileAccess& access,
                   MPI_Request* request) {
  RankState& self = *file.owner;
  CollectiveOperation& operation = OperationPool::of(self).take();
  Request& made = operation.make_request(self, *file.comm);
  operation.describe({.kind = kind, .form = CollectiveForm::nonblocking},
                     TogetherAccess{&file, &made, access}, *file.comm);
  activate(made);
  ++file.outstanding_count;
  if (const int error = operation.start(); error != MPI_SUCCESS) {
    --file.outstanding_count;
    made.is_active = false;
    end_operation(made);
    return error;
  }
  *request = handle_of(made);
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
