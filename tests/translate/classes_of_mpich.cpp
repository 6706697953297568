// A program that uses the classes of MPICH's C++ bindings, which its own libmpicxx has: what that
// library asks of MPI beyond the functions in C are callbacks in C++, and errors that throw.
#include <cstdarg>
#include <cstdio>
#include <mpi.h>
#include <string>

namespace {

int failures = 0;

void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("%d: wrong: %s\n", MPI::COMM_WORLD.Get_rank(), what);
  ++failures;
}

// ---- Operations ----

void add(const void* in, void* inout, int count, const MPI::Datatype& datatype) {
  for (int i = 0; datatype == MPI::INT && i < count; ++i)
    static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

// The first number that is not 0.
void first(const void* in, void* inout, int count, const MPI::Datatype&) {
  for (int i = 0; i < count; ++i) {
    if (static_cast<const int*>(in)[i] != 0)
      static_cast<int*>(inout)[i] = static_cast<const int*>(in)[i];
  }
}

void add_in_c(void* in, void* inout, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

void operations(int rank, int size) {
  const int sum = size * (size - 1) / 2;
  MPI::Op sum_op;
  MPI::Op first_op;
  sum_op.Init(add, true);
  first_op.Init(first, false);
  MPI_Op c_op;
  MPI_Op_create(add_in_c, 1, &c_op);
  int total = -1;
  MPI::COMM_WORLD.Allreduce(&rank, &total, 1, MPI::INT, sum_op);
  check(total == sum, "an operation");
  const int number = rank + 7;
  MPI::COMM_WORLD.Allreduce(&number, &total, 1, MPI::INT, first_op);
  check(total == 7, "an operation that does not commute");
  MPI_Allreduce(&rank, &total, 1, MPI_INT, c_op, MPI_COMM_WORLD);
  check(total == sum, "an operation in C");
  sum_op.Free();
  first_op.Free();
  MPI_Op_free(&c_op);
  for (int i = 0; i < 300; ++i) {
    MPI::Op op;
    op.Init(i % 2 == 0 ? add : first, true);
    MPI::COMM_SELF.Allreduce(&number, &total, 1, MPI::INT, op);
    check(total == number, "one of many operations");
    op.Free();
  }
}

// ---- Attributes ----

int state = 11;
int copies = 0;
int deletions = 0;

int copy_of_comm(const MPI::Comm&, int, void* extra_state, void* in, void* out, bool& flag) {
  ++copies;
  check(extra_state == &state, "the state of a copied attribute");
  *static_cast<void**>(out) = static_cast<char*>(in) + 1;
  flag = true;
  return MPI::SUCCESS;
}

int delete_of_comm(MPI::Comm&, int, void* value, void* extra_state) {
  deletions += *static_cast<char*>(value);
  check(extra_state == &state, "the state of a deleted attribute");
  return MPI::SUCCESS;
}

int copy_of_type(const MPI::Datatype&, int, void*, void*, void*, bool& flag) {
  ++copies;
  flag = false;
  return MPI::SUCCESS;
}

int delete_of_type(MPI::Datatype&, int, void* value, void*) {
  deletions += *static_cast<char*>(value);
  return MPI::SUCCESS;
}

int delete_of_win(MPI::Win&, int, void* value, void*) {
  deletions += *static_cast<char*>(value);
  return MPI::SUCCESS;
}

void attributes() {
  static char values[] = {1, 2, 40};
  int keyval = MPI::Comm::Create_keyval(copy_of_comm, delete_of_comm, &state);
  MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
  comm.Set_attr(keyval, values);
  MPI::Intracomm copied = comm.Dup();
  void* found = nullptr;
  check(copied.Get_attr(keyval, &found) && found == values + 1, "a copied attribute");
  copied.Free();
  comm.Free();
  MPI::Comm::Free_keyval(keyval);
  check(copies == 1 && deletions == 3, "the callbacks of communicators");

  keyval = MPI::Datatype::Create_keyval(copy_of_type, delete_of_type, nullptr);
  MPI::Datatype type = MPI::INT.Create_contiguous(3);
  type.Set_attr(keyval, values + 2);
  MPI::Datatype copied_type = type.Dup();
  check(!copied_type.Get_attr(keyval, &found), "an attribute that is not copied");
  copied_type.Free();
  type.Free();
  MPI::Datatype::Free_keyval(keyval);
  check(copies == 2 && deletions == 43, "the callbacks of datatypes");

  keyval = MPI::Win::Create_keyval(MPI::Win::NULL_COPY_FN, delete_of_win, nullptr);
  int memory = 0;
  MPI::Win win = MPI::Win::Create(&memory, sizeof memory, 1, MPI::INFO_NULL, MPI::COMM_WORLD);
  win.Set_attr(keyval, values);
  win.Free();
  MPI::Win::Free_keyval(keyval);
  check(deletions == 44, "the callback of a window");
}

// ---- Errors ----

int calls = 0;

void handle(MPI::Comm& comm, int* code, ...) {
  ++calls;
  check(comm.Get_size() == MPI::COMM_WORLD.Get_size(), "the communicator of a handler");
  check(MPI::Get_error_class(*code) == MPI::ERR_RANK, "the class of a handler");
}

void errors(int size) {
  MPI::Intracomm comm = MPI::COMM_WORLD.Dup();
  MPI::Errhandler handler = MPI::Comm::Create_errhandler(handle);
  comm.Set_errhandler(handler);
  int number = 0;
  comm.Send(&number, 1, MPI::INT, size, 0);
  check(calls == 1, "a handler");
  comm.Call_errhandler(MPI::ERR_RANK);
  check(calls == 2, "Call_errhandler");
  handler.Free();

  comm.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  MPI::Errhandler set = comm.Get_errhandler();
  check(set == MPI::ERRORS_THROW_EXCEPTIONS, "the handler that throws");
  set.Free();
  int thrown = 0;
  for (int i = 0; i < 3; ++i) {
    try {
      comm.Send(&number, 1, MPI::INT, size, 0);
    } catch (MPI::Exception& exception) {
      thrown += exception.Get_error_class() == MPI::ERR_RANK ? 1 : 0;
    }
  }
  check(thrown == 3, "errors that throw");

  comm.Set_errhandler(MPI::ERRORS_RETURN);
  comm.Send(&number, 1, MPI::INT, size, 0);
  set = comm.Get_errhandler();
  check(set == MPI::ERRORS_RETURN && calls == 2, "the handler that returns");
  comm.Free();

  MPI::FILE_NULL.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  thrown = 0;
  try {
    MPI::File::Open(MPI::COMM_SELF, "/no/such/file", MPI::MODE_RDONLY, MPI::INFO_NULL);
  } catch (MPI::Exception& exception) {
    thrown = exception.Get_error_class() == MPI::ERR_NO_SUCH_FILE ? 1 : 0;
  }
  check(thrown == 1, "a file that throws");
}

// ---- Requests, topologies, names ----

int query(void*, MPI::Status& status) {
  status.Set_elements(MPI::INT, 5);
  status.Set_cancelled(false);
  status.Set_source(3);
  status.Set_tag(9);
  return MPI::SUCCESS;
}

int free_state(void* extra_state) {
  *static_cast<int*>(extra_state) = 1;
  return MPI::SUCCESS;
}

int cancel(void*, bool) {
  return MPI::SUCCESS;
}

void requests(int rank, int size) {
  int freed = 0;
  MPI::Grequest general;
  general = general.Start(query, free_state, cancel, &freed);
  general.Complete();
  MPI::Status status;
  general.Wait(status);
  check(status.Get_count(MPI::INT) == 5 && status.Get_source() == 3 && status.Get_tag() == 9 &&
            freed == 1,
        "a generalized request");

  int from[2] = {-1, -1};
  MPI::Request all[4];
  all[0] = MPI::COMM_WORLD.Irecv(&from[0], 1, MPI::INT, (rank + 1) % size, 1);
  all[1] = MPI::COMM_WORLD.Irecv(&from[1], 1, MPI::INT, MPI::ANY_SOURCE, 2);
  all[2] = MPI::COMM_WORLD.Isend(&rank, 1, MPI::INT, (rank + size - 1) % size, 1);
  all[3] = MPI::COMM_WORLD.Isend(&rank, 1, MPI::INT, (rank + 1) % size, 2);
  MPI::Request::Waitall(4, all);
  check(from[0] == (rank + 1) % size && from[1] == (rank + size - 1) % size, "Waitall");
  check(all[0] == MPI::REQUEST_NULL, "requests that have ended");

  const int dimension = size;
  const bool is_periodic = true;
  MPI::Cartcomm ring = MPI::COMM_WORLD.Create_cart(1, &dimension, &is_periodic, false);
  int source = -1;
  int destination = -1;
  ring.Shift(0, 1, source, destination);
  check(source == (rank + size - 1) % size && destination == (rank + 1) % size, "Shift");
  ring.Set_name("ring");
  char name[MPI_MAX_OBJECT_NAME];
  int length = 0;
  ring.Get_name(name, length);
  check(std::string(name) == "ring" && length == 4, "a name");
  ring.Free();
  MPI::DOUBLE.Get_name(name, length);
  check(std::string(name) == "MPI_DOUBLE", "the name of a datatype");
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank();
  const int size = MPI::COMM_WORLD.Get_size();
  operations(rank, size);
  attributes();
  errors(size);
  requests(rank, size);
  int total = -1;
  MPI::COMM_WORLD.Allreduce(&failures, &total, 1, MPI::INT, MPI::SUM);
  if (rank == 0) std::printf("failures %d\n", total);
  MPI::Finalize();
  return total != 0;
}
