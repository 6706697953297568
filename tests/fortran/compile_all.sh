#!/usr/bin/env bash
# The Fortran forms of all functions of the table compile, with all warnings, and every name of the modules has a C function:
# compile_all.sh SOURCE-TREE PYTHON CC GFORTRAN
set -eu
source=$1 python=$2 cc=$3 gfortran=$4
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
cd "$folder"
make() { "$python" -B "$source/src/fortran/make_fortran.py" "$@"; }
for chapter in 3 4 5 6 7 8 9 10 11 12 13 14 16 20; do make "shims-$chapter" "chapter_$chapter.c"; done
make dynamic dynamic.c
make aliases aliases.c
make mpif mpif.h
for kind in types mpi mpi_f08; do make $kind $kind.f90; done
for file in *.c "$source"/src/fortran/*.c; do
  "$cc" -std=gnu11 -Wall -Wextra -Werror -c -I"$source/include/mpi" -I. -I"$source/src" "$file"
done
"$gfortran" -fsyntax-only -ffree-line-length-none types.f90 mpi.f90 mpi_f08.f90 2>messages ||
  { cat messages; exit 1; }
# Every name of the modules is a symbol of the objects, MPI_ and PMPI_.
nm -- *.o | sed -n 's/^[0-9a-f]* [TW] //p' | sort -u >symbols
sed -n -E 's/^ *(elemental logical |double precision |integer\(8\) )?(subroutine|function) (P?MPI_\w+|sorrel_\w+)\(.*/\3_/p' mpi.f90 mpi_f08.f90 types.f90 |
  tr '[:upper:]' '[:lower:]' | sort -u >names
# Without callbacks' abstract interfaces, which are no procedures.
grep -v -E '^mpi_(user_function(_c)?|(comm|win|file|session)_errhandler_function|(comm|type|win)_(copy|delete)_attr_function|grequest_(query|free|cancel)_function)_$' names |
  comm -23 - symbols >missing
[ ! -s missing ] || { echo "no C function for:"; cat missing; exit 1; }
[ "$(wc -l <names)" -gt 1000 ] || { echo "only $(wc -l <names) names"; exit 1; }
