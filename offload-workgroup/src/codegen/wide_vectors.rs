//! Vectors of 512 bits, where a kernel computes much for each access of memory.
//!
//! LLVM prefers vectors of 256 bits on CPUs with AVX-512 (`prefer-vector-width`,
//! <https://clang.llvm.org/docs/ClangCommandLineReference.html#cmdoption-clang-mprefer-vector-width>): wider accesses cross
//! lines of the cache, and short rows leave a rest. Arithmetic alone has no such cost.

use crate::codegen::plan::{ContextLayout, Plan};
use crate::codegen::work_group::WorkGroupText;
use crate::ir::function::{Instruction, Opcode};
use crate::transforms::vector_math::MATH_PREFIX;

/// The bits of vectors that LLVM does not use by itself.
pub(crate) const WIDE_VECTOR: u32 = 512;
/// Floating-point operations for each access from which on they decide about the time.
const OPERATIONS_PER_ACCESS: u64 = 8;
/// Those in a function of the library.
const OPERATIONS_OF_CALL: u64 = 20;
/// Iterations of a loop.
const ITERATIONS: u64 = 8;
/// Nesting beyond which loops count as often as those outside.
const MAX_DEPTH: usize = 4;

/// The attribute of a work-group function for vectors of 512 bits, if the CPU has them and they pay.
pub(crate) fn attribute(plan: &Plan<'_>, vector_bits: u32, text: &WorkGroupText) -> &'static str {
    let pays = if text.has_vector_regions { text.has_wide_regions } else { is_arithmetic(plan) };
    let is_wanted = vector_bits >= WIDE_VECTOR && pays;
    if is_wanted { "\"prefer-vector-width\"=\"512\" " } else { "" }
}

/// Whether floating-point arithmetic of vectors of work-items outweighs accesses of memory.
fn is_arithmetic(plan: &Plan<'_>) -> bool {
    if plan.context_layout == ContextLayout::ArrayOfStructs {
        return false;
    }
    let loops = plan.cfg.loops();
    let mut operations: u64 = 0;
    let mut accesses: u64 = 0;
    for (number, block) in plan.function.blocks.iter().enumerate() {
        let depth = loops.iter().filter(|one| one.blocks.contains(&number)).count().min(MAX_DEPTH);
        let times = ITERATIONS.saturating_pow(u32::try_from(depth).unwrap_or(0));
        for instruction in &block.instructions {
            let count = floating_point_operations(instruction).saturating_mul(times);
            operations = operations.saturating_add(count);
            // Arguments are loaded once for a group.
            let is_uniform =
                instruction.result.as_deref().is_some_and(|name| plan.values.uniform.contains(name));
            if matches!(instruction.opcode, Opcode::Load | Opcode::Store) && !is_uniform {
                accesses = accesses.saturating_add(times);
            }
        }
    }
    operations > 0 && operations >= accesses.saturating_mul(OPERATIONS_PER_ACCESS)
}

fn floating_point_operations(instruction: &Instruction) -> u64 {
    const CALLS: [&str; 4] = ["@llvm.fma.", "@llvm.fmuladd.", "@llvm.maxnum.", "@llvm.minnum."];
    let line = &instruction.line;
    match instruction.opcode {
        Opcode::Call if line.contains(MATH_PREFIX) => OPERATIONS_OF_CALL,
        Opcode::Call => u64::from(CALLS.iter().any(|name| line.contains(name))),
        _ => u64::from(["fadd", "fsub", "fmul", "fcmp"].contains(&line.opcode())),
    }
}

#[cfg(test)]
mod tests {
    use crate::{Kernel, Options, generate_work_groups};

    /// A kernel with `count` multiplications for a load and a store.
    fn is_wide(count: usize, bits: u32) -> bool {
        let mut body = String::new();
        for number in 0..count {
            body.push_str(&format!("  %m{} = fmul float %m{number}, %m{number}\n", number + 1));
        }
        let module = format!(
            "define void @__offload_work_item_k(ptr %args) #0 {{\n\
             entry:\n  %cell = load ptr, ptr %args, align 8\n  %to = load ptr, ptr %cell, align 8\n  \
             %id = load i64, ptr @__offload_state_local_id, align 8\n  \
             %at = getelementptr float, ptr %to, i64 %id\n  %m0 = load float, ptr %at, align 4\n{body}  \
             store float %m{count}, ptr %at, align 4\n  ret void\n}}\n\
             attributes #0 = {{ \"target-cpu\"=\"x86-64-v4\" }}\n"
        );
        let text = generate_work_groups(&module, &[Kernel::new("k")], &Options::new(bits)).unwrap();
        text.contains("\"prefer-vector-width\"=\"512\" \"target-cpu\"")
    }

    #[test]
    fn arithmetic_is_wide_and_copies_are_not() {
        assert!(is_wide(16, 512));
        assert!(!is_wide(15, 512));
        assert!(!is_wide(0, 512));
        assert!(!is_wide(16, 256));
    }
}
