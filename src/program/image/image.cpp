#include "program/image/image.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

// Empty: replaces the template image's destructors.
void no_destructor() {}

int take_first(dl_phdr_info* info, std::size_t, void* result) {
  *static_cast<dl_phdr_info*>(result) = *info;
  return 1;
}

[[nodiscard]] std::string read_link(const char* link) {
  char target[4096];
  const ssize_t length = ::readlink(link, target, sizeof target);
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string();
}

// libstdc++ initialises its streams in the first constructor that requests it; an image made
// earlier would hold uninitialised streams.
void start_iostreams() {
  static char init_object[64];
  if (auto* construct = reinterpret_cast<void (*)(void*)>(
          loader_dlsym()(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev"))) {
    construct(init_object);
  }
}

}  // namespace

std::unique_ptr<const Image> Image::read(std::string& error) {
  std::unique_ptr<Image> image(new Image);
  start_iostreams();
  if (!image->find_main_program(error) || !image->open_file(error)) return nullptr;
  image->read_segments();
  image->read_dynamic();
  image->read_needed_libraries();
  image->privatization_error = image->find_privatization_error();
  if (!image->privatization_error.empty()) return image;
  // Set before the images are made, which would not see a change when a rank starts a thread.
  __libc_single_threaded = 0;
  image->bind_lazy_slots();
  image->interpose_math_calls();
  image->find_private_objects();
  image->fill_extra_objects();
  image->lay_out();
  image->collect_slots();
  image->share_unchanged_data();
  image->collect_runs();
  return image;
}

Image::~Image() {
  if (file >= 0) ::close(file);
}

bool Image::find_main_program(std::string& error) {
  dl_phdr_info info{};
  next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr")(take_first, &info);
  base = info.dlpi_addr;
  segments = info.dlpi_phdr;
  segment_count = info.dlpi_phnum;
  for (int i = 0; i < segment_count; ++i) {
    if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0) {
      header_ = reinterpret_cast<const ElfW(Ehdr)*>(base + segments[i].p_vaddr);
    }
  }
  if (header_ == nullptr) error = "the program's ELF header is not in memory";
  return header_ != nullptr;
}

bool Image::open_file(std::string& error) {
  path = read_link("/proc/self/exe");
  file = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    error = "cannot open the program's own file through /proc/self/exe: " +
            std::string(std::strerror(errno));
    return false;
  }
  // If the program was started through the loader by hand, /proc/self/exe is the loader, and its
  // pages would be garbage to the program.
  ElfW(Ehdr) header{};
  if (::pread(file, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      std::memcmp(&header, header_, sizeof header) != 0) {
    error =
        path + " is not the program that runs: start the program itself, not through the loader";
    return false;
  }
  return true;
}

void Image::read_segments() {
  begin_ = ~Offset{0};
  alignment = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < segment_count; ++i) {
    const ElfW(Phdr)& segment = segments[i];
    if (segment.p_type == PT_LOAD) {
      begin_ = std::min(begin_, segment.p_vaddr & ~(alignment - 1));
      end_ = std::max(end_, segment.p_vaddr + segment.p_memsz);
    } else if (segment.p_type == PT_DYNAMIC) {
      dynamic = segment.p_vaddr;
    } else if (segment.p_type == PT_GNU_EH_FRAME) {
      unwind_table = segment.p_vaddr;
    } else if (segment.p_type == PT_TLS) {
      thread_local_segment = &segment;
    }
  }
  // Done last, so that begin_ above is rounded to pages only. The system also ignores an alignment
  // that is not a power of two.
  for (int i = 0; i < segment_count; ++i) {
    if (segments[i].p_type == PT_LOAD && std::has_single_bit(segments[i].p_align)) {
      alignment = std::max(alignment, static_cast<std::size_t>(segments[i].p_align));
    }
  }
}

void Image::read_dynamic() {
  // The loader has made some of these absolute and left others unchanged; this differs between
  // architectures and loaders.
  const auto address = [this](std::uintptr_t value) {
    return contains(value) && value >= base ? value : base + value;
  };
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic);
  for (; entry->d_tag != DT_NULL; ++entry) {
    const std::uintptr_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_INIT:
        init = address(value) - base;
        break;
      case DT_FINI:
        fini = address(value) - base;
        break;
      case DT_INIT_ARRAY:
        init_array.offset = address(value) - base;
        break;
      case DT_INIT_ARRAYSZ:
        init_array.count = value / sizeof(void*);
        break;
      case DT_FINI_ARRAY:
        fini_array.offset = address(value) - base;
        break;
      case DT_FINI_ARRAYSZ:
        fini_array.count = value / sizeof(void*);
        break;
      case DT_SYMTAB:
        symbols_.symbols = reinterpret_cast<const ElfW(Sym)*>(address(value));
        break;
      case DT_STRTAB:
        symbols_.names = reinterpret_cast<const char*>(address(value));
        break;
      case DT_STRSZ:
        symbols_.name_bytes = value;
        break;
      case DT_VERSYM:
        symbols_.versions = reinterpret_cast<const ElfW(Versym)*>(address(value));
        break;
      case DT_VERNEED:
        symbols_.needed_versions = reinterpret_cast<const ElfW(Verneed)*>(address(value));
        break;
      case DT_RELA:
        data_relocations_.begin = reinterpret_cast<const ElfW(Rela)*>(address(value));
        break;
      case DT_RELASZ:
        data_relocations_.count = value / sizeof(ElfW(Rela));
        break;
      case DT_JMPREL:
        call_relocations_.begin = reinterpret_cast<const ElfW(Rela)*>(address(value));
        break;
      case DT_PLTRELSZ:
        call_relocations_.count = value / sizeof(ElfW(Rela));
        break;
      case DT_RELR:
        packed_relocations_ = reinterpret_cast<const ElfW(Relr)*>(address(value));
        break;
      case DT_RELRSZ:
        packed_relocation_count_ = value / sizeof(ElfW(Relr));
        break;
      case DT_TEXTREL:
        has_text_relocations_ = true;
        break;
      case DT_FLAGS:
        has_text_relocations_ |= (value & DF_TEXTREL) != 0;
        break;
      case DT_DEBUG:
        debugger_record = reinterpret_cast<r_debug*>(value);
        break;
      default:
        break;
    }
  }
}

void Image::read_needed_libraries() {
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic);
  // A relocation may have damaged the section after the loader has read it.
  const std::size_t name_bytes = has_tables_inside() ? symbols_.name_bytes : 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED || entry->d_un.d_val >= name_bytes) continue;
    const std::string_view name = symbols_.names + entry->d_un.d_val;
    uses_openmp_ |= name.starts_with("libgomp.so") || name.starts_with("libomp.so") ||
                    name.starts_with("libiomp5.so");
  }
  // A library of the program may need it instead.
  uses_openmp_ |= loader_dlsym()(RTLD_DEFAULT, "GOMP_parallel") != nullptr;
}

bool Image::has_tables_inside() const {
  const auto is_inside = [this](Offset begin, std::size_t count, std::size_t entry_bytes) {
    return count == 0 || (begin >= begin_ && begin < end_ && count <= (end_ - begin) / entry_bytes);
  };
  const auto offset = [this](const void* table) {
    return reinterpret_cast<std::uintptr_t>(table) - base;
  };
  return is_inside(init_array.offset, init_array.count, sizeof(void*)) &&
         is_inside(fini_array.offset, fini_array.count, sizeof(void*)) &&
         is_inside(offset(data_relocations_.begin), data_relocations_.count, sizeof(ElfW(Rela))) &&
         is_inside(offset(call_relocations_.begin), call_relocations_.count, sizeof(ElfW(Rela))) &&
         is_inside(offset(packed_relocations_), packed_relocation_count_, sizeof(ElfW(Relr))) &&
         is_inside(offset(symbols_.names), symbols_.name_bytes, 1);
}

bool Image::has_dynamic_section_of_file() const {
  const auto* in_memory = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic);
  const ElfW(Phdr)* segment =
      std::find_if(segments, segments + segment_count, [this](const ElfW(Phdr) & each) {
        return each.p_type == PT_DYNAMIC && each.p_vaddr == dynamic;
      });
  for (std::size_t i = 0; (i + 1) * sizeof(ElfW(Dyn)) <= segment->p_filesz; ++i) {
    ElfW(Dyn) in_file{};
    const auto offset = static_cast<off_t>(segment->p_offset + i * sizeof in_file);
    if (::pread(file, &in_file, sizeof in_file, offset) != static_cast<ssize_t>(sizeof in_file) ||
        in_file.d_tag != in_memory[i].d_tag)
      return false;
    if (in_file.d_tag == DT_NULL) return true;
  }
  return false;
}

std::string Image::find_privatization_error() const {
  if (header_->e_type != ET_DYN) {
    return path + " is not position independent: rebuild with -fPIE -pie";
  }
  if (header_->e_machine != EM_X86_64 && header_->e_machine != EM_AARCH64) {
    return path + " is for an architecture other than x86_64 and AArch64";
  }
  if (!has_dynamic_section_of_file())
    return path + " is damaged: a relocation has changed its dynamic section";
  if (!has_tables_inside())
    return path + " is damaged: its dynamic section names tables that lie outside of it";
  if (!has_sound_relocations())
    return path + " is damaged: a relocation names a symbol or a place that is not in it";
  if (has_text_relocations_)
    return path + " has text relocations: rebuild all of it with -fPIE -pie";
  if (contains(reinterpret_cast<std::uintptr_t>(loader_dlsym()(RTLD_DEFAULT, "malloc")))) {
    return path +
           " defines its own malloc, which privatized images cannot share: link it as a shared "
           "library";
  }
  return {};
}

const PrivateObject* Image::private_object(std::uintptr_t source) const {
  const auto found =
      std::find_if(private_objects_.begin(), private_objects_.end(),
                   [source](const PrivateObject& object) { return object.source == source; });
  return found == private_objects_.end() ? nullptr : &*found;
}

void Image::silence_destructors() const {
  auto* entry = reinterpret_cast<ElfW(Dyn)*>(base + dynamic);
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  std::size_t count = 1;
  while (entry[count - 1].d_tag != DT_NULL)
    ++count;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(entry) & ~(page - 1);
  const std::uintptr_t last = reinterpret_cast<std::uintptr_t>(entry + count);
  // The dynamic section lies in the part that the loader has made read-only.
  if (::mprotect(reinterpret_cast<void*>(first), last - first, PROT_READ | PROT_WRITE) != 0) return;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_FINI_ARRAYSZ) entry->d_un.d_val = 0;
    if (entry->d_tag == DT_FINI) {
      entry->d_un.d_ptr = reinterpret_cast<std::uintptr_t>(&no_destructor) - base;
    }
  }
}

}  // namespace sorrel::program
