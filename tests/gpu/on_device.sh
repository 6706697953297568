#!/usr/bin/env bash
# on_device.sh [PREFIX]: builds programs for GPUs with nvcc, runs them on a GPU with sorrel of PREFIX (default: build/release), and prints a
# table. Ends within three minutes. Exit status: 0; 1 if a run fails or a result is wrong; 77 without nvcc or a GPU.
set -u
cd "$(dirname "$0")/../.." || exit 1
sorrel=${1-$PWD/build/release}/bin/sorrel
command -v nvcc >/dev/null || { echo "on_device: nvcc is not installed; skipped"; exit 77; }
"$sorrel" info | grep -q "shared by the ranks" || { echo "on_device: $("$sorrel" info | grep GPUs); skipped"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
end=$((SECONDS + 170))
failures=0

# build SOURCE: a program with nvcc's static runtime. nvcc takes options of the linker by -Xlinker only.
build() {
  local name
  name=$(basename "$1" .cu)
  # shellcheck disable=SC2046
  nvcc -std=c++17 -O2 -arch="${CUDA_ARCH-native}" -Xcompiler -fPIE -Xlinker -pie $("$sorrel" cc -showme:compile) -o "$folder/$name" "$1" \
    $("$sorrel" cc -showme:link | sed 's/-Wl,/-Xlinker /g') || { echo "on_device: $1 cannot be built"; exit 1; }
}

# row TEXT COMMAND...: a line of the table, with the last line of output, or the failure.
row() {
  local text=$1 output status left=$((end - SECONDS))
  shift
  if ((left <= 0)); then
    output="left out: no time"
  else
    output=$(timeout $((left < 60 ? left : 60)) "$@" 2>"$folder/errors")
    status=$?
    if ((status != 0)); then
      failures=$((failures + 1))
      output="exit status $status: $(head -n 1 "$folder/errors")"
    fi
  fi
  printf '| %-58s | %s |\n' "$text" "$(printf '%s\n' "$output" | tail -n 1)"
}

build tests/gpu/on_device/steps.cu
build tests/gpu/on_device/buffers.cu
build tests/gpu/on_device/windows.cu
build apps/jacobi_gpu/jacobi_gpu.cu
"$sorrel" info | grep -A2 GPUs
printf '| %-58s | %s |\n|---|---|\n' "" "result"
for shape in "1 1" "16 1" "16 8" "64 8"; do
  read -r ranks workers <<<"$shape"
  row "a step: $ranks ranks, $workers workers, a stream each" "$sorrel" run -n "$ranks" --workers "$workers" "$folder/steps" own
  row "a step: $ranks ranks, $workers workers, the default stream" "$sorrel" run -n "$ranks" --workers "$workers" "$folder/steps" default
done
row "a step: 16 ranks, a process each" "$sorrel" run -n 16 --procs 16 "$folder/steps" own
row "unequal kernels: 16 ranks, 1 worker" "$sorrel" run -n 16 --workers 1 "$folder/steps" unequal
row "buffers on the device: 2 ranks, 1 worker" "$sorrel" run -n 2 --workers 1 "$folder/buffers"
row "buffers on the device: 2 ranks, 2 workers" "$sorrel" run -n 2 --workers 2 "$folder/buffers"
row "a window on the device: 2 ranks, 1 worker" "$sorrel" run -n 2 --workers 1 "$folder/windows"
row "a window on the device: 2 ranks, 2 workers" "$sorrel" run -n 2 --workers 2 "$folder/windows"
row "jacobi, 1024 x 1024: 1 rank" "$sorrel" run -n 1 "$folder/jacobi_gpu" 1024 200
row "jacobi, 1024 x 1024: 8 ranks" "$sorrel" run -n 8 "$folder/jacobi_gpu" 1024 200
row "jacobi, 8192 x 8192: 8 ranks" "$sorrel" run -n 8 "$folder/jacobi_gpu" 8192 200
row "memory of contexts: 1 rank" "$sorrel" run -n 1 "$folder/steps" memory
row "memory of contexts: 16 ranks" "$sorrel" run -n 16 "$folder/steps" memory
exit $((failures != 0))
