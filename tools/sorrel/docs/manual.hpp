//! Manual - the pages of the manual that are part of an installation: Markdown files in a folder.
#pragma once

#include <string>
#include <vector>

namespace sorrel::tool {

struct ManualPage {
  std::string name;   ///< the path below the folder, without the ending: "waits", "howto/memory"
  std::string title;  ///< the first heading
  std::string path;
};

/// By name. Empty if there is no such folder.
[[nodiscard]] std::vector<ManualPage> read_manual(const std::string& folder);

/// The pages that `topic` names: "waits", "memory", "howto/memory", or as messages have it,
/// "docs/waits.md#polling". One page where the whole name matches.
[[nodiscard]] std::vector<ManualPage> pages_of(const std::vector<ManualPage>& manual,
                                               const std::string& topic);

/// The pages whose text contains `word`, in small or capital letters.
[[nodiscard]] std::vector<ManualPage> pages_with(const std::vector<ManualPage>& manual,
                                                 const std::string& word);

/// The text of a page for a terminal: without comments and the lists that make web pages.
[[nodiscard]] std::string readable_text(const std::string& markdown);

}  // namespace sorrel::tool
