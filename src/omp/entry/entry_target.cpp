// GOMP_target*, GOMP_teams, omp_target_*, interoperability: the host is the only device, and data
// are mapped to themselves; no logic.
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include "omp/entry/device.hpp"
#include "omp/entry/entry_point.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/region/program_call.hpp"
#include "omp/region/target.hpp"
#include "omp/region/teams.hpp"
#include "omp/tasking/tasking.hpp"

namespace {

using namespace sorrel::omp;

constexpr unsigned flag_nowait = 1;
constexpr unsigned flag_exit = 2;
constexpr const char* host_uid = "OMP_INITIAL_DEVICE";
constexpr int interop_empty = -1;

/// The mapping itself needs no work: waits for what it depends on, or makes a task that does.
void order_mapping(unsigned flags, void** depend) {
  if (depend == nullptr) return;
  TeamThread& thread = this_thread();
  if ((flags & flag_nowait) != 0) {
    make_task(thread, {.body = [](void*) {}, .flags = task_depend, .depend = depend});
  } else {
    wait_for_dependences(thread, depend);
  }
}

/// One object of a depend clause, as the program has it.
struct DependObject {
  void* words[2];
};

/// Waits for the tasks that `objects` depend on.
void wait_for(int count, DependObject* objects) {
  if (count <= 0) return;
  // 0, count, and no addresses of the other kinds: all are objects.
  std::vector<void*> depend(5 + static_cast<std::size_t>(count));
  depend[1] = reinterpret_cast<void*>(static_cast<std::uintptr_t>(count));
  for (int i = 0; i < count; ++i)
    depend[5 + static_cast<std::size_t>(i)] = objects + i;
  wait_for_dependences(this_thread(), depend.data());
}

struct Box {
  const std::size_t* volume;
  const std::size_t* to_offsets;
  const std::size_t* from_offsets;
  const std::size_t* to_extents;
  const std::size_t* from_extents;
};

/// Copies the box's first of `dimension_count` dimensions, row by row. False: too large.
bool copy_box(std::byte* to,
              const std::byte* from,
              std::size_t element_bytes,
              std::size_t dimension_count,
              const Box& box) {
  std::size_t to_stride = element_bytes;
  std::size_t from_stride = element_bytes;
  for (std::size_t i = 1; i < dimension_count; ++i) {
    if (__builtin_mul_overflow(to_stride, box.to_extents[i], &to_stride) ||
        __builtin_mul_overflow(from_stride, box.from_extents[i], &from_stride))
      return false;
  }
  to += *box.to_offsets * to_stride;
  from += *box.from_offsets * from_stride;
  if (dimension_count == 1) {
    std::memcpy(to, from, *box.volume * element_bytes);
    return true;
  }
  const Box inner{.volume = box.volume + 1,
                  .to_offsets = box.to_offsets + 1,
                  .from_offsets = box.from_offsets + 1,
                  .to_extents = box.to_extents + 1,
                  .from_extents = box.from_extents + 1};
  for (std::size_t i = 0; i < *box.volume; ++i) {
    if (!copy_box(to + i * to_stride, from + i * from_stride, element_bytes, dimension_count - 1,
                  inner))
      return false;
  }
  return true;
}

}  // namespace

SORREL_ENTRY_POINT void GOMP_target_ext(int device,
                                        void (*body)(void*),
                                        size_t count,
                                        void** addresses,
                                        size_t* sizes,
                                        std::uint16_t* kinds,
                                        unsigned flags,
                                        void** depend,
                                        void** arguments) {
  const ProgramCall call;
  report_host(this_thread().icv, device);
  const Target target{.body = body,
                      .count = count,
                      .addresses = addresses,
                      .sizes = sizes,
                      .kinds = kinds,
                      .thread_limit = thread_limit_of(arguments)};
  if ((flags & flag_nowait) != 0) {
    make_target_task(this_thread(), target, depend);
  } else {
    run_target(this_thread(), target, depend);
  }
}

// GCC 4.9: kinds are bytes, and no variable is copied.
SORREL_ENTRY_POINT void GOMP_target(int device,
                                    void (*body)(void*),
                                    const void*,
                                    size_t count,
                                    void** addresses,
                                    size_t* sizes,
                                    unsigned char*) {
  const ProgramCall call;
  report_host(this_thread().icv, device);
  const std::vector<std::uint16_t> kinds(count, 0);
  run_target(
      this_thread(),
      {.body = body, .count = count, .addresses = addresses, .sizes = sizes, .kinds = kinds.data()},
      nullptr);
}

SORREL_ENTRY_POINT void GOMP_target_data_ext(int, size_t, void**, size_t*, std::uint16_t*) {
  const ProgramCall call;
  tell_mapping(this_thread(), ompt::Target::enter_data);
}

SORREL_ENTRY_POINT void GOMP_target_data(
    int, const void*, size_t, void**, size_t*, unsigned char*) {
  const ProgramCall call;
  tell_mapping(this_thread(), ompt::Target::enter_data);
}

SORREL_ENTRY_POINT void GOMP_target_end_data() {
  const ProgramCall call;
  tell_mapping(this_thread(), ompt::Target::exit_data);
}

SORREL_ENTRY_POINT void GOMP_target_update(
    int, const void*, size_t, void**, size_t*, unsigned char*) {
  const ProgramCall call;
  tell_mapping(this_thread(), ompt::Target::update);
}

SORREL_ENTRY_POINT void GOMP_target_update_ext(
    int, size_t, void**, size_t*, std::uint16_t*, unsigned flags, void** depend) {
  const ProgramCall call;
  order_mapping(flags, depend);
  tell_mapping(this_thread(),
               (flags & flag_nowait) != 0 ? ompt::Target::update_nowait : ompt::Target::update);
}

SORREL_ENTRY_POINT void GOMP_target_enter_exit_data(
    int, size_t, void**, size_t*, std::uint16_t*, unsigned flags, void** depend) {
  const ProgramCall call;
  order_mapping(flags, depend);
  const bool is_nowait = (flags & flag_nowait) != 0;
  if ((flags & flag_exit) != 0) {
    tell_mapping(this_thread(),
                 is_nowait ? ompt::Target::exit_data_nowait : ompt::Target::exit_data);
  } else {
    tell_mapping(this_thread(),
                 is_nowait ? ompt::Target::enter_data_nowait : ompt::Target::enter_data);
  }
}

SORREL_ENTRY_POINT void GOMP_teams(unsigned, unsigned thread_limit) {
  (void)next_team(this_thread(), true, {.count = 1, .thread_limit = thread_limit});
}

SORREL_ENTRY_POINT bool GOMP_teams4(unsigned count_min,
                                    unsigned,
                                    unsigned thread_limit,
                                    bool is_first) {
  return next_team(this_thread(), is_first, {.count = count_min, .thread_limit = thread_limit});
}

SORREL_ENTRY_POINT void* GOMP_target_map_indirect_ptr(void* function) {
  return function;
}

// Images for devices: none is used.
SORREL_ENTRY_POINT void GOMP_offload_register(const void*, int, const void*) {}

SORREL_ENTRY_POINT void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}

SORREL_ENTRY_POINT void GOMP_offload_unregister(const void*, int, const void*) {}

SORREL_ENTRY_POINT void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}

// No foreign runtime: every object is omp_interop_none.
SORREL_ENTRY_POINT void GOMP_interop(int,
                                     int init_count,
                                     std::intptr_t** init,
                                     const void*,
                                     const void*,
                                     int,
                                     std::intptr_t**,
                                     int destroy_count,
                                     std::intptr_t** destroy,
                                     unsigned flags,
                                     void** depend) {
  order_mapping(flags & ~flag_nowait, depend);
  for (int i = 0; i < init_count; ++i)
    *init[i] = 0;
  for (int i = 0; i < destroy_count; ++i)
    *destroy[i] = 0;
}

SORREL_ENTRY_POINT int omp_get_num_interop_properties(std::intptr_t) {
  return 0;
}

SORREL_ENTRY_POINT std::intptr_t omp_get_interop_int(std::intptr_t, int, int* status) {
  if (status != nullptr) *status = interop_empty;
  return 0;
}

SORREL_ENTRY_POINT void* omp_get_interop_ptr(std::intptr_t, int, int* status) {
  if (status != nullptr) *status = interop_empty;
  return nullptr;
}

SORREL_ENTRY_POINT const char* omp_get_interop_str(std::intptr_t, int, int* status) {
  if (status != nullptr) *status = interop_empty;
  return nullptr;
}

SORREL_ENTRY_POINT const char* omp_get_interop_name(std::intptr_t, int) {
  return nullptr;
}

SORREL_ENTRY_POINT const char* omp_get_interop_type_desc(std::intptr_t, int) {
  return nullptr;
}

SORREL_ENTRY_POINT const char* omp_get_interop_rc_desc(std::intptr_t, int status) {
  return status == interop_empty ? "the interoperability object is omp_interop_none" : nullptr;
}

SORREL_ENTRY_POINT void* omp_target_alloc(size_t bytes, int device) {
  return is_host(device) && bytes != 0 ? std::malloc(bytes) : nullptr;
}

SORREL_ENTRY_POINT void omp_target_free(void* memory, int device) {
  if (is_host(device)) std::free(memory);
}

SORREL_ENTRY_POINT int omp_target_is_present(const void* address, int device) {
  return is_host(device) || address == nullptr ? 1 : 0;
}

SORREL_ENTRY_POINT int omp_target_is_accessible(const void*, size_t, int device) {
  return is_host(device) ? 1 : 0;
}

SORREL_ENTRY_POINT void* omp_get_mapped_ptr(const void* address, int device) {
  return is_host(device) ? const_cast<void*>(address) : nullptr;
}

// Memory of the host cannot be associated with itself.
SORREL_ENTRY_POINT int omp_target_associate_ptr(const void*, const void*, size_t, size_t, int) {
  return EINVAL;
}

SORREL_ENTRY_POINT int omp_target_disassociate_ptr(const void*, int) {
  return EINVAL;
}

SORREL_ENTRY_POINT int omp_target_memcpy(void* to,
                                         const void* from,
                                         size_t bytes,
                                         size_t to_offset,
                                         size_t from_offset,
                                         int to_device,
                                         int from_device) {
  if (!is_host(to_device) || !is_host(from_device)) return EINVAL;
  std::memcpy(static_cast<std::byte*>(to) + to_offset,
              static_cast<const std::byte*>(from) + from_offset, bytes);
  return 0;
}

SORREL_ENTRY_POINT int omp_target_memcpy_async(void* to,
                                               const void* from,
                                               size_t bytes,
                                               size_t to_offset,
                                               size_t from_offset,
                                               int to_device,
                                               int from_device,
                                               int object_count,
                                               DependObject* objects) {
  wait_for(object_count, objects);
  return omp_target_memcpy(to, from, bytes, to_offset, from_offset, to_device, from_device);
}

SORREL_ENTRY_POINT int omp_target_memcpy_rect(void* to,
                                              const void* from,
                                              size_t element_bytes,
                                              int dimension_count,
                                              const size_t* volume,
                                              const size_t* to_offsets,
                                              const size_t* from_offsets,
                                              const size_t* to_extents,
                                              const size_t* from_extents,
                                              int to_device,
                                              int from_device) {
  // A question for the number of dimensions that are possible.
  if (to == nullptr && from == nullptr) return std::numeric_limits<int>::max();
  if (!is_host(to_device) || !is_host(from_device) || dimension_count < 1) return EINVAL;
  const bool is_copied = copy_box(static_cast<std::byte*>(to), static_cast<const std::byte*>(from),
                                  element_bytes, static_cast<std::size_t>(dimension_count),
                                  {.volume = volume,
                                   .to_offsets = to_offsets,
                                   .from_offsets = from_offsets,
                                   .to_extents = to_extents,
                                   .from_extents = from_extents});
  return is_copied ? 0 : EINVAL;
}

SORREL_ENTRY_POINT int omp_target_memcpy_rect_async(void* to,
                                                    const void* from,
                                                    size_t element_bytes,
                                                    int dimension_count,
                                                    const size_t* volume,
                                                    const size_t* to_offsets,
                                                    const size_t* from_offsets,
                                                    const size_t* to_extents,
                                                    const size_t* from_extents,
                                                    int to_device,
                                                    int from_device,
                                                    int object_count,
                                                    DependObject* objects) {
  wait_for(object_count, objects);
  return omp_target_memcpy_rect(to, from, element_bytes, dimension_count, volume, to_offsets,
                                from_offsets, to_extents, from_extents, to_device, from_device);
}

SORREL_ENTRY_POINT void* omp_target_memset(void* memory, int value, size_t bytes, int device) {
  if (is_host(device) && memory != nullptr) std::memset(memory, value, bytes);
  return memory;
}

SORREL_ENTRY_POINT void* omp_target_memset_async(
    void* memory, int value, size_t bytes, int device, int object_count, DependObject* objects) {
  wait_for(object_count, objects);
  return omp_target_memset(memory, value, bytes, device);
}

SORREL_ENTRY_POINT const char* omp_get_uid_from_device(int device) {
  return is_host(device) ? host_uid : nullptr;
}

SORREL_ENTRY_POINT int omp_get_device_from_uid(const char* uid) {
  return uid != nullptr && std::strcmp(uid, host_uid) == 0 ? 0 : no_device;
}
