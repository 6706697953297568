//! File owner - whether files and folders may be trusted: they belong to this user, and no other
//! user may write them.
//!
//! Errors are the rest of a sentence about the file, as "belongs to user 1001"; "": there is none.
//! Every call blocks its thread.
#pragma once

#include <string>

namespace sorrel::os {

/// What owner or mode make unsafe about an open file or folder.
[[nodiscard]] std::string owner_error(int descriptor);

/// owner_error() of the file or folder itself, where the path is a symbolic link.
[[nodiscard]] std::string owner_error(const std::string& path);

/// owner_error() of a path that must be a folder.
[[nodiscard]] std::string folder_owner_error(const std::string& path);

/// A sentence for an error of DiskFile::open() with `is_private`.
[[nodiscard]] std::string private_open_error(const std::string& path, int error);

/// Makes a folder that only this user may read and write, whatever the mask; errno.
[[nodiscard]] int make_private_folder(const std::string& path);

/// Makes each folder of the path that is missing, as make_private_folder(); errno, or 0 if all
/// exist.
[[nodiscard]] int make_private_folders(const std::string& path);

}  // namespace sorrel::os
