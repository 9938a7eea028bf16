#!/bin/sh
# candle as it is, with nvcc's PTX (nvcc), and candle with its kernels by offload-build (offload), side by side on the NVIDIA
# GPU of this machine: a model of generated weights on both and on the CPU, the times to its first result, and candle-core's
# own CUDA tests. Each step goes on after a failure. What the programs print goes to log/, the figures to candle.json.
# The exit code is 1 if something failed.
cd "$(dirname "$0")" || exit 2
if [ -f programs.tar.xz ]; then
    tar -xJf programs.tar.xz || python3 -c 'import tarfile; tarfile.open("programs.tar.xz").extractall()' || exit 2
fi
rm -rf log out cache candle.json
mkdir log out cache || exit 2
# cuBLAS and cuRAND of this folder; nvcc's program also needs CUDA's runtime.
export LD_LIBRARY_PATH="$PWD/lib:$PWD/nvcc/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
STARTS=${STARTS:-5}
failed=
began=$(date +%s)

# step NAME SECONDS COMMAND...: the command has to succeed in that time.
step() {
    name=$1 limit=$2
    shift 2
    from=$(date +%s%N)
    if timeout "$limit" "$@" >"log/$name.txt" 2>"log/$name.err"; then
        result=ok
    else
        result="FAILED ($?): log/$name.txt, log/$name.err"
        failed="$failed $name"
        tail -n 12 "log/$name.txt" "log/$name.err"
    fi
    elapsed=$((($(date +%s%N) - from) / 1000000))
    echo "$elapsed" >"log/$name.ms"
    printf '== %s: %s, %s ms, at %s s\n' "$name" "$result" "$elapsed" $(($(date +%s) - began))
}

# field NAME FILE: a number of the program's JSON.
field() { sed -n "s/.*\"$1\": \([0-9.e+-]*\).*/\1/p" "$2" 2>/dev/null | tail -n 1; }
# or_null TEXT
or_null() { [ -n "$1" ] && printf '%s' "$1" || printf null; }
# median FIELD SIDE: of the later starts; WALL is the time of the whole process.
median() {
    for run in $(seq "$STARTS"); do
        if [ "$1" = WALL ]; then cat "log/start-$2-$run.ms" 2>/dev/null; else field "$1" "log/start-$2-$run.txt"; fi
    done | sort -n | sed -n "$(((STARTS + 1) / 2))p"
}
# count WORD FILE: of "test result: ok. 97 passed; 0 failed".
count() { sed -n "s/^test result:.* \([0-9]*\) $1.*/\1/p" "$2" 2>/dev/null | tail -n 1; }
bytes() { wc -c <"$1" 2>/dev/null | tr -d ' '; }

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader >log/device.txt 2>/dev/null
cat log/device.txt
# The driver keeps what it has compiled: the first start finds nothing, the later ones do. Before both, something else
# starts the driver.
step warm-up 120 env CUDA_CACHE_DISABLE=1 ./offload/candle-model run cuda out/warm-up.safetensors
for side in nvcc offload; do
    step "first-$side" 180 env CUDA_CACHE_PATH="$PWD/cache/$side" ./$side/candle-model run cuda "out/$side.safetensors"
done
for run in $(seq "$STARTS"); do
    for side in nvcc offload; do
        step "start-$side-$run" 60 env CUDA_CACHE_PATH="$PWD/cache/$side" ./$side/candle-model run cuda out/again.safetensors
    done
done
step cpu 120 ./offload/candle-model run cpu out/cpu.safetensors
step compare-nvcc-cpu 60 ./offload/candle-model compare out/nvcc.safetensors out/cpu.safetensors
step compare-offload-cpu 60 ./offload/candle-model compare out/offload.safetensors out/cpu.safetensors
step compare-offload-nvcc 60 ./offload/candle-model compare out/offload.safetensors out/nvcc.safetensors
cat log/compare-*.err
for side in nvcc offload; do
    step "tests-$side" 150 env CUDA_CACHE_PATH="$PWD/cache/$side" ./$side/candle-tests gpu cuda --test-threads=4
    grep -h -e '^test result' -e '^test .*FAILED' "log/tests-$side.txt"
done

row() { printf '%-46s %16s %16s\n' "$1" "${2:--}" "${3:--}"; }
row '' nvcc offload
row 'tests of candle-core on the GPU, passed' "$(count passed log/tests-nvcc.txt)" "$(count passed log/tests-offload.txt)"
row 'program with the model, bytes' "$(bytes nvcc/candle-model)" "$(bytes offload/candle-model)"
row 'first start: to the first result, ms' "$(field first_ms log/first-nvcc.txt)" "$(field first_ms log/first-offload.txt)"
row 'first start: the whole model, ms' "$(field all_ms log/first-nvcc.txt)" "$(field all_ms log/first-offload.txt)"
row "later starts (median of $STARTS): device, ms" "$(median device_ms nvcc)" "$(median device_ms offload)"
row 'later starts: to the first result, ms' "$(median first_ms nvcc)" "$(median first_ms offload)"
row 'later starts: the whole model, ms' "$(median all_ms nvcc)" "$(median all_ms offload)"
row 'later starts: the process, ms' "$(median WALL nvcc)" "$(median WALL offload)"
row 'the same again, ms' "$(median again_ms nvcc)" "$(median again_ms offload)"

# text FILE: the first line, without what would end a text in JSON.
text() { head -n 1 "$1" 2>/dev/null | tr -d '"\\\t\r\n'; }
# object FILE: JSON that a program has printed.
object() { grep '^{.*}$' "$1" 2>/dev/null | tail -n 1 | grep . || printf 'null\n'; }
{
    printf '{\n"device": "%s",\n"failed": "%s"' "$(text log/device.txt)" "${failed# }"
    for pair in nvcc-cpu offload-cpu offload-nvcc; do
        printf ',\n"%s": %s' "$pair" "$(object "log/compare-$pair.txt")"
    done
    for side in nvcc offload; do
        printf ',\n"%s": {\n  "bytes": %s,\n' "$side" "$(or_null "$(bytes $side/candle-model)")"
        printf '  "tests": {"passed": %s, "failed": %s},\n' \
            "$(or_null "$(count passed "log/tests-$side.txt")")" "$(or_null "$(count failed "log/tests-$side.txt")")"
        printf '  "first": %s,\n  "later": [' "$(object "log/first-$side.txt")"
        comma=
        for run in $(seq "$STARTS"); do
            printf '%s\n    %s' "$comma" "$(object "log/start-$side-$run.txt")"
            comma=,
        done
        printf '\n  ]\n}'
    done
    printf '\n}\n'
} >candle.new && mv candle.new candle.json
[ -z "$failed" ] || { echo "failed:$failed"; exit 1; }
