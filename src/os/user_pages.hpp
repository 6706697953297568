//! User pages - the shared pages of all users of this machine, in a folder that its administrator
//! has made; those of other users are read only.
//!
//! The folder belongs to root and has the mode 1777, so each user can add a page and remove only
//! the own one. A page has the mode 0644: only its user changes it. Pages of others are read by
//! copies and never mapped, because their users may truncate them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::os {

/// Whether the folder is one in which users can share pages: root's, with the mode 1777.
[[nodiscard]] bool is_folder_of_users(const char* folder);

class UserPages {
 public:
  /// For pages `name` with `bytes` each. Reads nothing before find().
  UserPages(std::string folder, const char* name, std::size_t bytes);
  UserPages(const UserPages&) = delete;
  UserPages& operator=(const UserPages&) = delete;
  ~UserPages();

  struct Page {
    std::uint32_t user = 0;
    int file = -1;
  };

  /// Opens the pages that are in the folder now.
  void find();

  /// Pages of other users, by increasing number of the user.
  [[nodiscard]] const std::vector<Page>& pages() const { return pages_; }

  /// Copies a page; false if it is shorter now.
  [[nodiscard]] bool copy(const Page& page, void* to) const;

 private:
  void close_all();

  const std::string folder_;
  const std::string prefix_;
  const std::string suffix_;
  const std::size_t bytes_;
  std::vector<Page> pages_;
};

/// The number of the user of this process.
[[nodiscard]] std::uint32_t own_user();

/// Whether a process of this identity (shared_page.hpp) runs and belongs to the user.
[[nodiscard]] bool is_process_of_user(std::uint64_t identity, std::uint32_t user);

}  // namespace sorrel::os
