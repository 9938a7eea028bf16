//! Vectors of 512 bits, where a kernel computes much for each access of memory.
//!
//! LLVM prefers vectors of 256 bits on CPUs with AVX-512 (`prefer-vector-width`,
//! <https://clang.llvm.org/docs/ClangCommandLineReference.html#cmdoption-clang-mprefer-vector-width>): wider accesses cross
//! lines of the cache, and short rows leave a rest. Arithmetic alone has no such cost.

use crate::analysis::work_item_state::state_load;
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
const MAX_DEPTH: u32 = 4;

/// The attribute of a work-group function for vectors of 512 bits, if the CPU has them and they pay.
pub(crate) fn attribute(plan: &Plan<'_>, vector_bits: u32, text: &WorkGroupText) -> &'static str {
    if vector_bits < WIDE_VECTOR {
        return "";
    }
    let pays = if text.has_vector_regions { text.has_wide_regions } else { is_arithmetic(plan) };
    if pays { "\"prefer-vector-width\"=\"512\" " } else { "" }
}

/// Whether floating-point arithmetic of vectors of work-items outweighs accesses of memory.
fn is_arithmetic(plan: &Plan<'_>) -> bool {
    if plan.context_layout == ContextLayout::ArrayOfStructs {
        return false;
    }
    let mut depths = vec![0_u32; plan.function.blocks.len()];
    for block in plan.cfg.loops().iter().flat_map(|one| &one.blocks) {
        if let Some(depth) = depths.get_mut(*block) {
            *depth = MAX_DEPTH.min(*depth + 1);
        }
    }
    let mut operations: u64 = 0;
    let mut accesses: u64 = 0;
    for (block, depth) in plan.function.blocks.iter().zip(depths) {
        let times = ITERATIONS.saturating_pow(depth);
        for instruction in &block.instructions {
            let count = floating_point_operations(instruction).saturating_mul(times);
            operations = operations.saturating_add(count);
            if is_access(plan, instruction) {
                accesses = accesses.saturating_add(times);
            }
        }
    }
    operations > 0 && operations >= accesses.saturating_mul(OPERATIONS_PER_ACCESS)
}

/// Whether an instruction accesses the memory of a work-item: arguments are loaded once for a group, and the position is no
/// memory.
fn is_access(plan: &Plan<'_>, instruction: &Instruction) -> bool {
    match instruction.opcode {
        Opcode::Store => true,
        Opcode::Load => {
            let name = instruction.result.as_deref().unwrap_or_default();
            !plan.values.uniform.contains(name) && state_load(instruction).is_none()
        }
        _ => false,
    }
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
