//! What modules lack of a demand, and the sentence for it.

use crate::print::text::escaped;

/// Of so many modules people see the names.
const NAMED: usize = 3;

/// What a module lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lack {
    /// In these modes alone, as `gfx90a:xnack+`; nothing where the demand is one.
    pub(super) setting: Option<String>,
    pub(super) images: LackingImages,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LackingImages {
    /// Every image. The texts are the targets that it has, each with the reason where there is one.
    All(Vec<String>),
    /// These kernels.
    Kernels(Vec<String>),
}

impl Lack {
    /// Of `modules`, of `of` in all.
    pub(super) fn sentence(&self, modules: &[String], of: usize) -> String {
        let setting = self.setting.as_deref().map(|setting| format!(" for {}", escaped(setting)));
        let setting = setting.unwrap_or_default();
        match &self.images {
            LackingImages::Kernels(kernels) => {
                format!("{} lacks {}{setting}", named(modules), escaped(&shortened(kernels)))
            }
            LackingImages::All(there) if there.is_empty() => {
                format!("nothing{setting} in {}", many(modules, of))
            }
            LackingImages::All(there) if there.iter().any(|text| text.contains(": ")) => {
                let lines: Vec<String> = there.iter().map(|text| format!("\n  {}", escaped(text))).collect();
                format!("nothing{setting} in {}{}", many(modules, of), lines.concat())
            }
            LackingImages::All(there) => {
                let there = there.join(", ");
                format!("nothing{setting} in {}; there is {}", many(modules, of), escaped(&there))
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

    #[test]
    fn a_sentence_names_what_is_there_if_anything_is() {
        let sentence = |there: &[&str]| {
            let there = there.iter().map(ToString::to_string).collect();
            let lack = Lack { setting: None, images: LackingImages::All(there) };
            lack.sentence(&["m".to_string()], 1)
        };
        assert_eq!(sentence(&[]), "nothing in module m");
        assert_eq!(sentence(&["spirv64"]), "nothing in module m; there is spirv64");
    }
}
