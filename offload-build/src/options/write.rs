//! Options as the settings file has them.

use std::ffi::OsStr;
use std::fmt::Display;

use super::{
    Compiler, Grf, KernelOptions, Link, OpenClStd, Options, SYCL_STATES, SpillBudget, Split, name_in,
};
use crate::error::{Error, Result};
use crate::toml_text::quoted;

impl Options {
    /// The keys of the module's table, a line each, and `definitions`: an array, because their order counts.
    ///
    /// # Errors
    /// If a path or a flag is not UTF-8.
    pub(crate) fn to_toml(&self) -> Result<String> {
        let mut lines = Lines::default();
        lines.texts("only", self.only.iter().map(|kind| kind.name()));
        lines.word("compiler", self.compiler.map(|value| name_in(&Compiler::NAMES, &value)));
        lines.word("split", self.split.map(|value| name_in(&Split::NAMES, &value)));
        lines.plain("cuda-sdk", self.cuda_sdk);
        lines.plain("cuda-arch", self.cuda_arch);
        lines.plain("launchers", self.launchers);
        lines.plain("strip", self.strip);
        lines.word("std", self.std.map(OpenClStd::name));
        lines.texts("imports", self.imports.iter().map(String::as_str));
        lines.word("link", self.link.map(|value| name_in(&Link::NAMES, &value)));
        lines.texts("includes", utf8_all(&self.includes)?);
        lines.texts("flags", utf8_all(&self.flags)?);
        for (name, values) in &self.variants {
            // Also without values, which the compiler refuses.
            lines
                .plain(&format!("variants.{}", quoted(name)), Some(array(values.iter().map(String::as_str))));
        }
        for (name, value) in &self.spec {
            lines.plain(&format!("spec.{}.{}", quoted(name), value.type_name()), Some(value));
        }
        lines.plain("max-registers", self.max_registers);
        lines.word("grf", self.grf.map(|value| name_in(&Grf::NAMES, &value)));
        lines.plain("max-spills", self.max_spills.and_then(budget));
        for (name, kernel) in &self.kernels {
            kernel.write(&format!("kernels.{}", quoted(name)), &mut lines);
        }
        lines.word("syclbin", self.syclbin.map(|value| name_in(&SYCL_STATES, &value)));
        lines.texts("syclbin-libraries", utf8_all(&self.syclbin_libraries)?);
        Ok(lines.text)
    }
}

impl KernelOptions {
    fn write(&self, key: &str, lines: &mut Lines) {
        lines.plain(&format!("{key}.max-registers"), self.max_registers);
        lines.texts(&format!("{key}.targets"), self.targets.iter().map(|kind| kind.name()));
        for (argument, bound) in &self.bounds {
            lines.word(&format!("{key}.bounds.{}", quoted(argument)), Some(bound.as_str()));
        }
    }
}

/// Lines of a table; an option that is not set has none.
#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn plain(&mut self, key: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.text.push_str(&format!("{key} = {value}\n"));
        }
    }

    fn word(&mut self, key: &str, value: Option<&str>) {
        self.plain(key, value.map(quoted));
    }

    fn texts<'a>(&mut self, key: &str, values: impl IntoIterator<Item = &'a str>) {
        let mut values = values.into_iter().peekable();
        if values.peek().is_some() {
            self.plain(key, Some(array(values)));
        }
    }
}

/// An array of strings.
pub(crate) fn array<'a>(values: impl IntoIterator<Item = &'a str>) -> String {
    let values: Vec<String> = values.into_iter().map(quoted).collect();
    format!("[{}]", values.join(", "))
}

/// `text`, which has to be UTF-8.
pub(crate) fn utf8(text: &OsStr) -> Result<&str> {
    text.to_str().ok_or_else(|| {
        Error::new(format!("`{}` is not UTF-8", text.to_string_lossy().escape_default()))
            .with_hint("rename it, or use the feature `compiler` of offload-build, which takes such names")
    })
}

fn utf8_all<T: AsRef<OsStr>>(texts: &[T]) -> Result<Vec<&str>> {
    texts.iter().map(|text| utf8(text.as_ref())).collect()
}

/// `None` for the default.
fn budget(budget: SpillBudget) -> Option<String> {
    match budget {
        SpillBudget::Warn => None,
        SpillBudget::AtMost(bytes) => Some(bytes.to_string()),
        SpillBudget::WarnAbove(bytes) => Some(format!("{{ warn = {bytes} }}")),
        SpillBudget::Any => Some(quoted("any")),
    }
}
