//! All figures of one crate.

use std::fs;
use std::path::Path;

use offload_tests::error::Result;

use crate::cycles::Uses;
use crate::functions::Function;
use crate::modules::{self, ParsedModule};
use crate::{cycles, functions, items};

/// The longest function that is accepted, in lines.
pub const LONGEST_FUNCTION: usize = 60;
/// The most parameters, beside `self`, that are accepted.
pub const MOST_PARAMETERS: usize = 4;

/// What is measured from source; each list has the names, so that they can be found.
#[derive(Debug, Default)]
pub struct Figures {
    /// Lines of all files, tests in them too.
    pub lines: usize,
    /// Files.
    pub files: usize,
    /// Files with unsafe code.
    pub unsafe_files: usize,
    /// Functions of more than [`LONGEST_FUNCTION`] lines.
    pub long: Vec<String>,
    /// Functions of more than [`MOST_PARAMETERS`].
    pub many: Vec<String>,
    /// Functions with a tuple as parameter.
    pub tuples: Vec<String>,
    /// Groups of modules that use each other in circles.
    pub cycles: Vec<Vec<String>>,
    /// The same without uses of a module's own parents.
    pub across: Vec<Vec<String>>,
    /// Public items without documentation.
    pub undocumented: Vec<String>,
}

/// Measures the package in `directory`.
///
/// # Errors
/// If a file cannot be read or is no Rust.
pub fn of_package(directory: &Path) -> Result<Figures> {
    let mut figures = Figures::default();
    let source = directory.join("src");
    for root in ["lib.rs", "main.rs"].map(|name| source.join(name)) {
        if root.is_file() {
            figures.add_crate(&modules::of_crate(&root)?, directory);
        }
    }
    figures.add_files(&source)?;
    Ok(figures)
}

impl Figures {
    fn add_crate(&mut self, modules: &[ParsedModule], directory: &Path) {
        for module in modules {
            let file = module.file.strip_prefix(directory).unwrap_or(&module.file);
            let named = |name: &String| format!("{}: {name}", file.display());
            let functions = functions::of_module(module);
            let names = |which: fn(&Function) -> bool| {
                functions
                    .iter()
                    .filter(|function| which(function))
                    .map(|function| named(&function.name))
                    .collect()
            };
            let lists: [Vec<String>; 3] = [
                names(|function| function.lines > LONGEST_FUNCTION),
                names(|function| function.parameters > MOST_PARAMETERS),
                names(|function| function.tuples > 0),
            ];
            let [long, many, tuples] = lists;
            self.long.extend(long);
            self.many.extend(many);
            self.tuples.extend(tuples);
            self.undocumented.extend(items::undocumented(module).iter().map(named));
        }
        self.cycles.extend(cycles::find(modules, Uses::All));
        self.across.extend(cycles::find(modules, Uses::NotOfParents));
    }

    fn add_files(&mut self, directory: &Path) -> Result<()> {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                self.add_files(&path)?;
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path)?;
                self.files += 1;
                self.lines += text.lines().count();
                self.unsafe_files += usize::from(items::is_unsafe(&text));
            }
        }
        Ok(())
    }
}
