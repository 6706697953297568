#include "tools/sorrel/inspect/mpi_interface.hpp"

#include <algorithm>
#include <initializer_list>

#include "os/library_state.hpp"

namespace sorrel::tool {

namespace {

constexpr MpiInterface open_mpi{.name = "Open MPI", .family = "openmpi"};
constexpr MpiInterface mpich{.name = "MPICH", .family = "mpich"};

struct Library {
  std::string_view soname;
  const MpiInterface* interface;
};

constexpr Library translated[] = {{"libmpi.so.40", &open_mpi},
                                  {"libmpi_cxx.so.40", &open_mpi},
                                  {"libmpi_mpifh.so.40", &open_mpi},
                                  {"libmpi_usempif08.so.40", &open_mpi},
                                  {"libmpi_usempi_ignore_tkr.so.40", &open_mpi},
                                  {"libmpi.so.12", &mpich},
                                  {"libmpich.so.12", &mpich},
                                  {"libmpicxx.so.12", &mpich},
                                  {"libmpichcxx.so.12", &mpich},
                                  {"libmpifort.so.12", &mpich},
                                  {"libmpichfort.so.12", &mpich}};

struct Owner {
  std::string_view prefix;
  std::string_view name;
};

/// The longest name first: libmpi.so.12 is MPICH's name under its ABI agreement, .40 is Open MPI's.
/// Several MPIs have libmpi.so.0 and .1; those that have another library beside it come first.
constexpr Owner owners[] = {
    {"libmpi_abi", ""},
    {"libmpi.so.12", "MPICH, Intel MPI or MVAPICH"},
    {"libmpi.so.40", "Open MPI"},
    {"libmpi.so.20", "Open MPI 2"},
    {"libmpi.so.4", "Intel MPI 4 or older"},
    {"libmpi.so.0", "Open MPI 1.4 or older"},
    {"libmpi.so.1", "Open MPI 1.5 to 1.8"},
    {"libmpi.so", "an MPI of another interface"},
    {"libmpich.so.12", "MPICH"},
    {"libmpich.so.10", "MPICH 3.0"},
    {"libmpich.so.3", "MPICH2 1.3 to 1.5"},
    {"libmpich.so.1", "MPICH2 1.2 or older"},
    {"libmpich", "MPICH 3.0 or older"},
    {"libmpicxx.so", "MPICH's or Intel MPI's C++ bindings, which MPI dropped"},
    {"libmpifort.so", "MPICH's or Intel MPI's Fortran interface"},
    {"libmpi_cray", "Cray MPICH"},
    {"libmpi_gnu", "Cray MPICH"},
    {"libmpi_ibm", "Spectrum MPI"},
    {"libmpi_cxx.so", "Open MPI's C++ bindings, which MPI dropped"},
    {"libmpi_mpifh.so", "Open MPI's Fortran interface"},
    {"libmpi_usempi", "Open MPI's Fortran interface"},
    {"libmpi_", "Open MPI"},
    {"libmpt.so", "HPE MPT"},
    {"libmvapich", "MVAPICH"},
    {"liblammpi", "LAM/MPI"},
    {"liblam.so", "LAM/MPI"},
    {"libhpmpi", "HP MPI"},
    {"libpcmpi", "Platform MPI"},
    {"libmpio.so", "HP MPI or Platform MPI"}};

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

const MpiInterface* translated_interface(std::string_view soname) {
  for (const Library& library : translated) {
    if (soname == library.soname) return library.interface;
  }
  return nullptr;
}

std::string_view foreign_mpi(std::string_view soname) {
  for (const Owner& owner : owners) {
    if (os::is_library(soname, owner.prefix)) return owner.name;
  }
  return "";
}

bool is_shared_name(std::string_view soname) {
  return os::is_library(soname, "libmpi.so");
}

bool is_mpi_name(std::string_view name, bool is_translated) {
  // C's names, and Fortran's as compilers write them: mpi_send_.
  if (begins_with_any(name, {"MPI_", "PMPI_"})) return true;
  if (begins_with_any(name, {"mpi_", "pmpi_"}) && name.back() == '_') return true;
  return is_translated && (is_class_name(name) ||
                           begins_with_any(name, {"MPIX_", "PMPIX_", "OMPI_", "ompi_", "opal_",
                                                  "mca_", "MPII_", "MPIR_", "MPID_", "MPIO_",
                                                  "PMPIO_", "QMPI_", "pmpir_", "__mpi_"}));
}

bool has_classes(std::string_view soname) {
  return soname == "libmpicxx.so.12" || soname == "libmpichcxx.so.12";
}

bool is_class_name(std::string_view name) {
  return begins_with_any(name, {"_ZN3MPI", "_ZNK3MPI", "_ZTVN3MPI", "_ZTIN3MPI", "_ZTSN3MPI"});
}

}  // namespace sorrel::tool
