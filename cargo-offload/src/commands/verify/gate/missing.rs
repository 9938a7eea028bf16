//! Images that modules lack for a requirement, and the message.

use crate::print::text::escaped;

/// Of so many modules people see the names.
const NAMED: usize = 3;

/// Images that a module lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MissingImages {
    /// In these modes alone, as `gfx90a:xnack+`; nothing where the demand is one.
    pub(super) setting: Option<String>,
    pub(super) images: MissingKind,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MissingKind {
    /// Every image. The texts are the targets that it has, each with the reason where there is one.
    All(Vec<String>),
    /// These kernels.
    Kernels(Vec<String>),
}

impl MissingImages {
    /// Of `modules`, of `of` in all.
    pub(super) fn sentence(&self, modules: &[String], of: usize) -> String {
        let setting = self.setting.as_deref().map(|setting| format!(" for {}", escaped(setting)));
        let setting = setting.unwrap_or_default();
        match &self.images {
            MissingKind::Kernels(kernels) => {
                format!("{} lacks {}{setting}", named(modules), escaped(&shortened(kernels)))
            }
            MissingKind::All(there) if there.is_empty() => {
                format!("no image{setting} in {}", many(modules, of))
            }
            MissingKind::All(there) if there.iter().any(|text| text.contains(": ")) => {
                let lines: Vec<String> = there.iter().map(|text| format!("\n  {}", escaped(text))).collect();
                format!("no image{setting} in {}{}", many(modules, of), lines.concat())
            }
            MissingKind::All(there) => {
                let there = there.join(", ");
                format!("no image{setting} in {}; available: {}", many(modules, of), escaped(&there))
            }
        }
    }
}

pub(super) fn many(modules: &[String], of: usize) -> String {
    match modules.len() {
        1 => format!("module {}", escaped(&shortened(modules))),
        some => format!("{some} of {of} modules ({})", escaped(&shortened(modules))),
    }
}

/// One module by its name, and how many more are.
pub(super) fn named(modules: &[String]) -> String {
    match modules.len() {
        1 => format!("module {}", escaped(&shortened(modules))),
        some => format!("{some} modules"),
    }
}

fn shortened(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(NAMED) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(there: &[&str]) -> String {
        let there = there.iter().map(ToString::to_string).collect();
        let lack = MissingImages { setting: None, images: MissingKind::All(there) };
        lack.sentence(&["m".to_string()], 1)
    }

    #[test]
    fn a_sentence_names_what_is_there_if_anything_is() {
        assert_eq!(sentence(&[]), "no image in module m");
        assert_eq!(sentence(&["spirv64"]), "no image in module m; available: spirv64");
    }
}
