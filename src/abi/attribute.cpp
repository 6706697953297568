// Attributes of communicators and their keys. MPI 5.0, 7.7; the deprecated names: 16.1.
#include "mpi/comm/attribute.hpp"

#include "abi/call.hpp"

namespace sorrel::abi {
namespace {

using mpi::AttributeMap;
using mpi::Keyval;

int create_keyval(RankState& self,
                  MPI_Comm_copy_attr_function* copy,
                  MPI_Comm_delete_attr_function* remove,
                  int* number,
                  void* extra_state) {
  *number = self.services().keyvals.create(copy, remove, extra_state).number;
  return MPI_SUCCESS;
}

int free_keyval(RankState& self, int* number) {
  const int error = self.services().keyvals.free(*number, self.detail());
  if (error == MPI_SUCCESS) *number = MPI_KEYVAL_INVALID;
  return error;
}

// The keyval of a number that the program may change, or MPI_ERR_KEYVAL.
int find_keyval(RankState& self, int number, Keyval** keyval) {
  *keyval = self.services().keyvals.find(number);
  if (*keyval != nullptr) return MPI_SUCCESS;
  if (number == MPI_KEYVAL_INVALID)
    return self.fail(MPI_ERR_KEYVAL, "invalid keyval: MPI_KEYVAL_INVALID");
  if (self.services().predefined_attributes.find(number) != nullptr)
    return self.fail(MPI_ERR_KEYVAL, "keyval %d is predefined and cannot be changed", number);
  return self.fail(MPI_ERR_KEYVAL, "invalid keyval %d", number);
}

int set_attribute(RankState& self, MPI_Comm handle, Comm& comm, int number, void* value) {
  Keyval* keyval = nullptr;
  if (const int error = find_keyval(self, number, &keyval); error != MPI_SUCCESS) return error;
  if (comm.attributes == nullptr) comm.attributes = std::make_unique<AttributeMap>();
  const int error = comm.attributes->set(handle, *keyval, value);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return self.fail(error, "the delete function of the old attribute returned %d", error);
}

// The address of a predefined attribute's value, or null. Refreshes the values that change.
int* predefined_value(RankState& self, int number) {
  mpi::RankServices& services = self.services();
  services.predefined_attributes.universe_size = self.world->size();
  services.predefined_attributes.last_used_code = services.error_codes.last_used();
  return services.predefined_attributes.find(number);
}

int get_attribute(RankState& self, const Comm& comm, int number, void* value, int* flag) {
  auto* result = static_cast<void**>(value);
  if (number != MPI_KEYVAL_INVALID && number < mpi::KeyvalTable::first_number) {
    if (int* predefined = predefined_value(self, number)) {
      *result = predefined;
      *flag = 1;
      return MPI_SUCCESS;
    }
  }
  Keyval* keyval = nullptr;
  if (const int error = find_keyval(self, number, &keyval); error != MPI_SUCCESS) return error;
  *flag = comm.attributes != nullptr && comm.attributes->get(*keyval, result) ? 1 : 0;
  return MPI_SUCCESS;
}

int delete_attribute(RankState& self, MPI_Comm handle, Comm& comm, int number) {
  Keyval* keyval = nullptr;
  if (const int error = find_keyval(self, number, &keyval); error != MPI_SUCCESS) return error;
  if (comm.attributes == nullptr) return MPI_SUCCESS;
  const int error = comm.attributes->erase(handle, *keyval);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return self.fail(error, "the delete function of the attribute returned %d", error);
}

}  // namespace

extern "C" {

int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                            MPI_Comm_delete_attr_function* comm_delete_attr_fn,
                            int* comm_keyval,
                            void* extra_state) {
  return call("MPI_Comm_create_keyval", [&](RankState& self) {
    SORREL_NOT_NULL(comm_keyval);
    return create_keyval(self, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
  });
}

int PMPI_Comm_free_keyval(int* comm_keyval) {
  return call("MPI_Comm_free_keyval", [&](RankState& self) {
    SORREL_NOT_NULL(comm_keyval);
    return free_keyval(self, comm_keyval);
  });
}

int PMPI_Comm_set_attr(MPI_Comm comm, int comm_keyval, void* attribute_val) {
  return call_on(comm, "MPI_Comm_set_attr", [&](RankState& self, Comm& c) {
    return set_attribute(self, comm, c, comm_keyval, attribute_val);
  });
}

int PMPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag) {
  return call_on(comm, "MPI_Comm_get_attr", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(attribute_val);
    SORREL_NOT_NULL(flag);
    return get_attribute(self, c, comm_keyval, attribute_val, flag);
  });
}

int PMPI_Comm_delete_attr(MPI_Comm comm, int comm_keyval) {
  return call_on(comm, "MPI_Comm_delete_attr", [&](RankState& self, Comm& c) {
    return delete_attribute(self, comm, c, comm_keyval);
  });
}

int PMPI_Keyval_create(MPI_Copy_function* copy_fn,
                       MPI_Delete_function* delete_fn,
                       int* keyval,
                       void* extra_state) {
  return call("MPI_Keyval_create", [&](RankState& self) {
    SORREL_NOT_NULL(keyval);
    return create_keyval(self, copy_fn, delete_fn, keyval, extra_state);
  });
}

int PMPI_Keyval_free(int* keyval) {
  return call("MPI_Keyval_free", [&](RankState& self) {
    SORREL_NOT_NULL(keyval);
    return free_keyval(self, keyval);
  });
}

int PMPI_Attr_put(MPI_Comm comm, int keyval, void* attribute_val) {
  return call_on(comm, "MPI_Attr_put", [&](RankState& self, Comm& c) {
    return set_attribute(self, comm, c, keyval, attribute_val);
  });
}

int PMPI_Attr_get(MPI_Comm comm, int keyval, void* attribute_val, int* flag) {
  return call_on(comm, "MPI_Attr_get", [&](RankState& self, Comm& c) {
    SORREL_NOT_NULL(attribute_val);
    SORREL_NOT_NULL(flag);
    return get_attribute(self, c, keyval, attribute_val, flag);
  });
}

int PMPI_Attr_delete(MPI_Comm comm, int keyval) {
  return call_on(comm, "MPI_Attr_delete",
                 [&](RankState& self, Comm& c) { return delete_attribute(self, comm, c, keyval); });
}

SORREL_WEAK(int,
            MPI_Comm_create_keyval,
            (MPI_Comm_copy_attr_function * comm_copy_attr_fn,
             MPI_Comm_delete_attr_function* comm_delete_attr_fn,
             int* comm_keyval,
             void* extra_state))
SORREL_WEAK(int, MPI_Comm_free_keyval, (int* comm_keyval))
SORREL_WEAK(int, MPI_Comm_set_attr, (MPI_Comm comm, int comm_keyval, void* attribute_val))
SORREL_WEAK(int,
            MPI_Comm_get_attr,
            (MPI_Comm comm, int comm_keyval, void* attribute_val, int* flag))
SORREL_WEAK(int, MPI_Comm_delete_attr, (MPI_Comm comm, int comm_keyval))
SORREL_WEAK(
    int,
    MPI_Keyval_create,
    (MPI_Copy_function * copy_fn, MPI_Delete_function* delete_fn, int* keyval, void* extra_state))
SORREL_WEAK(int, MPI_Keyval_free, (int* keyval))
SORREL_WEAK(int, MPI_Attr_put, (MPI_Comm comm, int keyval, void* attribute_val))
SORREL_WEAK(int, MPI_Attr_get, (MPI_Comm comm, int keyval, void* attribute_val, int* flag))
SORREL_WEAK(int, MPI_Attr_delete, (MPI_Comm comm, int keyval))

}  // extern "C"

}  // namespace sorrel::abi
