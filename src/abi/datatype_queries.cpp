// Properties of datatypes, and counts of a status in terms of a datatype. MPI 5.0, 3.2.5,
// 5.1.5-5.1.11, 7.8, 13.3, 19.1.9.
#include <cstring>
#include <limits>

#include "abi/call.hpp"
#include "abi/check.hpp"
#include "mpi/base/status.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;

/// body(self, type) for a datatype handle.
template <class Body>
[[gnu::always_inline]] inline int call_on_type(const char* function,
                                               MPI_Datatype handle,
                                               Body&& body) {
  return call(function, [&](RankState& self) {
    Datatype* type = mpi::datatype_from_handle(handle);
    if (type == nullptr) [[unlikely]]
      return fail_datatype(self, handle);
    return body(self, *type);
  });
}

/// MPI_UNDEFINED for a number that an int cannot hold.
int int_of(std::int64_t value) {
  return value > std::numeric_limits<int>::max() ? MPI_UNDEFINED : static_cast<int>(value);
}

int get_extent(const Datatype& type, std::int64_t* lb, std::int64_t* extent) {
  *lb = type.lb();
  *extent = type.extent();
  return MPI_SUCCESS;
}

int get_true_extent(const Datatype& type, std::int64_t* true_lb, std::int64_t* true_extent) {
  *true_lb = type.true_lb();
  *true_extent = type.true_extent();
  return MPI_SUCCESS;
}

int set_elements(RankState& self, MPI_Status* status, const Datatype& type, MPI_Count count) {
  if (count < 0) return fail_count(self, count);
  mpi::set_status_bytes(*status, type.bytes_of_elements(static_cast<std::size_t>(count)));
  return MPI_SUCCESS;
}

/// The Fortran type of a class and size; MPI_DATATYPE_NULL if there is none.
MPI_Datatype matching_type(int type_class, int size) {
  switch (type_class) {
    case MPI_TYPECLASS_INTEGER:
      return size == 1    ? MPI_INTEGER1
             : size == 2  ? MPI_INTEGER2
             : size == 4  ? MPI_INTEGER4
             : size == 8  ? MPI_INTEGER8
             : size == 16 ? MPI_INTEGER16
                          : MPI_DATATYPE_NULL;
    case MPI_TYPECLASS_REAL:
      return size == 2    ? MPI_REAL2
             : size == 4  ? MPI_REAL4
             : size == 8  ? MPI_REAL8
             : size == 16 ? MPI_REAL16
                          : MPI_DATATYPE_NULL;
    case MPI_TYPECLASS_COMPLEX:
      return size == 4    ? MPI_COMPLEX4
             : size == 8  ? MPI_COMPLEX8
             : size == 16 ? MPI_COMPLEX16
             : size == 32 ? MPI_COMPLEX32
                          : MPI_DATATYPE_NULL;
    default:
      return MPI_DATATYPE_NULL;
  }
}

void give_name(const char* name, char* result, int* length) {
  const std::size_t size = std::strlen(name);
  std::memcpy(result, name, size + 1);
  *length = static_cast<int>(size);
}

}  // namespace

extern "C" {

int PMPI_Type_size(MPI_Datatype datatype, int* size) {
  return call_on_type("MPI_Type_size", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(size);
    *size = int_of(static_cast<std::int64_t>(type.size()));
    return MPI_SUCCESS;
  });
}

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  return call_on_type("MPI_Type_size_x", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(size);
    *size = static_cast<MPI_Count>(type.size());
    return MPI_SUCCESS;
  });
}

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return call_on_type("MPI_Type_get_extent", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(lb);
    SORREL_NOT_NULL(extent);
    return get_extent(type, lb, extent);
  });
}

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return call_on_type("MPI_Type_get_extent_x", datatype,
                      [&](RankState& self, const Datatype& type) {
                        SORREL_NOT_NULL(lb);
                        SORREL_NOT_NULL(extent);
                        return get_extent(type, lb, extent);
                      });
}

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent) {
  return call_on_type("MPI_Type_get_true_extent", datatype,
                      [&](RankState& self, const Datatype& type) {
                        SORREL_NOT_NULL(true_lb);
                        SORREL_NOT_NULL(true_extent);
                        return get_true_extent(type, true_lb, true_extent);
                      });
}

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return call_on_type("MPI_Type_get_true_extent_x", datatype,
                      [&](RankState& self, const Datatype& type) {
                        SORREL_NOT_NULL(true_lb);
                        SORREL_NOT_NULL(true_extent);
                        return get_true_extent(type, true_lb, true_extent);
                      });
}

int PMPI_Type_set_name(MPI_Datatype datatype, const char* type_name) {
  return call_on_type("MPI_Type_set_name", datatype, [&](RankState& self, Datatype& type) {
    if (type_name == nullptr) return fail_null(self, "type_name");
    type.set_name(type_name);
    return MPI_SUCCESS;
  });
}

int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  if (datatype == MPI_DATATYPE_NULL) {
    if (type_name == nullptr) return raise_null("MPI_Type_get_name", "type_name");
    if (resultlen == nullptr) return raise_null("MPI_Type_get_name", "resultlen");
    give_name("MPI_DATATYPE_NULL", type_name, resultlen);
    return MPI_SUCCESS;
  }
  return call_on_type("MPI_Type_get_name", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(type_name);
    SORREL_NOT_NULL(resultlen);
    give_name(type.name(), type_name, resultlen);
    return MPI_SUCCESS;
  });
}

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  return call("MPI_Type_match_size", [&](RankState& self) {
    SORREL_NOT_NULL(datatype);
    const MPI_Datatype match = matching_type(typeclass, size);
    if (match == MPI_DATATYPE_NULL)
      return self.fail(MPI_ERR_ARG, "no datatype of typeclass %d has a size of %d bytes", typeclass,
                       size);
    *datatype = match;
    return MPI_SUCCESS;
  });
}

int PMPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  return call_on_type("MPI_Get_count", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(status);
    SORREL_NOT_NULL(count);
    *count = int_of(type.count_in(mpi::status_bytes(*status)));
    return MPI_SUCCESS;
  });
}

int PMPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  return call_on_type("MPI_Get_elements", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(status);
    SORREL_NOT_NULL(count);
    *count = int_of(type.elements_in(mpi::status_bytes(*status)));
    return MPI_SUCCESS;
  });
}

int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return call_on_type("MPI_Get_elements_x", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(status);
    SORREL_NOT_NULL(count);
    *count = type.elements_in(mpi::status_bytes(*status));
    return MPI_SUCCESS;
  });
}

int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
  return call_on_type("MPI_Status_set_elements", datatype,
                      [&](RankState& self, const Datatype& type) {
                        SORREL_NOT_NULL(status);
                        return set_elements(self, status, type, count);
                      });
}

int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return call_on_type("MPI_Status_set_elements_x", datatype,
                      [&](RankState& self, const Datatype& type) {
                        SORREL_NOT_NULL(status);
                        return set_elements(self, status, type, count);
                      });
}

int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size) {
  return call_on_type("MPI_Type_size_c", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(size);
    *size = static_cast<MPI_Count>(type.size());
    return MPI_SUCCESS;
  });
}

int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return call_on_type("MPI_Type_get_extent_c", datatype,
                      [&](RankState& self, const Datatype& type) {
                        SORREL_NOT_NULL(lb);
                        SORREL_NOT_NULL(extent);
                        return get_extent(type, lb, extent);
                      });
}

int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return call_on_type("MPI_Type_get_true_extent_c", datatype,
                      [&](RankState& self, const Datatype& type) {
                        SORREL_NOT_NULL(true_lb);
                        SORREL_NOT_NULL(true_extent);
                        return get_true_extent(type, true_lb, true_extent);
                      });
}

int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return call_on_type("MPI_Get_count_c", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(status);
    SORREL_NOT_NULL(count);
    *count = type.count_in(mpi::status_bytes(*status));
    return MPI_SUCCESS;
  });
}

int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return call_on_type("MPI_Get_elements_c", datatype, [&](RankState& self, const Datatype& type) {
    SORREL_NOT_NULL(status);
    SORREL_NOT_NULL(count);
    *count = type.elements_in(mpi::status_bytes(*status));
    return MPI_SUCCESS;
  });
}

int PMPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return call_on_type("MPI_Status_set_elements_c", datatype,
                      [&](RankState& self, const Datatype& type) {
                        SORREL_NOT_NULL(status);
                        return set_elements(self, status, type, count);
                      });
}

SORREL_WEAK(int, MPI_Type_size, (MPI_Datatype datatype, int* size))
SORREL_WEAK(int, MPI_Type_size_x, (MPI_Datatype datatype, MPI_Count* size))
SORREL_WEAK(int, MPI_Type_get_extent, (MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent))
SORREL_WEAK(int, MPI_Type_get_extent_x, (MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent))
SORREL_WEAK(int,
            MPI_Type_get_true_extent,
            (MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent))
SORREL_WEAK(int,
            MPI_Type_get_true_extent_x,
            (MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent))
SORREL_WEAK(int, MPI_Type_set_name, (MPI_Datatype datatype, const char* type_name))
SORREL_WEAK(int, MPI_Type_get_name, (MPI_Datatype datatype, char* type_name, int* resultlen))
SORREL_WEAK(int, MPI_Type_match_size, (int typeclass, int size, MPI_Datatype* datatype))
SORREL_WEAK(int, MPI_Get_count, (const MPI_Status* status, MPI_Datatype datatype, int* count))
SORREL_WEAK(int, MPI_Get_elements, (const MPI_Status* status, MPI_Datatype datatype, int* count))
SORREL_WEAK(int,
            MPI_Get_elements_x,
            (const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count))
SORREL_WEAK(int, MPI_Status_set_elements, (MPI_Status * status, MPI_Datatype datatype, int count))
SORREL_WEAK(int,
            MPI_Status_set_elements_x,
            (MPI_Status * status, MPI_Datatype datatype, MPI_Count count))
SORREL_WEAK(int, MPI_Type_size_c, (MPI_Datatype datatype, MPI_Count* size))
SORREL_WEAK(int, MPI_Type_get_extent_c, (MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent))
SORREL_WEAK(int,
            MPI_Type_get_true_extent_c,
            (MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent))
SORREL_WEAK(int,
            MPI_Get_count_c,
            (const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count))
SORREL_WEAK(int,
            MPI_Get_elements_c,
            (const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count))
SORREL_WEAK(int,
            MPI_Status_set_elements_c,
            (MPI_Status * status, MPI_Datatype datatype, MPI_Count count))

}  // extern "C"

}  // namespace sorrel::abi
