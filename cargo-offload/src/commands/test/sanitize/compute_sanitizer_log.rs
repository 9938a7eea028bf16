//! Parser of the log of compute-sanitizer.
//!
//! Lines begin with `=========`. A message's first line is indented by one space, what belongs to it by more; a line without
//! anything else ends it. The manual shows each of them
//! (<https://docs.nvidia.com/compute-sanitizer/ComputeSanitizer/index.html#understanding-memcheck-errors>).

use super::report::{DefectKind, Line, Position, Report};

/// Content of the log.
#[derive(Debug, Default)]
pub(super) struct Log {
    /// As often as the log has them.
    pub(super) reports: Vec<Report>,
    /// Reason why the log may be incomplete.
    pub(super) trouble: Option<String>,
    /// Whether it has come to its end.
    pub(super) is_whole: bool,
}

/// Beginnings of messages about the tool itself. The second one also comes, with the exit status 0, where it could not
/// start the program at all.
const TROUBLE: [&str; 2] = ["Internal Sanitizer Error", "Error: process didn't terminate successfully"];

/// Parses the log.
pub(super) fn read(text: &str) -> Log {
    let messages = messages(text);
    Log {
        reports: messages.iter().filter_map(report).collect(),
        trouble: messages
            .iter()
            .find(|message| TROUBLE.iter().any(|start| message.head.starts_with(start)))
            .map(|message| message.head.to_string()),
        is_whole: messages.iter().any(|message| message.head.contains(" SUMMARY: ")),
    }
}

/// A message: its first line, and the others.
struct Message<'t> {
    head: &'t str,
    body: Vec<&'t str>,
}

fn messages(text: &str) -> Vec<Message<'_>> {
    let mut all: Vec<Message<'_>> = Vec::new();
    let mut is_open = false;
    // The manual has a space before the prefix in one place.
    for line in text.lines().filter_map(|line| line.trim_start().strip_prefix("=========")) {
        let is_deeper = line.starts_with("   ");
        match all.last_mut() {
            _ if line.trim().is_empty() => is_open = false,
            Some(last) if is_open && is_deeper => last.body.push(line.trim()),
            _ => {
                all.push(Message { head: line.trim(), body: Vec::new() });
                is_open = true;
            }
        }
    }
    all
}

/// A place of the code: `kernel(int *)+0x90 in a.cu:7`.
struct SourcePosition<'t> {
    function: &'t str,
    line: Option<Line>,
}

fn place(text: &str) -> SourcePosition<'_> {
    // `[clone kernel(int *)] function()+0x10`
    let text =
        text.strip_prefix("[clone ").and_then(|rest| rest.split_once("] ")).map_or(text, |(_, text)| text);
    let function = text.find(['(', '+', ':', ' ']).and_then(|end| text.get(..end)).unwrap_or(text);
    let line = text.rsplit_once(" in ").and_then(|(_, place)| line(place));
    SourcePosition { function, line }
}

/// `a.cu:7`, and what stands behind it.
fn line(text: &str) -> Option<Line> {
    let (file, number) = text.split_once(" [").map_or(text, |(place, _)| place).rsplit_once(':')?;
    Some(Line { file: file.to_string(), line: number.trim().parse().ok()? })
}

impl<'t> Message<'t> {
    fn field(&self, name: &str) -> Option<&'t str> {
        self.body.iter().find_map(|line| line.strip_prefix(name)).map(str::trim)
    }

    /// The source position of the access.
    fn place(&self) -> Option<SourcePosition<'t>> {
        self.field("at ").map(place)
    }

    /// The kernel, which is the last caller where the place is in a function.
    fn kernel(&self) -> Option<&'t str> {
        let mut frames = self.body.iter().filter_map(|line| line.strip_prefix("Device Frame:"));
        let outermost = frames.next_back().map(|frame| place(frame.trim()));
        outermost.or_else(|| self.place()).map(|place| place.function)
    }
}

fn report(message: &Message<'_>) -> Option<Report> {
    if let Some(report) = race(message) {
        return Some(report);
    }
    let kernel = message.kernel()?.to_string();
    let line = message.place()?.line;
    let who = message.field("by thread ").and_then(thread)?;
    let (kind, does) = what(message)?;
    Some(Report { kernel, line, kind, text: format!("{who} {does}") })
}

/// `(63,0,0) in block (3,0,0)`. Its numbers are those of the block: how large that is, the log does not say.
fn thread(text: &str) -> Option<String> {
    let (thread, block) = text.split_once(" in block ")?;
    let (thread, block): (Position, Position) = (thread.parse().ok()?, block.parse().ok()?);
    Some(format!("thread {thread} of block {block}"))
}

/// Of which kind it is, and what a thread does.
fn what(message: &Message<'_>) -> Option<(DefectKind, String)> {
    let head = message.head;
    if let Some(access) = head.strip_prefix("Invalid ").or_else(|| head.strip_prefix("Potential invalid ")) {
        let access = access_of(access)?;
        let is_misaligned = message.body.iter().any(|line| line.ends_with("is misaligned"));
        let does = access.does();
        return Some(if is_misaligned {
            (
                DefectKind::Misaligned,
                format!("{does} at an address that is no multiple of the type's alignment"),
            )
        } else {
            (DefectKind::Outside, format!("{does} {}", access.outside(message)))
        });
    }
    if let Some(rest) = head.strip_prefix("Uninitialized ") {
        let space = rest.split("__").nth(1).unwrap_or("global");
        let size = size(rest).unwrap_or_default();
        return Some((DefectKind::Unwritten, format!("reads {size} bytes of uninitialized {space} memory")));
    }
    if let Some(why) = head.strip_prefix("Barrier error detected. ") {
        let why = why.trim_end_matches('.').to_lowercase();
        return Some((DefectKind::Barrier, format!("waits at a barrier that others do not come to: {why}")));
    }
    Some((DefectKind::Other(head.to_string()), format!("does what it must not: {head}")))
}

/// `__global__ write of size 4 bytes`
struct Access<'t> {
    space: &'t str,
    verb: &'static str,
    size: u64,
}

fn access_of(text: &str) -> Option<Access<'_>> {
    let space = text.split("__").nth(1)?;
    let verb = match text.rsplit("__").next()?.trim() {
        kind if kind.starts_with("read") => "reads",
        kind if kind.starts_with("write") => "writes",
        _ => "accesses",
    };
    Some(Access { space, verb, size: size(text)? })
}

/// `... of size 1,024 bytes`
fn size(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once("of size ")?;
    number(rest.split(' ').next()?)
}

/// A number whose thousands are apart.
fn number(text: &str) -> Option<u64> {
    text.replace(',', "").parse().ok()
}

impl Access<'_> {
    fn does(&self) -> String {
        format!("{} {} bytes", self.verb, self.size)
    }

    /// `and is 4 bytes after the nearest allocation at 0x7f0000000000 of size 256 bytes`
    fn outside(&self, message: &Message<'_>) -> String {
        let space = self.space;
        let nearest = message.field("and is ").and_then(|text| {
            let (distance, rest) = text.split_once(" bytes ")?;
            Some((number(distance)?, rest, size(rest)?))
        });
        match nearest {
            Some((distance, rest, whole)) if rest.starts_with("before") => {
                format!("that begin {distance} before the start of a buffer of {whole} bytes")
            }
            // The first byte behind a buffer is one byte after it.
            Some((distance, rest, whole)) if rest.starts_with("after") => {
                let end = distance.saturating_sub(1).saturating_add(self.size);
                format!("that end {end} behind the end of a buffer of {whole} bytes")
            }
            _ => {
                let why = message.body.iter().find_map(|line| reason(line)).unwrap_or("is out of bounds");
                format!("of {space} memory: the address {why}")
            }
        }
    }
}

/// What the line about an address says of it.
fn reason(line: &str) -> Option<&str> {
    // The manual has the first form, release 2026.2 writes the second one of shared and local memory.
    let rest = line.strip_prefix("Address ").or_else(|| line.strip_prefix("Access to "))?;
    Some(rest.split_once(' ')?.1)
}

/// `Error: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :`, and both accesses in the order of time.
fn race(message: &Message<'_>) -> Option<Report> {
    let (_, at) = message.head.split_once(" hazard detected at __")?;
    let (space, rest) = at.split_once("__ 0x")?;
    let (byte, block) = rest.split_once(" in block ")?;
    let byte = u64::from_str_radix(byte.trim(), 16).ok()?;
    let block: Position = block.trim_end_matches([' ', ':']).parse().ok()?;
    let sides: Vec<Side<'_>> = message.body.iter().filter_map(|line| side(line)).collect();
    let [other, this] = sides.as_slice() else { return None };
    let line = other.place.line.as_ref().map(|line| format!(" ({line})")).unwrap_or_default();
    let text = format!(
        "thread {} of block {block} {} byte {byte} of {space} memory, which thread {} {}{line}: no barrier separates them",
        this.thread, this.verb, other.thread, other.verb
    );
    Some(Report {
        kernel: this.place.function.to_string(),
        line: this.place.line.clone(),
        kind: DefectKind::Race(other.place.line.clone()),
        text,
    })
}

/// `Write Thread (0,0,0) at kernel()+0x2f0 in a.cu:20`
struct Side<'t> {
    verb: &'static str,
    thread: Position,
    place: SourcePosition<'t>,
}

fn side(text: &str) -> Option<Side<'_>> {
    let (kind, rest) = text.split_once(" Thread ")?;
    let verb = if kind == "Write" { "writes" } else { "reads" };
    let (thread, at) = rest.split_once(" at ")?;
    Some(Side { verb, thread: thread.parse().ok()?, place: place(at) })
}

#[cfg(test)]
mod tests;
