//! Sanitizer instrumentation: checks of memory accesses, barriers and the arithmetic of indices before they are executed.
//!
//! ```text
//!   %offload.checked.7 = call ptr @__offload_access(ptr %14, ptr %12, i64 4, ptr @__offload_site_3), !dbg !37
//!   %15 = load float, ptr %offload.checked.7, align 4, !dbg !37
//! ```
//!
//! A check of an access takes the address and the pointer from which it was computed ([`origins`]), so that the runtime
//! compares it with the intended object, however far away it is. The access uses the address that the check returns, which
//! is a valid one. Loads and stores of whole variables of a function are not checked. Functions without a body in the module
//! are not instrumented; the accesses of vector loads and stores, atomic functions and group copies are known by their names
//! ([`access`]).
//!
//! The pass runs before any optimisation: all accesses of the source exist, and variables are in memory, where pointers are
//! easily tracked.

mod access;
mod indices;
mod origins;
mod sites;

use std::collections::BTreeMap;
use std::fmt::Write;

use self::access::{Access, AccessSize, accesses, ends_element_update, starts_element_update};
use self::indices::{IndexArithmetic, signed_operation};
use self::origins::{ModuleVariables, Object, PointerOrigins, source_name};
use self::sites::{DebugNodes, NameTable, Site, SiteKind, SiteTable, debug_location};
use crate::ir::{Symbol, defined_function, global_symbol};

/// Prefixes of functions of the runtime.
const RUNTIME_PREFIXES: [&str; 2] = ["__offload_", "__gpu_"];

/// A copy of `module` with checks in all functions but those of the runtime.
///
/// The checks are calls of functions that the module is to be linked with: `__offload_access`, `__offload_inside`,
/// `__offload_in_row`, `__offload_waits`, `__offload_array`, `__offload_add`, `__offload_sub` and `__offload_mul`.
/// Instructions without a debug location are not checked.
pub fn add_checks(module: &str) -> String {
    let variables = ModuleVariables::new(module);
    let index_arithmetic = IndexArithmetic::new(module);
    let mut writer = CheckWriter {
        nodes: DebugNodes::new(module),
        sites: SiteTable::default(),
        names: NameTable::default(),
        out: String::with_capacity(module.len().saturating_mul(2)),
        checks: 0,
    };
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        let Some(name) = defined_function(line).filter(|name| !is_of_runtime(name)) else {
            writer.push_line(&variables.with_redzones(line));
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
        let mut function = String::new();
        let context = ModuleContext { variables: &variables, index_arithmetic: &index_arithmetic, name };
        writer.write_function(&mut function, &body, &context);
        let text = variables.skip_redzones(&format!("{line}\n{function}}}"));
        writer.push_line(&text);
    }
    format!("{}{}{}", writer.out, writer.sites.text(), writer.names.text())
}

fn is_of_runtime(function: &str) -> bool {
    RUNTIME_PREFIXES.iter().any(|prefix| function.starts_with(prefix))
}

/// The analyses of the module around a function.
#[derive(Clone, Copy)]
struct ModuleContext<'c, 'm> {
    variables: &'c ModuleVariables<'m>,
    index_arithmetic: &'c IndexArithmetic<'m>,
    /// The name of the function.
    name: &'c str,
}

struct CheckWriter<'m> {
    nodes: DebugNodes<'m>,
    sites: SiteTable,
    names: NameTable,
    out: String,
    /// The number of checks so far, for names of values.
    checks: usize,
}

impl<'m> CheckWriter<'m> {
    fn push_line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn new_check(&mut self) -> usize {
        let number = self.checks;
        self.checks = number.saturating_add(1);
        number
    }

    fn write_function(&mut self, out: &mut String, body: &[&'m str], context: &ModuleContext<'_, 'm>) {
        let mut source_names: BTreeMap<&str, &str> = BTreeMap::new();
        for line in body {
            source_names.extend(self.declared_variable(line));
        }
        let mut origins = PointerOrigins::new(body, context.variables, &source_names);
        let mut body = body;
        // In C the first block has a name.
        if let [label, rest @ ..] = body
            && is_label(label)
        {
            let _ = writeln!(out, "{label}");
            body = rest;
        }
        self.write_array_registrations(out, body, context.variables);
        for (number, line) in body.iter().enumerate() {
            let from_here = body.get(number..).unwrap_or_default();
            let until_here = body.get(..=number).unwrap_or_default();
            let instrumented = match debug_location(line) {
                Some(_) if starts_element_update(from_here) => (*line).to_string(),
                Some(location) if signed_operation(line).is_some() => {
                    if context.index_arithmetic.contains(context.name, line) {
                        self.write_overflow_check(out, line, location)
                    } else {
                        (*line).to_string()
                    }
                }
                Some(location) => {
                    self.write_barrier_check(out, line, location);
                    let found = match ends_element_update(until_here) {
                        Some(write) => vec![write],
                        None => accesses(line),
                    };
                    self.write_access_checks(out, line, found, &CheckSite { location, origins: &origins })
                }
                None => (*line).to_string(),
            };
            out.push_str(&without_inbounds(&instrumented));
            out.push('\n');
            out.push_str(&origins.follow(line));
        }
    }

    /// The pointer and the name of a variable, from `#dbg_declare(ptr %11, !45, !DIExpression(), !47)`.
    fn declared_variable(&self, line: &'m str) -> Option<(&'m str, &'m str)> {
        let (pointer, rest) = line.trim_start().strip_prefix("#dbg_declare(ptr ")?.split_once(", !")?;
        Some((pointer, self.nodes.variable_name(rest.split(',').next()?)?))
    }

    /// Registers the local arrays that a function uses at its start.
    fn write_array_registrations(
        &mut self,
        out: &mut String,
        body: &[&str],
        variables: &ModuleVariables<'_>,
    ) {
        for (name, ty) in variables.local_arrays_in(body) {
            let text = self.names.constant(source_name(name));
            let size = size_of(ty);
            let _ = writeln!(out, "  call void @__offload_array(ptr @{name}, i64 {size}, ptr {text})");
        }
    }

    /// Writes the checks of all `accesses` of `line`, and returns it with the addresses that the checks return.
    fn write_access_checks(
        &mut self,
        out: &mut String,
        line: &str,
        mut accesses: Vec<Access<'_>>,
        site: &CheckSite<'_, '_>,
    ) -> String {
        accesses.retain(|access| !site.origins.is_whole_variable(access.pointer));
        // From the end of the line, so that the positions of those before stay valid.
        accesses.sort_by_key(|access| std::cmp::Reverse(access.pointer.as_ptr().addr()));
        let mut instrumented = line.to_string();
        for access in accesses {
            let start = access.pointer.as_ptr().addr().saturating_sub(line.as_ptr().addr());
            let end = start.saturating_add(access.pointer.len());
            let address = self.write_access_check(out, &access, site);
            instrumented.replace_range(start..end, &address);
        }
        instrumented
    }

    /// Writes the check of an access, and returns the address that the access takes.
    fn write_access_check(
        &mut self,
        out: &mut String,
        access: &Access<'_>,
        site: &CheckSite<'_, '_>,
    ) -> String {
        let number = self.new_check();
        let location = site.location;
        // The offset that a vector function adds to its pointer is subtracted again behind the check.
        let Some(offset) = &access.offset else {
            return self.write_comparisons(
                out,
                site,
                &CheckedAccess { access, number, address: access.pointer },
            );
        };
        let address = format!("%offload.at.{number}");
        let bytes = format!("%offload.bytes.{number}");
        let _ = writeln!(
            out,
            "  {bytes} = mul i64 {}, {}, !dbg !{location}\n  {address} = getelementptr i8, ptr {}, i64 {bytes}, !dbg !{location}",
            offset.index, offset.element, access.pointer
        );
        let checked = self.write_comparisons(out, site, &CheckedAccess { access, number, address: &address });
        let from = format!("%offload.from.{number}");
        let _ = writeln!(
            out,
            "  %offload.back.{number} = sub i64 0, {bytes}, !dbg !{location}\n  {from} = getelementptr i8, ptr {checked}, i64 %offload.back.{number}, !dbg !{location}"
        );
        from
    }

    /// Writes the calls that compare an address with the intended object, and returns the address that they return.
    fn write_comparisons(
        &mut self,
        out: &mut String,
        site: &CheckSite<'_, '_>,
        checked: &CheckedAccess<'_>,
    ) -> String {
        let CheckedAccess { access, number, address } = checked;
        let location = site.location;
        let constant = self.site(location, SiteKind::Access(access.kind), access.align);
        let size = match &access.size {
            AccessSize::OfType(ty) => size_of(ty),
            AccessSize::Bytes(operand) => operand.clone(),
            AccessSize::Elements(count, element) => {
                let size = format!("%offload.size.{number}");
                let _ = writeln!(out, "  {size} = mul i64 {count}, {element}, !dbg !{location}");
                size
            }
        };
        let origin = site.origins.origin(access.pointer);
        let base = origin.base;
        let result = format!("%offload.checked.{number}");
        match &origin.object {
            Some(Object { ty, name }) => {
                let whole = size_of(ty);
                let name = self.names.constant(name);
                let _ = writeln!(
                    out,
                    "  {result} = call ptr @__offload_inside(ptr {address}, ptr {base}, i64 {whole}, i64 {size}, ptr {name}, ptr {constant}), !dbg !{location}"
                );
            }
            None => {
                let _ = writeln!(
                    out,
                    "  {result} = call ptr @__offload_access(ptr {address}, ptr {base}, i64 {size}, ptr {constant}), !dbg !{location}"
                );
            }
        }
        let Some(array) = &origin.array else { return result };
        let start = &array.start;
        let whole = size_of(&array.ty);
        let in_array = format!("%offload.row.{number}");
        let _ = writeln!(
            out,
            "  {in_array} = call ptr @__offload_in_row(ptr {result}, ptr {address}, ptr {start}, i64 {whole}, i64 {size}, ptr {constant}), !dbg !{location}"
        );
        in_array
    }

    /// Writes the check of a barrier, with the memory that it orders.
    fn write_barrier_check(&mut self, out: &mut String, line: &str, location: &str) {
        let Some((_, call)) = line.split_once("call ") else { return };
        let Some(Symbol { name, rest: arguments }) = global_symbol(call) else { return };
        if !is_barrier_function(name) {
            return;
        }
        let mut flags = None;
        if WARP_BARRIER_FUNCTIONS.iter().any(|barrier| name.contains(barrier)) {
            flags = Some(WARP_FLAGS);
        } else if name.contains("barrier") {
            let argument = arguments.split([',', ')']).next().unwrap_or_default();
            flags = argument.rsplit(' ').next().and_then(|word| word.parse::<u32>().ok());
        }
        // Group functions order all memory, and so may flags that are no constant.
        let flags = flags.unwrap_or(u32::MAX);
        let site = self.site(location, SiteKind::Barrier, 0);
        let _ = writeln!(out, "  call void @__offload_waits(i32 {flags}, ptr {site}), !dbg !{location}");
    }

    /// Writes the check of an operation that must not overflow, and returns `line` without that promise.
    fn write_overflow_check(&mut self, out: &mut String, line: &str, location: &str) -> String {
        let Some(operation) = signed_operation(line) else { return line.to_string() };
        let site = self.site(location, SiteKind::Arithmetic(operation.arithmetic), operation.bits);
        let is_long = u32::from(operation.bits == 64);
        let mut left = operation.left.to_string();
        let mut right = operation.right.to_string();
        if operation.bits == 32 {
            let number = self.new_check();
            for (operand, name) in [(&mut left, "left"), (&mut right, "right")] {
                let wide = format!("%offload.{name}.{number}");
                let _ = writeln!(out, "  {wide} = sext i32 {operand} to i64, !dbg !{location}");
                *operand = wide;
            }
        }
        let _ = writeln!(
            out,
            "  call void @__offload_{}(i64 {left}, i64 {right}, i32 {is_long}, ptr {site}), !dbg !{location}",
            operation.arithmetic.word()
        );
        line.replacen(" nsw ", " ", 1)
    }

    /// The constant that describes a check to the runtime.
    fn site(&mut self, location: &str, kind: SiteKind, align: u64) -> String {
        let number = self.sites.number(Site { location: self.nodes.source_location(location), kind, align });
        format!("@__offload_site_{number}")
    }
}

/// The place of checks in a function.
struct CheckSite<'t, 'm> {
    /// The number of a `DILocation`, which calls need in functions with debug information.
    location: &'t str,
    origins: &'t PointerOrigins<'t, 'm>,
}

/// An access with the address that is checked.
#[derive(Clone, Copy, Debug)]
struct CheckedAccess<'c> {
    access: &'c Access<'c>,
    number: usize,
    address: &'c str,
}

fn is_label(line: &str) -> bool {
    !line.starts_with(' ') && line.contains(':')
}

/// The functions of a barrier of a warp in the headers for CUDA C++, and of a sub-group in OpenCL C, and the flags of
/// their check.
const WARP_BARRIER_FUNCTIONS: [&str; 2] = ["__offload_warp_barrier", "sub_group_barrier"];
const WARP_FLAGS: u32 = 1 << 30;

/// Whether a function is a barrier of the work-group or of a warp.
fn is_barrier_function(name: &str) -> bool {
    let has_barrier = ["barrier", "wait_group_events", "work_group_", "__gpu_sync_threads", "__syncthreads"]
        .iter()
        .any(|word| name.contains(word));
    has_barrier && !name.contains("async_work_group")
}

/// A line whose `getelementptr` may leave the object: that is reported, and no undefined behaviour.
fn without_inbounds(line: &str) -> String {
    const FLAGS: [&str; 4] = [
        "getelementptr inbounds nuw ",
        "getelementptr inbounds ",
        "getelementptr nusw nuw ",
        "getelementptr nuw ",
    ];
    let mut line = line.to_string();
    for flags in FLAGS {
        line = line.replace(flags, "getelementptr ");
    }
    line
}

fn size_of(ty: &str) -> String {
    format!("ptrtoint (ptr getelementptr ({ty}, ptr null, i64 1) to i64)")
}

#[cfg(test)]
mod tests;
