//! Entry points: functions `fuzz_entry_N(args)` that call the kernels of a batch with arguments by address.

use std::fmt::Write;

use crate::bisection::Compiled;
use crate::case::{Case, CaseArg, Language};

/// All kernels of `language`, with their entry points; nothing if there is none. The inner error is for people.
pub(super) fn source(cases: &[&Case], language: Language) -> Compiled<Option<String>> {
    let mut text = String::new();
    let mut entries = String::new();
    for (number, case) in cases.iter().enumerate().filter(|(_, case)| case.language == language) {
        text.push_str(&case.source);
        text.push('\n');
        entries.push_str(&entry(number, case)?);
    }
    Ok((!entries.is_empty()).then(|| text + &entries))
}

/// C that lists the entry points of a batch.
pub(super) fn table(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let _ = writeln!(text, "void fuzz_entry_{number}(void *const *);");
    }
    text.push_str("void (*const fuzz_entries[])(void *const *) = {");
    for number in 0..count {
        let _ = write!(text, "fuzz_entry_{number}, ");
    }
    text.push_str("0};\n");
    text
}

fn entry(number: usize, case: &Case) -> Compiled<String> {
    let types = parameter_types(case)?;
    if types.len() != case.args.len() {
        return Err(format!(
            "the kernel `{}` has {} parameters, the launch {} arguments",
            case.kernel,
            types.len(),
            case.args.len()
        ));
    }
    let mut args = Vec::new();
    for (at, (kind, arg)) in types.iter().zip(&case.args).enumerate() {
        args.push(match arg {
            CaseArg::Buffer(_) | CaseArg::Local(_) => format!("({kind})args[{at}]"),
            CaseArg::Value(_) => format!("*({kind} *)args[{at}]"),
        });
    }
    let linkage = match case.language {
        Language::OpenClC => "",
        Language::Cpp => "extern \"C\" ",
    };
    let args = args.join(", ");
    Ok(format!("{linkage}void fuzz_entry_{number}(void *const *args) {{ {}({args}); }}\n", case.kernel))
}

/// The types in the list of parameters, which stands on one line behind the kernel's name.
fn parameter_types(case: &Case) -> Compiled<Vec<&str>> {
    let start = format!(" {}(", case.kernel);
    let list = case.source.split_once(&start).and_then(|(_, rest)| rest.split_once(')'));
    let (list, _) = list.ok_or_else(|| format!("there is no kernel `{}`", case.kernel))?;
    let parameters = list.split(", ").map(str::trim).filter(|parameter| !parameter.is_empty());
    Ok(parameters.map(without_name).collect())
}

/// A parameter's type: all but its last word.
fn without_name(parameter: &str) -> &str {
    parameter.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Range;

    #[test]
    fn entries_pass_arguments() {
        let case = Case {
            kernel: "k1".into(),
            source: "kernel void k1(global uint *out, struct s7 s, local uint *l) {}".into(),
            language: Language::OpenClC,
            buffers: vec![vec![0]],
            args: vec![CaseArg::Buffer(0), CaseArg::Value(vec![1, 2]), CaseArg::Local(4)],
            range: Range { dimensions: 1, offset: [0; 3], global: [1; 3], local: [1; 3] },
            prints: false,
        };
        let text = entry(3, &case).unwrap();
        assert_eq!(
            text,
            "void fuzz_entry_3(void *const *args) { k1((global uint *)args[0], *(struct s7  *)args[1], (local uint *)args[2]); }\n"
        );
        let other = Case { args: Vec::new(), ..case };
        assert!(entry(3, &other).unwrap_err().contains("3 parameters, the launch 0 arguments"));
    }
}
