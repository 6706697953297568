#include "check/handle_table.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"
#include "mpi/base/handle.hpp"

namespace sorrel::check {

namespace {

struct Row {
  ArgumentKind kind;
  const char* noun;
  const char* leak;
  const char* end;
};

constexpr Row rows[] = {
    {ArgumentKind::comm, "communicator", "leak-communicator", "MPI_Comm_free"},
    {ArgumentKind::datatype, "datatype", "leak-datatype", "MPI_Type_free"},
    {ArgumentKind::errhandler, "error handler", "leak-errhandler", "MPI_Errhandler_free"},
    {ArgumentKind::file, "file", "leak-file", "MPI_File_close"},
    {ArgumentKind::group, "group", "leak-group", "MPI_Group_free"},
    {ArgumentKind::info, "info object", "leak-info", "MPI_Info_free"},
    {ArgumentKind::message, "message of a matched probe", "leak-message", "MPI_Mrecv"},
    {ArgumentKind::op, "operation", "leak-op", "MPI_Op_free"},
    {ArgumentKind::request, "request", "leak-request", "MPI_Wait or MPI_Request_free"},
    {ArgumentKind::session, "session", "leak-session", "MPI_Session_finalize"},
    {ArgumentKind::win, "window", "leak-window", "MPI_Win_free"},
};

const Row& row_of(ArgumentKind kind) {
  const Row* found = std::ranges::find(rows, kind, &Row::kind);
  SORREL_CHECK(found != std::end(rows), "objects of kind %d", static_cast<int>(kind));
  return *found;
}

}  // namespace

void HandleTable::remove(ArgumentKind kind, std::uintptr_t handle) {
  for (auto made = made_.lower_bound({handle, 0});
       made != made_.end() && made->first.first == handle; ++made) {
    if (made->second.kind != kind) continue;
    made_.erase(made);
    return;
  }
}

std::vector<MadeHandle> HandleTable::take_all() {
  std::vector<std::pair<std::uint64_t, MadeHandle>> ordered;
  for (const auto& [key, made] : made_)
    ordered.emplace_back(key.second, made);
  made_.clear();
  std::ranges::sort(ordered, {}, [](const auto& entry) { return entry.first; });
  std::vector<MadeHandle> all;
  for (const auto& entry : ordered)
    all.push_back(entry.second);
  return all;
}

bool is_own_object(std::uintptr_t handle) {
  return handle >= mpi::first_dynamic_handle;
}

const char* noun_of(ArgumentKind kind) {
  return row_of(kind).noun;
}

const char* leak_of(ArgumentKind kind) {
  return row_of(kind).leak;
}

const char* end_of(ArgumentKind kind) {
  return row_of(kind).end;
}

}  // namespace sorrel::check
