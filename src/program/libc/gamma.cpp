//! lgamma and gamma: the sign goes into the rank's own signgam.

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

// The mathematics library's, if the program uses that library. Its other name, signgam, may be a
// variable of the program's own.
extern "C" [[gnu::weak]] int __signgam;

namespace {

#if defined(__x86_64__)
using Quad = __float128;
#else
using Quad = long double;
#endif

int* sign_of_rank() {
  using namespace sorrel::program;
  RankProcess* process = current_rank_process();
  if (process == nullptr || &__signgam == nullptr) return nullptr;
  return process->copy().own(__signgam);
}

/// The mathematics library's own function: that library may precede this one in the search order.
template <class Function>
Function* of_library(const char* name) {
  using namespace sorrel::program;
  static void* const library =
      next_definition<decltype(::dlopen)>("dlopen")("libm.so.6", RTLD_LAZY | RTLD_NOLOAD);
  SORREL_CHECK(library != nullptr, "libm.so.6 is not loaded");
  return reinterpret_cast<Function*>(loader_dlsym()(library, name));
}

/// The logarithm of gamma: by `reentrant` for a rank whose program has signgam, else by the
/// library's function `name`.
#define SORREL_GAMMA(Number, name, reentrant)                                      \
  SORREL_INTERPOSED Number name(Number value) noexcept {                           \
    if (int* sign = sign_of_rank()) {                                              \
      static auto* const with_sign = of_library<Number(Number, int*)>(#reentrant); \
      return with_sign(value, sign);                                               \
    }                                                                              \
    static auto* const real = of_library<Number(Number)>(#name);                   \
    return real(value);                                                            \
  }

}  // namespace

SORREL_GAMMA(double, lgamma, lgamma_r)
SORREL_GAMMA(double, lgammaf64, lgamma_r)
SORREL_GAMMA(double, lgammaf32x, lgamma_r)
SORREL_GAMMA(double, gamma, lgamma_r)
SORREL_GAMMA(float, lgammaf, lgammaf_r)
SORREL_GAMMA(float, lgammaf32, lgammaf_r)
SORREL_GAMMA(float, gammaf, lgammaf_r)
SORREL_GAMMA(long double, lgammal, lgammal_r)
SORREL_GAMMA(long double, lgammaf64x, lgammal_r)
SORREL_GAMMA(long double, gammal, lgammal_r)
SORREL_GAMMA(Quad, lgammaf128, lgammaf128_r)
