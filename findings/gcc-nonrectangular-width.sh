#!/bin/bash
# Packages: gcc-12, cpp-12, libgcc-12-dev, libgomp1 12.2.0-14+deb12u1 (Debian 12).
# Expected: OpenMP 5.0, section 2.9.1: in a collapsed nest, both bounds of the inner loop may be the outer variable plus a constant. All iterations
#           run, each once: j from i to i + 2 for i from 0 to 2 is nine of them.
# Seen:     GCC runs eight of them, and one that does not exist: (0,-1) in place of (2,4), with every number of threads. Without collapse(2) all
#           nine run.
# Elsewhere: clang 14 runs the nine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cd "$d"; chmod 755 .
for p in gcc-12 cpp-12 libgcc-12-dev libgomp1; do apt-get -q -o APT::Sandbox::User=root download "$p=12.2.0-14+deb12u1" >/dev/null; done
for p in *.deb; do dpkg -x "$p" .; done
cat > t.c <<'C'
#include <stdio.h>
int main(void) {
#pragma omp parallel for collapse(2) num_threads(1)
    for (int i = 0; i < 3; i++)
        for (int j = i; j < i + 3; j++) printf("(%d,%d) ", i, j);
    printf("\n");
}
C
lib=$d/usr/lib/x86_64-linux-gnu
usr/bin/gcc-12 -fopenmp -o t t.c "$lib/libgomp.so.1"
LD_LIBRARY_PATH=$lib ./t | tee seen
diff seen - >/dev/null <<'T' || { echo "changed: other iterations" >&2; exit 1; }
(0,-1) (0,0) (0,1) (0,2) (1,1) (1,2) (1,3) (2,2) (2,3) 
T
