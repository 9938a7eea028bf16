//! Public items without documentation, and whether a module has unsafe code.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItemFn, Item, ItemImpl, Visibility};

use crate::modules::ParsedModule;

/// The names of the items that are `pub` and have no documentation.
pub(crate) fn undocumented(module: &ParsedModule) -> Vec<String> {
    let mut finder = Finder::default();
    module.items.iter().for_each(|item| finder.visit_item(item));
    finder.found
}

#[derive(Default)]
struct Finder {
    found: Vec<String>,
}

impl Finder {
    fn look(&mut self, name: &syn::Ident, visibility: &Visibility, attributes: &[Attribute]) {
        let documented = attributes.iter().any(|attribute| attribute.path().is_ident("doc"));
        if matches!(visibility, Visibility::Public(_)) && !documented {
            self.found.push(name.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Const(item) => self.look(&item.ident, &item.vis, &item.attrs),
            Item::Enum(item) => self.look(&item.ident, &item.vis, &item.attrs),
            Item::Fn(item) => self.look(&item.sig.ident, &item.vis, &item.attrs),
            Item::Static(item) => self.look(&item.ident, &item.vis, &item.attrs),
            Item::Struct(item) => self.look(&item.ident, &item.vis, &item.attrs),
            Item::Trait(item) => self.look(&item.ident, &item.vis, &item.attrs),
            Item::Type(item) => self.look(&item.ident, &item.vis, &item.attrs),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_impl(&mut self, block: &'ast ItemImpl) {
        if block.trait_.is_none() {
            visit::visit_item_impl(self, block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.look(&function.sig.ident, &function.vis, &function.attrs);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            self.look(name, &field.vis, &field.attrs);
        }
    }
}

/// Whether the word `unsafe` stands in `text`, comments and literals left out.
pub(crate) fn is_unsafe(text: &str) -> bool {
    text.parse::<TokenStream>().is_ok_and(has_unsafe)
}

fn has_unsafe(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "unsafe",
        TokenTree::Group(group) => has_unsafe(group.stream()),
        _ => false,
    })
}
