//! text_of - a printf format and its values, as a string. For lines that people read; allocates.
#pragma once

#include <string>

namespace sorrel {

[[nodiscard, gnu::format(printf, 1, 2)]] std::string text_of(const char* format, ...);

}  // namespace sorrel
