// Versions, names, memory, addresses, the clock's resolution, thread level. MPI 5.0, 2.5.6, 9.1,
// 9.2, 11.6.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "abi/polled_memory.hpp"
#include "mpi/match/environment_info.hpp"
#include "mpi/match/idle_call.hpp"

namespace sorrel::abi {
namespace {

constexpr std::string_view library_version = "Sorrel " SORREL_VERSION ", MPI 5.0, standard ABI 1.0";
static_assert(library_version.size() < MPI_MAX_LIBRARY_VERSION_STRING);

// Enough for the vector instructions of every CPU, and a cache line.
constexpr std::size_t default_alignment = 64;
constexpr std::size_t alignment_max = std::size_t{1} << 30;

}  // namespace

int requested_alignment(RankState& self, MPI_Info handle, std::size_t* alignment) {
  *alignment = default_alignment;
  if (handle == MPI_INFO_NULL) return MPI_SUCCESS;
  const mpi::Info* info = mpi::info_of(handle);
  if (info == nullptr) return self.fail(MPI_ERR_INFO, "invalid info handle");
  const std::string* value = info->find("mpi_minimum_memory_alignment");
  if (value == nullptr) return MPI_SUCCESS;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  const bool is_number = error == std::errc() && end == value->data() + value->size();
  if (!is_number || !std::has_single_bit(number) || number > alignment_max)
    return self.fail(MPI_ERR_INFO_VALUE,
                     "mpi_minimum_memory_alignment is \"%.32s\"; it must be a power of two up to "
                     "2^30",
                     value->c_str());
  *alignment = std::max(default_alignment, number);
  return MPI_SUCCESS;
}

namespace {

int check_booleans(RankState& self,
                   int logical_size,
                   const void* logical_true,
                   const void* logical_false) {
  constexpr int size_max = 16;
  if (logical_size <= 0 || logical_size > size_max ||
      !std::has_single_bit(static_cast<unsigned>(logical_size))) {
    return self.fail(MPI_ERR_ARG, "logical_size is %d; it must be 1, 2, 4, 8 or 16", logical_size);
  }
  if (logical_true == nullptr || logical_false == nullptr)
    return self.fail(MPI_ERR_ARG, "logical_true and logical_false must not be null");
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int PMPI_Pcontrol(const int /*level*/, ...) {
  // For profiling tools, which define MPI_Pcontrol themselves.
  return MPI_SUCCESS;
}
SORREL_WEAK(MPI_Pcontrol)

int PMPI_Is_thread_main(int* flag) {
  // Threads that the program has started may call this, too. A rank's main thread is its fiber,
  // also where it goes on as a guest of its worker.
  RankState* running = mpi::current_rank();
  if (running == nullptr) {
    if (flag == nullptr) return raise_null("MPI_Is_thread_main", "flag");
    *flag = core::Guest::current() != nullptr ? 1 : 0;
    return MPI_SUCCESS;
  }
  return call(running, "MPI_Is_thread_main", [&](RankState& self) {
    SORREL_NOT_NULL(flag);
    *flag = 1;
    return MPI_SUCCESS;
  });
}
SORREL_WEAK(MPI_Is_thread_main)

int PMPI_Free_mem(void* base) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Free_mem, base);
  return read(running, "MPI_Free_mem", [&](RankState&) {
    std::free(base);
    return MPI_SUCCESS;
  });
}
SORREL_WEAK(MPI_Free_mem)

// Unsigned, because addresses wrap around and signed overflow is undefined.
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) +
                               static_cast<std::uintptr_t>(disp));
}
SORREL_WEAK(MPI_Aint_add)

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) -
                               static_cast<std::uintptr_t>(addr2));
}
SORREL_WEAK(MPI_Aint_diff)

double PMPI_Wtick(void) {
  RankState* self = mpi::peek_rank();
  if (self != nullptr && may_give_way(*self)) mpi::note_idle_call(*self);
  // MPI_Wtime counts nanoseconds.
  return 1e-9;
}
SORREL_WEAK(MPI_Wtick)

}  // extern "C"

namespace body {

int Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return MPI_SUCCESS;
}

int Get_library_version(char* version, int* resultlen) {
  std::memcpy(version, library_version.data(), library_version.size() + 1);
  *resultlen = static_cast<int>(library_version.size());
  return MPI_SUCCESS;
}

int Abi_get_version(int* abi_major, int* abi_minor) {
  *abi_major = MPI_ABI_VERSION;
  *abi_minor = MPI_ABI_SUBVERSION;
  return MPI_SUCCESS;
}

int Abi_get_info(RankState& self, MPI_Info* info) {
  auto sizes = std::make_unique<mpi::Info>();
  const std::pair<const char*, std::size_t> entries[] = {{"mpi_aint_size", sizeof(MPI_Aint)},
                                                         {"mpi_count_size", sizeof(MPI_Count)},
                                                         {"mpi_offset_size", sizeof(MPI_Offset)}};
  for (const auto& [key, size] : entries) {
    const int error = sizes->set(key, std::to_string(size).c_str(), self.detail());
    if (error != MPI_SUCCESS) return error;
  }
  *info = mpi::make_info_handle(std::move(sizes));
  return MPI_SUCCESS;
}

int Abi_get_fortran_info(RankState& self, MPI_Info* info) {
  // gfortran's types, which the datatypes have: sizes of the default kinds, and which others exist.
  auto entries = std::make_unique<mpi::Info>();
  constexpr std::pair<const char*, const char*> texts[] = {{"logical_size", "4"},
                                                           {"integer_size", "4"},
                                                           {"real_size", "4"},
                                                           {"double_precision_size", "8"},
                                                           {"logical1_supported", "true"},
                                                           {"logical2_supported", "true"},
                                                           {"logical4_supported", "true"},
                                                           {"logical8_supported", "true"},
                                                           {"logical16_supported", "true"},
                                                           {"integer1_supported", "true"},
                                                           {"integer2_supported", "true"},
                                                           {"integer4_supported", "true"},
                                                           {"integer8_supported", "true"},
                                                           {"integer16_supported", "true"},
                                                           {"real2_supported", "true"},
                                                           {"real4_supported", "true"},
                                                           {"real8_supported", "true"},
                                                           {"real16_supported", "true"},
                                                           {"complex4_supported", "true"},
                                                           {"complex8_supported", "true"},
                                                           {"complex16_supported", "true"},
                                                           {"complex32_supported", "true"},
                                                           {"double_complex_supported", "true"}};
  for (const auto& [key, text] : texts) {
    const int error = entries->set((std::string("mpi_") + key).c_str(), text, self.detail());
    if (error != MPI_SUCCESS) return error;
  }
  *info = mpi::make_info_handle(std::move(entries));
  return MPI_SUCCESS;
}

int Abi_get_fortran_booleans(
    RankState& self, int logical_size, void* logical_true, void* logical_false, int* is_set) {
  const int error = check_booleans(self, logical_size, logical_true, logical_false);
  if (error != MPI_SUCCESS) return error;
  // gfortran's literals, for each of its kinds of LOGICAL.
  static_assert(std::endian::native == std::endian::little);
  const auto bytes = static_cast<std::size_t>(logical_size);
  std::memset(logical_false, 0, bytes);
  std::memset(logical_true, 0, bytes);
  *static_cast<unsigned char*>(logical_true) = 1;
  *is_set = 1;
  return MPI_SUCCESS;
}

int Abi_set_fortran_booleans(RankState& self,
                             int logical_size,
                             void* logical_true,
                             void* logical_false) {
  const int error = check_booleans(self, logical_size, logical_true, logical_false);
  if (error != MPI_SUCCESS) return error;
  return self.fail(MPI_ERR_ABI, "Fortran's booleans are set: those of gfortran");
}

int Abi_set_fortran_info(RankState& self, MPI_Info info) {
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  return self.fail(MPI_ERR_ABI, "the properties of Fortran's types are set: those of gfortran");
}

int Get_hw_resource_info(RankState& /*self*/, MPI_Info* hw_info) {
  // The kinds of resources that ranks may be bound to: none, since ranks belong to workers.
  *hw_info = mpi::make_info_handle(std::make_unique<mpi::Info>());
  return MPI_SUCCESS;
}

int Get_processor_name(RankState& self, char* name, int* resultlen) {
  // The node's name, the same for all ranks on it, because programs group ranks by it.
  if (::gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0)
    return self.fail(MPI_ERR_OTHER, "gethostname failed");
  name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
  if (self.world != nullptr && self.world->is_simulated_node()) {
    const std::size_t end = std::min(std::strlen(name), std::size_t{MPI_MAX_PROCESSOR_NAME} - 16);
    std::snprintf(name + end, 16, "-node%u", self.world->own_process());
  }
  *resultlen = static_cast<int>(std::strlen(name));
  return MPI_SUCCESS;
}

int Query_thread(RankState& self, int* provided) {
  *provided = self.thread_level;
  return MPI_SUCCESS;
}

int Alloc_mem(RankState& self, MPI_Aint size, MPI_Info info, void* baseptr) {
  if (size < 0)
    return self.fail(MPI_ERR_ARG, "size is %lld; it must not be negative",
                     static_cast<long long>(size));
  std::size_t alignment = 0;
  if (const int error = requested_alignment(self, info, &alignment); error != MPI_SUCCESS)
    return error;
  // One byte at least, so that every call returns a distinct address.
  const std::size_t bytes = size == 0 ? 1 : static_cast<std::size_t>(size);
  void* memory = mpi::allocate_for_program(alignment, bytes);
  if (memory == nullptr)
    return self.fail(MPI_ERR_NO_MEM, "%zu bytes of memory are not available", bytes);
  std::memcpy(baseptr, &memory, sizeof memory);
  return MPI_SUCCESS;
}

int Get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
