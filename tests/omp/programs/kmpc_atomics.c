// Calls the functions for atomic updates in LLVM's and Intel's libraries, by name: each with one
// thread, against what C computes, and one of each kind in a team.
#include <complex.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int8_t fixed1;
typedef uint8_t fixed1u;
typedef int16_t fixed2;
typedef uint16_t fixed2u;
typedef int32_t fixed4;
typedef uint32_t fixed4u;
typedef int64_t fixed8;
typedef uint64_t fixed8u;
typedef float float4;
typedef double float8;
typedef long double float10;
typedef float complex cmplx4;
typedef double complex cmplx8;
typedef long double complex cmplx10;

static void* library;
static int failures;
static int function_count;

static void* function(const char* name) {
  void* found = dlsym(library, name);
  function_count++;
  if (found != NULL) return found;
  printf("%s: absent\n", name);
  exit(1);
}

static void check(const char* name, int is_right) {
  if (is_right) return;
  printf("%s: a wrong value\n", name);
  failures++;
}

#define UPDATE(type, name, Operand, first, operand, expression)                    \
  {                                                                                \
    void (*call)(void*, int32_t, type*, Operand) =                                 \
        (void (*)(void*, int32_t, type*, Operand))function("__kmpc_atomic_" name); \
    type x = first;                                                                \
    const type old = first;                                                        \
    const Operand value = operand;                                                 \
    call(NULL, 0, &x, value);                                                      \
    check(name, x == (type)(expression));                                          \
  }

#define CAPTURE(type, name, first, operand, expression)                                 \
  for (int wants_new = 0; wants_new < 2; wants_new++) {                                 \
    type (*call)(void*, int32_t, type*, type, int32_t) =                                \
        (type(*)(void*, int32_t, type*, type, int32_t))function("__kmpc_atomic_" name); \
    type x = first;                                                                     \
    const type old = first;                                                             \
    const type value = operand;                                                         \
    const type result = call(NULL, 0, &x, value, wants_new);                            \
    const type wanted = (type)(expression);                                             \
    check(name, x == wanted && result == (wants_new ? wanted : old));                   \
  }

#define CAPTURE_INTO(type, name, first, operand, expression)                                    \
  for (int wants_new = 0; wants_new < 2; wants_new++) {                                         \
    void (*call)(void*, int32_t, type*, type, type*, int32_t) =                                 \
        (void (*)(void*, int32_t, type*, type, type*, int32_t))function("__kmpc_atomic_" name); \
    type x = first, result;                                                                     \
    const type old = first;                                                                     \
    const type value = operand;                                                                 \
    call(NULL, 0, &x, value, &result, wants_new);                                               \
    const type wanted = (type)(expression);                                                     \
    check(name, x == wanted && result == (wants_new ? wanted : old));                           \
  }

#define BOTH(type, name, first, operand, expression)              \
  UPDATE(type, #type "_" #name, type, first, operand, expression) \
  CAPTURE(type, #type "_" #name "_cpt", first, operand, expression)
#define REVERSED(type, name, first, operand, expression)                 \
  UPDATE(type, #type "_" #name "_rev", type, first, operand, expression) \
  CAPTURE(type, #type "_" #name "_cpt_rev", first, operand, expression)

#define ARITHMETIC(type, first, operand)           \
  BOTH(type, add, first, operand, old + value)     \
  BOTH(type, sub, first, operand, old - value)     \
  BOTH(type, mul, first, operand, old* value)      \
  BOTH(type, div, first, operand, old / value)     \
  REVERSED(type, sub, first, operand, value - old) \
  REVERSED(type, div, first, operand, value / old)
#define EXTREMES(type, first, operand)                       \
  BOTH(type, max, first, operand, old < value ? value : old) \
  BOTH(type, min, first, operand, old < value ? old : value) \
  BOTH(type, max, operand, first, old < value ? value : old) \
  BOTH(type, min, operand, first, old < value ? old : value)
#define BITS(type, first, operand)                  \
  BOTH(type, andb, first, operand, old& value)      \
  BOTH(type, orb, first, operand, old | value)      \
  BOTH(type, xor, first, operand, old ^ value)      \
  BOTH(type, shl, first, operand, old << value)     \
  BOTH(type, shr, first, operand, old >> value)     \
  REVERSED(type, shl, operand, first, value << old) \
  REVERSED(type, shr, operand, first, value >> old) \
  BOTH(type, andl, first, operand, old&& value)     \
  BOTH(type, orl, first, operand, old || value)     \
  BOTH(type, andl, first, 0, old&& value)           \
  BOTH(type, orl, 0, 0, old || value)               \
  BOTH(type, neqv, first, operand, old ^ value)     \
  BOTH(type, eqv, first, operand, ~(old ^ value))
#define UNSIGNED(type, first, operand)             \
  BOTH(type, div, first, operand, old / value)     \
  BOTH(type, shr, first, operand, old >> value)    \
  REVERSED(type, div, operand, first, value / old) \
  REVERSED(type, shr, operand, first, value >> old)
#define SCALED(type, first, operand)                                    \
  UPDATE(type, #type "_mul_float8", double, first, operand, old* value) \
  UPDATE(type, #type "_div_float8", double, first, operand, old / value)

#define READ_AND_WRITE(type, first)                                                              \
  {                                                                                              \
    type x = first;                                                                              \
    check(#type "_rd", ((type(*)(void*, int32_t, type*))function("__kmpc_atomic_" #type "_rd"))( \
                           NULL, 0, &x) == (type)(first));                                       \
    ((void (*)(void*, int32_t, type*, type))function("__kmpc_atomic_" #type "_wr"))(             \
        NULL, 0, &x, (type)((first) + 1));                                                       \
    check(#type "_wr", x == (type)((first) + 1));                                                \
  }
#define ACCESS(type, first)                                                              \
  READ_AND_WRITE(type, first) {                                                          \
    type x = first;                                                                      \
    const type before =                                                                  \
        ((type(*)(void*, int32_t, type*, type))function("__kmpc_atomic_" #type "_swp"))( \
            NULL, 0, &x, (type)((first) + 2));                                           \
    check(#type "_swp", before == (type)(first) && x == (type)((first) + 2));            \
  }

#define INTEGER(type, first, operand) \
  ARITHMETIC(type, first, operand)    \
  EXTREMES(type, first, operand)      \
  BITS(type, first, operand)          \
  ACCESS(type, first)                 \
  SCALED(type, first, 1.25)
#define REAL(type, first, operand) \
  ARITHMETIC(type, first, operand) \
  EXTREMES(type, first, operand)   \
  ACCESS(type, first)
#define COMPLEX(type, first, operand) \
  ARITHMETIC(type, first, operand)    \
  ACCESS(type, first)

#define PAIR(name, first, operand, expression)                                  \
  UPDATE(cmplx4, "cmplx4_" #name, cmplx4, first, operand, expression)           \
  UPDATE(cmplx4, "cmplx4_" #name "_cmplx8", cmplx8, first, operand, expression) \
  CAPTURE_INTO(cmplx4, "cmplx4_" #name "_cpt", first, operand, expression)
#define PAIR_REVERSED(name, first, operand, expression)                      \
  UPDATE(cmplx4, "cmplx4_" #name "_rev", cmplx4, first, operand, expression) \
  CAPTURE_INTO(cmplx4, "cmplx4_" #name "_cpt_rev", first, operand, expression)

#define COMPARE(bytes, type)                                                                      \
  for (int expected = 3; expected < 5; expected++) {                                              \
    type x = 3, captured = 9;                                                                     \
    const bool is_same = expected == 3;                                                           \
    check("bool_cas",                                                                             \
          ((bool (*)(void*, int32_t, type*, type, type))function(                                 \
              "__kmpc_atomic_bool_" #bytes "_cas"))(NULL, 0, &x, expected, 7) == is_same &&       \
              x == (is_same ? 7 : 3));                                                            \
    x = 3;                                                                                        \
    check("val_cas", ((type(*)(void*, int32_t, type*, type, type))function(                       \
                         "__kmpc_atomic_val_" #bytes "_cas"))(NULL, 0, &x, expected, 7) == 3 &&   \
                         x == (is_same ? 7 : 3));                                                 \
    x = 3;                                                                                        \
    check("bool_cas_cpt", ((bool (*)(void*, int32_t, type*, type, type, type*))function(          \
                              "__kmpc_atomic_bool_" #bytes "_cas_cpt"))(NULL, 0, &x, expected, 7, \
                                                                        &captured) == is_same &&  \
                              x == (is_same ? 7 : 3) && captured == (is_same ? 9 : 3));           \
    x = 3;                                                                                        \
    check("val_cas_cpt", ((type(*)(void*, int32_t, type*, type, type, type*))function(            \
                             "__kmpc_atomic_val_" #bytes "_cas_cpt"))(NULL, 0, &x, expected, 7,   \
                                                                      &captured) == 3 &&          \
                             x == (is_same ? 7 : 3) && captured == (is_same ? 7 : 3));            \
  }

static void integers(void) {
  INTEGER(fixed1, 37, 3)
  INTEGER(fixed2, 300, 5)
  INTEGER(fixed4, 70000, 7)
  BOTH(fixed4, shr, -70000, 7, old >> value)
  BOTH(fixed4, div, -70000, 7, old / value)
  INTEGER(fixed8, 5000000007, 9)
  UNSIGNED(fixed1u, 250, 3)
  UNSIGNED(fixed2u, 65000, 5)
  UNSIGNED(fixed4u, 4000000000u, 7)
  UNSIGNED(fixed8u, 18000000000000000000u, 9)
  COMPARE(1, fixed1)
  COMPARE(2, fixed2)
  COMPARE(4, fixed4)
  COMPARE(8, fixed8)
}

static void reals(void) {
  REAL(float4, 6.5f, 0.5f)
  REAL(float8, 6.5, 0.3)
  REAL(float10, 6.5L, 0.3L)
  SCALED(float4, 6.5f, 0.3)
  UPDATE(float4, "float4_add_float8", double, 6.5f, 0.3, old + value)
  UPDATE(float4, "float4_sub_float8", double, 6.5f, 0.3, old - value)
}

// The quotients are exact: compilers divide in different ways.
static void complex_numbers(void) {
  COMPLEX(cmplx8, 2 + 2 * I, 4 * I)
  COMPLEX(cmplx10, 2 + 2 * I, 4 * I)
  PAIR(add, 2 + 2 * I, 4 * I, old + value)
  PAIR(sub, 2 + 2 * I, 4 * I, old - value)
  PAIR(mul, 2 + 2 * I, 4 * I, old * value)
  PAIR(div, 2 + 2 * I, 4 * I, old / value)
  PAIR_REVERSED(sub, 2 + 2 * I, 4 * I, value - old)
  PAIR_REVERSED(div, 2 + 2 * I, 4 * I, value / old)
  READ_AND_WRITE(cmplx4, 1.5f + 2.5f * I)
  cmplx4 x = 1, result = 0;
  ((void (*)(void*, int32_t, cmplx4*, cmplx4, cmplx4*))function("__kmpc_atomic_cmplx4_swp"))(
      NULL, 0, &x, I, &result);
  check("cmplx4_swp", x == I && result == 1);
}

typedef struct {
  int round_count;
  fixed1u small;
  fixed8 counter;
  cmplx10 wide;
  fixed4 swapped;
} Shared;

static void add(int32_t* global, int32_t* number, ...) {
  va_list list;
  va_start(list, number);
  Shared* shared = va_arg(list, Shared*);
  va_end(list);
  void (*add1)(void*, int32_t, fixed1*, fixed1) =
      (void (*)(void*, int32_t, fixed1*, fixed1))function("__kmpc_atomic_fixed1_add");
  fixed8 (*add8)(void*, int32_t, fixed8*, fixed8, int32_t) =
      (fixed8(*)(void*, int32_t, fixed8*, fixed8, int32_t))function("__kmpc_atomic_fixed8_add_cpt");
  void (*add10)(void*, int32_t, cmplx10*, cmplx10) =
      (void (*)(void*, int32_t, cmplx10*, cmplx10))function("__kmpc_atomic_cmplx10_add");
  bool (*swap)(void*, int32_t, fixed4*, fixed4, fixed4) =
      (bool (*)(void*, int32_t, fixed4*, fixed4, fixed4))function("__kmpc_atomic_bool_4_cas");
  for (int i = 0; i < shared->round_count; i++) {
    add1(NULL, *global, (fixed1*)&shared->small, 1);
    const fixed8 ticket = add8(NULL, *global, &shared->counter, 1, 0);
    add10(NULL, *global, &shared->wide, 1 + 2 * I);
    // Threads take turns in the order of their tickets' parity.
    (void)swap(NULL, *global, &shared->swapped, ticket % 2, 1 - ticket % 2);
  }
}

int main(int count, char** arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 4;
  library = dlopen("libomp.so.5", RTLD_NOW);
  if (library == NULL) {
    puts(dlerror());
    return 1;
  }
  // The library begins to work.
  (void)((int32_t (*)(void*))function("__kmpc_global_thread_num"))(NULL);
  integers();
  reals();
  complex_numbers();
  Shared shared = {.round_count = 1000};
  ((void (*)(void*, int32_t, int32_t))function("__kmpc_push_num_threads"))(NULL, 0, threads);
  ((void (*)(void*, int32_t, void (*)(int32_t*, int32_t*, ...), ...))function("__kmpc_fork_call"))(
      &(struct {
        int numbers[4];
        const char* source;
      }){{0, 2, 0, 0}, ";;;;;;"},
      1, add, &shared);
  const int calls = threads * shared.round_count;
  check("fixed1_add in a team", shared.small == calls % 256);
  check("fixed8_add_cpt in a team", shared.counter == calls);
  check("cmplx10_add in a team", shared.wide == calls * (1 + 2 * I));
  check("bool_4_cas in a team", shared.swapped == 0 || shared.swapped == 1);
  if (failures == 0) printf("all atomic updates agree\n");
  return failures != 0;
}
