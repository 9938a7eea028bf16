//! Functions: how long they are, and how many values they take.

use syn::visit::{self, Visit};
use syn::{Block, FnArg, ImplItemFn, ItemFn, ItemImpl, Signature, TraitItemFn, Type};

use crate::modules::{ParsedModule, is_for_tests};

/// A function as it is measured.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Lines from `fn` to the closing brace.
    pub(crate) lines: usize,
    /// Parameters beside `self`; a tuple counts as what is in it.
    pub(crate) parameters: usize,
    /// Parameters that are tuples.
    pub(crate) tuples: usize,
}

/// All functions of a module, those in other functions too.
pub(crate) fn of_module(module: &ParsedModule) -> Vec<Function> {
    let mut finder = Finder::default();
    module.items.iter().for_each(|item| finder.visit_item(item));
    finder.found
}

#[derive(Default)]
struct Finder {
    found: Vec<Function>,
    /// A trait decides what its functions take, and is counted where it stands.
    of_trait: bool,
}

impl Finder {
    fn add(&mut self, signature: &Signature, block: Option<&Block>) {
        let types = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(&*typed.ty),
            FnArg::Receiver(_) => None,
        });
        let types: Vec<&Type> = if self.of_trait { Vec::new() } else { types.collect() };
        let start = signature.fn_token.span.start().line;
        let end = block.map_or(start, |block| block.brace_token.span.close().end().line);
        self.found.push(Function {
            name: signature.ident.to_string(),
            lines: end.saturating_sub(start) + 1,
            parameters: types.iter().map(|ty| leaves(ty)).sum(),
            tuples: types.iter().filter(|ty| tuple(ty).is_some()).count(),
        });
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !is_for_tests(&function.attrs) {
            self.add(&function.sig, Some(&function.block));
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        let outside = std::mem::replace(&mut self.of_trait, block.trait_.is_some());
        visit::visit_item_impl(self, block);
        self.of_trait = outside;
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            self.add(&function.sig, Some(&function.block));
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        self.add(&function.sig, function.default.as_ref());
        visit::visit_trait_item_fn(self, function);
    }
}

/// A tuple of two and more, or a reference to one.
fn tuple(ty: &Type) -> Option<&syn::TypeTuple> {
    match ty {
        Type::Tuple(tuple) if tuple.elems.len() > 1 => Some(tuple),
        Type::Reference(reference) => self::tuple(&reference.elem),
        Type::Paren(inner) => self::tuple(&inner.elem),
        _ => None,
    }
}

fn leaves(ty: &Type) -> usize {
    tuple(ty).map_or(1, |tuple| tuple.elems.iter().map(leaves).sum())
}
