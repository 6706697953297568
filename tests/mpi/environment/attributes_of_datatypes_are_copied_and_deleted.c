// Attributes of datatypes: their callbacks run when a type is duplicated, freed, or an attribute
// changed; predefined datatypes have attributes, too; keyvals of communicators are others.
#include "../check.h"

static int copies = 0, deletions = 0, last_deleted = -1, refuse_deletion = 0;

static int copy_value(MPI_Datatype type, int key, void* state, void* value, void* to, int* flag) {
  (void)type;
  (void)key;
  copies++;
  *(void**)to = (char*)value + *(int*)state;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete_value(MPI_Datatype type, int key, void* value, void* state) {
  (void)type;
  (void)key;
  (void)state;
  if (refuse_deletion) return MPI_ERR_OTHER;
  deletions++;
  last_deleted = (int)(intptr_t)value;
  return MPI_SUCCESS;
}

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static int value_of(MPI_Datatype type, int key) {
  void* value = NULL;
  int flag = -1;
  MPI_Type_get_attr(type, key, &value, &flag);
  return flag ? (int)(intptr_t)value : -1;
}

int main(int argc, char** argv) {
  int key, plain, comm_key, ten = 10, integers[8];
  MPI_Aint addresses[1];
  MPI_Datatype type, copy, vector, handle;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Type_create_keyval(copy_value, delete_value, &key, &ten);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &plain, NULL);
  MPI_Type_contiguous(3, MPI_INT, &type);
  CHECK_EQUAL(value_of(type, key), -1);
  MPI_Type_set_attr(type, key, (void*)1);
  MPI_Type_set_attr(type, plain, (void*)7);
  CHECK_EQUAL(value_of(type, key), 1);
  MPI_Type_set_attr(type, key, (void*)2);
  CHECK_EQUAL(deletions, 1);
  CHECK_EQUAL(last_deleted, 1);

  MPI_Type_dup(type, &copy);
  CHECK_EQUAL(copies, 1);
  CHECK_EQUAL(value_of(copy, key), 12);
  CHECK_EQUAL(value_of(copy, plain), -1);

  // Types made from it, and further handles, keep the type alive. Attributes end with the last
  // handle.
  MPI_Type_vector(2, 1, 2, type, &vector);
  CHECK_EQUAL(copies, 1);
  MPI_Type_get_contents(vector, 3, 0, 1, integers, addresses, &handle);
  CHECK(handle == type);
  MPI_Type_free(&handle);
  CHECK_EQUAL(deletions, 1);
  CHECK_EQUAL(value_of(type, key), 2);
  refuse_deletion = 1;
  REFUSED(MPI_Type_free(&type), MPI_ERR_OTHER);
  CHECK(type != MPI_DATATYPE_NULL);
  refuse_deletion = 0;
  MPI_Type_free(&type);
  CHECK_EQUAL(deletions, 2);
  CHECK_EQUAL(last_deleted, 2);
  MPI_Type_free(&vector);
  CHECK_EQUAL(deletions, 2);
  MPI_Type_free(&copy);
  CHECK_EQUAL(deletions, 3);
  CHECK_EQUAL(last_deleted, 12);

  // Each rank has its own attributes of a predefined datatype.
  MPI_Type_set_attr(MPI_DOUBLE, plain, (void*)(intptr_t)(rank_in(MPI_COMM_WORLD) + 1));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(value_of(MPI_DOUBLE, plain), rank_in(MPI_COMM_WORLD) + 1);
  MPI_Type_delete_attr(MPI_DOUBLE, plain);
  CHECK_EQUAL(value_of(MPI_DOUBLE, plain), -1);

  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
  REFUSED(MPI_Type_set_attr(MPI_INT, comm_key, NULL), MPI_ERR_KEYVAL);
  REFUSED(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL), MPI_ERR_KEYVAL);
  REFUSED(MPI_Type_free_keyval(&comm_key), MPI_ERR_KEYVAL);
  REFUSED(MPI_Type_set_attr(MPI_DATATYPE_NULL, key, NULL), MPI_ERR_TYPE);
  REFUSED(MPI_Type_delete_attr(MPI_INT, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
  MPI_Comm_free_keyval(&comm_key);
  MPI_Type_free_keyval(&key);
  MPI_Type_free_keyval(&plain);
  CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
  MPI_Finalize();
  return 0;
}
