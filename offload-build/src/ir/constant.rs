//! Constant memory for NVIDIA, where a kernel's argument cannot point to it.

use std::collections::BTreeSet;

use super::global_name;

/// A copy of `module` in which everything in constant memory is in global memory.
///
/// A `__constant` argument of an OpenCL kernel is a buffer like any other, but PTX's constant memory is a window of
/// its own (<https://docs.nvidia.com/cuda/parallel-thread-execution/#constant-state-space>): a load through such an
/// argument would not read the buffer. Functions that are declared for constant memory become those for global memory.
pub(crate) fn in_global_memory(module: &str) -> String {
    let is_declared = |line: &&str| line.starts_with("declare ");
    let declared: BTreeSet<&str> =
        module.lines().filter(is_declared).filter_map(|line| Some(global_name(line)?.0)).collect();
    let mut kept = BTreeSet::new();
    let mut out = String::with_capacity(module.len());
    for line in module.lines() {
        let line = rewritten(line, &declared);
        let name = is_declared(&line.as_str()).then(|| global_name(&line)).flatten();
        // The function may have been declared for both kinds of memory.
        if name.is_none_or(|(name, _)| kept.insert(name.to_string())) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out
}

fn rewritten(line: &str, declared: &BTreeSet<&str>) -> String {
    let mut line = line.replace("addrspace(4)", "addrspace(1)");
    for name in declared.iter().filter(|name| name.contains("U3AS4") || name.contains(".p4")) {
        if line.contains(*name) {
            line = line.replace(*name, &name.replace("U3AS4", "U3AS1").replace(".p4", ".p1"));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_memory_becomes_global() {
        let module = "@table = internal addrspace(4) constant [2 x float] zeroinitializer\n\
                      define void @_Z4mineU3AS4f(ptr addrspace(4) %p) {\n\
                      \x20 %v = call <4 x float> @_Z6vload4mPU3AS4Kf(i64 0, ptr addrspace(4) %p)\n\
                      }\n\
                      declare <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))\n\
                      declare <4 x float> @_Z6vload4mPU3AS4Kf(i64, ptr addrspace(4))\n\
                      declare void @llvm.memcpy.p0.p4.i64(ptr, ptr addrspace(4), i64, i1)\n";
        let expected = "@table = internal addrspace(1) constant [2 x float] zeroinitializer\n\
                        define void @_Z4mineU3AS4f(ptr addrspace(1) %p) {\n\
                        \x20 %v = call <4 x float> @_Z6vload4mPU3AS1Kf(i64 0, ptr addrspace(1) %p)\n\
                        }\n\
                        declare <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))\n\
                        declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n";
        assert_eq!(in_global_memory(module), expected);
    }
}
