#!/bin/bash
# Packages: libpmix2, libpmix-dev 4.2.2-1+deb12u1, libhwloc15 2.9.0-1, libevent-core-2.1-7, libevent-pthreads-2.1-7 2.1.12-stable-8 (Debian 12).
# Expected: a number that PMIx_Data_pack puts into a buffer comes back from PMIx_Data_unpack, as integers do.
# Seen:     doubles and floats are packed as text with six digits behind the point, and both functions return PMIX_SUCCESS: 1e-10 comes back
#           as 0, 2/3 as 0.666667. So does a pmix_value_t that holds a double.
# Elsewhere: the same on every Debian 12 for amd64.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cd "$d"; chmod 755 .
apt-get -q -o APT::Sandbox::User=root download libpmix2=4.2.2-1+deb12u1 libpmix-dev=4.2.2-1+deb12u1 libhwloc15=2.9.0-1 libevent-core-2.1-7 \
    libevent-pthreads-2.1-7 >/dev/null
for p in *.deb; do dpkg -x "$p" .; done
cat > t.c <<'C'
#include <pmix_tool.h>
#include <stdio.h>
#include <string.h>
int main(void) {
    pmix_proc_t self; pmix_info_t info; pmix_data_buffer_t buffer; pmix_value_t value, read; int count = 3, one = 1;
    double packed[3] = {1e-10, 2.0 / 3, 0.5}, unpacked[3]; long long whole = 1LL << 60, back = 0;
    PMIX_INFO_LOAD(&info, PMIX_TOOL_DO_NOT_CONNECT, NULL, PMIX_BOOL);
    if (PMIx_tool_init(&self, &info, 1) != PMIX_SUCCESS) return 1;
    memset(&value, 0, sizeof value); value.type = PMIX_DOUBLE; value.data.dval = 1e-10;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    int all = PMIx_Data_pack(NULL, &buffer, packed, 3, PMIX_DOUBLE) | PMIx_Data_pack(NULL, &buffer, &value, 1, PMIX_VALUE) |
              PMIx_Data_pack(NULL, &buffer, &whole, 1, PMIX_INT64);
    all |= PMIx_Data_unpack(NULL, &buffer, unpacked, &count, PMIX_DOUBLE) | PMIx_Data_unpack(NULL, &buffer, &read, &one, PMIX_VALUE) |
           PMIx_Data_unpack(NULL, &buffer, &back, &one, PMIX_INT64);
    for (int i = 0; i < 3; i++) printf("%.15g is %.15g\n", packed[i], unpacked[i]);
    printf("as a value %.15g is %.15g\n2^60 is %s\nall calls: %s\n", value.data.dval, read.data.dval, back == whole ? "2^60" : "other",
           all == PMIX_SUCCESS ? "PMIX_SUCCESS" : "other");
    PMIx_tool_finalize();
}
C
lib=$d/usr/lib/x86_64-linux-gnu
cc -w -I"$lib/pmix2/include" -o t t.c "$lib/libpmix.so.2" -Wl,-rpath-link,"$lib" -Wl,--allow-shlib-undefined
LD_LIBRARY_PATH=$lib TMPDIR=$d ./t | tee seen
diff seen - >/dev/null <<'T' || { echo "changed: other numbers" >&2; exit 1; }
1e-10 is 0
0.666666666666667 is 0.666667
0.5 is 0.5
as a value 1e-10 is 0
2^60 is 2^60
all calls: PMIX_SUCCESS
T
