//! html_page - a page of one file with data and a script: it asks for nothing from a network, or
//! for data from its own server alone. Pure.
#pragma once

#include <string>
#include <string_view>

#include "tools/sorrel/common/json.hpp"

namespace sorrel::tool {

struct HtmlPage {
  std::string title;
  std::string_view style;    ///< Behind that of all pages.
  std::string_view body;     ///< From <body> on, without its end.
  std::string data;          ///< JSON, of the element with the id "data"; "": none.
  std::string blobs;         ///< Further script elements.
  std::string_view script;   ///< The last element.
  bool asks_server = false;  ///< The script asks the server of the page for data.
};

[[nodiscard]] std::string html_of(const HtmlPage& page);

/// As one line of ASCII.
[[nodiscard]] std::string line_of(const Json& json);

}  // namespace sorrel::tool
