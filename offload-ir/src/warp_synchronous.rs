//! Warp-synchronous code of CUDA C++ for the CPU: volatile stores, between which lanes of a warp read what others have
//! stored without a barrier.
//!
//! Sources from before Volta's independent thread scheduling rely on lanes that execute the same instruction together
//! (<https://docs.nvidia.com/cuda/volta-tuning-guide/index.html#independent-thread-scheduling>), and GPUs still execute them
//! so as long as lanes do not diverge. On the CPU a barrier of the warp before each store lets all lanes read first, and one
//! behind it lets all of them store.

use std::collections::BTreeSet;

const FENCE: &str = "__offload_volatile_fence";

/// What the function of the fence uses, as the headers of CUDA C++ for the CPU declare it.
const USED: [(&str, &str); 3] = [
    ("@__offload_warp_masks", "@__offload_warp_masks = external hidden global [32 x i32], align 16"),
    ("@_Z19get_local_linear_idv(", "declare i64 @_Z19get_local_linear_idv()"),
    ("@__offload_wait_warp(", "declare void @__offload_wait_warp() convergent"),
];

/// A copy of `module`, device code with shared memory as local arrays, with barriers around volatile stores to memory that
/// lanes may share.
pub fn with_warp_synchronous_stores(module: &str) -> String {
    if !has_shared_memory(module) || !module.contains("store volatile ") {
        return module.to_string();
    }
    let mut out = String::with_capacity(module.len());
    let mut own = BTreeSet::new();
    let mut has_fence = false;
    for line in module.split_inclusive('\n') {
        if line.starts_with("define ") {
            own.clear();
        }
        own.extend(allocated(line));
        if is_shared_store(line, &own) {
            let fence = fence(line);
            out.push_str(&fence);
            out.push_str(line);
            out.push_str(&fence);
            has_fence = true;
        } else {
            out.push_str(line);
        }
    }
    if has_fence {
        push_fence_function(&mut out, module);
    }
    out
}

fn has_shared_memory(module: &str) -> bool {
    module
        .lines()
        .any(|line| line.starts_with('@') && line.contains(" = internal global ") && line.contains(" undef"))
}

/// The name of the variable of a function that `line` allocates.
fn allocated(line: &str) -> Option<&str> {
    let (name, _) = line.trim_start().split_once(" = alloca ")?;
    Some(name)
}

/// Whether `line` is a volatile store to memory that is no variable of the function.
fn is_shared_store(line: &str, own: &BTreeSet<&str>) -> bool {
    let Some(store) = line.trim_start().strip_prefix("store volatile ") else { return false };
    let Some((_, pointer)) = store.rsplit_once(", ptr ") else { return false };
    let name = pointer.split([',', '\n']).next().unwrap_or_default();
    !own.contains(name)
}

/// A call of the fence with the location of `store`.
fn fence(store: &str) -> String {
    let location =
        store.split_once(", !dbg ").map(|(_, rest)| rest.split([',', '\n']).next().unwrap_or_default());
    let location = location.map(|node| format!(", !dbg {node}")).unwrap_or_default();
    format!("  call void @{FENCE}() convergent{location}\n")
}

fn push_fence_function(out: &mut String, module: &str) {
    for (used, declaration) in USED {
        let is_declared = module.lines().any(|line| line.starts_with(['@', 'd']) && line.contains(used));
        if !is_declared {
            out.push_str(declaration);
            out.push('\n');
        }
    }
    out.push_str(&format!(
        "\ndefine internal void @{FENCE}() alwaysinline convergent nounwind {{\n  \
         %id = call i64 @_Z19get_local_linear_idv()\n  \
         %lane = urem i64 %id, 32\n  \
         %mask = getelementptr i32, ptr @__offload_warp_masks, i64 %lane\n  \
         store i32 -1, ptr %mask, align 4\n  \
         call void @__offload_wait_warp() convergent\n  \
         ret void\n}}\n"
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "@tile = internal global [64 x i32] undef, align 4\n\
        declare void @__offload_wait_warp() #2\n\
        define void @k(ptr %x) {\n  %own = alloca i32, align 4\n  store volatile i32 1, ptr %own, align 4\n  \
        store volatile i32 2, ptr %x, align 4, !dbg !7\n  store i32 3, ptr %x, align 4\n  ret void\n}\n";

    #[test]
    fn barriers_surround_volatile_stores_to_shared_memory() {
        let text = with_warp_synchronous_stores(MODULE);
        let fence = "  call void @__offload_volatile_fence() convergent, !dbg !7\n";
        let store = "  store volatile i32 2, ptr %x, align 4, !dbg !7\n";
        assert!(text.contains(&[fence, store, fence].concat()), "{text}");
        assert_eq!(text.matches("call void @__offload_volatile_fence()").count(), 2, "{text}");
        assert_eq!(text.matches("@__offload_wait_warp()").count(), 2, "{text}");
        assert!(text.contains("@__offload_warp_masks = external"), "{text}");
    }

    #[test]
    fn modules_without_shared_memory_stay() {
        let module = MODULE.replace("internal global", "internal constant");
        assert_eq!(with_warp_synchronous_stores(&module), module);
    }
}
