//! Combinations of the compilers in a matrix, and their labels.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::cli::{Axis, Tool};
use crate::error::{Error, IoContext, Result};
use crate::machine::toolchain::which;

/// The compilers of one build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Combination {
    /// Label that distinguishes it, such as `clang-22`.
    pub(super) label: String,
    pub(super) programs: Vec<(Tool, PathBuf)>,
}

/// All combinations; the last axis varies fastest.
pub(super) fn all(axes: &[Axis]) -> Result<Vec<Combination>> {
    let mut tools = BTreeSet::new();
    let mut combinations = vec![Combination::default()];
    for axis in axes {
        if !tools.insert(axis.tool) {
            let error = Error::usage(format!("--matrix lists {} twice", axis.tool.name()));
            return Err(error.hint("separate its programs by commas"));
        }
        let paths = axis.programs.iter().map(|program| path(program)).collect::<Result<Vec<_>>>()?;
        let named: Vec<(String, PathBuf)> = labels(axis).into_iter().zip(paths).collect();
        combinations = combinations
            .iter()
            .flat_map(|before| {
                let next = named.iter().map(|(label, path)| before.with(axis.tool, label, path));
                next.collect::<Vec<_>>()
            })
            .collect();
    }
    Ok(combinations)
}

impl Combination {
    fn with(&self, tool: Tool, label: &str, path: &Path) -> Combination {
        let mut new = self.clone();
        let between = if new.label.is_empty() { "" } else { "+" };
        new.label.push_str(&format!("{between}{label}"));
        new.programs.push((tool, path.to_path_buf()));
        new
    }
}

/// Build scripts run elsewhere: they get an absolute path. A program that is not there is theirs to tell of.
fn path(program: &str) -> Result<PathBuf> {
    if !program.contains('/') {
        return which(program).ok_or_else(|| {
            Error::usage(format!("`{program}` is not in PATH")).hint("use a path, such as ./clang")
        });
    }
    let path = Path::new(program);
    std::path::absolute(path).io_context("find", path)
}

/// The first part of their paths in which programs differ: `/opt/cuda-12/bin/ptxas` is `cuda-12` beside that of 13.
fn labels(axis: &Axis) -> Vec<String> {
    let parts: Vec<Vec<&str>> = axis.programs.iter().map(|program| program.split('/').collect()).collect();
    let longest = parts.iter().map(Vec::len).max().unwrap_or_default();
    match (0..longest)
        .find(|at| column(&parts, *at).collect::<BTreeSet<_>>().len() == parts.len())
        .filter(|_| parts.len() > 1)
    {
        Some(at) if column(&parts, at).all(|part| !part.is_empty()) => {
            column(&parts, at).map(str::to_string).collect()
        }
        _ => axis.programs.clone(),
    }
}

fn column<'t>(parts: &'t [Vec<&'t str>], at: usize) -> impl Iterator<Item = &'t str> {
    parts.iter().map(move |parts| parts.get(at).copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Axis {
        text.parse().unwrap()
    }

    #[test]
    fn labels_tell_programs_apart() {
        for (text, expected) in [
            ("clang=clang-19,clang-22", ["clang-19", "clang-22"]),
            ("ptxas=/opt/cuda12/bin/ptxas,/opt/cuda13/bin/ptxas", ["cuda12", "cuda13"]),
            ("ptxas=ptxas,/opt/cuda13/bin/ptxas", ["ptxas", "/opt/cuda13/bin/ptxas"]),
        ] {
            assert_eq!(labels(&axis(text)), expected);
        }
        assert_eq!(labels(&axis("clang=/usr/bin/clang-22")), ["/usr/bin/clang-22"]);
    }

    #[test]
    fn several_tools_give_every_combination() {
        let all = all(&[axis("clang=/a/clang,/b/clang"), axis("ptxas=/x/ptxas,/y/ptxas")]).unwrap();
        let labels: Vec<&str> = all.iter().map(|combination| combination.label.as_str()).collect();
        assert_eq!(labels, ["a+x", "a+y", "b+x", "b+y"]);
        assert_eq!(all[1].programs, [(Tool::Clang, "/a/clang".into()), (Tool::Ptxas, "/y/ptxas".into())]);
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let twice = all(&[axis("clang=/a/clang"), axis("clang=/b/clang")]).unwrap_err();
        assert!(twice.to_string().contains("lists clang twice\nhint: "), "{twice}");
        let missing = all(&[axis("clang=no-such-clang")]).unwrap_err();
        assert!(missing.to_string().contains("is not in PATH\nhint: "), "{missing}");
    }
}
