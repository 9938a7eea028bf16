//! Row of the report: a kernel of a module for a target.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use offload_format::Target;
use serde::Serialize;

use crate::read::records::{ImageRecord, KernelRecord, or_dash};

/// Resource usage of a kernel. Registers are counted in the unit of the architecture.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    reason: &'static str,
    pub(super) kernel: String,
    pub(super) module: String,
    pub(super) part: String,
    pub(super) target: String,
    pub(super) registers: Option<u32>,
    scalar_registers: Option<u32>,
    accumulator_registers: Option<u32>,
    /// `default` or `large`, on Intel GPUs.
    grf: Option<&'static str>,
    /// Bytes.
    pub(super) spilled: Option<u64>,
    pub(super) local_memory: Option<u64>,
    pub(super) private_memory: Option<u64>,
    sub_group_size: Option<u32>,
    work_group: String,
    /// Bytes of machine code.
    pub(super) code_size: Option<u64>,
    /// Numbers that are the maximum of the target family, and spills.
    pub(super) worst: Vec<&'static str>,
    pub(super) remark: String,
}

const HEADINGS: [&str; 14] = [
    "kernel",
    "module",
    "part",
    "target",
    "registers",
    "scalar",
    "acc",
    "GRF",
    "spilled",
    "local",
    "private",
    "work-group",
    "code",
    "worst",
];
/// The columns that are there however empty they are.
const ALWAYS: [&str; 6] = ["kernel", "module", "target", "registers", "spilled", "code"];

/// Registers that a thread of an Intel GPU has, unless it is given the large file
/// (<https://www.intel.com/content/www/us/en/docs/oneapi/optimization-guide-gpu/2024-2/small-register-mode-vs-large-register-mode.html>).
const DEFAULT_GRF: u32 = 128;

/// Every kernel of every image: those that spill first, then those with the most registers.
pub(super) fn rows(images: &[ImageRecord]) -> Vec<Row> {
    let kernels =
        images.iter().flat_map(|image| image.kernels.iter().flatten().map(move |kernel| (image, kernel)));
    let mut rows: Vec<Row> = kernels.map(|(image, kernel)| Row::new(image, kernel)).collect();
    mark(&mut rows);
    rows.sort_by(|a, b| a.order().cmp(&b.order()));
    rows
}

impl Row {
    fn new(image: &ImageRecord, kernel: &KernelRecord) -> Row {
        let intel = matches!(image.target.parse(), Ok(Target::Intel(_)));
        Row {
            reason: "kernel",
            kernel: kernel.name.clone(),
            module: image.module_name(),
            part: [image.part.as_str(), image.name.as_str()].concat(),
            target: image.target.clone(),
            registers: kernel.registers,
            scalar_registers: kernel.scalar_registers,
            accumulator_registers: kernel.accumulator_registers,
            grf: kernel
                .registers
                .filter(|_| intel)
                .map(|registers| if registers > DEFAULT_GRF { "large" } else { "default" }),
            spilled: kernel.spilled,
            local_memory: kernel.local_memory,
            private_memory: kernel.private_memory,
            sub_group_size: kernel.sub_group_size,
            work_group: kernel.work_group(),
            code_size: kernel.code_size,
            worst: Vec::new(),
            remark: kernel.remark.clone(),
        }
    }

    pub(super) fn spills(&self) -> bool {
        self.spilled.is_some_and(|bytes| bytes > 0)
    }

    /// Whether anything is known of what it uses.
    pub(super) fn tells(&self) -> bool {
        let known = [self.spilled, self.private_memory, self.code_size].iter().any(Option::is_some);
        let registers = self.registers.or(self.scalar_registers).is_some();
        known || registers || self.local_memory > Some(0) || self.work_group != "-" || !self.remark.is_empty()
    }

    /// The key of the kernel in the baseline.
    pub(super) fn key(&self) -> String {
        let part = if self.part.is_empty() { String::new() } else { format!(" {}", self.part) };
        format!("{} {} {}{part}", self.module, self.kernel, self.target)
    }

    /// The numbers of which less is better, each with its name.
    pub(super) fn numbers(&self) -> [(&'static str, Option<u64>); 5] {
        [
            ("spilled", self.spilled),
            ("registers", self.registers.map(u64::from)),
            ("private", self.private_memory),
            ("local", self.local_memory),
            ("code", self.code_size),
        ]
    }

    fn cells(&self) -> Vec<(&'static str, String)> {
        let cells = [
            self.kernel.clone(),
            self.module.clone(),
            self.part.clone(),
            self.target.clone(),
            or_dash(self.registers),
            or_dash(self.scalar_registers),
            or_dash(self.accumulator_registers),
            or_dash(self.grf),
            or_dash(self.spilled),
            or_dash(self.local_memory),
            or_dash(self.private_memory),
            self.work_group.clone(),
            or_dash(self.code_size),
            self.worst.join(", "),
        ];
        HEADINGS.into_iter().zip(cells).collect()
    }

    fn order(&self) -> impl Ord + use<'_> {
        (
            Reverse((self.spilled, self.registers, self.private_memory)),
            (&self.module, &self.kernel, &self.target, &self.part),
        )
    }

    /// Numbers of another family have another unit.
    fn family(&self) -> &'static str {
        crate::settings::known_targets::family_of(&self.target)
    }
}

/// Headings, and the cells of each row under them; columns that no kernel has anything in are left out.
pub(super) fn columns(rows: &[Row]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let cells: Vec<Vec<(&'static str, String)>> = rows.iter().map(Row::cells).collect();
    let mut used = BTreeSet::new();
    for (heading, cell) in cells.iter().flatten() {
        if !matches!(cell.as_str(), "-" | "0" | "") {
            used.insert(*heading);
        }
    }
    let shown: Vec<&'static str> =
        HEADINGS.into_iter().filter(|heading| ALWAYS.contains(heading) || used.contains(heading)).collect();
    let rows = cells
        .into_iter()
        .map(|row| {
            row.into_iter().filter(|(heading, _)| shown.contains(heading)).map(|(_, cell)| cell).collect()
        })
        .collect();
    (shown, rows)
}

/// A number is the worst of its family if a tenth of the kernels at most have as much: what all have tells nothing.
fn mark(rows: &mut [Row]) {
    let mut counts: BTreeMap<(&'static str, &'static str), BTreeMap<u64, usize>> = BTreeMap::new();
    for row in rows.iter() {
        for (name, number) in row.numbers() {
            *counts.entry((row.family(), name)).or_default().entry(number.unwrap_or(0)).or_default() += 1;
        }
    }
    for row in rows {
        row.worst = row
            .numbers()
            .into_iter()
            .filter_map(|(name, number)| {
                let number = number.filter(|number| *number > 0)?;
                let (most, with_most) = counts.get(&(row.family(), name))?.last_key_value()?;
                let all: usize = counts.get(&(row.family(), name))?.values().sum();
                let rare = *with_most == 1 || with_most.saturating_mul(10) <= all;
                (name == "spilled" || (number == *most && rare)).then_some(name)
            })
            .collect();
    }
}
