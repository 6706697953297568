/* What a family decides of callbacks. */
#pragma once

#include "mpi.h"

typedef void f_Function(void);

/* Predefined callbacks of attributes. */
int f_is_null_copy(f_Function* function) __attribute__((visibility("hidden")));
int f_is_dup(f_Function* function) __attribute__((visibility("hidden")));
int f_is_null_delete(f_Function* function) __attribute__((visibility("hidden")));
