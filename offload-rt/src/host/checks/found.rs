//! What was found in a launch, in words.

use std::collections::BTreeMap;

use offload_format::pack::KernelInfo;

use super::objects::Role;
use super::shadow::Conflict;
use super::site::{Kind, Place};
use super::told::Bytes;
use crate::error::Problem;
use crate::range::NdRange;
use crate::text::escape;

/// A launch tells so many places of the source.
const TOLD: usize = 10;

/// A mistake of a kernel.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) what: What,
    pub(super) place: Place,
    pub(super) kind: Kind,
    pub(super) who: Who,
    pub(super) count: u64,
}

/// A work-item: the number of its group, and its own in that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) group: u32,
    pub(super) item: u32,
}

/// What a kernel must not do.
#[derive(Clone, Debug)]
pub(super) enum What {
    Outside { part: Part, start: usize, whole: usize, bytes: Bytes },
    Null { size: usize },
    Misaligned { align: usize, at: At },
    Unwritten { at: At },
    Race { conflict: Conflict, other_place: Place, at: At },
    Overflow { operands: [i64; 2], is_long: bool },
    Parted { other: Who },
}

/// What bytes are outside of.
#[derive(Clone, Debug)]
pub(super) enum Part {
    Memory(Role),
    Variable(String),
    /// An array in memory, if that is known.
    Row(Option<Role>),
}

/// Some bytes of what a kernel may access.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) role: Role,
    pub(super) byte: usize,
    pub(super) size: usize,
}

impl What {
    /// Mistakes of one sort at one place are told once.
    fn sort(&self) -> u32 {
        match self {
            What::Outside { part: Part::Memory(Role::Freed), .. } => 1,
            What::Outside { .. } | What::Null { .. } => 0,
            What::Misaligned { .. } => 2,
            What::Unwritten { .. } => 3,
            What::Race { .. } => 4,
            What::Overflow { .. } => 5,
            What::Parted { .. } => 6,
        }
    }
}

/// The places of a mistake, the sort of it, and what is done there.
type Key = (Place, Option<Place>, u32, Option<Kind>);

/// All of a launch, each place once.
#[derive(Debug, Default)]
pub(super) struct Findings(BTreeMap<Key, Finding>);

impl Findings {
    pub(super) fn add(&mut self, finding: Finding) {
        let key = match &finding.what {
            // The other work-item may be the first to tell.
            What::Race { other_place, .. } => {
                let (own, other) = (finding.place.clone(), other_place.clone());
                (own.clone().min(other.clone()), Some(own.max(other)), finding.what.sort(), None)
            }
            what => (finding.place.clone(), None, what.sort(), Some(finding.kind)),
        };
        self.0.entry(key).and_modify(|known| known.count = known.count.saturating_add(1)).or_insert(finding);
    }

    pub(super) fn conclude(self, names: &Names) -> Result<(), Problem> {
        if self.0.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = self.0.values().take(TOLD).map(|finding| names.line(finding)).collect();
        let more = self.0.len().saturating_sub(TOLD);
        let more = if more > 0 { format!("\nand {more} other places") } else { String::new() };
        Err(format!("{}{more}", lines.join("\n")).into())
    }
}

/// How arguments, work-items and groups are called.
#[derive(Debug)]
pub(super) struct Names {
    args: Vec<String>,
    local: [u64; 3],
    offset: [u64; 3],
    groups: [u64; 3],
    dimensions: usize,
}

impl Names {
    pub(super) fn new(info: &KernelInfo, range: &NdRange) -> Names {
        Names {
            args: info.args.iter().flatten().map(|arg| arg.name.clone()).collect(),
            local: range.local(),
            offset: range.offset(),
            groups: range.groups(),
            dimensions: usize::try_from(range.dimensions()).unwrap_or(3),
        }
    }

    /// `kernels/a.cl:7: work-item 64 of group 1 reads 4 bytes ...`
    fn line(&self, finding: &Finding) -> String {
        let Finding { what, place, kind, who, count } = finding;
        let text = self.text(what, *kind, *who);
        let times = match what {
            What::Outside { .. } if *count > 1 => format!("; {count} accesses there are outside"),
            _ => String::new(),
        };
        format!("{place}: {} {text}{times}", self.who(*who))
    }

    fn text(&self, what: &What, kind: Kind, who: Who) -> String {
        let verb = kind.verb();
        match what {
            What::Outside { part: Part::Memory(Role::Freed), whole, bytes, .. } => {
                format!("{verb} {} bytes of a buffer of {whole} bytes that was freed", bytes.size)
            }
            What::Outside { part, start, whole, bytes } => {
                format!("{verb} {} {}", distance(*start, *whole, bytes), self.part(part, *whole))
            }
            What::Null { size } => format!("{verb} {size} bytes through a null pointer"),
            What::Misaligned { align, at } => {
                format!("{verb} {}: that is no multiple of {align}", self.at(at))
            }
            What::Unwritten { at } => {
                format!("reads {}, which no work-item of the group has written", self.at(at))
            }
            What::Race { conflict, other_place, at } => {
                let does = if conflict.other_writes { "writes" } else { "reads" };
                let why = match conflict.group == who.group {
                    true => "no barrier separates them",
                    false => "groups do not wait for each other",
                };
                let other = self.other(conflict);
                format!("{verb} {}, which {other} {does} ({other_place}): {why}", self.at(at))
            }
            What::Overflow { operands: [left, right], is_long } => {
                let sign = kind.sign();
                let ty = if *is_long { "long" } else { "int" };
                format!("computes an index with {left} {sign} {right}, which overflows `{ty}`")
            }
            What::Parted { other } => {
                format!("waits at a barrier that {} does not come to", self.who(*other))
            }
        }
    }

    /// The other side of a race.
    fn other(&self, conflict: &Conflict) -> String {
        let group = conflict.group;
        match conflict.item {
            Some(item) => self.who(Who { group, item }),
            None => format!("a copy of group {}", self.position(&coordinates(group, &self.groups))),
        }
    }

    /// `4 bytes at byte 12 of argument 1, `y``
    fn at(&self, at: &At) -> String {
        format!("{} bytes at byte {} of {}", at.size, at.byte, self.role(&at.role))
    }

    fn part(&self, part: &Part, size: usize) -> String {
        match part {
            Part::Memory(Role::Buffer(None)) => format!("of a buffer of {size} bytes, which is no argument"),
            Part::Memory(role) => {
                let local = if matches!(role, Role::LocalArgument(_)) { " of local memory" } else { "" };
                format!("of {}, which has {size} bytes{local}", self.role(role))
            }
            Part::Variable(name) if name.is_empty() => format!("of a variable of {size} bytes"),
            Part::Variable(name) => format!("of the variable `{name}`, which has {size} bytes"),
            Part::Row(Some(role)) => format!("of an array of {size} bytes in {}", self.role(role)),
            Part::Row(None) => format!("of an array of {size} bytes"),
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
    fn who(&self, who: Who) -> String {
        let (group, item) = (coordinates(who.group, &self.groups), coordinates(who.item, &self.local));
        let at = [0, 1, 2].map(|axis: usize| {
            let get = |values: &[u64; 3]| values.get(axis).copied().unwrap_or_default();
            let first = get(&group).saturating_mul(get(&self.local)).saturating_add(get(&self.offset));
            first.saturating_add(get(&item))
        });
        format!("work-item {} of group {}", self.position(&at), self.position(&group))
    }

    fn position(&self, at: &[u64; 3]) -> String {
        let numbers: Vec<String> = at.iter().take(self.dimensions).map(u64::to_string).collect();
        match numbers.as_slice() {
            [only] => only.clone(),
            several => format!("({})", several.join(", ")),
        }
    }
}

/// The position of number `number` in a box of `size`, the first dimension fastest.
fn coordinates(number: u32, [width, height, _]: &[u64; 3]) -> [u64; 3] {
    let number = u64::from(number);
    let (width, height) = ((*width).max(1), (*height).max(1));
    [number % width, number / width % height, number / width / height]
}

/// `4 bytes that end 4 behind the end`
fn distance(start: usize, whole: usize, bytes: &Bytes) -> String {
    let (size, behind) = (bytes.size, start.saturating_add(whole));
    match bytes.first < start {
        true => format!("{size} bytes that begin {} before the start", start.saturating_sub(bytes.first)),
        false => format!("{size} bytes that end {} behind the end", bytes.end().saturating_sub(behind)),
    }
}
