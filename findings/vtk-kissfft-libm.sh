#!/bin/bash
# Packages: libvtk9.1 9.1.0+really9.1.0+dfsg2-5+deb12u1 (Debian 12).
# Expected: a shared library names the libraries whose functions it calls, so that the loader relocates those first.
# Seen:     libvtkkissfft-9.1.so.1 calls sincos of the C library's libm and does not name it. sincos is chosen by the processor while the
#           loader works (IFUNC): if all functions are bound at the start (LD_BIND_NOW=1), the loader calls into libm before libm is
#           relocated, and programs over this library, such as LIGGGHTS, end with a segmentation fault. With lazy binding they run.
# Elsewhere: the same on every machine with Debian 12 for x86-64. The script reads the file, and runs nothing of it.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cd "$d"; chmod 755 .
apt-get -q -o APT::Sandbox::User=root download libvtk9.1=9.1.0+really9.1.0+dfsg2-5+deb12u1 >/dev/null
dpkg -x libvtk9.1_*.deb .
library=$(find . -name 'libvtkkissfft-9.1.so.1')
calls=$(readelf --dyn-syms -W "$library" | awk '$7 == "UND" && $8 ~ /^sincos/ { print "sincos" }')
names=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "calls ${calls:-no sincos}, names $names"
[ "$calls: $names" = "sincos: libc.so.6" ] || { echo "changed: other calls or libraries" >&2; exit 1; }
