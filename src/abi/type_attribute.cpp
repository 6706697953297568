// Attributes of datatypes and their keys. MPI 5.0, 7.7.4.
#include "abi/attribute_calls.hpp"
#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/comm/attribute.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::abi {
namespace {

using mpi::AttributeMap;
using mpi::AttributeOwner;
using mpi::Datatype;
using mpi::Keyval;

int find_type_keyval(RankState& self, int number, Keyval** keyval) {
  *keyval = self.services().keyvals.find(number, AttributeOwner::type);
  if (*keyval != nullptr) return MPI_SUCCESS;
  return self.fail(MPI_ERR_KEYVAL, "invalid keyval %d; it must be one of MPI_Type_create_keyval",
                   number);
}

}  // namespace

namespace body {

int Type_create_keyval(RankState& self,
                       MPI_Type_copy_attr_function* type_copy_attr_fn,
                       MPI_Type_delete_attr_function* type_delete_attr_fn,
                       int* type_keyval,
                       void* extra_state) {
  *type_keyval = self.services()
                     .keyvals.create_for_types(type_copy_attr_fn, type_delete_attr_fn, extra_state)
                     .number;
  return MPI_SUCCESS;
}

int Type_free_keyval(RankState& self, int* type_keyval) {
  return free_keyval(self, AttributeOwner::type, type_keyval);
}

int Type_set_attr(RankState& self, Datatype& datatype, int type_keyval, void* attribute_val) {
  Keyval* keyval = nullptr;
  if (const int error = find_type_keyval(self, type_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  AttributeMap& attributes = self.services().type_attributes.make(datatype);
  return set_attribute(self, attributes, attribute_handle_of(datatype), *keyval, attribute_val);
}

int Type_get_attr(
    RankState& self, Datatype& datatype, int type_keyval, void* attribute_val, int* flag) {
  Keyval* keyval = nullptr;
  if (const int error = find_type_keyval(self, type_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  const AttributeMap* attributes = self.services().type_attributes.find(datatype);
  const bool is_set =
      attributes != nullptr && attributes->get(*keyval, static_cast<void**>(attribute_val));
  *flag = is_set ? 1 : 0;
  return MPI_SUCCESS;
}

int Type_delete_attr(RankState& self, Datatype& datatype, int type_keyval) {
  Keyval* keyval = nullptr;
  if (const int error = find_type_keyval(self, type_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  AttributeMap* attributes = self.services().type_attributes.find(datatype);
  return delete_attribute(self, attributes, attribute_handle_of(datatype), *keyval);
}

}  // namespace body

}  // namespace sorrel::abi
