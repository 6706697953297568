#include "tools/sorrel/report/html_page.hpp"

#include "html_page_text.inc"

namespace sorrel::tool {

namespace {

/// Text of a script element: no tag can end it.
std::string in_script(std::string text) {
  for (std::size_t at = text.find("</"); at != std::string::npos; at = text.find("</", at + 3))
    text.replace(at, 2, "<\\/");
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
