#include "tools/sorrel/report/html_page.hpp"

#include "html_page_text.inc"

namespace sorrel::tool {

namespace {

/// JSON in a script element. No tag can end it, and no comment can hide its end: `<` is in strings
/// only, where an escape may stand for it.
std::string in_script(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '<') {
      html += "&lt;";
    } else if (c == '&') {
      html += "&amp;";
    } else {
      html += c;
    }
  }
  return html;
}

}  // namespace

std::string html_of(const HtmlPage& page) {
  std::string text(page_head);
  if (page.asks_server) {
    constexpr std::string_view policy = "default-src 'none'; ";
    text.insert(text.find(policy) + policy.size(), "connect-src 'self'; ");
  }
  text += "<title>" + escaped(page.title) + "</title>\n<style>\n";
  text += page_style;
  text += page.style;
  text += "</style>\n";
  text += page.body;
  if (!page.data.empty()) {
    text += "<script type=\"application/json\" id=\"data\">";
    text += in_script(page.data);
    text += "</script>\n";
  }
  text += page.blobs + "<script>\n";
  text += page.script;
  text += "</script>\n</body>\n</html>\n";
  return text;
}

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

}  // namespace sorrel::tool
