# Source of triton-add.ptx; see README.md beside it.
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    y = tl.load(y_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x + y + tl.sum(x), mask=at < n)


types = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
source = ASTSource(fn=add_kernel, signature=types, constexprs={"BLOCK": 256})
sys.stdout.write(triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["ptx"])
