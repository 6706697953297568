#include "mpi/saved/saved_file.hpp"

#include <cstring>

#include "base/text.hpp"
#include "mpi/io/rank_files.hpp"
#include "mpi/saved/saved_info.hpp"

namespace sorrel::mpi {

const char* reason_not_saved(const File& file) {
  if (file.outstanding_count != 0) return "it has a nonblocking access to a file in progress";
  if (!file.split.begun.empty()) return "it has not ended a split collective access to a file";
  if (file.pointer_window != nullptr) return "it has a file that several processes have opened";
  return nullptr;
}

void add_descriptors(RankState& rank, std::vector<int>& to) {
  for (ObjectNode* node = rank.objects.front(); node != nullptr;
       node = rank.objects.next_of(*node)) {
    if (node->type == ObjectType::file)
      to.push_back(static_cast<const File*>(object_of(*node))->shared->disk.descriptor());
  }
}

void save_file(const File& file, ByteWriter& to) {
  to.add(file.comm);
  to.add_block(file.shared->path);
  to.add(file.amode);
  to.add(file.shared->shared_position.load(std::memory_order_relaxed));
  to.add(file.is_atomic);
  to.add(file.position);
  to.add(handle_of(*file.errhandler));
  save_info(file.info, to);
  to.add(file.view.displacement());
  to.add(handle_of(file.view.etype()));
  to.add(handle_of(file.view.filetype()));
  to.add_block(file.view.representation().name());
}

std::string restore_file(RankState& rank, SharedParts& parts, ByteCursor& from) {
  const char* const damaged = "the record of a file is damaged";
  auto* comm = from.take<Comm*>();
  const std::string path(from.take_block());
  const int amode = from.take<int>();
  if (!from.is_good()) return damaged;
  // Their shared pointer would need a window.
  if (comm->shared->processes() != nullptr) {
    return text_of("the ranks that have opened %s are in several processes: use fewer --procs",
                   path.c_str());
  }
  int error = 0;
  FileShared* shared = parts.file(*comm, path, amode, &error);
  if (shared == nullptr)
    return text_of("cannot open %s again: %s", path.c_str(), std::strerror(error));
  auto* file = new File(rank, *comm, *shared, amode);
  shared->shared_position.store(from.take<std::int64_t>(), std::memory_order_relaxed);
  file->is_atomic = from.take<bool>();
  file->position = from.take<std::int64_t>();
  file->errhandler = errhandler_of(from.take<MPI_Errhandler>());
  restore_info(file->info, from);
  file->hints = FileHints::from(file->info);
  const auto displacement = from.take<std::int64_t>();
  Datatype* etype = datatype_from_handle(from.take<MPI_Datatype>());
  Datatype* filetype = datatype_from_handle(from.take<MPI_Datatype>());
  const Representation* representation =
      RankFiles::of(rank).representations.find(from.take_block());
  if (!from.is_good() || etype == nullptr || filetype == nullptr || representation == nullptr ||
      file->errhandler == nullptr)
    return damaged;
  const int failed = file->view.set({.displacement = displacement,
                                     .etype = *etype,
                                     .filetype = *filetype,
                                     .representation = *representation,
                                     .is_for_writing = file->may_write()},
                                    rank.detail());
  return failed == MPI_SUCCESS ? "" : damaged;
}

}  // namespace sorrel::mpi
