// __kmpc_atomic_*: atomic updates for types and operations that compilers do not write as
// instructions. One macro for each row of the table at the end.
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "base/cache_line.hpp"
#include "omp/kmpc/interface.hpp"

namespace {

using namespace sorrel::omp;
using namespace sorrel::omp::kmpc;

// Numbers of C, which functions pass and return as C does: std::complex of long double is another
// class of argument.
__extension__ using Complex4 = _Complex float;
__extension__ using Complex8 = _Complex double;
__extension__ using Complex10 = _Complex long double;

/// For types without atomic instructions, and for atomic constructs as a whole.
alignas(sorrel::cache_line_bytes) Lock wide_lock;

class WideGuard {
 public:
  WideGuard() { wide_lock.take(); }

  ~WideGuard() { wide_lock.give(); }

  WideGuard(const WideGuard&) = delete;
  WideGuard& operator=(const WideGuard&) = delete;
};

template <class Value>
constexpr bool has_instructions = std::is_arithmetic_v<Value> && sizeof(Value) <= 8;

/// Replaces `into` by change(value); returns the new value, or the old one.
template <class Value, class Change>
Value update(Value* into, bool wants_new, Change change) {
  if constexpr (has_instructions<Value>) {
    const std::atomic_ref<Value> reference(*into);
    // Relaxed: an atomic construct without a memory order orders nothing else.
    Value before = reference.load(std::memory_order_relaxed);
    for (;;) {
      const Value after = change(before);
      if (reference.compare_exchange_weak(before, after, std::memory_order_relaxed))
        return wants_new ? after : before;
    }
  } else {
    const WideGuard guard;
    const Value before = *into;
    *into = change(before);
    return wants_new ? *into : before;
  }
}

template <class Value>
Value read(const Value* from) {
  if constexpr (has_instructions<Value>) {
    return std::atomic_ref<Value>(*const_cast<Value*>(from)).load(std::memory_order_relaxed);
  } else {
    const WideGuard guard;
    return *from;
  }
}

/// Integers are promoted in C, and operands of mixed types, so the result is converted back.
template <class Value>
Value narrowed(auto value) {
  return static_cast<Value>(value);
}

/// Replaces the expected value by another one; returns the value before.
template <class Value>
Value compare_and_swap(Value* at, Value expected, Value desired) {
  // Relaxed, as in update().
  (void)std::atomic_ref<Value>(*at).compare_exchange_strong(expected, desired,
                                                            std::memory_order_relaxed);
  return expected;
}

using Fixed1 = std::int8_t;
using Fixed1u = std::uint8_t;
using Fixed2 = std::int16_t;
using Fixed2u = std::uint16_t;
using Fixed4 = std::int32_t;
using Fixed4u = std::uint32_t;
using Fixed8 = std::int64_t;
using Fixed8u = std::uint64_t;

}  // namespace

#define SORREL_UPDATE(type, Value, name, Operand, expression)                         \
  SORREL_KMPC void __kmpc_atomic_##type##_##name(Ident*, std::int32_t, Value* into,   \
                                                 Operand value) {                     \
    (void)update(into, true, [&](Value old) { return narrowed<Value>(expression); }); \
  }

// With the result: the flag tells which.
#define SORREL_CAPTURE(type, Value, name, expression)                                             \
  SORREL_KMPC Value __kmpc_atomic_##type##_##name(Ident*, std::int32_t, Value* into, Value value, \
                                                  std::int32_t wants_new) {                       \
    return update(into, wants_new != 0, [&](Value old) { return narrowed<Value>(expression); });  \
  }

// Pairs of float are returned through a pointer.
#define SORREL_CAPTURE_INTO(type, Value, name, expression)                                       \
  SORREL_KMPC void __kmpc_atomic_##type##_##name(Ident*, std::int32_t, Value* into, Value value, \
                                                 Value* result, std::int32_t wants_new) {        \
    *result =                                                                                    \
        update(into, wants_new != 0, [&](Value old) { return narrowed<Value>(expression); });    \
  }

#define SORREL_BOTH(type, Value, name, expression)    \
  SORREL_UPDATE(type, Value, name, Value, expression) \
  SORREL_CAPTURE(type, Value, name##_cpt, expression)

#define SORREL_REVERSED(type, Value, name, expression)      \
  SORREL_UPDATE(type, Value, name##_rev, Value, expression) \
  SORREL_CAPTURE(type, Value, name##_cpt_rev, expression)

#define SORREL_ARITHMETIC(type, Value)           \
  SORREL_BOTH(type, Value, add, old + value)     \
  SORREL_BOTH(type, Value, sub, old - value)     \
  SORREL_BOTH(type, Value, mul, old* value)      \
  SORREL_BOTH(type, Value, div, old / value)     \
  SORREL_REVERSED(type, Value, sub, value - old) \
  SORREL_REVERSED(type, Value, div, value / old)

#define SORREL_EXTREMES(type, Value)                       \
  SORREL_BOTH(type, Value, max, old < value ? value : old) \
  SORREL_BOTH(type, Value, min, value < old ? value : old)

#define SORREL_BITS(type, Value)                  \
  SORREL_BOTH(type, Value, andb, old& value)      \
  SORREL_BOTH(type, Value, orb, old | value)      \
  SORREL_BOTH(type, Value, xor, old ^ value)      \
  SORREL_BOTH(type, Value, shl, old << value)     \
  SORREL_BOTH(type, Value, shr, old >> value)     \
  SORREL_REVERSED(type, Value, shl, value << old) \
  SORREL_REVERSED(type, Value, shr, value >> old) \
  SORREL_BOTH(type, Value, andl, old&& value)     \
  SORREL_BOTH(type, Value, orl, old || value)     \
  SORREL_BOTH(type, Value, neqv, old ^ value)     \
  SORREL_BOTH(type, Value, eqv, ~(old ^ value))

// Where signed and unsigned numbers differ.
#define SORREL_UNSIGNED(type, Value)             \
  SORREL_BOTH(type, Value, div, old / value)     \
  SORREL_BOTH(type, Value, shr, old >> value)    \
  SORREL_REVERSED(type, Value, div, value / old) \
  SORREL_REVERSED(type, Value, shr, value >> old)

#define SORREL_READ_AND_WRITE(type, Value)                                                     \
  SORREL_KMPC Value __kmpc_atomic_##type##_rd(Ident*, std::int32_t, const Value* from) {       \
    return read(from);                                                                         \
  }                                                                                            \
  SORREL_KMPC void __kmpc_atomic_##type##_wr(Ident*, std::int32_t, Value* into, Value value) { \
    (void)update(into, true, [&](Value) { return value; });                                    \
  }

#define SORREL_ACCESS(type, Value)                                                               \
  SORREL_READ_AND_WRITE(type, Value)                                                             \
  SORREL_KMPC Value __kmpc_atomic_##type##_swp(Ident*, std::int32_t, Value* into, Value value) { \
    return update(into, false, [&](Value) { return value; });                                    \
  }

#define SORREL_SCALED(type, Value)                                              \
  SORREL_UPDATE(type, Value, mul_float8, double, narrowed<double>(old) * value) \
  SORREL_UPDATE(type, Value, div_float8, double, narrowed<double>(old) / value)

#define SORREL_INTEGER(type, Value) \
  SORREL_ARITHMETIC(type, Value)    \
  SORREL_EXTREMES(type, Value)      \
  SORREL_BITS(type, Value)          \
  SORREL_ACCESS(type, Value)        \
  SORREL_SCALED(type, Value)

#define SORREL_REAL(type, Value) \
  SORREL_ARITHMETIC(type, Value) \
  SORREL_EXTREMES(type, Value)   \
  SORREL_ACCESS(type, Value)

#define SORREL_COMPLEX(type, Value) \
  SORREL_ARITHMETIC(type, Value)    \
  SORREL_ACCESS(type, Value)

SORREL_INTEGER(fixed1, Fixed1)
SORREL_INTEGER(fixed2, Fixed2)
SORREL_INTEGER(fixed4, Fixed4)
SORREL_INTEGER(fixed8, Fixed8)
SORREL_UNSIGNED(fixed1u, Fixed1u)
SORREL_UNSIGNED(fixed2u, Fixed2u)
SORREL_UNSIGNED(fixed4u, Fixed4u)
SORREL_UNSIGNED(fixed8u, Fixed8u)
SORREL_REAL(float4, float)
SORREL_REAL(float8, double)
SORREL_REAL(float10, long double)
SORREL_COMPLEX(cmplx8, Complex8)
SORREL_COMPLEX(cmplx10, Complex10)

SORREL_SCALED(float4, float)
SORREL_UPDATE(float4, float, add_float8, double, old + value)
SORREL_UPDATE(float4, float, sub_float8, double, old - value)

#define SORREL_PAIR(name, expression)                                  \
  SORREL_UPDATE(cmplx4, Complex4, name, Complex4, expression)          \
  SORREL_UPDATE(cmplx4, Complex4, name##_cmplx8, Complex8, expression) \
  SORREL_CAPTURE_INTO(cmplx4, Complex4, name##_cpt, expression)

SORREL_PAIR(add, old + value)
SORREL_PAIR(sub, old - value)
SORREL_PAIR(mul, old* value)
SORREL_PAIR(div, old / value)
SORREL_UPDATE(cmplx4, Complex4, sub_rev, Complex4, value - old)
SORREL_UPDATE(cmplx4, Complex4, div_rev, Complex4, value / old)
SORREL_CAPTURE_INTO(cmplx4, Complex4, sub_cpt_rev, value - old)
SORREL_CAPTURE_INTO(cmplx4, Complex4, div_cpt_rev, value / old)
SORREL_READ_AND_WRITE(cmplx4, Complex4)

SORREL_KMPC void __kmpc_atomic_cmplx4_swp(
    Ident*, std::int32_t, Complex4* into, Complex4 value, Complex4* result) {
  *result = update(into, false, [&](Complex4) { return value; });
}

// Compare and swap, by the number of bytes. The captured value is the one after the operation;
// where the result tells of success, it is written only on failure.
#define SORREL_COMPARE(bytes, Value)                                                     \
  SORREL_KMPC bool __kmpc_atomic_bool_##bytes##_cas(Ident*, std::int32_t, Value* at,     \
                                                    Value expected, Value desired) {     \
    return compare_and_swap(at, expected, desired) == expected;                          \
  }                                                                                      \
  SORREL_KMPC Value __kmpc_atomic_val_##bytes##_cas(Ident*, std::int32_t, Value* at,     \
                                                    Value expected, Value desired) {     \
    return compare_and_swap(at, expected, desired);                                      \
  }                                                                                      \
  SORREL_KMPC bool __kmpc_atomic_bool_##bytes##_cas_cpt(                                 \
      Ident*, std::int32_t, Value* at, Value expected, Value desired, Value* captured) { \
    const Value before = compare_and_swap(at, expected, desired);                        \
    if (before != expected) *captured = before;                                          \
    return before == expected;                                                           \
  }                                                                                      \
  SORREL_KMPC Value __kmpc_atomic_val_##bytes##_cas_cpt(                                 \
      Ident*, std::int32_t, Value* at, Value expected, Value desired, Value* captured) { \
    const Value before = compare_and_swap(at, expected, desired);                        \
    *captured = before == expected ? desired : before;                                   \
    return before;                                                                       \
  }

SORREL_COMPARE(1, Fixed1)
SORREL_COMPARE(2, Fixed2)
SORREL_COMPARE(4, Fixed4)
SORREL_COMPARE(8, Fixed8)

// Without the value's size: the program's function computes the new value.
#define SORREL_GENERIC(bytes)                                                           \
  SORREL_KMPC void __kmpc_atomic_##bytes(Ident*, std::int32_t, void* into, void* value, \
                                         void (*change)(void*, void*, void*)) {         \
    const WideGuard guard;                                                              \
    change(into, into, value);                                                          \
  }

SORREL_GENERIC(1)
SORREL_GENERIC(2)
SORREL_GENERIC(4)
SORREL_GENERIC(8)
SORREL_GENERIC(10)
SORREL_GENERIC(16)
SORREL_GENERIC(20)
SORREL_GENERIC(32)

SORREL_KMPC void __kmpc_atomic_start() {
  wide_lock.take();
}

SORREL_KMPC void __kmpc_atomic_end() {
  wide_lock.give();
}
