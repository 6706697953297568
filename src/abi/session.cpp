// Sessions, their process sets, and communicators without a parent. MPI 5.0, 7.4.2, 7.6.3, 11.3.
#include "mpi/comm/session.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "abi/device_call.hpp"
#include "abi/known_hints.hpp"
#include "mpi/job/intercomm.hpp"
#include "mpi/match/buffered.hpp"
#include "mpi/match/environment_info.hpp"
#include "runtime/device_ranks.hpp"
#include "runtime/first_checkpoint.hpp"
#include "runtime/python/lines.hpp"
#include "runtime/rank_guests.hpp"

namespace sorrel::abi {
namespace {

using mpi::Errhandler;
using mpi::Session;

int fail_errhandler(RankState& self) {
  return self.fail(MPI_ERR_ERRHANDLER, "invalid error handler handle");
}

int find_set(RankState& self, const char* name, std::shared_ptr<const mpi::Group>* group) {
  *group = mpi::group_of_set(name, self.world_comm.shared->group(), self.world_rank);
  if (*group != nullptr) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ARG,
                   "pset_name is '%.64s'; the process sets are mpi://WORLD and mpi://SELF", name);
}

/// A tag on MPI_COMM_WORLD for a string: creations with different strings do not meet.
int tag_of(const char* stringtag) {
  std::uint32_t hash = 2166136261U;
  for (const char* c = stringtag; *c != '\0'; ++c)
    hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619U;
  return static_cast<int>(hash % static_cast<std::uint32_t>(mpi::tag_max));
}

int check_creation(RankState& self, const char* stringtag, MPI_Info info, MPI_Errhandler handler) {
  if (stringtag == nullptr) return fail_null(self, "stringtag");
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  return mpi::errhandler_of(handler) == nullptr ? fail_errhandler(self) : MPI_SUCCESS;
}

int check_member(RankState& self, const mpi::Group& group) {
  if (group.rank_of(self.world_rank) != MPI_UNDEFINED) return MPI_SUCCESS;
  return self.fail(MPI_ERR_GROUP, "the calling rank is not in the group");
}

struct ThreadLevel {
  const char* name;
  int value;
};

constexpr std::array<ThreadLevel, 4> thread_levels{
    ThreadLevel{"MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
    {"MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
    {"MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
    {"MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};

/// The arguments of MPI_Session_init but the error handler. `provided` is the thread level, by
/// default the highest one.
int check_session(RankState& self, MPI_Info info, const MPI_Session* session, int* provided) {
  SORREL_NOT_NULL(session);
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  *provided = runtime::thread_level_max();
  if (info == MPI_INFO_NULL) return MPI_SUCCESS;
  const std::string* level = mpi::info_of(info)->find("thread_level");
  if (level == nullptr) return MPI_SUCCESS;
  for (const ThreadLevel& known : thread_levels) {
    if (*level != known.name) continue;
    *provided = std::min(*provided, known.value);
    return MPI_SUCCESS;
  }
  return self.fail(MPI_ERR_INFO_VALUE,
                   "the info value of thread_level is '%.64s'; it must be MPI_THREAD_SINGLE, "
                   "_FUNNELED, _SERIALIZED or _MULTIPLE",
                   level->c_str());
}

}  // namespace

extern "C" {

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session) {
  begin_rank("MPI_Session_init");
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Session_init, info, errhandler, session);
  int result = MPI_SUCCESS;
  const int error = call_any_time(running, "MPI_Session_init", [&](RankState& self) {
    Errhandler* handler = mpi::errhandler_of(errhandler);
    if (handler == nullptr) return fail_errhandler(self);
    int level = 0;
    result = check_session(self, info, session, &level);
    if (result != MPI_SUCCESS) {
      Session failed{.errhandler = handler, .sends = nullptr};  // what the handler gets
      result = raise(self, failed, result);
      return MPI_SUCCESS;
    }
    retain(*handler);
    *session = mpi::handle_of(*new Session{.errhandler = handler,
                                           .sends = std::make_shared<mpi::BufferedSends>(),
                                           .thread_level = level});
    self.calling_level = std::max(self.calling_level, level);
    ++self.session_count;
    runtime::note_begin_of_session();
    if (runtime::has_python_lines()) runtime::find_python(runtime::PythonSearch::first);
    runtime::admit_calls(self);
    return MPI_SUCCESS;
  });
  if (running != nullptr) runtime::admit_started_threads(*running);
  return error != MPI_SUCCESS ? error : result;
}
SORREL_WEAK(MPI_Session_init)

// By hand: the name may be a null pointer.
int PMPI_Session_get_nth_pset(
    MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Session_get_nth_pset, session, info, n, pset_len, pset_name);
  return call_on_session(
      running, session, "MPI_Session_get_nth_pset", [&](RankState& self, Session& /*on*/) {
        SORREL_NOT_NULL(pset_len);
        if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
        const auto index = static_cast<std::size_t>(n);
        if (n < 0 || index >= mpi::process_sets.size())
          return self.fail(MPI_ERR_ARG, "n is %d; it must be in 0..%zu", n,
                           mpi::process_sets.size() - 1);
        const std::string_view name = mpi::process_sets[index];
        // With 0, only the length is asked for; it counts the end of the string.
        if (*pset_len > 0) {
          SORREL_NOT_NULL(pset_name);
          const std::size_t count = std::min(name.size(), static_cast<std::size_t>(*pset_len) - 1);
          std::memcpy(pset_name, name.data(), count);
          pset_name[count] = '\0';
        }
        *pset_len = static_cast<int>(name.size()) + 1;
        return MPI_SUCCESS;
      });
}
SORREL_WEAK(MPI_Session_get_nth_pset)

}  // extern "C"

namespace body {

int Session_finalize(RankState& self, Session& on, MPI_Session* session) {
  flush_buffer(self, *on.sends);
  on.header.kind = mpi::ObjectKind::freed;
  release(*on.errhandler);
  delete &on;
  *session = MPI_SESSION_NULL;
  if (--self.session_count > 0 || self.world_phase == mpi::Phase::running) return MPI_SUCCESS;
  self.phase = self.world_phase;
  if (device::has_buffers()) end_device_calls(self);
  self.world->job().record_finalized(self);
  return MPI_SUCCESS;
}

int Session_create_errhandler(RankState& self,
                              MPI_Session_errhandler_function* session_errhandler_fn,
                              MPI_Errhandler* errhandler) {
  SORREL_NOT_NULL(session_errhandler_fn);
  // Every handle is a pointer, so the functions are called alike.
  *errhandler =
      mpi::make_errhandler(reinterpret_cast<MPI_Comm_errhandler_function*>(session_errhandler_fn));
  return MPI_SUCCESS;
}

int Session_set_errhandler(RankState& self, Session& session, MPI_Errhandler errhandler) {
  Errhandler* handler = mpi::errhandler_of(errhandler);
  if (handler == nullptr) return fail_errhandler(self);
  replace(session.errhandler, *handler);
  return MPI_SUCCESS;
}

int Session_get_errhandler(RankState& /*self*/, Session& session, MPI_Errhandler* errhandler) {
  retain(*session.errhandler);
  *errhandler = mpi::handle_of(*session.errhandler);
  return MPI_SUCCESS;
}

int Session_call_errhandler(RankState& self, Session& session, int errorcode) {
  const char* text = self.services().error_codes.text_of(errorcode);
  if (text == nullptr)
    return self.fail(MPI_ERR_ARG, "errorcode is %d; it must be an error code", errorcode);
  // The result of the handler is ignored: the call itself has succeeded.
  (void)raise(self, session, self.fail(errorcode, "raised by the program: %s", text));
  return MPI_SUCCESS;
}

int Session_get_info(RankState& self, Session& session, MPI_Info* info_used) {
  auto info = std::make_unique<mpi::Info>();
  const auto level = std::ranges::find(thread_levels, session.thread_level, &ThreadLevel::value);
  int error = info->set("thread_level", level->name, self.detail());
  if (error == MPI_SUCCESS) error = describe_memory_kinds(self, *info);
  *info_used = mpi::make_info_handle(std::move(info));
  return error;
}

int Session_get_num_psets(RankState& self, Session& /*session*/, MPI_Info info, int* npset_names) {
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  *npset_names = static_cast<int>(mpi::process_sets.size());
  return MPI_SUCCESS;
}

int Session_get_pset_info(RankState& self,
                          Session& /*session*/,
                          const char* pset_name,
                          MPI_Info* info) {
  SORREL_NOT_NULL(pset_name);
  std::shared_ptr<const mpi::Group> group;
  int error = find_set(self, pset_name, &group);
  if (error != MPI_SUCCESS) return error;
  auto made = std::make_unique<mpi::Info>();
  error = made->set("mpi_size", std::to_string(group->size()).c_str(), self.detail());
  *info = mpi::make_info_handle(std::move(made));
  return error;
}

int Group_from_session_pset(RankState& self,
                            Session& session,
                            const char* pset_name,
                            MPI_Group* newgroup) {
  SORREL_NOT_NULL(pset_name);
  std::shared_ptr<const mpi::Group> group;
  const int error = find_set(self, pset_name, &group);
  if (error == MPI_SUCCESS) {
    *newgroup = mpi::make_group_handle({.group = std::move(group), .session_sends = session.sends});
  }
  return error;
}

int Comm_create_from_group(RankState& self,
                           const mpi::GroupHandle& group,
                           const char* stringtag,
                           MPI_Info info,
                           MPI_Errhandler errhandler,
                           MPI_Comm* newcomm) {
  if (const int error = check_creation(self, stringtag, info, errhandler); error != MPI_SUCCESS)
    return error;
  *newcomm = MPI_COMM_NULL;
  if (group->size() == 0) return MPI_SUCCESS;
  if (const int error = check_member(self, *group); error != MPI_SUCCESS) return error;
  Comm* made = create_without_parent(self, group.group, self.self_comm,
                                     mpi::group_creation_tag(tag_of(stringtag)));
  made->session_sends = group.session_sends;
  replace(made->errhandler, *mpi::errhandler_of(errhandler));
  *newcomm = handle_of(*made);
  return info == MPI_INFO_NULL ? MPI_SUCCESS : Comm_set_info(self, *made, info);
}

int Intercomm_create_from_groups(RankState& self,
                                 const mpi::GroupHandle& local_group,
                                 int local_leader,
                                 MPI_Group remote_group,
                                 int remote_leader,
                                 const char* stringtag,
                                 MPI_Info info,
                                 MPI_Errhandler errhandler,
                                 MPI_Comm* newintercomm) {
  int error = check_creation(self, stringtag, info, errhandler);
  if (error == MPI_SUCCESS) error = check_member(self, *local_group);
  if (error != MPI_SUCCESS) return error;
  *newintercomm = MPI_COMM_NULL;
  if (local_leader < 0 || local_leader >= local_group->size())
    return fail_rank(self, "local_leader", local_leader, local_group->size());
  const int tag = tag_of(stringtag);
  Comm* local =
      create_without_parent(self, local_group.group, self.self_comm, mpi::group_creation_tag(tag));
  mpi::LeaderPeer peer{.comm = nullptr, .rank = MPI_UNDEFINED, .tag = tag};
  // Significant at the leader; errors reach all members.
  if (local->rank == local_leader) {
    const mpi::GroupHandle* remote = mpi::group_of(remote_group);
    if (remote != nullptr) {
      peer.comm = &self.world_comm;
      if (remote_leader >= 0 && remote_leader < (*remote)->size())
        peer.rank = (*remote)->world_rank(remote_leader);
    }
  }
  Comm* made = nullptr;
  error = intercomm_create(self, *local, local_leader, peer, &made);
  release(*local);
  if (error != MPI_SUCCESS) return error;
  made->session_sends = local_group.session_sends;
  replace(made->errhandler, *mpi::errhandler_of(errhandler));
  *newintercomm = handle_of(*made);
  return info == MPI_INFO_NULL ? MPI_SUCCESS : Comm_set_info(self, *made, info);
}

}  // namespace body

}  // namespace sorrel::abi
