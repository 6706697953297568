// omp_*: Fortran's names and arguments for the functions of entry_query.cpp; no logic.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "omp/entry/entry_point.hpp"

extern "C" {
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
void omp_set_num_threads(int);
int omp_get_num_procs();
int omp_in_parallel();
int omp_in_explicit_task();
int omp_in_final();
void omp_set_dynamic(int);
int omp_get_dynamic();
void omp_set_max_active_levels(int);
int omp_get_max_active_levels();
int omp_get_supported_active_levels();
void omp_set_nested(int);
int omp_get_nested();
int omp_get_level();
int omp_get_active_level();
int omp_get_ancestor_thread_num(int);
int omp_get_team_size(int);
int omp_get_thread_limit();
void omp_set_schedule(unsigned, int);
void omp_get_schedule(unsigned*, int*);
int omp_get_proc_bind();
int omp_get_cancellation();
int omp_get_max_task_priority();
double omp_get_wtime();
double omp_get_wtick();
void omp_set_default_device(int);
int omp_get_default_device();
int omp_get_num_devices();
int omp_get_device_num();
int omp_get_initial_device();
int omp_is_initial_device();
int omp_get_num_teams();
int omp_get_team_num();
void omp_set_num_teams(int);
int omp_get_max_teams();
void omp_set_teams_thread_limit(int);
int omp_get_teams_thread_limit();
int omp_get_num_places();
int omp_get_place_num();
int omp_get_partition_num_places();
void omp_display_env(int);
int omp_pause_resource(int, int);
int omp_pause_resource_all(int);
void omp_set_affinity_format(const char*);
std::size_t omp_get_affinity_format(char*, std::size_t);
void omp_display_affinity(const char*);
std::size_t omp_capture_affinity(char*, std::size_t, const char*);
std::uintptr_t omp_init_allocator(std::uintptr_t, int, const std::uintptr_t*);
void omp_destroy_allocator(std::uintptr_t);
void omp_set_default_allocator(std::uintptr_t);
std::uintptr_t omp_get_default_allocator();
}

#define SORREL_ASK(name)                          \
  SORREL_ENTRY_POINT decltype(name()) name##_() { \
    return name();                                \
  }
#define SORREL_OF_NUMBER(name)                                                \
  SORREL_ENTRY_POINT decltype(name(0)) name##_(const std::int32_t* value) {   \
    return name(*value);                                                      \
  }                                                                           \
  SORREL_ENTRY_POINT decltype(name(0)) name##_8_(const std::int64_t* value) { \
    return name(static_cast<int>(*value));                                    \
  }

SORREL_ASK(omp_get_thread_num)
SORREL_ASK(omp_get_num_threads)
SORREL_ASK(omp_get_max_threads)
SORREL_ASK(omp_get_num_procs)
SORREL_ASK(omp_in_parallel)
SORREL_ASK(omp_in_explicit_task)
SORREL_ASK(omp_in_final)
SORREL_ASK(omp_get_dynamic)
SORREL_ASK(omp_get_max_active_levels)
SORREL_ASK(omp_get_supported_active_levels)
SORREL_ASK(omp_get_nested)
SORREL_ASK(omp_get_level)
SORREL_ASK(omp_get_active_level)
SORREL_ASK(omp_get_thread_limit)
SORREL_ASK(omp_get_proc_bind)
SORREL_ASK(omp_get_cancellation)
SORREL_ASK(omp_get_max_task_priority)
SORREL_ASK(omp_get_default_device)
SORREL_ASK(omp_get_num_devices)
SORREL_ASK(omp_get_device_num)
SORREL_ASK(omp_get_initial_device)
SORREL_ASK(omp_is_initial_device)
SORREL_ASK(omp_get_num_teams)
SORREL_ASK(omp_get_team_num)
SORREL_ASK(omp_get_max_teams)
SORREL_ASK(omp_get_teams_thread_limit)
SORREL_ASK(omp_get_num_places)
SORREL_ASK(omp_get_place_num)
SORREL_ASK(omp_get_partition_num_places)
SORREL_ASK(omp_get_wtime)
SORREL_ASK(omp_get_wtick)
SORREL_ASK(omp_get_default_allocator)
SORREL_OF_NUMBER(omp_get_ancestor_thread_num)
SORREL_OF_NUMBER(omp_get_team_size)
SORREL_OF_NUMBER(omp_set_num_threads)
SORREL_OF_NUMBER(omp_set_dynamic)
SORREL_OF_NUMBER(omp_set_nested)
SORREL_OF_NUMBER(omp_set_max_active_levels)
SORREL_OF_NUMBER(omp_set_default_device)
SORREL_OF_NUMBER(omp_set_num_teams)
SORREL_OF_NUMBER(omp_set_teams_thread_limit)
SORREL_OF_NUMBER(omp_display_env)

SORREL_ENTRY_POINT void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), *chunk);
}

SORREL_ENTRY_POINT void omp_set_schedule_8_(const std::int32_t* kind, const std::int64_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), static_cast<int>(*chunk));
}

SORREL_ENTRY_POINT void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) {
  unsigned number = 0;
  omp_get_schedule(&number, chunk);
  *kind = static_cast<std::int32_t>(number);
}

SORREL_ENTRY_POINT void omp_get_schedule_8_(std::int32_t* kind, std::int64_t* chunk) {
  unsigned number = 0;
  int size = 0;
  omp_get_schedule(&number, &size);
  *kind = static_cast<std::int32_t>(number);
  *chunk = size;
}

SORREL_ENTRY_POINT std::int32_t omp_get_place_num_procs_(const std::int32_t*) {
  return 0;
}

SORREL_ENTRY_POINT std::int32_t omp_get_place_num_procs_8_(const std::int64_t*) {
  return 0;
}

SORREL_ENTRY_POINT void omp_get_place_proc_ids_(const std::int32_t*, std::int32_t*) {}

SORREL_ENTRY_POINT void omp_get_place_proc_ids_8_(const std::int64_t*, std::int64_t*) {}

SORREL_ENTRY_POINT void omp_get_partition_place_nums_(std::int32_t*) {}

SORREL_ENTRY_POINT void omp_get_partition_place_nums_8_(std::int64_t*) {}

SORREL_ENTRY_POINT std::int32_t omp_pause_resource_(const std::int32_t* kind,
                                                    const std::int32_t* device) {
  return omp_pause_resource(*kind, *device);
}

SORREL_ENTRY_POINT std::int32_t omp_pause_resource_all_(const std::int32_t* kind) {
  return omp_pause_resource_all(*kind);
}

SORREL_ENTRY_POINT void omp_set_affinity_format_(const char* format, std::size_t length) {
  omp_set_affinity_format(std::string(format, length).c_str());
}

SORREL_ENTRY_POINT std::int32_t omp_get_affinity_format_(char* buffer, std::size_t bytes) {
  std::string text(1024, '\0');
  const std::size_t length = omp_get_affinity_format(text.data(), text.size());
  std::memset(buffer, ' ', bytes);
  std::memcpy(buffer, text.data(), length < bytes ? length : bytes);
  return static_cast<std::int32_t>(length);
}

SORREL_ENTRY_POINT void omp_display_affinity_(const char* format, std::size_t length) {
  omp_display_affinity(std::string(format, length).c_str());
}

SORREL_ENTRY_POINT std::int32_t omp_capture_affinity_(char* buffer,
                                                      const char* format,
                                                      std::size_t bytes,
                                                      std::size_t length) {
  std::string text(1024, '\0');
  const std::size_t all =
      omp_capture_affinity(text.data(), text.size(), std::string(format, length).c_str());
  std::memset(buffer, ' ', bytes);
  std::memcpy(buffer, text.data(), all < bytes ? all : bytes);
  return static_cast<std::int32_t>(all);
}

SORREL_ENTRY_POINT std::uintptr_t omp_init_allocator_(const std::uintptr_t* space,
                                                      const std::int32_t* count,
                                                      const std::uintptr_t* traits) {
  return omp_init_allocator(*space, *count, traits);
}

SORREL_ENTRY_POINT std::uintptr_t omp_init_allocator_8_(const std::uintptr_t* space,
                                                        const std::int64_t* count,
                                                        const std::uintptr_t* traits) {
  return omp_init_allocator(*space, static_cast<int>(*count), traits);
}

SORREL_ENTRY_POINT void omp_destroy_allocator_(const std::uintptr_t* allocator) {
  omp_destroy_allocator(*allocator);
}

SORREL_ENTRY_POINT void omp_set_default_allocator_(const std::uintptr_t* allocator) {
  omp_set_default_allocator(*allocator);
}
