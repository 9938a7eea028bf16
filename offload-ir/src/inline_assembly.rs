//! Inline assembly of a module, with its places in the source.

use std::collections::BTreeMap;

/// File and line.
pub type Place = (String, u64);

/// The calls of assemblers' texts in a module.
#[derive(Debug)]
pub struct AsmCalls<'m> {
    /// Metadata by name.
    nodes: BTreeMap<&'m str, &'m str>,
}

impl<'m> AsmCalls<'m> {
    pub fn new(module: &'m str) -> AsmCalls<'m> {
        let mut nodes = BTreeMap::new();
        let metadata = module.lines().filter(|line| line.starts_with('!'));
        nodes.extend(metadata.filter_map(|line| line.split_once(" = ")));
        AsmCalls { nodes }
    }

    /// The text for an assembler that `line` calls, without escapes.
    pub fn template(&self, line: &str) -> Option<String> {
        template_text(line)
    }

    /// Where `line` stands in the source, if the module has line tables.
    pub fn place(&self, line: &str) -> Option<Place> {
        place(line, &self.nodes)
    }
}

/// The text for an assembler that `line` calls, without escapes.
pub(crate) fn template_text(line: &str) -> Option<String> {
    template(line).map(unescaped)
}

/// The text of a call in `line`, which stands behind `asm` and its properties.
fn template(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" asm ")?;
    let (properties, rest) = rest.split_once('"')?;
    let known = ["sideeffect", "alignstack", "inteldialect", "unwind"];
    if !properties.split_whitespace().all(|word| known.contains(&word)) {
        return None;
    }
    rest.split('"').next()
}

/// `\0A` and its kin as the bytes that they are.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        match after.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                out.push(char::from(byte));
                rest = after.get(2..).unwrap_or_default();
            }
            None => rest = after,
        }
    }
    out.push_str(rest);
    out
}

/// File and line of the `!dbg` attachment of `line`.
fn place(line: &str, nodes: &BTreeMap<&str, &str>) -> Option<(String, u64)> {
    let (_, attachment) = line.split_once("!dbg ")?;
    let name = attachment.split([',', ' ']).next()?;
    let location = nodes.get(name)?;
    let line = field(location, "line: ")?.parse().ok()?;
    let mut scope = nodes.get(field(location, "scope: ")?)?;
    // A block has the file of its own, a function too.
    for _ in 0..64 {
        if let Some(file) = field(scope, "file: ").and_then(|file| nodes.get(file)) {
            let name = file.split_once("filename: \"")?.1.split('"').next()?;
            return Some((name.to_string(), line));
        }
        scope = nodes.get(field(scope, "scope: ")?)?;
    }
    None
}

fn field<'a>(node: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = node.split_once(name)?;
    rest.split([',', ')']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = r#"
define void @k() !dbg !4 {
  %1 = call i32 asm "cvt.rn.f16.f32 $0, $1;\0A", "=h,f"(float %0) #3, !dbg !8, !srcloc !9
  call void asm sideeffect "s_nop 0", ""() #3, !srcloc !9
  store i8 0, ptr %asm
}
!1 = !DIFile(filename: "kernels/a.cu", directory: ".")
!4 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 2, unit: !0)
!7 = distinct !DILexicalBlock(scope: !4, line: 3, column: 1)
!8 = !DILocation(line: 5, column: 3, scope: !7)
"#;

    #[test]
    fn calls_have_their_places() {
        let calls = AsmCalls::new(MODULE);
        let mut found = Vec::new();
        for line in MODULE.lines() {
            found.extend(calls.template(line).map(|template| (template, calls.place(line))));
        }
        let place = Some(("kernels/a.cu".to_string(), 5));
        assert_eq!(found, [("cvt.rn.f16.f32 $0, $1;\n".to_string(), place), ("s_nop 0".to_string(), None)]);
    }
}
