//! Compiles of preprocessed text, in which what nvcc takes and clang refuses is rewritten.

use offload_clang::inline_ptx::{self, Constraints};
use offload_clang::with_template_keywords;

use crate::compile::advice::{ptx, templates};
use crate::compile::steps::action::Arg;
use crate::error::Error;

/// Changes of preprocessed text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rewrites {
    inline_ptx: bool,
    template_keywords: bool,
}

impl Rewrites {
    /// Adds the change that helps against `error`; whether there is one that was not made yet.
    pub(super) fn add_for(&mut self, error: &Error) -> bool {
        if ptx::is_of_assembly(error) {
            return !std::mem::replace(&mut self.inline_ptx, true);
        }
        templates::is_of_keyword(error) && !std::mem::replace(&mut self.template_keywords, true)
    }

    /// `text` with the changes; `None` if there is nothing to change.
    pub(super) fn apply(self, text: &str, constraints: Constraints) -> Option<String> {
        let mut changed = None;
        if self.inline_ptx {
            changed = inline_ptx::rewrite(text, constraints);
        }
        if self.template_keywords {
            changed = with_template_keywords(changed.as_deref().unwrap_or(text)).or(changed);
        }
        changed
    }
}

/// The languages of vendors.
const LANGUAGES: [&str; 2] = ["cuda", "hip"];

/// The arguments that preprocess alone what `args` compile to IR.
pub(super) fn preprocessing(args: &[Arg]) -> Vec<Arg> {
    let mut changed = Vec::new();
    for arg in args {
        match arg {
            Arg::Text(text) if text == "-S" => changed.push(Arg::Text("-E".into())),
            Arg::Text(text) if text == "-emit-llvm" => {}
            other => changed.push(other.clone()),
        }
    }
    changed
}

/// The arguments that compile preprocessed text from standard input as `args` compile a file; `None` for other languages
/// than those of vendors.
///
/// The language stays: of preprocessed HIP C++ clang's driver expects a bundle of texts for the processor and the GPU. So
/// macros of the command line would be replaced once more, and are left out, as are files that it includes.
pub(super) fn for_preprocessed(args: &[Arg]) -> Option<Vec<Arg>> {
    let mut changed: Vec<Arg> = Vec::new();
    let mut is_known = false;
    // The last is the file.
    let (_, flags) = args.split_last()?;
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        let text = match flag {
            Arg::Text(text) => text.to_str().unwrap_or_default(),
            _ => "",
        };
        match text {
            "-D" | "-U" | "-include" | "-imacros" => drop(flags.next()),
            _ if text.starts_with("-D") || text.starts_with("-U") => {}
            _ => {
                is_known |= LANGUAGES.contains(&text) && changed.last() == Some(&Arg::Text("-x".into()));
                changed.push(flag.clone());
            }
        }
    }
    // Nothing is left of flags for headers.
    changed.push(Arg::Text("-Wno-unused-command-line-argument".into()));
    changed.push(Arg::Text("-".into()));
    is_known.then_some(changed)
}

/// The constraints that clang takes for the machine that `args` compile for.
pub(super) fn constraints(args: &[Arg]) -> Constraints {
    let mut texts = args.iter().filter_map(|arg| match arg {
        Arg::Text(text) => text.to_str(),
        _ => None,
    });
    if texts.any(|text| text.starts_with("--cuda-gpu-arch=sm_")) {
        Constraints::Nvidia
    } else {
        Constraints::AnyRegister
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preprocessed_text_is_compiled_without_macros() {
        let text = |text: &str| Arg::Text(text.into());
        let args: Vec<Arg> =
            ["-x", "hip", "-DT=struct T", "-D", "N=1", "-include", "a.h", "-O2", "-S", "-emit-llvm"]
                .map(text)
                .into_iter()
                .chain([Arg::Output, text("a.hip")])
                .collect();
        let compiled = for_preprocessed(&args).unwrap();
        let flags = ["-x", "hip", "-O2", "-S", "-emit-llvm"].map(text);
        assert_eq!(compiled[..5], flags);
        assert_eq!((&compiled[5], compiled.last()), (&Arg::Output, Some(&text("-"))));
        assert!(
            preprocessing(&args).contains(&text("-E")) && !preprocessing(&args).contains(&text("-emit-llvm"))
        );
        assert_eq!(for_preprocessed(&["-x", "c", "a.c"].map(text)), None);
        assert_eq!(constraints(&args), Constraints::AnyRegister);
        assert_eq!(constraints(&[text("--cuda-gpu-arch=sm_80")]), Constraints::Nvidia);
    }
}
