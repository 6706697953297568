// Properties of datatypes, and counts of a status in terms of a datatype. MPI 5.0, 3.2.5,
// 5.1.5-5.1.11, 7.8, 13.3, 19.1.9.

#include <cstring>
#include <string>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/base/status.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;

/// The Fortran type of a class and size; MPI_DATATYPE_NULL if there is none.
MPI_Datatype matching_type(int type_class, int size) {
  struct Row {
    int type_class;
    int size;
    MPI_Datatype type;
  };

  const Row table[] = {
      {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
      {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
      {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
      {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
      {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
      {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
      {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
  for (const Row& row : table) {
    if (row.type_class == type_class && row.size == size) return row.type;
  }
  return MPI_DATATYPE_NULL;
}

}  // namespace

extern "C" int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  if (datatype == MPI_DATATYPE_NULL) {
    if (type_name == nullptr) return raise_null("MPI_Type_get_name", "type_name");
    if (resultlen == nullptr) return raise_null("MPI_Type_get_name", "resultlen");
    give_text("MPI_DATATYPE_NULL", type_name, resultlen);
    return MPI_SUCCESS;
  }
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, Type_get_name, datatype, type_name, resultlen);
  return read(running, "MPI_Type_get_name", [&](RankState& self) {
    SORREL_NOT_NULL(type_name);
    SORREL_NOT_NULL(resultlen);
    const Datatype* type = mpi::datatype_from_handle(datatype);
    if (type == nullptr) return fail_datatype(self, datatype);
    const mpi::RankServices* services = self.services_if_used.get();
    give_text(services != nullptr ? services->type_names.of(*type) : type->name(), type_name,
              resultlen);
    return MPI_SUCCESS;
  });
}
SORREL_WEAK(MPI_Type_get_name)

namespace body {

using mpi::IntegerPointer;

int Type_size(RankState& /*self*/, Datatype& datatype, IntegerPointer size) {
  size.set(static_cast<std::int64_t>(datatype.size()));
  return MPI_SUCCESS;
}

int Type_get_extent(RankState& /*self*/,
                    Datatype& datatype,
                    IntegerPointer lb,
                    IntegerPointer extent) {
  lb.set(datatype.lb());
  extent.set(datatype.extent());
  return MPI_SUCCESS;
}

int Type_get_true_extent(RankState& /*self*/,
                         Datatype& datatype,
                         IntegerPointer true_lb,
                         IntegerPointer true_extent) {
  true_lb.set(datatype.true_lb());
  true_extent.set(datatype.true_extent());
  return MPI_SUCCESS;
}

int Type_set_name(RankState& self, Datatype& datatype, const char* type_name) {
  if (type_name == nullptr) return fail_null(self, "type_name");
  if (datatype.is_predefined()) {
    const std::size_t bytes = ::strnlen(type_name, MPI_MAX_OBJECT_NAME - 1);
    self.services().type_names.set(datatype, std::string(type_name, bytes));
  } else {
    datatype.set_name(type_name);
  }
  return MPI_SUCCESS;
}

int Type_match_size(RankState& self, int typeclass, int size, MPI_Datatype* datatype) {
  const MPI_Datatype match = matching_type(typeclass, size);
  if (match == MPI_DATATYPE_NULL)
    return self.fail(MPI_ERR_ARG, "no datatype of typeclass %d has a size of %d bytes", typeclass,
                     size);
  *datatype = match;
  return MPI_SUCCESS;
}

int Get_count(RankState& /*self*/,
              const MPI_Status* status,
              Datatype& datatype,
              IntegerPointer count) {
  count.set(datatype.count_in(mpi::status_bytes(*status)));
  return MPI_SUCCESS;
}

int Get_elements(RankState& /*self*/,
                 const MPI_Status* status,
                 Datatype& datatype,
                 IntegerPointer count) {
  count.set(datatype.elements_in(mpi::status_bytes(*status)));
  return MPI_SUCCESS;
}

int Status_set_elements(RankState& self, MPI_Status* status, Datatype& datatype, MPI_Count count) {
  if (count < 0) return fail_count(self, count);
  mpi::set_status_bytes(*status, datatype.bytes_of_elements(static_cast<std::size_t>(count)));
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
