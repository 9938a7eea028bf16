//! Options from the settings file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use super::{
    Compiler, Definition, Grf, KernelOptions, Link, OpenClStd, Options, SYCL_STATES, SpillBudget, Split,
    TargetKind, spec,
};
use crate::error::{Error, Result};
use crate::settings::{Table, Value};

impl Options {
    pub(crate) const KEYS: [&str; 22] = [
        "only",
        "compiler",
        "split",
        "cuda-sdk",
        "cuda-arch",
        "launchers",
        "strip",
        "std",
        "imports",
        "link",
        "includes",
        "defines",
        "flags",
        "variants",
        "spec",
        "max-registers",
        "grf",
        "max-spills",
        "kernels",
        "syclbin",
        "syclbin-libraries",
        "require",
    ];

    /// What a table says.
    pub(crate) fn read(value: Value<'_>) -> Result<Options> {
        let table = value.table()?;
        table.only(&Options::KEYS)?;
        table.optional("require", |value| value.each(Value::string))?;
        let only = table.optional("only", |value| value.each(|kind| kind.choice(&TargetKind::NAMES)))?;
        Ok(Options {
            only: only.unwrap_or_default(),
            compiler: table.optional("compiler", |value| value.choice(&Compiler::NAMES))?,
            split: table.optional("split", |value| value.choice(&Split::NAMES))?,
            cuda_sdk: table.optional("cuda-sdk", Value::bool)?,
            cuda_arch: table.optional("cuda-arch", Value::number)?,
            launchers: table.optional("launchers", Value::bool)?,
            strip: table.optional("strip", Value::bool)?,
            std: table.optional("std", |value| value.choice(&OpenClStd::NAMES))?,
            imports: texts(table, "imports")?.into_iter().map(str::to_string).collect(),
            link: table.optional("link", |value| value.choice(&Link::NAMES))?,
            includes: texts(table, "includes")?.into_iter().map(PathBuf::from).collect(),
            defines: table.optional("defines", defines)?.unwrap_or_default(),
            flags: texts(table, "flags")?.into_iter().map(OsString::from).collect(),
            variants: table.optional("variants", variants)?.unwrap_or_default(),
            spec: table.optional("spec", spec::read)?.unwrap_or_default(),
            max_registers: table.optional("max-registers", Value::number)?,
            grf: table.optional("grf", |value| value.choice(&Grf::NAMES))?,
            max_spills: table.optional("max-spills", SpillBudget::read)?,
            kernels: table
                .optional("kernels", |value| value.table()?.collect(KernelOptions::read))?
                .unwrap_or_default(),
            syclbin: table.optional("syclbin", |value| value.choice(&SYCL_STATES))?,
            syclbin_libraries: texts(table, "syclbin-libraries")?.into_iter().map(PathBuf::from).collect(),
        })
    }
}

impl SpillBudget {
    /// `0`, `"any"`, `{ warn = 1024 }`.
    fn read(value: Value<'_>) -> Result<SpillBudget> {
        let [limit, warn] = [Some(value), value.get("warn")]
            .map(|value| value?.as_integer().and_then(|bytes| u64::try_from(bytes).ok()));
        match (limit, warn, value.as_str()) {
            (Some(bytes), ..) => Ok(SpillBudget::AtMost(bytes)),
            (_, Some(bytes), _) => Ok(SpillBudget::WarnAbove(bytes)),
            (.., Some("any")) => Ok(SpillBudget::Any),
            _ => {
                let hint = "write a number of bytes (more is an error), { warn = BYTES }, or \"any\"";
                let error = Error::new(format!("`max-spills = {value}` is not understood"));
                Err(value.refuse(error.with_hint(hint)))
            }
        }
    }
}

impl KernelOptions {
    fn read(value: Value<'_>) -> Result<KernelOptions> {
        let table = value.table()?;
        table.only(&["max-registers", "targets", "bounds"])?;
        let targets =
            table.optional("targets", |value| value.each(|kind| kind.choice(&TargetKind::NAMES)))?;
        Ok(KernelOptions {
            max_registers: table.optional("max-registers", Value::number)?,
            targets: targets.unwrap_or_default(),
            bounds: table.optional("bounds", bounds)?.unwrap_or_default(),
        })
    }
}

fn texts<'a>(table: Table<'a>, key: &str) -> Result<Vec<&'a str>> {
    Ok(table.optional(key, |value| value.each(Value::str))?.unwrap_or_default())
}

fn defines(value: Value<'_>) -> Result<Vec<Definition>> {
    let mut definitions = Vec::new();
    for (name, value) in value.table()?.entries() {
        definitions.push(Definition { name: name.to_string(), value: text(value) });
    }
    Ok(definitions)
}

/// Expressions; a number may stand alone.
fn bounds(value: Value<'_>) -> Result<BTreeMap<String, String>> {
    value.table()?.collect(|value| Ok(text(value)))
}

fn variants(value: Value<'_>) -> Result<BTreeMap<String, Vec<String>>> {
    value.table()?.collect(|values| values.each(|value| Ok(text(value))))
}

/// Values may be numbers, booleans or texts.
fn text(value: Value<'_>) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
