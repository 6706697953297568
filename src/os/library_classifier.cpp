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

/// Variables that the C library has once per process and no interposed function makes private. Its
/// other variables are private to a rank or never change (src/program/README.md).
constexpr std::string_view one_for_the_process[] = {"obstack_alloc_failed_handler",
                                                    "obstack_exit_failure",
                                                    "re_syntax_options",
                                                    "re_max_failures",
                                                    "__check_rhosts_file",
                                                    "__rcmd_errstr",
                                                    "rexecoptions",
                                                    "_IO_2_1_stdin_",
                                                    "_IO_2_1_stdout_",
                                                    "_IO_2_1_stderr_",
                                                    "_res",
                                                    "_res_hconf"};

/// operator new and delete, by their mangled names.
bool is_operator_new(std::string_view name) {
  return name.starts_with("_Znw") || name.starts_with("_Zna") || name.starts_with("_ZdlPv") ||
         name.starts_with("_ZdaPv");
}

/// Why a program that defines or uses this symbol needs a process for each rank, or "".
std::string reason_of_symbol(const std::string& program, const ElfSymbol& symbol) {
  if (std::find(std::begin(one_for_the_process), std::end(one_for_the_process), symbol.name) !=
      std::end(one_for_the_process)) {
    return program + " uses " + std::string(symbol.name) +
           ", which the C library keeps once per process";
  }
  if (!symbol.is_defined) return "";
  if (is_operator_new(symbol.name)) {
    return program +
           " replaces operator new or delete, which shared libraries would call without a rank";
  }
  if (symbol.name == "malloc") {
    return program + " defines its own malloc, of which each rank would have a separate one";
  }
  return "";
}

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
    if (program_reason_.empty()) program_reason_ = reason_of_symbol(name, symbol);
  });
}

void LibraryClassifier::add_library(const std::string& soname, const ElfFile& library) {
  Library& taken = libraries_[soname];
  taken.state = state_of(library);
  taken.needed.assign(library.needed.begin(), library.needed.end());
  library.for_each_symbol([&](const ElfSymbol& symbol) {
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

std::set<std::string> LibraryClassifier::reached_without_declared(
    std::span<const std::string> first) const {
  // A library that only shareable libraries need is shareable itself.
  std::set<std::string> reached;
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

void LibraryClassifier::classify(NeededLibrary& library, bool is_reached) {
  const auto known = reason_to_share(library.name);
  const auto found = libraries_.find(library.name);
  library.is_shared = true;
  if (!known.empty()) {
    library.reason = known;
    return;
  }
  if (found == libraries_.end()) {
    library.reason = "its file was not found or cannot be read";
    return;
  }
  const auto [state, needed, callback, copied] = found->second;
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
  const auto is_private = [](const NeededLibrary& library) { return !library.is_shared; };
  const auto first = std::find_if(libraries.begin(), libraries.end(), is_private);
  if (first == libraries.end()) return "";
  const auto count = std::count_if(libraries.begin(), libraries.end(), is_private);
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
  const std::set<std::string> reached = reached_without_declared(first);
  for (NeededLibrary& library : libraries)
    classify(library, reached.contains(library.name));
  if (!program_reason_.empty()) return program_reason_;
  if (!callback_reason_.empty()) return callback_reason_;
  return describe_private(libraries);
}

}  // namespace sorrel::os
