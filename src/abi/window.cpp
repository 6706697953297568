// Windows: creation, properties, attached memory. MPI 5.0, 12.2, 7.8.
#include <cstring>
#include <limits>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "abi/known_hints.hpp"
#include "abi/polled_memory.hpp"
#include "device/buffers.hpp"
#include "mpi/comm/memory_kinds.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/rma/create.hpp"
#include "mpi/rma/regions.hpp"

namespace sorrel::abi {
namespace {

using mpi::Info;
using mpi::Win;
using mpi::WindowArguments;

int fail_size(RankState& self, MPI_Aint size) {
  return self.fail(MPI_ERR_SIZE, "size is %lld; it must not be negative",
                   static_cast<long long>(size));
}

int check_shape(RankState& self, MPI_Aint size, MPI_Count disp_unit) {
  if (size < 0) return fail_size(self, size);
  if (disp_unit <= 0 || disp_unit > std::numeric_limits<int>::max())
    return self.fail(MPI_ERR_DISP, "disp_unit is %lld; it must be positive and fit into an int",
                     static_cast<long long>(disp_unit));
  return MPI_SUCCESS;
}

constexpr std::string_view known_window_hints[] = {"no_locks",
                                                   "accumulate_ordering",
                                                   "accumulate_ops",
                                                   "same_size",
                                                   "same_disp_unit",
                                                   "alloc_shared_noncontig",
                                                   "mpi_minimum_memory_alignment",
                                                   mpi::asserted_memory_kinds_key};

// The hints of a new window: what the library does, and what the program has asked for.
int initial_hints(RankState& self, MPI_Info info, Info* hints) {
  constexpr std::pair<const char*, const char*> defaults[] = {
      {"no_locks", "false"},
      {"accumulate_ordering", "rar,raw,war,waw"},
      {"accumulate_ops", "same_op_no_op"},
      {"same_size", "false"},
      {"same_disp_unit", "false"},
      {"alloc_shared_noncontig", "false"},
  };
  for (const auto& [key, value] : defaults) {
    if (const int error = hints->set(key, value, self.detail()); error != MPI_SUCCESS) return error;
  }
  return take_known_hints(self, info, known_window_hints, hints);
}

/// Finds what the rank has on devices, if the memory that it exposes is there; else null.
int find_device(RankState& self, const void* base, MPI_Aint size, device::OwnedMemory** memory) {
  *memory = nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(base);
  const std::uintptr_t end = begin + static_cast<std::uintptr_t>(size);
  if (!device::has_buffers() || size == 0 || !device::buffers().overlaps(begin, end))
    return MPI_SUCCESS;
  if (!device::buffers().holds(begin, end))
    return self.fail(MPI_ERR_BUFFER,
                     "base is partly in the memory of a GPU: all of it must be in what is "
                     "allocated there at once, or on the host");
  *memory = device::buffers().owned();
  return MPI_SUCCESS;
}

int create(RankState& self, Comm& comm, MPI_Info info, WindowArguments arguments, Win** result) {
  Info hints;
  if (const int error = initial_hints(self, info, &hints); error != MPI_SUCCESS) return error;
  if (const int error = requested_alignment(self, info, &arguments.alignment); error != MPI_SUCCESS)
    return error;
  arguments.is_noncontiguous = *hints.find("alloc_shared_noncontig") == "true";
  Comm* own_comm = nullptr;
  if (const int error = comm_duplicate(self, comm, &own_comm); error != MPI_SUCCESS) return error;
  const int error = create_window(self, *own_comm, arguments, result);
  if (error == MPI_SUCCESS) {
    (*result)->info = hints;
    watch_clocks();
  }
  return error;
}

void give_pointer(void* pointer, void* to) {
  std::memcpy(to, &pointer, sizeof pointer);
}

/// A window of the flavor with memory that the library allocates.
int create_with_memory(RankState& self,
                       Comm& comm,
                       int flavor,
                       MPI_Aint size,
                       MPI_Count disp_unit,
                       MPI_Info info,
                       void* baseptr,
                       MPI_Win* win) {
  if (const int error = check_shape(self, size, disp_unit); error != MPI_SUCCESS) return error;
  Win* made = nullptr;
  const WindowArguments arguments{.flavor = flavor, .bytes = size, .displacement_unit = disp_unit};
  if (const int error = create(self, comm, info, arguments, &made); error != MPI_SUCCESS)
    return error;
  give_pointer(made->base, baseptr);
  *win = handle_of(*made);
  return MPI_SUCCESS;
}

int fail_flavor(RankState& self, const char* need) {
  return self.fail(MPI_ERR_RMA_FLAVOR, "win is not %s", need);
}

}  // namespace

namespace body {

int Win_create(RankState& self,
               Comm& comm,
               void* base,
               MPI_Aint size,
               MPI_Count disp_unit,
               MPI_Info info,
               MPI_Win* win) {
  if (const int error = check_shape(self, size, disp_unit); error != MPI_SUCCESS) return error;
  if (base == nullptr && size > 0)
    return self.fail(MPI_ERR_BASE, "base is a null pointer and size is %lld",
                     static_cast<long long>(size));
  device::OwnedMemory* memory = nullptr;
  if (const int error = find_device(self, base, size, &memory); error != MPI_SUCCESS) return error;
  Win* made = nullptr;
  const int error = create(self, comm, info,
                           {.flavor = MPI_WIN_FLAVOR_CREATE,
                            .base = base,
                            .bytes = size,
                            .displacement_unit = disp_unit,
                            .device = memory},
                           &made);
  if (error == MPI_SUCCESS) *win = handle_of(*made);
  return error;
}

int Win_allocate(RankState& self,
                 Comm& comm,
                 MPI_Aint size,
                 MPI_Count disp_unit,
                 MPI_Info info,
                 void* baseptr,
                 MPI_Win* win) {
  return create_with_memory(self, comm, MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, baseptr,
                            win);
}

int Win_allocate_shared(RankState& self,
                        Comm& comm,
                        MPI_Aint size,
                        MPI_Count disp_unit,
                        MPI_Info info,
                        void* baseptr,
                        MPI_Win* win) {
  return create_with_memory(self, comm, MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, baseptr, win);
}

int Win_create_dynamic(RankState& self, Comm& comm, MPI_Info info, MPI_Win* win) {
  Win* made = nullptr;
  const int error = create(self, comm, info, {.flavor = MPI_WIN_FLAVOR_DYNAMIC}, &made);
  if (error == MPI_SUCCESS) *win = handle_of(*made);
  return error;
}

int Win_attach(RankState& self, Win& win, void* base, MPI_Aint size) {
  if (!win.shared->is_dynamic()) return fail_flavor(self, "a dynamic window");
  if (size < 0) return fail_size(self, size);
  if (base == nullptr && size > 0)
    return self.fail(MPI_ERR_RMA_ATTACH, "base is a null pointer and size is %lld",
                     static_cast<long long>(size));
  device::OwnedMemory* memory = nullptr;
  if (const int error = find_device(self, base, size, &memory); error != MPI_SUCCESS) return error;
  return mpi::attach(win, base, static_cast<std::size_t>(size), memory);
}

int Win_detach(RankState& self, Win& win, const void* base) {
  if (!win.shared->is_dynamic()) return fail_flavor(self, "a dynamic window");
  return mpi::detach(win, base);
}

int Win_shared_query(RankState& self,
                     Win& win,
                     int rank,
                     MPI_Aint* size,
                     mpi::IntegerPointer disp_unit,
                     void* baseptr) {
  if (win.shared->is_dynamic()) return fail_flavor(self, "a window with memory of its own");
  if (rank != MPI_PROC_NULL && (rank < 0 || rank >= win.size()))
    return fail_rank(self, "rank", rank, win.size());
  if (rank == MPI_PROC_NULL) {
    // The lowest rank with memory.
    rank = 0;
    while (rank + 1 < win.size() && win.target(rank).bytes == 0)
      ++rank;
    if (win.target(rank).bytes == 0) rank = 0;
  }
  const mpi::WinTarget& target = win.target(rank);
  // On a device the address is one for kernels, and for the owner's calls of MPI.
  void* address = target.device != nullptr ? target.window->base : target.address;
  *size = address == nullptr ? 0 : target.bytes;
  disp_unit.set(target.displacement_unit);
  // A segment of its own that is empty has no address.
  const std::string* noncontiguous = win.info.find("alloc_shared_noncontig");
  const bool is_nowhere = target.bytes == 0 && noncontiguous != nullptr && *noncontiguous == "true";
  give_pointer(is_nowhere ? nullptr : address, baseptr);
  return MPI_SUCCESS;
}

int Win_free(RankState& self, Win& on, MPI_Win* win) {
  const bool has_epoch = on.is_exposed || on.is_fence_used ||
                         (on.access != Win::Access::none && on.access != Win::Access::fence);
  if (has_epoch) return self.fail(MPI_ERR_RMA_SYNC, "an epoch of the window is open");
  if (const int error = mpi::delete_attributes(reinterpret_cast<MPI_Comm>(*win), on.attributes);
      error != MPI_SUCCESS)
    return error;
  if (const int error = free_window(on); error != MPI_SUCCESS) return error;
  *win = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

int Win_get_group(RankState& /*self*/, Win& win, MPI_Group* group) {
  *group = mpi::make_group_handle(
      {.group = win.comm->shared->group(), .session_sends = win.comm->session_sends});
  return MPI_SUCCESS;
}

int Win_set_name(RankState& self, Win& win, const char* win_name) {
  if (win_name == nullptr) return fail_null(self, "win_name");
  const std::size_t length = ::strnlen(win_name, MPI_MAX_OBJECT_NAME - 1);
  win.name = std::make_unique<std::string>(win_name, length);
  // Reports about ranks that wait name the window's own communicator.
  win.comm->name = std::make_unique<std::string>(*win.name);
  return MPI_SUCCESS;
}

int Win_set_info(RankState& self, Win& win, MPI_Info info) {
  return take_known_hints(self, info, known_window_hints, &win.info);
}

int Win_get_info(RankState& self, Win& win, MPI_Info* info_used) {
  auto info = std::make_unique<Info>(win.info);
  const int error = describe_memory_kinds(self, *info);
  *info_used = mpi::make_info_handle(std::move(info));
  return error;
}

}  // namespace body

// As for communicators, the null handle has a name.
extern "C" int PMPI_Win_get_name(MPI_Win win, char* win_name, int* resultlen) {
  if (win == MPI_WIN_NULL) {
    if (win_name == nullptr) return raise_null("MPI_Win_get_name", "win_name");
    if (resultlen == nullptr) return raise_null("MPI_Win_get_name", "resultlen");
    give_text("MPI_WIN_NULL", win_name, resultlen);
    return MPI_SUCCESS;
  }
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Win_get_name, win, win_name, resultlen);
  return call_on_win(running, win, "MPI_Win_get_name", [&](RankState& self, Win& on) {
    SORREL_NOT_NULL(win_name);
    SORREL_NOT_NULL(resultlen);
    give_text(on.name != nullptr ? on.name->c_str() : "", win_name, resultlen);
    return MPI_SUCCESS;
  });
}
SORREL_WEAK(MPI_Win_get_name)

}  // namespace sorrel::abi
