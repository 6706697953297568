//! Json - JSON values whose members keep the order in which they were added, and their text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace sorrel::tool {

using Json = nlohmann::ordered_json;

/// Indented, in ASCII: control characters are escaped, and bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] inline std::string text_of(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

}  // namespace sorrel::tool
