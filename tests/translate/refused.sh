#!/bin/sh
# Programs and options that `sorrel run` refuses with a line: refused.sh SORREL CC OPENMPI MPICH STANDARD
sorrel=$1 cc=$2 openmpi=$3 mpich=$4 standard=$5
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT || exit 1
failed=0

# refuses TEXT WORDS...: `sorrel run WORDS` fails with one line, which contains TEXT.
refuses() {
  text=$1
  shift
  "$sorrel" run "$@" >"$folder/out" 2>&1 && echo "runs: $*" && failed=1
  if ! grep -qF -- "$text" "$folder/out" || [ "$(wc -l <"$folder/out")" != 1 ]; then
    echo "run $*: expected one line with '$text':"
    cat "$folder/out"
    failed=1
  fi
}

# library NAME SOURCE, program NAME SOURCE LIBRARY...
library() {
  echo "$2" | "$cc" -shared -fPIC -x c - -o "$folder/$1" -Wl,-soname,"$1" || exit 1
}
program() {
  name=$1 source=$2
  shift 2
  echo "$source" | "$cc" -w -fPIE -pie -x c - -x none -o "$folder/$name" -Wl,--no-as-needed "$@" -Wl,--allow-shlib-undefined || exit 1
}
export LD_LIBRARY_PATH="$folder"

program both 'int MPI_Init(void*, void*); int main(void) { return MPI_Init(0, 0); }' "$openmpi" "$mpich"
refuses "needs libmpi.so.40 and libmpi.so.12, of two binary interfaces" -n 2 "$folder/both"
program mixed 'int MPI_Init(void*, void*); int main(void) { return MPI_Init(0, 0); }' "$openmpi" "$standard"
refuses "needs libmpi_abi.so.1 and libmpi.so.40, of two binary interfaces" -n 2 "$folder/mixed"

# A name that the library does not have.
for missing in MPIX_Query QMPI_Register_function MPIO_Testall; do
  library libown.so "void $missing(void) {}"
  program unknown "void $missing(void); int MPI_Init(void*, void*); int main(void) { $missing(); return MPI_Init(0, 0); }" "$folder/libown.so" "$openmpi"
  rm "$folder/libown.so"
  library libown.so 'void nothing(void) {}'
  refuses "1 MPI function that this version does not have: $missing" -n 2 "$folder/unknown"
done

# Classes of MPICH's C++ bindings: their own library, which must be there, and is preloaded.
library libmpicxx.so.12 'int _ZN3MPI4InitEv(void) { return 0; }'
program classes 'int _ZN3MPI4InitEv(void), MPI_Init(void*, void*); int main(void) { return _ZN3MPI4InitEv() + MPI_Init(0, 0); }' \
  "$folder/libmpicxx.so.12" "$mpich"
refuses "/classes uses the classes of MPICH's C++ bindings" -n 2 env "$folder/classes"
rm "$folder/libmpicxx.so.12"
refuses "/classes needs libmpicxx.so.12, which the loader does not find: install it" -n 2 "$folder/classes"

# Interfaces that are not translated, each by its name. `of NAME SONAME...`: the program needs these libraries.
start='int MPI_Init(void*, void*); int main(void) { return MPI_Init(0, 0); }'
of() {
  owner=$1
  shift
  files=
  for soname in "$@"; do
    library "$soname" 'int MPI_Init(void* a, void* b) { return 0; }'
    files="$files $folder/$soname"
  done
  program old "$start" $files
  refuses "($owner), which Sorrel does not translate; rebuild it with" -n 2 "$folder/old"
  "$sorrel" info "$folder/old" | grep -qF "interface     that of $owner (" || { echo "info does not name $owner"; failed=1; }
  rm -f $files
}
of "Open MPI 2" libmpi.so.20
of "Open MPI 1.5 to 1.8" libmpi.so.1
of "Open MPI 1.4 or older" libmpi.so.0
of "MPICH 3.0" libmpich.so.10
of "MPICH2 1.3 to 1.5" libmpich.so.3
of "MPICH2 1.2 or older" libmpich.so.1.2
of "Intel MPI 4 or older" libmpi.so.4
of "LAM/MPI" libmpi.so.0 liblam.so.4
of "HP MPI or Platform MPI" libmpi.so.1 libmpio.so.1
library libmpi.so.12 'int ompi_mpi_comm_world; int MPI_Init(void* a, void* b) { return 0; }'
program ompi110 "extern int ompi_mpi_comm_world; int MPI_Init(void*, void*); int main(void) { return MPI_Init(&ompi_mpi_comm_world, 0); }" "$folder/libmpi.so.12"
rm "$folder/libmpi.so.12"
refuses "is built for Open MPI 1.10, whose library has the name of MPICH's" -n 2 "$folder/ompi110"
printf 'MZ\220' >"$folder/windows.exe" && chmod +x "$folder/windows.exe"
refuses "is not an ELF executable but one for Windows; build it for Linux" -n 2 "$folder/windows.exe"

# An MPI, or a substitute for one, in the program or in a library of another name.
own='int MPI_Init(void* a, void* b) { return 0; }'
echo "$own int main(void) { return MPI_Init(0, 0); }" | "$cc" -w -fPIE -pie -x c - -o "$folder/own" || exit 1
refuses "contains its own MPI, or a substitute for it" -n 2 "$folder/own"
library libserial.so "$own"
program serial "$start" "$folder/libserial.so"
refuses "contains its own MPI (in libserial.so), or a substitute for it" -n 2 "$folder/serial"
if echo "$own int main(void) { return MPI_Init(0, 0); }" | "$cc" -w -static -x c - -o "$folder/static" 2>/dev/null; then
  refuses "is statically linked and contains its own MPI" -n 2 "$folder/static"
fi

for soname in libmpi_mpifh.so.20 libmpifort.so.10 liblammpi.so.4; do
  library "$soname" 'int MPI_Init(void* a, void* b) { return 0; }'
  program old 'int MPI_Init(void*, void*); int main(void) { return MPI_Init(0, 0); }' "$folder/$soname"
  refuses "needs $soname (" -n 2 "$folder/old"
  refuses "which Sorrel does not translate; rebuild it with" -n 2 "$folder/old"
done

# A library of another interface that the program opens while it runs.
echo 'int MPI_Barrier(void*); int plug(void* comm) { return MPI_Barrier(comm); }' |
  "$cc" -shared -fPIC -x c - -x none -o "$folder/libplug.so" -Wl,--no-as-needed "$standard" -Wl,--allow-shlib-undefined || exit 1
program opens "#include <dlfcn.h>
#include <stdio.h>
int MPI_Init(void*, void*), MPI_Finalize(void);
int main(void) {
  MPI_Init(0, 0);
  puts(dlopen(\"$folder/libplug.so\", RTLD_NOW) == NULL ? dlerror() : \"opened\");
  return MPI_Finalize();
}" "$openmpi"
"$sorrel" run -n 2 "$folder/opens" >"$folder/out" 2>&1
if [ "$(grep -c "^libmpi_abi.so.1 is Sorrel's library for another binary interface of MPI" "$folder/out")" != 2 ]; then
  echo "dlopen: expected one line of each rank that refuses libmpi_abi.so.1:"
  cat "$folder/out"
  failed=1
fi
exit $failed
