#!/bin/bash
# Packages: tbb 2023.2.0, tbb-devel 2023.2.0 (PyPI).
# Expected: tbb::parallel_for(first, last, body) calls the body for each index, whatever integral type the indices have.
# Seen:     of the 40 000 indices from -20 000 to 20 000 in the type short it runs none, and returns; nor of the 200 from -100 to 100 in
#           signed char, with a step or without. The number of indices is converted to the type of an index, where it is
#           negative. With a blocked_range<short> of the same bounds all run.
# Elsewhere: the same on every Linux machine.
set -eu
d=$(mktemp -d); trap 'rm -rf "$d"' EXIT
python3 -m venv --without-pip "$d/v"
pip -q --disable-pip-version-check --python "$d/v" install --no-compile tbb==2023.2.0 tbb-devel==2023.2.0
cat > "$d/t.cpp" <<'CPP'
#include <atomic>
#include <cstdio>
#include <oneapi/tbb.h>
template <class Index>
void run(const char *type, Index first, Index last, Index step) {
    std::atomic<int> plain{0}, stepped{0}, range{0};
    tbb::parallel_for(first, last, [&](Index) { ++plain; });
    tbb::parallel_for(first, last, step, [&](Index) { ++stepped; });
    tbb::parallel_for(tbb::blocked_range<Index>(first, last), [&](const tbb::blocked_range<Index> &part) { range += static_cast<int>(part.size()); });
    std::printf("%s %d..%d: %d, in steps of %d: %d, as a range: %d\n", type, first, last, plain.load(), step, stepped.load(), range.load());
}
int main() {
    run<short>("short", -20000, 20000, 4);
    run<short>("short", -10000, 10000, 4);
    run<signed char>("signed char", -100, 100, 1);
    run<int>("int", -20000, 20000, 4);
}
CPP
c++ -std=c++17 -O1 -I"$d/v/include" -o "$d/t" "$d/t.cpp" -L"$d/v/lib" -ltbb -Wl,-rpath,"$d/v/lib"
"$d/t" | tee "$d/seen"
diff "$d/seen" - >/dev/null <<'T' || { echo "changed: other numbers of calls" >&2; exit 1; }
short -20000..20000: 0, in steps of 4: 0, as a range: 40000
short -10000..10000: 20000, in steps of 4: 5000, as a range: 20000
signed char -100..100: 0, in steps of 1: 0, as a range: 200
int -20000..20000: 40000, in steps of 4: 10000, as a range: 40000
T
