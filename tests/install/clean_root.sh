#!/usr/bin/env bash
# clean_root.sh deb|wheel|prefix|rpm PACKAGE SOURCES [PAGE...]
# clean_root.sh dev 'COMMAND...' SOURCES
#
# Installs Sorrel where nothing of it is known, as a user would: in a new root with Debian (debootstrap), without the sources. Checks the installation,
# runs 1000 ranks, builds programs by the wrappers, pkg-config and CMake, and follows the pages of the manual (all tutorials by default; `-`: none), with the
# time of each. PACKAGE is
#
#   deb      a .deb, installed by apt-get with what it depends on and recommends
#   wheel    a .whl, installed by pip into a virtual environment
#   prefix   a folder made by `cmake --install`, or an archive of one (.tar.gz), in /opt/sorrel
#   rpm      a .rpm, installed by rpm without the packages that it names
#
# or a build folder, from which the .deb or the installed folder is made first. The second form clones the sources into the new root and runs a command
# of ./dev there: 'demo', or 'test -L unit'.
#
# Needs root, debootstrap and a mirror of Debian; else the status is 77. SORREL_SUITE names the release of Debian (bookworm). SORREL_ROOT=FOLDER keeps the bare
# root there for the next time.
set -euo pipefail

way=$1 package=$2 sources=$3
shift 3
pages=("$@") suite=${SORREL_SUITE:-bookworm}
[ "${1:-}" != - ] || pages=()
(($#)) || pages=("$sources"/docs/quickstart.md "$sources"/docs/tutorials/*.md)
(($(id -u) == 0)) || { echo "needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "no debootstrap (Debian: debootstrap)"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -e "$package/CMakeCache.txt" ]; then
  case $way in
    deb)
      (cd "$package" && cpack -G DEB -B "$work/packages") >"$work/log" || { cat "$work/log"; exit 1; }
      package=$(echo "$work"/packages/*.deb)
      ;;
    prefix)
      cmake --install "$package" --strip --prefix "$work/sorrel" >"$work/log" || { cat "$work/log"; exit 1; }
      package=$work/sorrel
      ;;
  esac
fi
bare=${SORREL_ROOT:-$work/bare} root=$work/root
[ -e "$bare/etc/debian_version" ] || debootstrap --variant=minbase "$suite" "$bare" >"$work/log" || { tail "$work/log"; exit 77; }
cp -a "$bare" "$root"
mkdir -p "$root/reader/pages"
cp -a "$sources/examples" "$sources/bench" "$root/reader"
((${#pages[@]} == 0)) || cp "${pages[@]}" "$root/reader/pages"
cp -a "$(dirname "${BASH_SOURCE[0]}")/consumer" "$root/reader"
cp -a "$(dirname "${BASH_SOURCE[0]}")/../docs" "$root/reader/tests"
# What the stand-in of pip compares with.
(cd "$sources" && cp --parents dev tests/install/built_wheel.sh docs/python.md packaging/action/action.yml "$(realpath "$root/reader")")
if [ "$way" = dev ]; then
  git clone --quiet --no-hardlinks "$sources" "$root/reader/sorrel"
else
  cp -a "$package" "$root/reader/"
  package=/reader/$(basename "$package")
fi

# The part that runs in the new root.
cat >"$root/reader/follow.sh" <<EOT
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root
step() {
  begin=\$(date +%s.%N)
  "\$@" >/reader/log 2>&1 || { echo "FAILED: \$*"; tail -n 40 /reader/log; exit 1; }
  awk -v begin=\$begin -v end=\$(date +%s.%N) -v what="\$*" 'BEGIN { printf "%7.1f s  %s\\n", end - begin, what }'
}
apt_get() { apt-get -q -o APT::Sandbox::User=root "\$@"; }
step apt_get update
if [ $way = dev ]; then
  step apt_get install -y --no-install-recommends git
  cd /reader/sorrel
  begin=\$(date +%s)
  ./dev $package
  echo "./dev $package: \$((\$(date +%s) - begin)) s, with its Debian packages"
  exit
fi
case $way in
  deb)
    step apt_get install -y $package
    prefix=/usr
    ;;
  wheel)
    step apt_get install -y --no-install-recommends python3-venv gcc g++ libc6-dev
    step python3 -m venv /env
    step /env/bin/pip install --no-index $package
    prefix=/env
    ;;
  prefix)
    step apt_get install -y --no-install-recommends gcc g++ libc6-dev
    case $package in
      *.tar.gz) step tar -C /opt --transform 's,^sorrel-[^/]*,sorrel,S' -xf $package ;;
      *) step cp -a $package /opt/sorrel ;;
    esac
    prefix=/opt/sorrel
    ;;
  rpm)
    step apt_get install -y --no-install-recommends gcc g++ libc6-dev rpm
    step rpm -i --nodeps $package
    prefix=/usr
    # The loader and CMake of distributions with RPM look into lib64 by themselves.
    echo /usr/lib64 >/etc/ld.so.conf.d/lib64.conf
    ldconfig
    export Sorrel_DIR=/usr/lib64/cmake/Sorrel
    ;;
esac
# What the pages use beside Sorrel.
step apt_get install -y --no-install-recommends python3 make cmake ninja-build pkgconf procps
eval "\$(\$prefix/bin/sorrel env)"
step sorrel selftest
printf '#include <mpi.h>\nint main(int c, char** v) { MPI_Init(&c, &v); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n' >/reader/ranks.c
step sorrel cc -O2 /reader/ranks.c -o /reader/ranks
step sorrel run -n 1000 /reader/ranks
step mpicc -O2 /reader/consumer/sum.c -o /reader/sum
step mpiexec -n 100 /reader/sum
step cc /reader/consumer/sum.c \$(pkg-config --cflags --libs sorrel-mpi) -o /reader/sum
step sorrel run -n 100 /reader/sum
# The libraries of C++ are for GCC 12 and newer.
if [ "\$(c++ -dumpversion | cut -d . -f 1)" -ge 12 ]; then
  step cmake -G Ninja -S /reader/consumer -B /reader/build
  step cmake --build /reader/build
  step cmake -E chdir /reader/build ctest --output-on-failure
fi
step sorrel docs waits
for page in /reader/pages/*.md; do
  [ ! -e \$page ] || step python3 -B /reader/tests/run_blocks.py \$page \$prefix /reader
done
EOT

# Mounts and processes of the root end with it.
unshare --mount --pid --fork bash -c "
  mount -t proc proc '$root/proc' && mount -t tmpfs tmpfs '$root/dev/shm' && mount -t tmpfs tmpfs '$root/tmp' &&
  mount -t devpts devpts '$root/dev/pts' &&
  exec chroot '$root' /bin/sh /reader/follow.sh"
