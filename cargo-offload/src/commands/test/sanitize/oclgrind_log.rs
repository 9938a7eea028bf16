//! Parser of the log of Oclgrind.
//!
//! A message begins in the first column, and what belongs to it is indented by a tab: the kernel, one or two work-items, each
//! with its instruction in LLVM IR and its line of the source. Release 21.10 and those before it write the same.

use super::report::{DefectKind, Line, Position, Report, each_once};

/// Content of the log.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    pub(super) reports: Vec<Report>,
    /// Unsupported feature that stopped the simulator.
    pub(super) limit: Option<String>,
}

const FATAL: &str = "OCLGRIND FATAL ERROR";

/// Parses the log into unique reports.
pub(super) fn read(text: &str) -> Log {
    let messages = messages(text);
    let reports = messages.iter().filter_map(report).collect();
    let limit = messages.iter().find_map(Message::limit);
    Log { reports: each_once(without_consequences(reports)), limit }
}

/// A message: its first line, and the others.
struct Message<'t> {
    head: &'t str,
    body: Vec<&'t str>,
}

fn messages(text: &str) -> Vec<Message<'_>> {
    let mut all: Vec<Message<'_>> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        match all.last_mut() {
            Some(last) if line.starts_with('\t') || last.has_only_a_head_of_fatal() => last.body.push(line),
            _ => all.push(Message { head: line, body: Vec::new() }),
        }
    }
    all
}

/// A work-item, and what it does where.
struct Entity<'t> {
    item: Position,
    group: Position,
    /// In LLVM IR.
    instruction: &'t str,
    line: Option<Line>,
}

impl<'t> Message<'t> {
    /// The reason of such an error is in its second line, which is not indented.
    fn has_only_a_head_of_fatal(&self) -> bool {
        self.head.starts_with(FATAL) && self.body.is_empty()
    }

    fn limit(&self) -> Option<String> {
        let reason = self.body.first().filter(|_| self.head.starts_with(FATAL))?;
        Some(reason.trim().to_string())
    }

    fn field(&self, name: &str) -> Option<&'t str> {
        self.body.iter().find_map(|line| line.trim().strip_prefix(name)).map(str::trim)
    }

    fn entities(&self) -> Vec<Entity<'t>> {
        let at = self
            .body
            .iter()
            .enumerate()
            .filter(|(_, line)| line.contains("Global(") && line.to_lowercase().contains("entity:"));
        at.filter_map(|(at, line)| entity(line, self.body.get(at..).unwrap_or_default().get(1..)?)).collect()
    }
}

fn entity<'t>(line: &str, below: &[&'t str]) -> Option<Entity<'t>> {
    let instruction = below.first().map(|line| line.trim()).unwrap_or_default();
    Some(Entity {
        item: position(line, "Global")?,
        group: position(line, "Group")?,
        instruction,
        line: source_line(below),
    })
}

/// `At line 7 (column 3) of kernels/a.cl:`, the first of them.
fn source_line(lines: &[&str]) -> Option<Line> {
    let text = lines.iter().find_map(|line| line.trim().strip_prefix("At line "))?;
    let (line, rest) = text.split_once(' ')?;
    let (_, file) = rest.split_once("of ")?;
    Some(Line { file: file.trim_end_matches(':').to_string(), line: line.parse().ok()? })
}

fn report(message: &Message<'_>) -> Option<Report> {
    let kernel = message.field("Kernel:").filter(|_| !message.head.starts_with(FATAL))?.to_string();
    if let Some(text) = barrier(message) {
        let line = source_line(&message.body);
        return Some(Report { kernel, line, kind: DefectKind::Barrier, text });
    }
    let entities = message.entities();
    let first = entities.first()?;
    let (kind, does) = what(message.head, first, entities.get(1));
    let text = format!("work-item {} of group {} {does}", first.item, first.group);
    Some(Report { kernel, line: first.line.clone(), kind, text })
}

/// `Only 12 out of 16 work-items executed barrier`
fn barrier(message: &Message<'_>) -> Option<String> {
    if !message.head.starts_with("Work-group divergence") {
        return None;
    }
    let group = message.field("Work-group:")?.parse::<Position>().ok()?;
    let counts = message.field("Only ")?;
    let (some, rest) = counts.split_once(" out of ")?;
    let all = rest.split(' ').next()?;
    let (some, all): (u64, u64) = (some.parse().ok()?, all.parse().ok()?);
    let others = all.saturating_sub(some);
    Some(format!("a work-item of group {group} waits at a barrier that {others} of {all} do not come to"))
}

/// Of which kind it is, and what a work-item does.
fn what(head: &str, first: &Entity<'_>, second: Option<&Entity<'_>>) -> (DefectKind, String) {
    let verb = verb(first.instruction);
    if let (Some(second), Some(at)) =
        (second, head.split_once(" data race at ").and_then(|(_, at)| place(at)))
    {
        return (DefectKind::Race(second.line.clone()), race(verb, &at, first, second));
    }
    if let Some((access, at)) = head.strip_prefix("Invalid ").and_then(|rest| rest.split_once(" at ")) {
        let size = access.rsplit(' ').next().unwrap_or_default();
        let verb = if access.starts_with("write") { "writes" } else { "reads" };
        let does = place(at).map(|at| format!("{verb} {size} bytes {}", at.outside()));
        return (DefectKind::Outside, does.unwrap_or_else(|| head.to_lowercase()));
    }
    if head.contains("is not aligned") {
        return (
            DefectKind::Misaligned,
            format!("{verb} at an address that is no multiple of the type's alignment"),
        );
    }
    if let Some((index, count)) = static_index(head) {
        let does = format!("{verb} behind the end of an array of {count} elements, at {index}");
        return (DefectKind::Outside, does);
    }
    if head.to_lowercase().contains("uninitialized") {
        return (DefectKind::Unwritten, format!("uses a value that was never written: {}", in_words(head)));
    }
    (DefectKind::Other(head.to_string()), format!("does what it must not: {}", in_words(head)))
}

/// `Index (8) exceeds static array size (8)`
fn static_index(head: &str) -> Option<(&str, &str)> {
    let (index, rest) = head.strip_prefix("Index (")?.split_once(')')?;
    Some((index, rest.rsplit_once('(')?.1.trim_end_matches(')')))
}

fn race(verb: &str, at: &MemoryAddress, first: &Entity<'_>, second: &Entity<'_>) -> String {
    let other = self::verb(second.instruction);
    let why = if first.group == second.group {
        "no barrier separates them"
    } else {
        "groups do not wait for each other"
    };
    let line = second.line.as_ref().map(|line| format!(" ({line})")).unwrap_or_default();
    let Entity { item, group, .. } = second;
    format!(
        "{verb} byte {} of {}, which work-item {item} of group {group} {other}{line}: {why}",
        at.offset,
        at.whole()
    )
}

fn verb(instruction: &str) -> &'static str {
    match instruction {
        text if text.starts_with("store ") => "writes",
        text if text.contains("= load ") => "reads",
        _ => "accesses",
    }
}

/// The head without addresses of the simulator, which mean nothing elsewhere.
fn in_words(head: &str) -> String {
    let text = head.split_once(" address 0x").map_or(head, |(text, _)| text);
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// An address: the simulator has the number of a buffer in its upper bits.
#[derive(Debug)]
struct MemoryAddress<'t> {
    space: &'t str,
    buffer: u64,
    /// Negative before the start.
    offset: i64,
}

/// `global memory address 0x2000000000100`
fn place(text: &str) -> Option<MemoryAddress<'_>> {
    let (space, address) = text.split_once(" memory address 0x")?;
    let address = u64::from_str_radix(address.trim(), 16).ok()?;
    // Private memory has room for more buffers.
    let bits = if space == "private" { 32 } else { 48 };
    let buffer = address >> bits;
    let offset = address & ((1 << bits) - 1);
    let is_before = offset >> (bits - 1) == 1;
    let offset = i64::try_from(offset).ok()?;
    if is_before {
        let buffer = buffer.saturating_add(1);
        let offset = offset.saturating_sub(1 << bits);
        return Some(MemoryAddress { space, buffer, offset });
    }
    Some(MemoryAddress { space, buffer, offset })
}

impl MemoryAddress<'_> {
    /// Buffers of a program count from 1, in the order in which it made them.
    fn whole(&self) -> String {
        match self.space {
            "global" => format!("buffer {} in global memory", self.buffer),
            space => format!("a variable in {space} memory"),
        }
    }

    fn outside(&self) -> String {
        let whole = self.whole();
        match (self.offset, self.buffer) {
            (before, _) if before < 0 => {
                format!("that begin {} before the start of {whole}", before.unsigned_abs())
            }
            (_, 0) => "through a null pointer".to_string(),
            (0, _) => format!("at the start of {whole}, that was freed or is too small"),
            (at, _) => format!("at byte {at}, behind the end of {whole}"),
        }
    }
}

/// `reports` without what only follows from an access outside: the value that it did not read was never written.
fn without_consequences(reports: Vec<Report>) -> Vec<Report> {
    let outside: Vec<String> = reports
        .iter()
        .filter(|report| report.kind == DefectKind::Outside)
        .map(|report| report.kernel.clone())
        .collect();
    let is_cause =
        |report: &Report| report.kind != DefectKind::Unwritten || !outside.contains(&report.kernel);
    reports.into_iter().filter(is_cause).collect()
}

/// The position after `name` in a line, such as `Global(1,0,0)`.
fn position(line: &str, name: &str) -> Option<Position> {
    let (_, rest) = line.split_once(name)?;
    rest.get(..=rest.find(')')?)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log of release 21.10.
    const LOG: &str = include_str!("oclgrind_log/sample.log");

    fn shown(text: &str) -> Vec<String> {
        read(text)
            .reports
            .iter()
            .map(|report| {
                let line = report.line.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{} {line}: {}", report.kernel, report.text)
            })
            .collect()
    }

    #[test]
    fn each_message_becomes_a_report() {
        assert_eq!(
            shown(LOG),
            [
                "behind kernels/bugs.cl:3: work-item 63 of group 3 writes 4 bytes at byte 256, behind the end of \
                 buffer 2 in global memory",
                "before kernels/helper.h:7: work-item 0 of group 0 reads 4 bytes that begin 4 before the start of \
                 buffer 1 in global memory",
                "race kernels/bugs.cl:27: work-item 1 of group 0 writes byte 4 of a variable in local memory, which \
                 work-item 0 of group 0 reads (kernels/bugs.cl:28): no barrier separates them",
                "divergent kernels/bugs.cl:32: a work-item of group 0 waits at a barrier that 4 of 16 do not come to",
                "unwritten kernels/bugs.cl:41: work-item 0 of group 0 uses a value that was never written: \
                 controlflow depends on uninitialized value",
                "array kernels/bugs.cl:47: work-item 4 of group 0 reads 4 bytes at byte 16, behind the end of a \
                 variable in private memory",
                "misaligned kernels/bugs.cl:51: work-item 0 of group 0 writes at an address that is no multiple of \
                 the type's alignment",
                "groups kernels/bugs.cl:54: work-item 16 of group 1 writes byte 2 of buffer 2 in global memory, which \
                 work-item 0 of group 0 writes (kernels/bugs.cl:54): groups do not wait for each other",
                "argument kernels/bugs.cl:58: work-item 15 of group 0 writes 4 bytes at byte 64, behind the end of a \
                 variable in local memory",
                "null kernels/bugs.cl:64: work-item 0 of group 0 reads 4 bytes through a null pointer",
            ]
        );
    }

    #[test]
    fn what_the_simulator_lacks_is_no_report() {
        let log = read(
            "\nOCLGRIND FATAL ERROR (./src/core/WorkItem.cpp:1681)\n\
             Undefined external function: sub_group_reduce_add\nWhen creating kernel 'k1'\n",
        );
        assert!(log.reports.is_empty());
        assert_eq!(log.limit.as_deref(), Some("Undefined external function: sub_group_reduce_add"));
        let trap = "\nOCLGRIND FATAL ERROR (./src/core/WorkItemBuiltins.cpp:3552)\nEncountered trap instruction\n\
                    \tKernel: k4\n\tEntity: Global(0,0,0) Local(0,0,0) Group(0,0,0)\n";
        assert!(read(trap).reports.is_empty());
        assert_eq!(read(trap).limit.as_deref(), Some("Encountered trap instruction"));
        assert!(read("").reports.is_empty() && read("1 warning generated.\n").reports.is_empty());
    }
}
