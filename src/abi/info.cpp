// Info objects. MPI 5.0, chapter 10. Legal before MPI_Init and after MPI_Finalize, too.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/match/environment_info.hpp"
#include "runtime/process_config.hpp"

namespace sorrel::abi {
namespace {

using mpi::Info;

// Calls body(info) with an object that may be changed.
template <class Body>
int change(RankState& self, MPI_Info handle, Body&& body) {
  Info* info = mpi::changeable_info_of(handle);
  if (info != nullptr) return body(*info);
  if (handle == MPI_INFO_ENV) return self.fail(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed");
  return fail_info(self);
}

// Copies at most `length_max` bytes of `text` and adds the terminating zero.
void copy_cut(char* to, const std::string& text, std::size_t length_max) {
  const std::size_t length = std::min(text.size(), length_max);
  std::memcpy(to, text.data(), length);
  to[length] = '\0';
}

// Sets *value to the value of a key, or to null with *flag = 0.
int look_up(
    RankState& self, const Info& info, const char* key, int* flag, const std::string** value) {
  if (const int error = mpi::check_info_key(key, self.detail()); error != MPI_SUCCESS) return error;
  *value = info.find(key);
  *flag = *value != nullptr ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace

namespace body {

int Info_create(RankState& /*self*/, MPI_Info* info) {
  *info = mpi::make_info_handle(std::make_unique<Info>());
  return MPI_SUCCESS;
}

int Info_create_env(RankState& self, int /*argc*/, char* /*argv*/[], MPI_Info* info) {
  // A copy of MPI_INFO_ENV, which does not depend on the arguments. Where no rank
  // runs, as before MPI_Init where every rank is a process, that one lacks the number of ranks.
  auto made = std::make_unique<Info>(*mpi::info_of(MPI_INFO_ENV));
  if (made->find("maxprocs") == nullptr) {
    const std::string ranks = std::to_string(runtime::process_config().rank_count);
    const int error = made->set("maxprocs", ranks.c_str(), self.detail());
    if (error != MPI_SUCCESS) return error;
  }
  *info = mpi::make_info_handle(std::move(made));
  return MPI_SUCCESS;
}

int Info_dup(RankState& /*self*/, const Info& info, MPI_Info* newinfo) {
  *newinfo = mpi::make_info_handle(std::make_unique<Info>(info));
  return MPI_SUCCESS;
}

int Info_free(RankState& self, MPI_Info* info) {
  return change(self, *info, [&](Info& list) {
    mpi::free_info(&list);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
  });
}

int Info_set(RankState& self, MPI_Info info, const char* key, const char* value) {
  return change(self, info, [&](Info& list) { return list.set(key, value, self.detail()); });
}

int Info_delete(RankState& self, MPI_Info info, const char* key) {
  return change(self, info, [&](Info& list) { return list.erase(key, self.detail()); });
}

int Info_get_string(
    RankState& self, const Info& info, const char* key, int* buflen, char* value, int* flag) {
  const std::string* found = nullptr;
  if (*buflen < 0) return self.fail(MPI_ERR_ARG, "buflen is %d; it must not be negative", *buflen);
  if (const int error = look_up(self, info, key, flag, &found); error != MPI_SUCCESS) return error;
  if (found == nullptr) return MPI_SUCCESS;
  if (*buflen > 0) copy_cut(value, *found, static_cast<std::size_t>(*buflen) - 1);
  *buflen = static_cast<int>(found->size()) + 1;
  return MPI_SUCCESS;
}

int Info_get(
    RankState& self, const Info& info, const char* key, int valuelen, char* value, int* flag) {
  const std::string* found = nullptr;
  if (valuelen < 0)
    return self.fail(MPI_ERR_ARG, "valuelen is %d; it must not be negative", valuelen);
  if (const int error = look_up(self, info, key, flag, &found); error != MPI_SUCCESS) return error;
  // The program's buffer has one byte more than valuelen, for the terminating zero.
  if (found != nullptr) copy_cut(value, *found, static_cast<std::size_t>(valuelen));
  return MPI_SUCCESS;
}

int Info_get_valuelen(
    RankState& self, const Info& info, const char* key, int* valuelen, int* flag) {
  const std::string* found = nullptr;
  if (const int error = look_up(self, info, key, flag, &found); error != MPI_SUCCESS) return error;
  if (found != nullptr) *valuelen = static_cast<int>(found->size());
  return MPI_SUCCESS;
}

int Info_get_nkeys(RankState& /*self*/, const Info& info, int* nkeys) {
  *nkeys = info.size();
  return MPI_SUCCESS;
}

int Info_get_nthkey(RankState& self, const Info& info, int n, char* key) {
  if (n < 0 || n >= info.size())
    return self.fail(MPI_ERR_ARG, "n is %d; it must be less than the number of keys, %d", n,
                     info.size());
  copy_cut(key, info.key(n), MPI_MAX_INFO_KEY - 1);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
