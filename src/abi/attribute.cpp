// Attributes of communicators and their keys. MPI 5.0, 7.7; the deprecated names: 16.1.
#include "mpi/comm/attribute.hpp"

#include "abi/attribute_calls.hpp"
#include "abi/body.hpp"

namespace sorrel::abi {
namespace {

using mpi::AttributeMap;
using mpi::Keyval;

// The keyval of a number that the program may change, or MPI_ERR_KEYVAL.
int find_comm_keyval(RankState& self, int number, Keyval** keyval) {
  *keyval = self.services().keyvals.find(number, mpi::AttributeOwner::comm);
  if (*keyval != nullptr) return MPI_SUCCESS;
  if (number == MPI_KEYVAL_INVALID)
    return self.fail(MPI_ERR_KEYVAL, "invalid keyval: MPI_KEYVAL_INVALID");
  if (mpi::PredefinedAttributes().find(number) != nullptr)
    return self.fail(MPI_ERR_KEYVAL, "keyval %d is predefined and cannot be changed", number);
  return self.fail(MPI_ERR_KEYVAL, "invalid keyval %d", number);
}

// The address of a predefined attribute's value, or null. Refreshes the values that change.
int* predefined_value(RankState& self, int number) {
  mpi::RankServices& services = self.services();
  if (services.predefined_attributes == nullptr)
    services.predefined_attributes = std::make_unique<mpi::PredefinedAttributes>();
  mpi::PredefinedAttributes& values = *services.predefined_attributes;
  values.appnum =
      self.spawned == nullptr ? self.world->program_number() : self.spawned->program_number;
  values.universe_size = self.world->universe_size();
  values.last_used_code = services.error_codes.last_used();
  return values.find(number);
}

}  // namespace

namespace body {

int Comm_create_keyval(RankState& self,
                       MPI_Comm_copy_attr_function* comm_copy_attr_fn,
                       MPI_Comm_delete_attr_function* comm_delete_attr_fn,
                       int* comm_keyval,
                       void* extra_state) {
  *comm_keyval =
      self.services().keyvals.create(comm_copy_attr_fn, comm_delete_attr_fn, extra_state).number;
  return MPI_SUCCESS;
}

int Comm_free_keyval(RankState& self, int* comm_keyval) {
  return free_keyval(self, mpi::AttributeOwner::comm, comm_keyval);
}

int Comm_set_attr(RankState& self, Comm& comm, int comm_keyval, void* attribute_val) {
  Keyval* keyval = nullptr;
  if (const int error = find_comm_keyval(self, comm_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  if (comm.attributes == nullptr) comm.attributes = std::make_unique<AttributeMap>();
  return set_attribute(self, *comm.attributes, user_handle_of(self, comm), *keyval, attribute_val);
}

int Comm_get_attr(RankState& self, Comm& comm, int comm_keyval, void* attribute_val, int* flag) {
  auto* result = static_cast<void**>(attribute_val);
  if (comm_keyval != MPI_KEYVAL_INVALID && comm_keyval < mpi::KeyvalTable::first_number) {
    if (int* predefined = predefined_value(self, comm_keyval)) {
      *result = predefined;
      *flag = 1;
      return MPI_SUCCESS;
    }
  }
  Keyval* keyval = nullptr;
  if (const int error = find_comm_keyval(self, comm_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  *flag = comm.attributes != nullptr && comm.attributes->get(*keyval, result) ? 1 : 0;
  return MPI_SUCCESS;
}

int Comm_delete_attr(RankState& self, Comm& comm, int comm_keyval) {
  Keyval* keyval = nullptr;
  if (const int error = find_comm_keyval(self, comm_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  return delete_attribute(self, comm.attributes.get(), user_handle_of(self, comm), *keyval);
}

}  // namespace body

}  // namespace sorrel::abi
