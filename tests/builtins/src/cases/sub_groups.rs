//! Kernels of functions of sub-groups.

use super::super::case::SUB_GROUPS;
use super::super::element::Element;
use super::super::kernel;
use super::super::table;
use super::{Label, exact};

/// One of each class, and of each size of words.
const NUMBERS: &[Element] = &[Element::Int, Element::ULong, Element::Float];

pub(super) fn all(cases: &mut super::Cases) {
    for (name, condition) in table::SUB_GROUP_BITS {
        add(cases, name, None, |kernel| kernel::sub_group_bits(kernel, condition));
    }
    add(cases, "sub_group_barrier", None, kernel::sub_group_barrier);
    for (name, condition) in table::SUB_GROUP_EXCHANGES {
        for element in NUMBERS {
            add(cases, name, Some(*element), |kernel| {
                kernel::sub_group_exchange(kernel, condition, *element)
            });
        }
    }
    for name in table::SUB_GROUP_ARITHMETIC {
        for element in elements(name) {
            add(cases, name, Some(*element), |kernel| kernel::sub_group_arithmetic(kernel, name, *element));
        }
    }
}

fn elements(name: &str) -> &'static [Element] {
    let operation = name.rsplit('_').next().unwrap_or_default();
    match operation {
        _ if name.contains("_logical_") => &[Element::Int],
        "and" | "or" | "xor" => &[Element::Int, Element::ULong],
        _ => NUMBERS,
    }
}

fn add(
    cases: &mut super::Cases,
    built_in: &'static str,
    element: Option<Element>,
    source: impl FnOnce(&str) -> String,
) {
    let name = element.map(Element::name).unwrap_or_default();
    let signature =
        if name.is_empty() { format!("{built_in}(...)") } else { format!("{built_in}(gentype, ...)") };
    let label = Label { section: SUB_GROUPS, built_in, signature: &signature, element: name };
    cases.add(&label, exact("identity", &[Element::UInt], Element::UInt, &[1]), source);
}
