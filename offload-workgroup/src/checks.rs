//! Checks of the target `host`: accesses of memory, barriers and the arithmetic of indices are told before they happen.
//!
//! ```text
//!   %offload.told.7 = call ptr @__offload_access(ptr %14, ptr %12, i64 4, ptr @__offload_site_3), !dbg !37
//!   %15 = load float, ptr %offload.told.7, align 4, !dbg !37
//! ```
//!
//! An access says where it goes and from which pointer that was computed ([`origins`]), so that it is compared with what
//! was meant, however far away it is; and it takes the address that the call returns, so that a wrong one harms nobody.
//! What variables of a function are loaded and stored is left out. Functions that are not in the module (mathematics) tell
//! nothing; those of vectors, atomic ones and copies of work-groups are known by their names ([`access`]).
//!
//! All of this happens before anything is optimised: none of the source is missing, and variables are in memory, where
//! their values are easily followed.

mod access;
mod indices;
mod origins;
mod sites;

use std::collections::BTreeMap;
use std::fmt::Write;

use self::access::{Access, Size, accesses, replaced_element, replaces_elements};
use self::indices::Indices;
use self::origins::{Object, Origins, Variables, own_name};
use self::sites::{Kind, Nodes, Site, Sites, Texts, debug_location};
use super::global_name;

/// What functions of ours start with.
const OWN: [&str; 2] = ["__offload_", "__gpu_"];

/// A copy of `module` in which the functions of kernels tell what they do.
pub(crate) fn with_checks(module: &str) -> String {
    let variables = Variables::of(module);
    let indices = Indices::of(module);
    let mut writer = Writer {
        nodes: Nodes::of(module),
        sites: Sites::default(),
        names: Texts::default(),
        out: String::with_capacity(module.len().saturating_mul(2)),
        told: 0,
    };
    let mut lines = module.lines();
    while let Some(line) = lines.next() {
        // Those of the shim, around kernels, and of our gpuintrin.h are left as they are.
        let name = line.starts_with("define ").then(|| global_name(line)).flatten().map(|(name, _)| name);
        let Some(name) = name.filter(|name| !OWN.iter().any(|own| name.starts_with(own))) else {
            writer.plain(&variables.zoned(line));
            continue;
        };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
        let mut function = String::new();
        writer.function(&mut function, &body, &Context { variables: &variables, indices: &indices, name });
        let text = variables.moved(&format!("{line}\n{function}}}"));
        writer.plain(&text);
    }
    format!("{}{}{}", writer.out, writer.sites.text(), writer.names.text())
}

/// What is known of the module where a function is written.
#[derive(Clone, Copy)]
struct Context<'c, 'm> {
    variables: &'c Variables<'m>,
    indices: &'c Indices<'m>,
    name: &'c str,
}

struct Writer<'m> {
    nodes: Nodes<'m>,
    sites: Sites,
    names: Texts,
    out: String,
    /// So many addresses were told.
    told: usize,
}

impl<'m> Writer<'m> {
    fn plain(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn function(&mut self, out: &mut String, body: &[&'m str], context: &Context<'_, 'm>) {
        let named: BTreeMap<&str, &str> = body.iter().filter_map(|line| self.named(line)).collect();
        let mut origins = Origins::of(body, context.variables, &named);
        let mut body = body;
        // In C the first block has a name.
        if let [label, rest @ ..] = body
            && is_label(label)
        {
            let _ = writeln!(out, "{label}");
            body = rest;
        }
        self.arrays(out, body, context.variables);
        for (number, line) in body.iter().enumerate() {
            let from_here = body.get(number..).unwrap_or_default();
            let now = match debug_location(line) {
                Some(_) if replaces_elements(from_here) => (*line).to_string(),
                Some(location) if indices::operation(line).is_some() => {
                    match context.indices.is_index(context.name, line) {
                        true => self.arithmetic(out, line, location),
                        false => (*line).to_string(),
                    }
                }
                Some(location) => {
                    self.wait(out, line, location);
                    let until_here = body.get(..=number).unwrap_or_default();
                    let found = match replaced_element(until_here) {
                        Some(write) => vec![write],
                        None => accesses(line),
                    };
                    self.access(out, line, found, &Told { location, origins: &origins })
                }
                None => (*line).to_string(),
            };
            out.push_str(&without_promises(&now));
            out.push('\n');
            out.push_str(&origins.follow(line));
        }
    }

    /// Which variable lies where, by `#dbg_declare(ptr %11, !45, !DIExpression(), !47)`.
    fn named(&self, line: &'m str) -> Option<(&'m str, &'m str)> {
        let (pointer, rest) = line.trim_start().strip_prefix("#dbg_declare(ptr ")?.split_once(", !")?;
        Some((pointer, self.nodes.name(rest.split(',').next()?)?))
    }

    /// Says which local arrays a function uses, when it starts.
    fn arrays(&mut self, out: &mut String, body: &[&str], variables: &Variables<'_>) {
        for (name, ty) in variables.local_in(body) {
            let text = self.names.constant(own_name(name));
            let size = size_of(ty);
            let _ = writeln!(out, "  call void @__offload_array(ptr @{name}, i64 {size}, ptr {text})");
        }
    }

    /// `line` with the addresses that the calls before it return, for what was `found` in it.
    fn access(
        &mut self,
        out: &mut String,
        line: &str,
        mut found: Vec<Access<'_>>,
        told: &Told<'_, '_>,
    ) -> String {
        found.retain(|access| !told.origins.is_whole_variable(access.pointer));
        // From the end of the line, where what comes before keeps its place.
        found.sort_by_key(|access| std::cmp::Reverse(access.pointer.as_ptr().addr()));
        let mut now = line.to_string();
        for access in found {
            let start = access.pointer.as_ptr().addr().saturating_sub(line.as_ptr().addr());
            let end = start.saturating_add(access.pointer.len());
            let address = self.tell(out, &access, told);
            now.replace_range(start..end, &address);
        }
        now
    }

    /// Writes the calls for an access; returns the address that it takes.
    fn tell(&mut self, out: &mut String, access: &Access<'_>, told: &Told<'_, '_>) -> String {
        let number = self.told;
        self.told = number.saturating_add(1);
        let location = told.location;
        // What a vector's function adds to its pointer comes off again behind the check.
        let Some(offset) = &access.offset else {
            return self.compare(out, told, &Call { access, number, address: access.pointer });
        };
        let address = format!("%offload.at.{number}");
        let bytes = format!("%offload.bytes.{number}");
        // Writing to a String does not fail.
        let _ = writeln!(
            out,
            "  {bytes} = mul i64 {}, {}, !dbg !{location}\n  {address} = getelementptr i8, ptr {}, i64 {bytes}, !dbg !{location}",
            offset.index, offset.element, access.pointer
        );
        let checked = self.compare(out, told, &Call { access, number, address: &address });
        let from = format!("%offload.from.{number}");
        let _ = writeln!(
            out,
            "  %offload.back.{number} = sub i64 0, {bytes}, !dbg !{location}\n  {from} = getelementptr i8, ptr {checked}, i64 %offload.back.{number}, !dbg !{location}"
        );
        from
    }

    /// Writes the calls that compare an address with what is meant; returns the address that comes back.
    fn compare(&mut self, out: &mut String, told: &Told<'_, '_>, call: &Call<'_>) -> String {
        let (Call { access, number, address }, location) = (call, told.location);
        let site = self.site(location, Kind::Access(access.kind), access.align);
        let size = match &access.size {
            Size::OfType(ty) => size_of(ty),
            Size::Bytes(operand) => operand.clone(),
            Size::Elements(count, element) => {
                let size = format!("%offload.size.{number}");
                let _ = writeln!(out, "  {size} = mul i64 {count}, {element}, !dbg !{location}");
                size
            }
        };
        let origin = told.origins.origin(access.pointer);
        let (base, checked) = (origin.base, format!("%offload.told.{number}"));
        let _ = match &origin.object {
            Some(Object { ty, name }) => {
                let (whole, name) = (size_of(ty), self.names.constant(name));
                writeln!(
                    out,
                    "  {checked} = call ptr @__offload_inside(ptr {address}, ptr {base}, i64 {whole}, i64 {size}, ptr {name}, ptr {site}), !dbg !{location}"
                )
            }
            None => writeln!(
                out,
                "  {checked} = call ptr @__offload_access(ptr {address}, ptr {base}, i64 {size}, ptr {site}), !dbg !{location}"
            ),
        };
        let Some(row) = &origin.row else { return checked };
        let (start, whole, in_row) = (&row.start, size_of(&row.ty), format!("%offload.row.{number}"));
        let _ = writeln!(
            out,
            "  {in_row} = call ptr @__offload_in_row(ptr {checked}, ptr {address}, ptr {start}, i64 {whole}, i64 {size}, ptr {site}), !dbg !{location}"
        );
        in_row
    }

    /// Work-items that wait say so, and for which memory.
    fn wait(&mut self, out: &mut String, line: &str, location: &str) {
        let Some((_, call)) = line.split_once("call ") else { return };
        let Some((name, arguments)) = global_name(call).filter(|(name, _)| waits_in(name)) else { return };
        let flags = arguments.split([',', ')']).next().unwrap_or_default();
        let flags = flags.rsplit(' ').next().filter(|_| name.contains("barrier"));
        // Functions of work-groups wait for all memory, as does what is not known.
        let flags = flags.and_then(|flags| flags.parse::<u32>().ok()).unwrap_or(u32::MAX);
        let site = self.site(location, Kind::Wait, 0);
        let _ = writeln!(out, "  call void @__offload_waits(i32 {flags}, ptr {site}), !dbg !{location}");
    }

    /// `line`, which now may overflow: that is told.
    fn arithmetic(&mut self, out: &mut String, line: &str, location: &str) -> String {
        let Some(operation) = indices::operation(line) else { return line.to_string() };
        let site = self.site(location, Kind::Arithmetic(operation.kind), operation.bits);
        let is_long = u32::from(operation.bits == 64);
        let mut operands = [operation.left, operation.right].map(str::to_string);
        if operation.bits == 32 {
            let number = self.told;
            self.told = number.saturating_add(1);
            for (operand, name) in operands.iter_mut().zip(["left", "right"]) {
                let wide = format!("%offload.{name}.{number}");
                let _ = writeln!(out, "  {wide} = sext i32 {operand} to i64, !dbg !{location}");
                *operand = wide;
            }
        }
        let [left, right] = operands;
        let _ = writeln!(
            out,
            "  call void @__offload_{}(i64 {left}, i64 {right}, i32 {is_long}, ptr {site}), !dbg !{location}",
            operation.kind.word()
        );
        line.replacen(" nsw ", " ", 1)
    }

    fn site(&mut self, location: &str, kind: Kind, align: u64) -> String {
        let number = self.sites.number(Site { place: self.nodes.place(location), kind, align });
        format!("@__offload_site_{number}")
    }
}

/// Where calls that tell of an access belong.
struct Told<'t, 'm> {
    /// The number of a `DILocation`, as functions with debug information need it.
    location: &'t str,
    origins: &'t Origins<'t, 'm>,
}

fn is_label(line: &str) -> bool {
    !line.starts_with(' ') && line.contains(':')
}

/// Whether work-items of a group wait for each other in a function of OpenCL C.
fn waits_in(name: &str) -> bool {
    let waits = ["barrier", "wait_group_events", "work_group_", "__gpu_sync_threads"]
        .iter()
        .any(|word| name.contains(word));
    waits && !name.contains("sub_group") && !name.contains("async_work_group")
}

/// A check of an access: its number, and the address that it is of.
#[derive(Clone, Copy, Debug)]
struct Call<'c> {
    access: &'c Access<'c>,
    number: usize,
    address: &'c str,
}

/// An address outside of what it was computed from is no undefined behaviour here: it is told.
fn without_promises(line: &str) -> String {
    [
        "getelementptr inbounds nuw ",
        "getelementptr inbounds ",
        "getelementptr nusw nuw ",
        "getelementptr nuw ",
    ]
    .iter()
    .fold(line.to_string(), |line, promise| line.replace(promise, "getelementptr "))
}

fn size_of(ty: &str) -> String {
    format!("ptrtoint (ptr getelementptr ({ty}, ptr null, i64 1) to i64)")
}

#[cfg(test)]
mod tests;
