#!/bin/sh
# Runs everything in this folder on the NVIDIA GPU of this machine. What the programs print goes to log/, and every
# sample to gpu.json. Arguments are those of offload-gpu. The exit code is 1 if something failed.
cd "$(dirname "$0")" || exit 2
rm -rf log samples gpu.json
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

run tests 'test result: ok' env OFFLOAD_TEST_CUDA=1 ./cuda-tests cuda:: --include-ignored --test-threads=1
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
run candle '^cuda: right' ./offload-candle cuda
run prints '^cuda: right' ./offload-prints cuda
run prints-linked '^cuda: right' ./offload-prints-linked cuda
run kernels . ./offload-gpu --json samples/kernels.json "$@"
run launch . ./offload-launch --cuda --json samples/launch.json

# text COMMAND...: the first line that it prints, without what would end a text in JSON.
text() { "$@" 2>/dev/null | head -n 1 | tr -d '"\\\t\r\n'; }
{
    printf '{\n"device": "%s",\n' "$(text nvidia-smi --query-gpu=name,driver_version --format=csv,noheader)"
    printf '"system": "%s",\n' "$(text uname -srm)"
    printf '"failed": "%s",\n"programs": {' "${failed# }"
    comma=
    for program in *; do
        case $program in *.*|log|samples) continue;; esac
        printf '%s\n  "%s": "%s"' "$comma" "$program" "$(sha256sum "$program" | cut -d ' ' -f 1)"
        comma=,
    done
    printf '\n}'
    for part in kernels launch; do
        printf ',\n"%s": ' "$part"
        if [ -s "samples/$part.json" ]; then cat "samples/$part.json"; else printf null; fi
    done
    printf '\n}\n'
} >gpu.new && mv gpu.new gpu.json
rm -rf samples
[ -z "$failed" ]
