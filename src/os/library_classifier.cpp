#include "os/library_classifier.hpp"

#include <algorithm>
#include <elf.h>
#include <iterator>
#include <utility>

#include "os/library_state.hpp"

namespace sorrel::os {

namespace {

#if defined(__x86_64__)
constexpr std::uint32_t copy_relocation = R_X86_64_COPY;
#elif defined(__aarch64__)
constexpr std::uint32_t copy_relocation = R_AARCH64_COPY;
#endif

/// Variables that the C library has once per process and no interposed function makes private, and
/// functions that register calls into the program there, or begin the profile of gcc -pg. Its other
/// variables are private to a rank or never change (src/program/README.md).
constexpr std::string_view one_for_the_process[] = {"obstack_alloc_failed_handler",
                                                    "obstack_exit_failure",
                                                    "re_syntax_options",
                                                    "re_max_failures",
                                                    "re_comp",
                                                    "re_exec",
                                                    "re_set_syntax",
                                                    "__check_rhosts_file",
                                                    "__rcmd_errstr",
                                                    "rexecoptions",
                                                    "_IO_2_1_stdin_",
                                                    "_IO_2_1_stdout_",
                                                    "_IO_2_1_stderr_",
                                                    "_res",
                                                    "_res_hconf",
                                                    "register_printf_function",
                                                    "register_printf_modifier",
                                                    "register_printf_specifier",
                                                    "register_printf_type",
                                                    "__monstartup"};

/// The C library calls these by name, too: it would call those of no rank.
constexpr std::string_view allocating[] = {"malloc", "calloc", "realloc", "free"};

/// operator new and delete, by their mangled names.
bool is_operator_new(std::string_view name) {
  return name.starts_with("_Znw") || name.starts_with("_Zna") || name.starts_with("_ZdlPv") ||
         name.starts_with("_ZdaPv");
}

/// Why ranks cannot have private instances of a file that defines or uses this symbol, or "".
std::string private_error_of(const ElfSymbol& symbol) {
  if (std::find(std::begin(one_for_the_process), std::end(one_for_the_process), symbol.name) !=
      std::end(one_for_the_process))
    return "uses " + std::string(symbol.name) + ", which the C library keeps once per process";
  if (symbol.is_defined &&
      std::find(std::begin(allocating), std::end(allocating), symbol.name) != std::end(allocating))
    return "defines its own malloc or free, of which each rank would have a separate one";
  return "";
}

constexpr const char* operator_new_error =
    "replaces operator new or delete, which shared libraries would call without a rank";

}  // namespace

void LibraryClassifier::add_program(const std::string& name, const ElfFile& program) {
  program_ = name;
  // The copy of a library's variable is not the program's own variable.
  std::set<std::uint64_t> copied_to;
  program.for_each_relocation([&](const ElfRelocation& relocation) {
    if (relocation.type == copy_relocation) copied_to.insert(relocation.address);
  });
  program.for_each_symbol([&](const ElfSymbol& symbol) {
    const bool is_copied = symbol.is_data && copied_to.contains(symbol.address);
    if (symbol.is_defined)
      (is_copied ? copied_by_program_ : defined_by_program_).emplace(symbol.name);
    const std::string private_error = private_error_of(symbol);
    if (program_reason_.empty() && !private_error.empty())
      program_reason_ = name + " " + private_error;
    if (operator_new_reason_.empty() && symbol.is_defined && is_operator_new(symbol.name))
      operator_new_reason_ = name + " " + operator_new_error;
  });
}

void LibraryClassifier::add_library(const std::string& soname, const ElfFile& library) {
  Library& taken = libraries_[soname];
  taken.state = state_of(library);
  taken.needed.assign(library.needed.begin(), library.needed.end());
  if (library.has_text_relocations) taken.private_error = "has text relocations";
  if (library.is_initialised_first)
    taken.private_error = "is initialised before all other libraries (DF_1_INITFIRST)";
  // It registers conversions that keep nothing.
  const bool may_register = is_library(soname, "libquadmath.so");
  library.for_each_symbol([&](const ElfSymbol& symbol) {
    const bool is_exempt = may_register && symbol.name.starts_with("register_printf_");
    if (taken.private_error.empty() && !is_exempt) taken.private_error = private_error_of(symbol);
    if (taken.callback.empty() && !symbol.is_defined && defined_by_program_.contains(symbol.name))
      taken.callback = symbol.name;
    if (taken.copied.empty() && symbol.is_defined && copied_by_program_.contains(symbol.name) &&
        is_variable(library, symbol))
      taken.copied = symbol.name;
  });
}

void LibraryClassifier::keep_reason(std::string reason) {
  if (callback_reason_.empty()) callback_reason_ = std::move(reason);
}

LibraryClassifier::Names LibraryClassifier::reached_without_declared(
    std::span<const std::string> first) const {
  // A library that only shareable libraries need is shareable itself.
  Names reached;
  std::vector<std::string> open(first.begin(), first.end());
  while (!open.empty()) {
    const std::string name = std::move(open.back());
    open.pop_back();
    if (!reached.insert(name).second || is_declared(declared_, name, name)) continue;
    const auto library = libraries_.find(name);
    if (library == libraries_.end()) continue;
    open.insert(open.end(), library->second.needed.begin(), library->second.needed.end());
  }
  return reached;
}

void LibraryClassifier::allow_private(std::span<const std::string> requested) {
  may_be_private_ = true;
  requested_ = requested;
}

void LibraryClassifier::set_private(const std::string& soname) {
  private_.emplace(base_name(soname));
}

bool LibraryClassifier::is_private(std::string_view name) const {
  return private_.contains(base_name(name));
}

const std::string* LibraryClassifier::needed_private(const Library& library) const {
  const auto found = std::find_if(library.needed.begin(), library.needed.end(),
                                  [this](const std::string& needed) { return is_private(needed); });
  return found == library.needed.end() ? nullptr : &*found;
}

/// Whether a library that ranks share needs the C++ library.
bool LibraryClassifier::must_share_cxx_library(std::span<const NeededLibrary> libraries,
                                               const Names& reached) const {
  const auto is_needed = [](const std::string& name) { return is_cxx_library(name); };
  const bool is_shared =
      std::any_of(libraries.begin(), libraries.end(), [&](const NeededLibrary& library) {
        if (is_of_whole_process(library.name)) return true;
        if (is_cxx_library(library.name)) return is_declared(declared_, library.name, library.path);
        const auto found = libraries_.find(library.name);
        const bool is_exempt =
            is_declared(declared_, library.name, library.path) || !reached.contains(library.name);
        return is_exempt && found != libraries_.end() &&
               std::any_of(found->second.needed.begin(), found->second.needed.end(), is_needed);
      });
  // A library that the program opens later may need it.
  return is_shared || std::any_of(declared_.begin(), declared_.end(), [&](const std::string& name) {
           return std::none_of(libraries.begin(), libraries.end(), [&](const auto& library) {
             return is_declared(std::span(&name, 1), library.name, library.path);
           });
         });
}

std::string LibraryClassifier::find_private_error(std::span<const NeededLibrary> libraries,
                                                  const Names& reached) const {
  for (const NeededLibrary& library : libraries) {
    const auto found = libraries_.find(library.name);
    if (found == libraries_.end()) continue;
    if (found->second.private_error.starts_with("is initialised") ||
        (is_private(library.name) && !found->second.private_error.empty())) {
      return library.name + " " + found->second.private_error +
             ", so ranks cannot have private instances of it";
    }
    const std::string* needed = needed_private(found->second);
    if (is_private(library.name) || needed == nullptr) continue;
    const bool is_exempt =
        is_declared(declared_, library.name, library.path) || !reached.contains(library.name);
    if (is_exempt) {
      return library.name + ", which ranks share, needs " + *needed +
             ", of which each rank has its own (--shared " + *needed + " if they may share it)";
    }
  }
  return "";
}

std::string LibraryClassifier::choose_private(std::span<const std::string> first,
                                              std::span<const NeededLibrary> libraries) {
  const Names reached = reached_without_declared(first);
  const bool shares_cxx_library = must_share_cxx_library(libraries, reached);
  const auto must_be_private = [&](const NeededLibrary& library) {
    if (library.path.empty() || is_declared(declared_, library.name, library.path)) return false;
    if (is_declared(requested_, library.name, library.path)) return true;
    if (is_cxx_library(library.name)) return !shares_cxx_library;
    const auto found = libraries_.find(library.name);
    if (found == libraries_.end() || !reached.contains(library.name) ||
        !reason_to_share(library.name).empty())
      return false;
    return !found->second.state.empty() || !found->second.callback.empty() ||
           needed_private(found->second) != nullptr;
  };
  std::size_t count = 0;
  do {
    count = private_.size();
    for (const NeededLibrary& library : libraries) {
      if (must_be_private(library)) set_private(library.name);
    }
  } while (private_.size() > count);
  return find_private_error(libraries, reached);
}

void LibraryClassifier::classify(NeededLibrary& library, bool is_reached) {
  const auto known = reason_to_share(library.name);
  const auto found = libraries_.find(library.name);
  library.is_shared = !is_private(library.name);
  if (!library.is_shared && is_cxx_library(library.name)) {
    library.reason = "each rank has its own locale, handlers and streams";
    return;
  }
  if (!library.is_shared && found != libraries_.end()) {
    const Library& own = found->second;
    const std::string* need = needed_private(own);
    library.reason = !own.state.empty()      ? own.state
                     : !own.callback.empty() ? "it uses " + own.callback + " of the program"
                     : need != nullptr       ? "it needs " + *need + ", which is private"
                                             : "requested by --private";
    return;
  }
  if (!library.is_shared) {
    library.reason = "requested by --private";
    return;
  }
  if (!known.empty()) {
    library.reason = known;
    return;
  }
  if (found == libraries_.end()) {
    library.reason = "its file was not found or cannot be read";
    return;
  }
  const auto& [state, needed, callback, copied, private_error] = found->second;
  const bool is_exempt = is_declared(declared_, library.name, library.path) || !is_reached;
  if (!callback.empty()) {
    library.is_shared = false;
    library.reason = "it uses " + callback + " of the program";
    keep_reason(library.name + " uses " + callback + " of " + program_ +
                ", of which each rank of one process has its own");
  } else if (state.empty()) {
    library.reason = "no writable data";
  } else if (is_exempt && copied.empty()) {
    library.reason = "declared by --shared, or needed by such a library only";
  } else if (is_exempt) {
    library.is_shared = false;
    library.reason = "the program has a copy of its " + copied;
    keep_reason(program_ + " holds " + copied + " of " + library.name +
                ", so each rank of one process has its own, which the library does not use");
  } else {
    library.is_shared = false;
    library.reason = state;
  }
}

std::string LibraryClassifier::describe_private(std::span<const NeededLibrary> libraries) const {
  const auto needs_process = [this](const NeededLibrary& library) {
    return !library.is_shared && !is_private(library.name);
  };
  const auto first = std::find_if(libraries.begin(), libraries.end(), needs_process);
  if (first == libraries.end()) return "";
  const auto count = std::count_if(libraries.begin(), libraries.end(), needs_process);
  if (count == 1) {
    return first->name + " has writable data, which ranks of one process would share (--shared " +
           first->name + " if they may)";
  }
  return first->name + " and " + std::to_string(count - 1) + " other librar" +
         (count == 2 ? "y" : "ies") +
         " have writable data, which ranks of one process would share (`sorrel info " + program_ +
         "` lists them; --shared LIB,LIB if they may)";
}

std::string LibraryClassifier::classify(std::span<const std::string> first,
                                        std::vector<NeededLibrary>& libraries) {
  const bool checks_all_memory =
      std::any_of(libraries.begin(), libraries.end(),
                  [](const NeededLibrary& library) { return is_of_whole_process(library.name); });
  std::string private_error;
  if (may_be_private_ && !checks_all_memory) private_error = choose_private(first, libraries);
  const Names reached = reached_without_declared(first);
  for (NeededLibrary& library : libraries)
    classify(library, reached.contains(library.name));
  const bool has_private_cxx_library = std::any_of(
      private_.begin(), private_.end(), [](const auto& name) { return is_cxx_library(name); });
  if (!private_error.empty()) private_.clear();
  if (!program_reason_.empty()) return program_reason_;
  if (!operator_new_reason_.empty() && !has_private_cxx_library) return operator_new_reason_;
  if (!private_error.empty()) return private_error;
  if (!callback_reason_.empty()) return callback_reason_;
  return describe_private(libraries);
}

}  // namespace sorrel::os
