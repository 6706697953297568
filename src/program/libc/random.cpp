//! rand, random and drand48 families: a generator per rank, through the C library's re-entrant
//! functions.

#include <cstdlib>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program {

namespace {

[[nodiscard]] random_data* random_of_rank() {
  RankProcess* process = current_rank_process();
  return process != nullptr ? &process->libc_state().random() : nullptr;
}

[[nodiscard]] drand48_data* drand48_of_rank() {
  RankProcess* process = current_rank_process();
  return process != nullptr ? &process->libc_state().drand48() : nullptr;
}

// The C library identifies a state by the address of the word before it.
[[nodiscard]] char* handle_of(const random_data& data) {
  return reinterpret_cast<char*>(data.state - 1);
}

// A result of type R from `with_state`, or from the C library's own function outside of ranks.
template <class R, class WithState, class... Arguments>
[[nodiscard]] R draw(WithState* with_state,
                     R (*plain)(Arguments...) noexcept,
                     Arguments... arguments) {
  drand48_data* data = drand48_of_rank();
  if (data == nullptr) return plain(arguments...);
  R result{};
  with_state(arguments..., data, &result);
  return result;
}

// rand and random share one sequence. Programs define functions of these names, so the functions
// here do not call each other by name.
[[nodiscard]] long next_random() {
  static auto* const real = next_definition<decltype(::random)>("random");
  random_data* data = random_of_rank();
  if (data == nullptr) return real();
  std::int32_t result = 0;
  ::random_r(data, &result);
  return result;
}

}  // namespace

}  // namespace sorrel::program

using namespace sorrel::program;

SORREL_INTERPOSED long random() noexcept {
  return next_random();
}

SORREL_INTERPOSED int rand() noexcept {
  return static_cast<int>(next_random());
}

SORREL_INTERPOSED void srandom(unsigned seed) noexcept {
  static auto* const real = next_definition<decltype(::srandom)>("srandom");
  if (random_data* data = random_of_rank()) {
    ::srandom_r(seed, data);
  } else {
    real(seed);
  }
}

SORREL_INTERPOSED_AS(srandom) void srand(unsigned seed) noexcept;

SORREL_INTERPOSED char* initstate(unsigned seed, char* state, std::size_t size) noexcept {
  static auto* const real = next_definition<decltype(::initstate)>("initstate");
  random_data* data = random_of_rank();
  if (data == nullptr) return real(seed, state, size);
  char* previous = handle_of(*data);
  return ::initstate_r(seed, state, size, data) == 0 ? previous : nullptr;
}

SORREL_INTERPOSED char* setstate(char* state) noexcept {
  static auto* const real = next_definition<decltype(::setstate)>("setstate");
  random_data* data = random_of_rank();
  if (data == nullptr) return real(state);
  char* previous = handle_of(*data);
  return ::setstate_r(state, data) == 0 ? previous : nullptr;
}

SORREL_INTERPOSED double drand48() noexcept {
  static auto* const real = next_definition<double() noexcept>("drand48");
  return draw(::drand48_r, real);
}

SORREL_INTERPOSED double erand48(unsigned short state[3]) noexcept {
  static auto* const real = next_definition<double(unsigned short*) noexcept>("erand48");
  return draw(::erand48_r, real, state);
}

SORREL_INTERPOSED long lrand48() noexcept {
  static auto* const real = next_definition<long() noexcept>("lrand48");
  return draw(::lrand48_r, real);
}

SORREL_INTERPOSED long nrand48(unsigned short state[3]) noexcept {
  static auto* const real = next_definition<long(unsigned short*) noexcept>("nrand48");
  return draw(::nrand48_r, real, state);
}

SORREL_INTERPOSED long mrand48() noexcept {
  static auto* const real = next_definition<long() noexcept>("mrand48");
  return draw(::mrand48_r, real);
}

SORREL_INTERPOSED long jrand48(unsigned short state[3]) noexcept {
  static auto* const real = next_definition<long(unsigned short*) noexcept>("jrand48");
  return draw(::jrand48_r, real, state);
}

SORREL_INTERPOSED void srand48(long seed) noexcept {
  static auto* const real = next_definition<decltype(::srand48)>("srand48");
  if (drand48_data* data = drand48_of_rank()) {
    ::srand48_r(seed, data);
  } else {
    real(seed);
  }
}

SORREL_INTERPOSED unsigned short* seed48(unsigned short seed[3]) noexcept {
  static auto* const real = next_definition<decltype(::seed48)>("seed48");
  drand48_data* data = drand48_of_rank();
  if (data == nullptr) return real(seed);
  ::seed48_r(seed, data);
  return data->__old_x;
}

SORREL_INTERPOSED void lcong48(unsigned short parameters[7]) noexcept {
  static auto* const real = next_definition<decltype(::lcong48)>("lcong48");
  if (drand48_data* data = drand48_of_rank()) {
    ::lcong48_r(parameters, data);
  } else {
    real(parameters);
  }
}
