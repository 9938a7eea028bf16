//! The modules of a crate that a module names: in `use`, in paths, and in calls of macros.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Item, ItemUse, Macro, UseTree, Visibility};

use crate::modules::ParsedModule;

/// A path as it is written, `crate::a::b` in words.
type Words = Vec<String>;

/// What a module names.
#[derive(Debug, Default)]
struct Named {
    paths: Vec<Words>,
    /// Names that the module gives to others or to itself, and where they come from.
    names: BTreeMap<String, Words>,
}

/// For each module, by its place in `modules`, those that it uses.
pub(crate) fn edges(modules: &[ParsedModule]) -> Vec<BTreeSet<usize>> {
    let crate_ = Crate::new(modules);
    (0..modules.len()).map(|module| crate_.used_by(module)).collect()
}

struct Crate<'a> {
    modules: &'a [ParsedModule],
    places: BTreeMap<&'a [String], usize>,
    named: Vec<Named>,
}

impl<'a> Crate<'a> {
    fn new(modules: &'a [ParsedModule]) -> Crate<'a> {
        let places = modules.iter().enumerate().map(|(at, module)| (&module.path[..], at)).collect();
        Crate { modules, places, named: modules.iter().map(named).collect() }
    }

    fn used_by(&self, module: usize) -> BTreeSet<usize> {
        let paths = self.named.get(module).into_iter().flat_map(|named| &named.paths);
        let mut used: BTreeSet<usize> = paths.filter_map(|path| self.resolve(module, path, 0)).collect();
        used.remove(&module);
        used
    }

    /// The module in which what `path` names stands, behind re-exports.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        let own = &self.modules.get(from)?.path;
        let (mut at, mut rest) = match first.as_str() {
            "crate" => (self.place(&[])?, rest),
            "self" => (from, rest),
            "super" => (self.place(own.split_last()?.1)?, rest),
            _ if self.child(from, first).is_some() => (from, path),
            _ => return None,
        };
        while let Some((word, after)) = rest.split_first() {
            let next = match word.as_str() {
                "super" => self.place(self.modules.get(at)?.path.split_last()?.1),
                word => self.child(at, word),
            };
            let Some(next) = next else { return Some(self.behind(at, rest, depth)) };
            (at, rest) = (next, after);
        }
        Some(at)
    }

    /// Where the first of `words` comes from that `module` has, if it only passes it on.
    fn behind(&self, module: usize, words: &[String], depth: usize) -> usize {
        let Some((word, rest)) = words.split_first() else { return module };
        let target = self.named.get(module).and_then(|named| named.names.get(word));
        // Re-exports cannot go in circles; names can seem to, where a crate has the name of a module.
        let Some(target) = target.filter(|_| depth < 8) else { return module };
        let path = [&target[..], rest].concat();
        self.resolve(module, &path, depth + 1).unwrap_or(module)
    }

    fn place(&self, path: &[String]) -> Option<usize> {
        self.places.get(path).copied()
    }

    fn child(&self, module: usize, name: &str) -> Option<usize> {
        let parent = &self.modules.get(module)?.path;
        self.place(&[&parent[..], &[name.to_string()]].concat())
    }
}

fn named(module: &ParsedModule) -> Named {
    let mut finder = Finder(Named::default());
    for item in &module.items {
        finder.visit_item(item);
    }
    finder.0
}

struct Finder(Named);

impl Finder {
    fn add_use(&mut self, item: &ItemUse) {
        let mut leaves = Vec::new();
        collect(&item.tree, &mut Vec::new(), &mut leaves);
        // To pass a name on is no use of it.
        let passed_on = !matches!(item.vis, Visibility::Inherited);
        for Leaf { path, name } in leaves {
            if !passed_on {
                self.0.paths.push(path.clone());
            }
            if let Some(name) = name {
                self.0.names.insert(name, path);
            }
        }
    }
}

/// One name of a `use`; a star has none.
struct Leaf {
    path: Words,
    name: Option<String>,
}

fn collect(tree: &UseTree, before: &mut Words, leaves: &mut Vec<Leaf>) {
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            collect(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            leaves.push(Leaf { path: before.clone(), name: before.last().cloned() });
        }
        UseTree::Name(name) => leaves.push(leaf(before, &name.ident, &name.ident)),
        UseTree::Rename(renamed) => leaves.push(leaf(before, &renamed.ident, &renamed.rename)),
        UseTree::Glob(_) => leaves.push(Leaf { path: before.clone(), name: None }),
        UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, before, leaves)),
    }
}

fn leaf(before: &[String], word: &syn::Ident, name: &syn::Ident) -> Leaf {
    Leaf { path: [before, &[word.to_string()]].concat(), name: Some(name.to_string()) }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Use(item) => self.add_use(item),
            // What a macro expands to is used where it is called.
            Item::Macro(item) if item.ident.is_some() => {}
            other => visit::visit_item(self, other),
        }
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}

    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.0.paths.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        add_tokens(call.tokens.clone(), &mut self.0.paths);
    }
}

/// Paths that start with `crate`, `super` or `self` among tokens.
fn add_tokens(tokens: TokenStream, paths: &mut Vec<Words>) {
    let mut path = Words::new();
    let mut separated = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if path.is_empty() || !separated => {
                finish(&mut path, paths);
                path.push(word.to_string());
                separated = false;
            }
            TokenTree::Ident(word) => {
                path.push(word.to_string());
                separated = false;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => separated = true,
            TokenTree::Group(group) => {
                finish(&mut path, paths);
                add_tokens(group.stream(), paths);
            }
            _ => finish(&mut path, paths),
        }
    }
    finish(&mut path, paths);
}

fn finish(path: &mut Words, paths: &mut Vec<Words>) {
    let path = std::mem::take(path);
    if path.len() > 1 && path.first().is_some_and(|word| matches!(word.as_str(), "crate" | "super" | "self"))
    {
        paths.push(path);
    }
}
