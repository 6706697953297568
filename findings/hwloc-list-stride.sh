#!/bin/bash
# Packages: libhwloc15, libhwloc-dev 2.9.0-1 (Debian 12).
# Expected: hwloc_bitmap_list_sscanf parses a list as Linux writes it, such as 0-3, and returns -1 for what it does not know. The kernel and
#           taskset know a stride, too: 0-6:2 is 0,2,4,6 to taskset.
# Seen:     hwloc returns 0 for 0-6:2, and has all of 0-6: it ignores what follows the range. So it does with 0-6/2, the stride of other
#           tools.
# Elsewhere: the same on every Debian 12 for amd64.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
cd "$d"; chmod 755 .
apt-get -q -o APT::Sandbox::User=root download libhwloc15=2.9.0-1 libhwloc-dev=2.9.0-1 >/dev/null
for p in *.deb; do dpkg -x "$p" .; done
cat > t.c <<'C'
#include <hwloc.h>
#include <stdio.h>
int main(void) {
    const char *lists[] = {"0-6", "0-6:2", "0-6/2", "six"};
    for (int i = 0; i < 4; i++) {
        hwloc_bitmap_t bitmap = hwloc_bitmap_alloc(); char *seen;
        int returned = hwloc_bitmap_list_sscanf(bitmap, lists[i]);
        hwloc_bitmap_list_asprintf(&seen, bitmap);
        printf("%s returns %d, is %s\n", lists[i], returned, seen);
    }
}
C
lib=$d/usr/lib/x86_64-linux-gnu
cc -w -Iusr/include -o t t.c "$lib/libhwloc.so.15" -Wl,--allow-shlib-undefined
LD_LIBRARY_PATH=$lib ./t | tee seen
diff seen - >/dev/null <<'T' || { echo "changed: other lists" >&2; exit 1; }
0-6 returns 0, is 0-6
0-6:2 returns 0, is 0-6
0-6/2 returns 0, is 0-6
six returns -1, is 
T
