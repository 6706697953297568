//! text_of - formats values by a printf format into a string, for messages; allocates.
#pragma once

#include <string>

namespace sorrel {

[[nodiscard, gnu::format(printf, 1, 2)]] std::string text_of(const char* format, ...);

}  // namespace sorrel
