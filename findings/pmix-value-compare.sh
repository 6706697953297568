#!/bin/bash
# Packages: libpmix2, libpmix-dev 4.2.2-1+deb12u1, libhwloc15 2.9.0-1, libevent-core-2.1-7, libevent-pthreads-2.1-7 2.1.12-stable-8 (Debian 12).
# Expected: PMIx_Value_compare says which of two values of one type is greater: PMIX_VALUE1_GREATER or PMIX_VALUE2_GREATER.
# Seen:     the bytes are compared in the order of the memory, so that 1 is greater than 256, -1 greater than 1, and 1.0 greater than 2.0. Two
#           numbers that are 0.0 and -0.0 are not equal.
# Elsewhere: the same on every Debian 12 for amd64.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cd "$d"; chmod 755 .
apt-get -q -o APT::Sandbox::User=root download libpmix2=4.2.2-1+deb12u1 libpmix-dev=4.2.2-1+deb12u1 libhwloc15=2.9.0-1 libevent-core-2.1-7 \
    libevent-pthreads-2.1-7 >/dev/null
for p in *.deb; do dpkg -x "$p" .; done
cat > t.c <<'C'
#include <pmix.h>
#include <stdio.h>
#include <string.h>
static pmix_value_t first, second;
static const char *answer(pmix_data_type_t type) {
    first.type = second.type = type;
    switch (PMIx_Value_compare(&first, &second)) {
    case PMIX_EQUAL: return "equal";
    case PMIX_VALUE1_GREATER: return "first greater";
    case PMIX_VALUE2_GREATER: return "second greater";
    default: return "other";
    }
}
#define COMPARE(TYPE, FIELD, A, B) first.data.FIELD = A; second.data.FIELD = B; printf("%s %s %s: %s\n", #FIELD, #A, #B, answer(TYPE))
int main(void) {
    memset(&first, 0, sizeof first); memset(&second, 0, sizeof second);
    COMPARE(PMIX_INT, integer, 2, 1);
    COMPARE(PMIX_INT, integer, 1, 256);
    COMPARE(PMIX_INT, integer, -1, 1);
    COMPARE(PMIX_SIZE, size, 1, 256);
    COMPARE(PMIX_PROC_RANK, rank, 1, 256);
    COMPARE(PMIX_DOUBLE, dval, 1.0, 2.0);
    COMPARE(PMIX_DOUBLE, dval, 0.0, -0.0);
}
C
lib=$d/usr/lib/x86_64-linux-gnu
cc -w -I"$lib/pmix2/include" -o t t.c "$lib/libpmix.so.2" -Wl,-rpath-link,"$lib" -Wl,--allow-shlib-undefined
LD_LIBRARY_PATH=$lib ./t | tee seen
diff seen - >/dev/null <<'T' || { echo "changed: other answers" >&2; exit 1; }
integer 2 1: first greater
integer 1 256: first greater
integer -1 1: first greater
size 1 256: first greater
rank 1 256: first greater
dval 1.0 2.0: first greater
dval 0.0 -0.0: second greater
T
