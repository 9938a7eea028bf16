#!/bin/sh
# Times the kernels of candle by nvcc, and by clang with NVIDIA's headers and without, in turns on the NVIDIA GPU of this
# machine. The table goes to speed.txt, every sample to speed.json. Arguments are those of offload-candle-speed.
cd "$(dirname "$0")" || exit 2
rm -f speed.txt speed.json
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv,noheader
./offload-candle-speed --json speed.json "$@" >speed.txt
code=$?
cat speed.txt
exit $code
