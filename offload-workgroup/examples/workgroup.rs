//! Work-group functions of the kernels in a file of LLVM IR.
//!
//! ```text
//! cargo run -p offload-workgroup --example workgroup -- IN.ll           the module with work-group functions
//! cargo run -p offload-workgroup --example workgroup -- --prepare IN.ll before LLVM's inliner
//! ```
//!
//! Kernels are the `spir_kernel` functions and the work-item functions of the module. A kernel with a barrier has to be
//! inlined into its work-item function: `--prepare`, then `opt -S -passes=always-inline`, then this example again.

use std::error::Error;
use std::process::ExitCode;
use std::{env, fs};

use offload_workgroup::ir::{declared_functions, defined_function, global_symbol, parameters};
use offload_workgroup::{
    Argument, ArgumentKind, Kernel, Options, WORK_ITEM_PREFIX, add_work_item_functions, generate_work_groups,
    merge_address_spaces, prepare_work_items,
};

/// Functions that work-group functions call.
const RUNTIME: [&str; 8] = [
    "declare void @__offload_begin(ptr)\n",
    "declare void @__offload_item(i64, i64, i64)\n",
    "declare void @__offload_end()\n",
    "declare void @__offload_block_begin(ptr, i64)\n",
    "declare i32 @__offload_block_next(ptr, i64)\n",
    "declare i64 @__offload_warp_next(ptr, i64)\n",
    "declare i32 @__offload_warp_lane(i32)\n",
    "declare void @__offload_warp_pass()\n",
];

fn main() -> ExitCode {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    let is_preparation = arguments.first().is_some_and(|argument| argument == "--prepare");
    if is_preparation {
        arguments.remove(0);
    }
    let [path] = arguments.as_slice() else {
        eprintln!("usage: workgroup [--prepare] IN.ll");
        return ExitCode::FAILURE;
    };
    match run(path, is_preparation) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(path: &str, is_preparation: bool) -> Result<String, Box<dyn Error>> {
    let module = fs::read_to_string(path)?;
    let has_work_items = module.contains(&format!("@{WORK_ITEM_PREFIX}"));
    let kernels = if has_work_items { Vec::new() } else { kernels(&module) };
    let is_prepared = has_work_items && !is_preparation;
    let module = if is_prepared {
        module
    } else {
        add_work_item_functions(&merge_address_spaces(&module)?, &kernels)?
    };
    if is_preparation {
        return Ok(prepare_work_items(&module));
    }
    let mut groups = generate_work_groups(&module, &kernels, &Options::new(256))?;
    for declaration in RUNTIME {
        let name = declared_functions(declaration).into_iter().next().unwrap_or_default();
        if !groups.lines().any(|line| defined_function(line) == Some(name)) {
            groups.push_str(declaration);
        }
    }
    Ok(groups)
}

/// The `spir_kernel` functions of a module, with arguments by their address spaces.
fn kernels(module: &str) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for line in module.lines().filter(|line| line.contains(" spir_kernel ")) {
        let Some(name) = defined_function(line) else { continue };
        let Some(list) = global_symbol(line).and_then(|symbol| parameters(symbol.rest)) else { continue };
        let mut arguments = Vec::new();
        for parameter in list.list {
            let kind = match parameter.type_text() {
                "ptr addrspace(3)" => ArgumentKind::Local,
                "ptr addrspace(2)" => ArgumentKind::Constant,
                ty if ty.starts_with("ptr") && !parameter.is_by_value() => ArgumentKind::Global,
                _ => ArgumentKind::Value,
            };
            arguments.push(Argument::new(parameter.name(), kind));
        }
        kernels.push(Kernel::new(name).with_arguments(arguments));
    }
    kernels
}
