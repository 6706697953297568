#!/usr/bin/env bash
# Makes the subjects that are not compiled: make_subjects.sh FOLDER, which already holds `program`.
set -eu
cd "$1"
printf '#!/bin/sh\necho STARTED\n' >script && chmod +x script
cp program python3
printf '#! /usr/bin/env -S python3 -u -x\nprint()\n' >script.py && chmod +x script.py
cp script uv
printf '#! /usr/bin/env -S uv run --script\nprint()\n' >script_of_uv.py && chmod +x script_of_uv.py
printf 'echo STARTED\n' >text && chmod +x text
: >empty && chmod +x empty
cp program not_executable && chmod -x not_executable
mkdir -p folder
head -c 500 program >truncated && chmod +x truncated
# The field e_machine, 22 is S/390.
cp program other_architecture && printf '\x16\x00' | dd of=other_architecture bs=1 seek=18 conv=notrunc status=none
# Scripts whose interpreters do not lead to a program.
mkdir -p itself
printf '#!%s/itself/python\n' "$PWD" >itself/python
printf '#!%s/loop\n' "$PWD" >loop
printf '#!/nowhere/sh\n' >of_nothing
printf '#!\n' >nameless
printf '#!/bin/sh\nexec "$@"\n' >valgrind
chmod +x itself/python loop of_nothing nameless valgrind
# Compilers that say they are another gfortran.
printf '#!/bin/sh\necho "GNU Fortran (old) 9.4.0"\n' >gfortran_9
printf '#!/bin/sh\ncase $1 in --version) echo "GNU Fortran (x) 98.0.0" ;; *) echo broken on purpose; exit 1 ;; esac\n' >gfortran_broken
printf '#!/bin/sh\ncase $1 in --version) echo "GNU Fortran (x) 99.1.0" ;; *) exec gfortran "$@" ;; esac\n' >gfortran_99
chmod +x gfortran_9 gfortran_broken gfortran_99
# Special files in the places of regular files.
rm -rf fifo cache_* plan_cache_*
mkdir -p {plan_,}cache_{fifo,zero}/sorrel
mkfifo fifo cache_fifo/sorrel/probe "plan_cache_fifo/sorrel/machine-$(uname -n).json"
ln -s /dev/zero cache_zero/sorrel/probe
ln -s /dev/zero "plan_cache_zero/sorrel/machine-$(uname -n).json"
touch made
