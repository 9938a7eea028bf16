#!/bin/sh
# Runs everything in this folder on the NVIDIA GPU of this machine. What the programs print goes to log/, and every
# sample to gpu.json. Arguments are those of offload-gpu. `./run.sh two` runs what needs two GPUs, and writes two.json.
# The exit code is 1 if something failed.
cd "$(dirname "$0")" || exit 2
part=gpu
if [ "$1" = two ]; then
    part=two
    shift
fi
rm -rf log samples "$part.json"
mkdir log samples || exit 2
failed=

# run NAME WORDS COMMAND...: the command has to succeed, and to print the words.
run() {
    name=$1 words=$2
    shift 2
    printf '== %s\n' "$name"
    if "$@" >"log/$name.txt" 2>&1 && grep -q -e "$words" "log/$name.txt"; then
        grep . "log/$name.txt" | tail -n 1
    else
        tail -n 20 "log/$name.txt"
        printf '== %s FAILED: log/%s.txt\n' "$name" "$name"
        failed="$failed $name"
    fi
}

# run_tests NAME [VARIABLE=VALUE]: the tests of the CUDA back end.
run_tests() {
    tests=$1
    shift
    run "$tests" 'test result: ok' env "$@" OFFLOAD_TEST_CUDA=1 ./cuda-tests cuda:: --include-ignored --test-threads=1
}

run_all() {
    run_tests tests
    run with-cudarc '^65536 of 65536' ./with-cudarc
    run conjugate-gradient 'CUDA device' ./conjugate-gradient
    run image-filter 'CUDA device' ./image-filter
    run decode 'CUDA device' ./decode
    run stencil 'CUDA device' ./stencil 8192 300
    for library in bf16-build bf16-load bf16-fallback; do
        run "$library" 'CUDA device.*: 2818048 results, 0 wrong' "./$library" --times
    done
    run typed '^cuda: right' ./offload-typed cuda
    run launchers '^results are right' ./offload-launchers results
    run numbers '^cuda: right' ./offload-numbers
    run warps '^cuda: right' ./offload-warps cuda
    run inline-ptx '^cuda: right' ./offload-inline-ptx cuda
    run sub-groups '^cuda: right' ./offload-sub-groups cuda
    run candle '^cuda: right' ./offload-candle cuda
    run prints '^cuda: right' ./offload-prints cuda
    run prints-linked '^cuda: right' ./offload-prints-linked cuda
    run kernels . ./offload-gpu --json samples/kernels.json "$@"
    run launch . ./offload-launch --cuda --json samples/launch.json
    run decode-cudarc 'tokens a second' ./offload-decode --json samples/decode.json
    # NVIDIA's OpenCL driver, also where the machine has not registered it.
    mkdir -p icd
    echo libnvidia-opencl.so.1 >icd/nvidia.icd
    run kernels-opencl . env OCL_ICD_VENDORS="$PWD/icd" ./offload-gpu --device opencl --name NVIDIA --size full \
        --results --json samples/kernels-opencl.json
    run launch-opencl . env OCL_ICD_VENDORS="$PWD/icd" ./offload-launch --opencl --name NVIDIA \
        --json samples/launch-opencl.json
}

# The tests on both GPUs, in both orders, and on the second alone; halos and copies between the two.
run_two() {
    run_tests tests-of-both CUDA_VISIBLE_DEVICES=0,1
    run_tests tests-of-both-swapped CUDA_VISIBLE_DEVICES=1,0
    run_tests tests-of-the-second CUDA_VISIBLE_DEVICES=1
    run stencil-8192 '^2 x .*CUDA device' ./stencil 8192 300
    # These fill a GPU, and two have to be 1.8 times as fast.
    for side in 16384 32768; do
        run "stencil-$side" '^2 x .*CUDA device.*, \(1\.[89]\|2\.\).* of the speed' ./stencil $side 300
    done
    run stencil-without-peer-access '^2 x .*CUDA device' env OFFLOAD_PEER_ACCESS=0 ./stencil 16384 300
    run launch . ./offload-launch --peers --json samples/launch.json
}

case $part in
two) run_two ;;
*) run_all "$@" ;;
esac

# text COMMAND...: the first line that it prints, without what would end a text in JSON.
text() { "$@" 2>/dev/null | head -n 1 | tr -d '"\\\t\r\n'; }
{
    printf '{\n"device": "%s",\n' "$(text nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)"
    printf '"system": "%s",\n' "$(text uname -srm)"
    printf '"failed": "%s",\n"programs": {' "${failed# }"
    comma=
    for program in *; do
        case $program in *.*|icd|log|samples) continue;; esac
        printf '%s\n  "%s": "%s"' "$comma" "$program" "$(sha256sum "$program" | cut -d ' ' -f 1)"
        comma=,
    done
    printf '\n}'
    for name in kernels launch decode kernels-opencl launch-opencl; do
        printf ',\n"%s": ' "$name"
        if [ -s "samples/$name.json" ]; then cat "samples/$name.json"; else printf null; fi
    done
    printf ',\n"stencil": ['
    comma=
    for log in log/stencil*.txt; do
        [ -s "$log" ] || continue
        printf '%s\n  "%s"' "$comma" "$(text grep 'CUDA device' "$log")"
        comma=,
    done
    printf ']'
    printf '\n}\n'
} >"$part.new" && mv "$part.new" "$part.json"
rm -rf samples
[ -z "$failed" ]
