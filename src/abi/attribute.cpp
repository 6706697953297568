// Attributes of communicators and their keys. MPI 5.0, 7.7; the deprecated names: 16.1.
#include "mpi/comm/attribute.hpp"

#include "abi/body.hpp"

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

int set_attribute(RankState& self, Comm& comm, int number, void* value) {
  Keyval* keyval = nullptr;
  if (const int error = find_keyval(self, number, &keyval); error != MPI_SUCCESS) return error;
  if (comm.attributes == nullptr) comm.attributes = std::make_unique<AttributeMap>();
  const int error = comm.attributes->set(user_handle_of(self, comm), *keyval, value);
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

int delete_attribute(RankState& self, Comm& comm, int number) {
  Keyval* keyval = nullptr;
  if (const int error = find_keyval(self, number, &keyval); error != MPI_SUCCESS) return error;
  if (comm.attributes == nullptr) return MPI_SUCCESS;
  const int error = comm.attributes->erase(user_handle_of(self, comm), *keyval);
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return self.fail(error, "the delete function of the attribute returned %d", error);
}

}  // namespace

namespace body {

int Comm_create_keyval(RankState& self,
                       MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                       MPI_Comm_delete_attr_function* comm_delete_attr_fn,
                       int* comm_keyval,
                       void* extra_state) {
  return create_keyval(self, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state);
}

int Comm_free_keyval(RankState& self, int* comm_keyval) {
  return free_keyval(self, comm_keyval);
}

int Comm_set_attr(RankState& self, Comm& comm, int comm_keyval, void* attribute_val) {
  return set_attribute(self, comm, comm_keyval, attribute_val);
}

int Comm_get_attr(RankState& self, Comm& comm, int comm_keyval, void* attribute_val, int* flag) {
  return get_attribute(self, comm, comm_keyval, attribute_val, flag);
}

int Comm_delete_attr(RankState& self, Comm& comm, int comm_keyval) {
  return delete_attribute(self, comm, comm_keyval);
}

int Keyval_create(RankState& self,
                  MPI_Copy_function* copy_fn,
                  MPI_Delete_function* delete_fn,
                  int* keyval,
                  void* extra_state) {
  return create_keyval(self, copy_fn, delete_fn, keyval, extra_state);
}

int Keyval_free(RankState& self, int* keyval) {
  return free_keyval(self, keyval);
}

int Attr_put(RankState& self, Comm& comm, int keyval, void* attribute_val) {
  return set_attribute(self, comm, keyval, attribute_val);
}

int Attr_get(RankState& self, Comm& comm, int keyval, void* attribute_val, int* flag) {
  return get_attribute(self, comm, keyval, attribute_val, flag);
}

int Attr_delete(RankState& self, Comm& comm, int keyval) {
  return delete_attribute(self, comm, keyval);
}

}  // namespace body

}  // namespace sorrel::abi
