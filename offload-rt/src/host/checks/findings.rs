//! The findings of a checked launch, and their messages.

use std::collections::BTreeMap;

use offload_format::pack::KernelInfo;

use super::layout::AddressRange;
use super::objects::Role;
use super::shadow::Conflict;
use super::site::{SiteKind, SourceLine};
use crate::error::Problem;
use crate::range::{NdRange, widened};
use crate::text::escape;

/// The most source lines in an error.
const MAX_PLACES: usize = 10;

/// A fault of a kernel, and its location.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) fault: Fault,
    pub(super) line: SourceLine,
    pub(super) kind: SiteKind,
    pub(super) item: WorkItem,
    pub(super) count: u64,
}

/// A work-item: the number of its group, and its own in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkItem {
    pub(super) group: u32,
    pub(super) item: u32,
}

/// A fault of a kernel.
#[derive(Clone, Debug)]
pub(super) enum Fault {
    Outside { part: Bounds, start: usize, whole: usize, bytes: AddressRange },
    Null { size: usize },
    Misaligned { align: usize, at: ObjectBytes },
    Unwritten { at: ObjectBytes },
    Race { conflict: Conflict, other_line: SourceLine, at: ObjectBytes },
    Overflow { operands: [i64; 2], is_long: bool },
    Divergent { other: WorkItem },
}

/// The bounds that an access violates.
#[derive(Clone, Debug)]
pub(super) enum Bounds {
    Memory(Role),
    Variable(String),
    /// An array in memory, if that is known.
    Row(Option<Role>),
}

/// A range of bytes of an object.
#[derive(Clone, Debug)]
pub(super) struct ObjectBytes {
    pub(super) role: Role,
    pub(super) byte: usize,
    pub(super) size: usize,
}

impl Fault {
    /// The class of the fault: faults of one class at one line are reported once.
    fn class(&self) -> u32 {
        match self {
            Fault::Outside { part: Bounds::Memory(Role::Freed), .. } => 1,
            Fault::Outside { .. } | Fault::Null { .. } => 0,
            Fault::Misaligned { .. } => 2,
            Fault::Unwritten { .. } => 3,
            Fault::Race { .. } => 4,
            Fault::Overflow { .. } => 5,
            Fault::Divergent { .. } => 6,
        }
    }
}

/// The lines of a fault, its class, and the kind of access.
type Key = (SourceLine, Option<SourceLine>, u32, Option<SiteKind>);

/// All findings of a launch, one for each line and class.
#[derive(Debug, Default)]
pub(super) struct Findings(BTreeMap<Key, Finding>);

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        let key = match &finding.fault {
            // Either of the two accesses may be the one that finds the race.
            Fault::Race { other_line, .. } => {
                let own = finding.line.clone();
                let other = other_line.clone();
                (own.clone().min(other.clone()), Some(own.max(other)), finding.fault.class(), None)
            }
            fault => (finding.line.clone(), None, fault.class(), Some(finding.kind)),
        };
        self.0.entry(key).and_modify(|known| known.count = known.count.saturating_add(1)).or_insert(finding);
    }

    pub(super) fn conclude(self, names: &LaunchNames) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> =
            self.0.values().take(MAX_PLACES).map(|finding| names.line(finding)).collect();
        let more = self.0.len().saturating_sub(MAX_PLACES);
        let more = if more > 0 { format!("\nand {more} other places") } else { String::new() };
        Err(format!("{}{more}", lines.join("\n")).into())
    }
}

/// The names of arguments, work-items and groups in messages.
#[derive(Debug)]
pub(super) struct LaunchNames {
    args: Vec<String>,
    range: NdRange,
}

impl LaunchNames {
    pub(super) fn new(info: &KernelInfo, range: &NdRange) -> LaunchNames {
        LaunchNames { args: info.args.iter().flatten().map(|arg| arg.name.clone()).collect(), range: *range }
    }

    /// `kernels/a.cl:7: work-item 64 of group 1 reads 4 bytes ...`
    fn line(&self, finding: &Finding) -> String {
        let Finding { fault, line, kind, item, count } = finding;
        let text = self.text(fault, *kind, *item);
        let times = match fault {
            Fault::Outside { .. } if *count > 1 => format!("; {count} accesses there are outside"),
            _ => String::new(),
        };
        format!("{line}: {} {text}{times}", self.work_item(*item))
    }

    fn text(&self, fault: &Fault, kind: SiteKind, item: WorkItem) -> String {
        let verb = kind.verb();
        match fault {
            Fault::Outside { part: Bounds::Memory(Role::Freed), whole, bytes, .. } => {
                format!("{verb} {} bytes of a buffer of {whole} bytes that was freed", bytes.size)
            }
            Fault::Outside { part, start, whole, bytes } => {
                format!("{verb} {} {}", distance(*start, *whole, bytes), self.part(part, *whole))
            }
            Fault::Null { size } => format!("{verb} {size} bytes through a null pointer"),
            Fault::Misaligned { align, at } => {
                format!("{verb} {}: that is no multiple of {align}", self.at(at))
            }
            Fault::Unwritten { at } => {
                format!("reads {}, which no work-item of the group has written", self.at(at))
            }
            Fault::Race { conflict, other_line, at } => {
                let does = if conflict.other_writes { "writes" } else { "reads" };
                let why = if conflict.group == item.group {
                    "no barrier separates them"
                } else {
                    "groups do not wait for each other"
                };
                let other = self.other(conflict);
                format!("{verb} {}, which {other} {does} ({other_line}): {why}", self.at(at))
            }
            Fault::Overflow { operands: [left, right], is_long } => {
                let sign = kind.sign();
                let ty = if *is_long { "long" } else { "int" };
                format!("computes an index with {left} {sign} {right}, which overflows `{ty}`")
            }
            Fault::Divergent { other } => {
                format!("waits at a barrier that {} does not come to", self.work_item(*other))
            }
        }
    }

    /// The other side of a race.
    fn other(&self, conflict: &Conflict) -> String {
        let group = conflict.group;
        match conflict.item {
            Some(item) => self.work_item(WorkItem { group, item }),
            None => format!(
                "a copy of group {}",
                self.position(&coordinates(group, &widened(self.range.groups())))
            ),
        }
    }

    /// `4 bytes at byte 12 of argument 1, `y``
    fn at(&self, at: &ObjectBytes) -> String {
        format!("{} bytes at byte {} of {}", at.size, at.byte, self.role(&at.role))
    }

    fn part(&self, part: &Bounds, size: usize) -> String {
        match part {
            Bounds::Memory(Role::Buffer(None)) => {
                format!("of a buffer of {size} bytes, which is no argument")
            }
            Bounds::Memory(role) => {
                let local = if matches!(role, Role::LocalArgument(_)) { " of local memory" } else { "" };
                format!("of {}, which has {size} bytes{local}", self.role(role))
            }
            Bounds::Variable(name) if name.is_empty() => format!("of a variable of {size} bytes"),
            Bounds::Variable(name) => format!("of the variable `{name}`, which has {size} bytes"),
            Bounds::Row(Some(role)) => format!("of an array of {size} bytes in {}", self.role(role)),
            Bounds::Row(None) => format!("of an array of {size} bytes"),
        }
    }

    fn role(&self, role: &Role) -> String {
        match role {
            Role::Buffer(Some(number)) | Role::LocalArgument(number) => {
                match self.args.get(*number).filter(|name| !name.is_empty()) {
                    Some(name) => format!("argument {number}, `{}`", escape(name)),
                    None => format!("argument {number}"),
                }
            }
            Role::Buffer(None) => "a buffer that is no argument".to_string(),
            Role::LocalArray(name) => format!("the local array `{name}`"),
            Role::Freed => "a buffer that was freed".to_string(),
        }
    }

    /// `work-item (5, 5) of group (1, 1)`
    fn work_item(&self, work_item: WorkItem) -> String {
        let group = coordinates(work_item.group, &widened(self.range.groups()));
        let mut global = coordinates(work_item.item, &self.range.local_at(group));
        let local = widened(self.range.local());
        let offset = widened(self.range.offset());
        for (axis, position) in global.iter_mut().enumerate() {
            let first = component(&group, axis).saturating_mul(component(&local, axis));
            let first = first.saturating_add(component(&offset, axis));
            *position = position.saturating_add(first);
        }
        format!("work-item {} of group {}", self.position(&global), self.position(&group))
    }

    fn position(&self, at: &[u64; 3]) -> String {
        let dimensions = usize::try_from(self.range.dimensions()).unwrap_or(3);
        let numbers: Vec<String> = at.iter().take(dimensions).map(u64::to_string).collect();
        match numbers.as_slice() {
            [only] => only.clone(),
            several => format!("({})", several.join(", ")),
        }
    }
}

fn component(values: &[u64; 3], axis: usize) -> u64 {
    values.get(axis).copied().unwrap_or_default()
}

/// The coordinates of the element `number` in a box of `size`, the first dimension fastest.
fn coordinates(number: u32, [width, height, _]: &[u64; 3]) -> [u64; 3] {
    let number = u64::from(number);
    let width = (*width).max(1);
    let height = (*height).max(1);
    [number % width, number / width % height, number / width / height]
}

/// `4 bytes that end 4 behind the end`
fn distance(start: usize, whole: usize, bytes: &AddressRange) -> String {
    let size = bytes.size;
    let behind = start.saturating_add(whole);
    if bytes.first < start {
        format!("{size} bytes that begin {} before the start", start.saturating_sub(bytes.first))
    } else {
        format!("{size} bytes that end {} behind the end", bytes.end().saturating_sub(behind))
    }
}
