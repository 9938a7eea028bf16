//! Extraction of one kernel from the text of a module.

use std::collections::BTreeSet;

/// The section of a kernel in what nvdisasm prints.
pub(super) fn section(text: &str, kernel: &str) -> Option<String> {
    const RULE: &str = "//--------------------- ";
    let wanted = format!(".text.{kernel}");
    let named =
        |line: &&str| line.strip_prefix(RULE).and_then(|rest| rest.split(' ').next()) == Some(&wanted);
    let mut lines = text.lines().skip_while(|line| !named(line));
    let first = lines.next()?;
    let rest = lines.take_while(|line| !line.starts_with(RULE));
    Some(join_lines(std::iter::once(first).chain(rest)))
}

/// An entry of PTX, to the brace that ends it.
pub(super) fn ptx(text: &str, kernel: &str) -> Option<String> {
    through_brace(text.lines().skip_while(|line| entry_name(line) != Some(kernel)))
}

/// A kernel of OpenCL C, from the line with its name, or the one above with its attributes, to the brace that ends it.
pub(super) fn source(text: &str, kernel: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| declares_function(line, kernel))?;
    let above = at.checked_sub(1).filter(|above| {
        !lines.get(at).is_some_and(has_kernel_attribute)
            && lines.get(*above).is_some_and(has_kernel_attribute)
    });
    through_brace(lines.into_iter().skip(above.unwrap_or(at)))
}

/// The lines up to the one with the brace that closes the first.
fn through_brace<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut depth = 0i64;
    let mut kept = Vec::new();
    for line in lines {
        kept.push(line);
        let code = line.split("//").next().unwrap_or_default();
        let before = depth;
        depth += code.matches('{').count() as i64 - code.matches('}').count() as i64;
        if depth == 0 && (before > 0 || code.contains('}')) {
            return Some(join_lines(kept));
        }
    }
    None
}

/// The function of an entry point of SPIR-V, and those that it calls.
pub(super) fn spirv(text: &str, kernel: &str) -> Option<String> {
    let name = format!("\"{kernel}\"");
    let entry = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let entry = entry.into_iter().find_map(|words| match words.as_slice() {
        ["OpEntryPoint", _, id, text, ..] if *text == name => Some((*id).to_string()),
        _ => None,
    })?;
    let functions = spirv_functions(text);
    let mut open = vec![entry];
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id.clone()) {
            continue;
        }
        let Some((_, lines)) = functions.iter().find(|(other, _)| *other == id) else { continue };
        open.extend(lines.iter().filter_map(|line| function_name(line)));
        kept.extend(lines.iter().copied());
    }
    (!kept.is_empty()).then(|| join_lines(kept))
}

/// Every function by its id.
fn spirv_functions(text: &str) -> Vec<(String, Vec<&str>)> {
    let mut functions: Vec<(String, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some((id, _)) = line.split_once(" = OpFunction ") {
            functions.push((id.trim().to_string(), Vec::new()));
            inside = true;
        }
        if let Some((_, lines)) = functions.last_mut().filter(|_| inside) {
            lines.push(line);
        }
        inside &= line.trim() != "OpFunctionEnd";
    }
    functions
}

fn function_name(line: &str) -> Option<String> {
    let (_, behind) = line.split_once(" = OpFunctionCall ")?;
    behind.split_whitespace().nth(1).map(str::to_string)
}

fn join_lines<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

/// The name in a line of PTX that starts a kernel.
fn entry_name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(".entry")?;
    rest.trim_start().split(|c: char| c == '(' || c.is_whitespace()).next()
}

/// Whether a line of C declares `void kernel(`.
fn declares_function(line: &str, kernel: &str) -> bool {
    line.match_indices(kernel).any(|(at, _)| {
        let behind = line.get(at.saturating_add(kernel.len())..).unwrap_or_default();
        let is_type = line.get(..at).is_some_and(|before| before.trim_end().ends_with("void"));
        is_type && behind.trim_start().starts_with('(')
    })
}

fn has_kernel_attribute(line: &&str) -> bool {
    line.trim_start_matches('_').starts_with("kernel")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_ends_where_the_next_begins() {
        let text = "\t.target\tsm_80\n//--------------------- .text.ab   ---\nAB\n//--------------------- .text.a   ---\nA\n";
        assert_eq!(section(text, "a").unwrap(), "//--------------------- .text.a   ---\nA\n");
        assert_eq!(section(text, "ab").unwrap(), "//--------------------- .text.ab   ---\nAB\n");
        assert_eq!(section(text, "b"), None);
    }

    #[test]
    fn an_entry_of_ptx_ends_with_its_brace() {
        let text = ".visible .entry ab(\n.param .u64 p\n)\n{\n{ // }\n}\nret;\n}\n.entry a()\n{\n}\n";
        assert_eq!(
            ptx(text, "ab").unwrap(),
            ".visible .entry ab(\n.param .u64 p\n)\n{\n{ // }\n}\nret;\n}\n"
        );
        assert_eq!(ptx(text, "a").unwrap(), ".entry a()\n{\n}\n");
        assert_eq!((ptx(text, "b"), ptx(".entry a()\n{", "a")), (None, None));
    }

    #[test]
    fn a_kernel_of_opencl_c_ends_with_its_brace() {
        let text = "__kernel void ab(int n) {\n}\n__kernel __attribute__((x))\nvoid a(int n) {\n  if (n) {\n  }\n}\nvoid b(int n);\n";
        assert_eq!(source(text, "ab").unwrap(), "__kernel void ab(int n) {\n}\n");
        let expected = "__kernel __attribute__((x))\nvoid a(int n) {\n  if (n) {\n  }\n}\n";
        assert_eq!(source(text, "a").unwrap(), expected);
        assert_eq!((source(text, "b"), source(text, "n")), (None, None));
    }

    #[test]
    fn a_kernel_of_spirv_brings_what_it_calls() {
        let text = "OpEntryPoint Kernel %k \"k\" %g\n%other = OpFunction %void None %1\nOpFunctionEnd\n\
                    %k = OpFunction %void None %1\n%2 = OpFunctionCall %void %h %3\nOpFunctionEnd\n\
                    %h = OpFunction %void None %1\nOpReturn\nOpFunctionEnd\n";
        let found = spirv(text, "k").unwrap();
        assert!(
            found.starts_with("%k = ") && found.contains("%h = OpFunction") && !found.contains("%other"),
            "{found}"
        );
        assert_eq!(spirv(text, "g"), None);
    }
}
