#!/bin/bash
# Packages: tbb 2023.2.0, tbb-devel 2023.2.0 (PyPI).
# Expected: a negative capacity of a concurrent_bounded_queue stands for no limit, as the header's constant infinite_capacity says,
#           and as a queue begins.
# Seen:     that constant is 0, since it is computed as half of the complement of a signed zero: after set_capacity(-1) the queue
#           has the capacity 0 and takes nothing.
# Elsewhere: the same on every 64-bit Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-compile tbb==2023.2.0 tbb-devel==2023.2.0
cat > "$d/t.cpp" <<'CPP'
#include <cstdio>
#include <oneapi/tbb/concurrent_queue.h>
int main() {
    oneapi::tbb::concurrent_bounded_queue<int> queue;
    const bool takes_first = queue.try_push(1);
    queue.set_capacity(-1);
    std::printf("at first %s, then %s, capacity %ld\n", takes_first ? "taken" : "refused", queue.try_push(2) ? "taken" : "refused",
                static_cast<long>(queue.capacity()));
}
CPP
c++ -std=c++17 -O1 -I"$d/v/include" -o "$d/t" "$d/t.cpp" -L"$d/v/lib" -ltbb -Wl,-rpath,"$d/v/lib"
"$d/t" | tee "$d/seen"
[ "$(cat "$d/seen")" = "at first taken, then refused, capacity 0" ] || { echo "changed: another capacity" >&2; exit 1; }
