//! SORREL_ASSERT_INVARIANTS(object) - calls object.check_invariants() from assert level 1 (dev) on:
//! for what happens once a rank, a fork or a move. SORREL_AUDIT_INVARIANTS (check.hpp) is for the
//! rest.
#pragma once

#include "base/check.hpp"

#if SORREL_ASSERT_LEVEL >= 1
#define SORREL_ASSERT_INVARIANTS(object) (object).check_invariants()
#else
#define SORREL_ASSERT_INVARIANTS(object) SORREL_UNCHECKED(&(object))
#endif
