// `sorrel docs`: the manual of this installation.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/docs/manual.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* docs_usage = "sorrel docs [--path] [TOPIC]";
constexpr const char* docs_description =
    "Shows a page of the manual of this version: in a pager on a terminal,\n"
    "else as text. Without a topic: the list of pages. Messages name pages as\n"
    "docs/waits.md; this works as a topic, too.\n";
constexpr const char* docs_footer =
    "Examples:\n"
    "  sorrel docs                 the list\n"
    "  sorrel docs quickstart\n"
    "  sorrel docs docs/waits.md   as a message names it\n"
    "  sorrel docs barrier         no page: the pages with this word\n\n"
    "Environment: PAGER, the program that shows pages (default: less).\n"
    "Exit status: 0; 2 if there is no such page or the command line is wrong.";

void print_list(const std::vector<ManualPage>& pages) {
  for (const ManualPage& page : pages)
    fmt::print("  {:<28} {}\n", page.name, page.title);
}

/// Through the user's pager on a terminal.
void show(const std::string& text) {
  const char* pager = std::getenv("PAGER");
  if (pager == nullptr || *pager == '\0') pager = "less -R";
  std::FILE* pipe = isatty(STDOUT_FILENO) != 0 ? popen(pager, "w") : nullptr;
  if (pipe == nullptr) {
    fmt::print("{}", text);
    return;
  }
  // A reader may leave the pager before the end.
  std::signal(SIGPIPE, SIG_IGN);
  (void)std::fwrite(text.data(), 1, text.size(), pipe);
  constexpr int no_such_command = 127;
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == no_such_command) fmt::print("{}", text);
}

int show_page(const ManualPage& page, bool is_path_wanted) {
  if (is_path_wanted) {
    fmt::print("{}\n", page.path);
    return 0;
  }
  std::ifstream file(page.path, std::ios::binary);
  show(readable_text({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}));
  return 0;
}

}  // namespace

int docs_command(Arguments arguments) {
  bool is_path_wanted = false;
  const auto app = make_app(docs_usage, docs_description, docs_footer);
  app->add_flag("--path", is_path_wanted, "Print where the page's file is");
  std::vector<std::string> options;
  std::vector<std::string> topics;
  const std::string error = sort_arguments(*app, arguments, options, topics);
  if (!error.empty()) return report_error("{}", error);
  if (const auto status = parse_options(*app, options)) return *status;
  if (topics.size() > 1)
    return report_error("docs takes one topic; '{}' is a second one", topics[1]);
  const std::string folder = data_folder(find_installation(), "manual", "docs");
  const std::vector<ManualPage> manual = read_manual(folder);
  if (manual.empty()) return report_error("this installation has no manual in {}", folder);
  if (topics.empty()) {
    print_list(manual);
    return 0;
  }
  std::vector<ManualPage> pages = pages_of(manual, topics[0]);
  if (pages.size() == 1) return show_page(pages[0], is_path_wanted);
  if (pages.empty()) pages = pages_with(manual, topics[0]);
  if (pages.empty())
    return report_error("no page of the manual has '{}'; `sorrel docs` lists all pages", topics[0]);
  fmt::print("Pages with '{}':\n", topics[0]);
  print_list(pages);
  return 0;
}

}  // namespace sorrel::tool
