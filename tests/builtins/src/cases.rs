//! All kernels of the table.

mod atomics;
mod sub_groups;

use super::case::{Case, Map, Run};
use super::element::Element;
use super::kernel;
use super::signature::{Extent, Param, Signature};
use super::table::{self, Bound, BuiltIn, Elements};
use offload_tests::error::Result;

/// In which vector widths element-wise functions are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Widths {
    All,
    /// 1 and 4: ocloc takes seconds for the others, which are the same SPIR-V that another target shows to be right.
    Few,
}

impl Widths {
    fn select(self, widths: &'static [usize]) -> Vec<usize> {
        match self {
            Widths::All => widths.to_vec(),
            Widths::Few => widths.iter().copied().filter(|width| matches!(width, 1 | 4)).collect(),
        }
    }
}

/// Numbers the kernels as they are added.
#[derive(Debug, Default)]
struct Cases(Vec<Case>);

/// What a case is called in the table.
struct Label<'a> {
    section: &'static str,
    built_in: &'static str,
    signature: &'a str,
    element: &'a str,
}

/// The cases.
pub(super) fn all(widths: Widths) -> Result<Vec<Case>> {
    let mut cases = Cases::default();
    work_items(&mut cases);
    for (section, list) in [
        ("math", table::MATH),
        ("math", table::FLOAT_ONLY),
        ("integer", table::INTEGER),
        ("common", table::COMMON),
        ("geometric", table::GEOMETRIC),
        ("relational", table::RELATIONAL),
    ] {
        for built_in in list {
            element_wise(&mut cases, (section, widths), built_in)?;
        }
    }
    vectors(&mut cases);
    halves(&mut cases);
    fences(&mut cases);
    copies(&mut cases);
    atomics::of_32_bits(&mut cases);
    shuffles(&mut cases);
    print(&mut cases);
    images(&mut cases);
    // Behind the others, whose kernels keep their names and what the compile cache has of them.
    atomics::of_64_bits(&mut cases);
    atomics::ordered(&mut cases);
    sub_groups::all(&mut cases);
    Ok(cases.0)
}

impl Cases {
    fn add(&mut self, label: &Label<'_>, (run, bound): (Run, Bound), source: impl FnOnce(&str) -> String) {
        let kernel = format!("k{:04}", self.0.len());
        self.0.push(Case {
            source: source(&kernel),
            kernel,
            section: label.section,
            built_in: label.built_in,
            signature: label.signature.to_string(),
            element: label.element.to_string(),
            run,
            bound,
        });
    }
}

fn exact(function: &str, inputs: &[Element], output: Element, widths: &[usize]) -> (Run, Bound) {
    let map = Map {
        function: function.to_string(),
        inputs: inputs.iter().map(|element| vector_param(*element)).collect(),
        outputs: vec![vector_param(output)],
        widths: widths.to_vec(),
        scratch: None,
    };
    (Run::Map(map), Bound::Exact)
}

fn vector_param(element: Element) -> Param {
    Param { element, extent: Extent::Vector }
}

const COMPILED: (Run, Bound) = (Run::Compile, Bound::Implementation);

fn work_items(cases: &mut Cases) {
    for (name, takes_dimension) in table::WORK_ITEM {
        let signature = match (*name, takes_dimension) {
            ("get_work_dim", _) => "uint get_work_dim()".to_string(),
            (name, _) => format!("size_t {name}(uint)"),
        };
        let label = Label { section: "work-item", built_in: name, signature: &signature, element: "" };
        cases.add(&label, (Run::Ids, Bound::Exact), |kernel| {
            kernel::work_item(kernel, name, *takes_dimension)
        });
    }
}

fn elements(of: Elements) -> &'static [Element] {
    match of {
        Elements::Floats => Element::FLOATS,
        Elements::Float => &[Element::Float],
        Elements::Integers => Element::INTEGERS,
        Elements::Signed => Element::SIGNED,
        Elements::Narrow => Element::INTEGERS.get(..6).unwrap_or_default(),
        Elements::Words => &[Element::Int, Element::UInt],
        Elements::All => Element::ALL,
    }
}

fn element_wise(
    cases: &mut Cases,
    (section, widths): (&'static str, Widths),
    built_in: &BuiltIn,
) -> Result<()> {
    let widths = widths.select(built_in.widths);
    for element in elements(built_in.elements) {
        let signature = Signature::parse(built_in.signature, *element)?;
        let spaces: &[&str] =
            if signature.pointer.is_some() { &["__private", "__local", "__global"] } else { &[""] };
        for space in spaces {
            let text = signature.text(built_in.name, space);
            let label = Label { section, built_in: built_in.name, signature: &text, element: element.name() };
            let map = Map {
                function: built_in.name.to_string(),
                inputs: signature.inputs.clone(),
                outputs: [signature.result].into_iter().chain(signature.pointer).collect(),
                widths: widths.clone(),
                scratch: signature.pointer.filter(|_| *space == "__global").map(|param| param.element),
            };
            let bound = if *element == Element::Double { built_in.double } else { built_in.float };
            cases.add(&label, (Run::Map(map), bound), |kernel| {
                kernel::map(kernel, built_in.name, &signature, (&widths, space))
            });
        }
    }
    Ok(())
}

/// 6.12.7: `vloadn` and `vstoren`.
fn vectors(cases: &mut Cases) {
    const WIDTHS: &[usize] = &[2, 3, 4, 8, 16];
    for element in Element::ALL {
        for space in ["__global", "__local", "__constant", "__private"] {
            let signature = format!("gentypen vloadn(size_t, const {space} gentype *)");
            let label = Label {
                section: "vector",
                built_in: "vloadn",
                signature: &signature,
                element: element.name(),
            };
            cases.add(&label, exact("identity", &[*element], *element, WIDTHS), |kernel| {
                kernel::vload(kernel, "vloadN", [*element, *element], space)
            });
        }
        for space in ["__global", "__local", "__private"] {
            let signature = format!("void vstoren(gentypen, size_t, {space} gentype *)");
            let label = Label {
                section: "vector",
                built_in: "vstoren",
                signature: &signature,
                element: element.name(),
            };
            cases.add(&label, exact("identity", &[*element], *element, WIDTHS), |kernel| {
                kernel::vstore(kernel, "vstoreN", [*element, *element], space)
            });
        }
    }
}

/// The loads of halves: name in the generator, name in the table.
const HALF_LOADS: [(&str, &str); 3] =
    [("vload_half", "vload_half"), ("vload_halfN", "vload_halfn"), ("vloada_halfN", "vloada_halfn")];

/// The stores of halves, and what follows the name for the rounding mode.
const HALF_STORES: [(&str, [&str; 5]); 3] = [
    (
        "vstore_half",
        ["vstore_half", "vstore_half_rte", "vstore_half_rtz", "vstore_half_rtp", "vstore_half_rtn"],
    ),
    (
        "vstore_halfN",
        ["vstore_halfn", "vstore_halfn_rte", "vstore_halfn_rtz", "vstore_halfn_rtp", "vstore_halfn_rtn"],
    ),
    (
        "vstorea_halfN",
        ["vstorea_halfn", "vstorea_halfn_rte", "vstorea_halfn_rtz", "vstorea_halfn_rtp", "vstorea_halfn_rtn"],
    ),
];

fn halves(cases: &mut Cases) {
    use Element::{Double, Float, Half, UShort};
    for (name, shown) in HALF_LOADS {
        for space in ["__global", "__local", "__constant", "__private"] {
            let result = if name.contains('N') { "floatn" } else { "float" };
            let signature = format!("{result} {shown}(size_t, const {space} half *)");
            let label = Label { section: "vector", built_in: shown, signature: &signature, element: "half" };
            cases.add(&label, exact(name, &[UShort], Float, &half_widths(name)), |kernel| {
                kernel::vload(kernel, name, [Half, Float], space)
            });
        }
    }
    for (name, modes) in HALF_STORES {
        for (shown, mode) in modes.into_iter().zip(["", "_rte", "_rtz", "_rtp", "_rtn"]) {
            for space in ["__global", "__local", "__private"] {
                for from in [Float, Double] {
                    let name = format!("{name}{mode}");
                    let signature = format!("void {shown}(gentype, size_t, {space} half *)");
                    let label = Label {
                        section: "vector",
                        built_in: shown,
                        signature: &signature,
                        element: from.name(),
                    };
                    cases.add(&label, exact(&name, &[from], UShort, &half_widths(&name)), |kernel| {
                        kernel::vstore(kernel, &name, [from, Half], space)
                    });
                }
            }
        }
    }
}

/// The widths of a function of halves.
fn half_widths(name: &str) -> Vec<usize> {
    if name.contains('N') { vec![2, 3, 4, 8, 16] } else { vec![1] }
}

/// 6.12.8 and 6.12.9.
fn fences(cases: &mut Cases) {
    for name in table::FENCES {
        let signature = format!("void {name}(cl_mem_fence_flags)");
        let label = Label { section: "synchronization", built_in: name, signature: &signature, element: "" };
        let function = if *name == "barrier" { "reverse" } else { "identity" };
        cases.add(&label, exact(function, &[Element::UInt], Element::UInt, &[1]), |kernel| {
            kernel::fence(kernel, name)
        });
    }
}

/// 6.12.10.
fn copies(cases: &mut Cases) {
    type Make = fn(&str, Element) -> String;
    const WIDTHS: &[usize] = &super::element::WIDTHS;
    const COPIES: [(&str, &str, Make); 3] = [
        ("async_work_group_copy", "padded", kernel::async_copy),
        ("async_work_group_strided_copy", "strided", kernel::strided_copy),
        ("prefetch", "identity", kernel::prefetch),
    ];
    for (name, function, make) in COPIES {
        for element in Element::ALL {
            let signature = match name {
                "prefetch" => "void prefetch(const __global gentype *, size_t)".to_string(),
                _ => format!("event_t {name}(...), void wait_group_events(int, event_t *)"),
            };
            let label =
                Label { section: "async", built_in: name, signature: &signature, element: element.name() };
            cases
                .add(&label, exact(function, &[*element], *element, WIDTHS), |kernel| make(kernel, *element));
        }
    }
}

/// 6.12.12.
fn shuffles(cases: &mut Cases) {
    for element in Element::ALL {
        let mask = element.unsigned();
        let value = *element;
        let label =
            |built_in, signature| Label { section: "misc", built_in, signature, element: value.name() };
        let signature = "gentypen shuffle(gentypem, ugentypen)";
        cases.add(&label("shuffle", signature), exact("shuffle", &[value, mask], value, &[16]), |kernel| {
            kernel::shuffle(kernel, "shuffle", value)
        });
        let signature = "gentypen shuffle2(gentypem, gentypem, ugentypen)";
        cases.add(
            &label("shuffle2", signature),
            exact("shuffle2", &[value, value, mask], value, &[16]),
            |kernel| kernel::shuffle(kernel, "shuffle2", value),
        );
        let steps = exact("vec_step", &[Element::Int], Element::Int, &super::element::WIDTHS);
        cases.add(&label("vec_step", "int vec_step(gentypen)"), steps, |kernel| {
            kernel::vec_step(kernel, value)
        });
    }
}

/// 6.12.13.
fn print(cases: &mut Cases) {
    let signature = "int printf(__constant char *, ...)";
    let label = Label { section: "misc", built_in: "printf", signature, element: "" };
    cases.add(&label, (Run::Print, Bound::Exact), kernel::print);
}

/// 6.12.14. Images of three dimensions are written through an extension alone.
fn images(cases: &mut Cases) {
    for image in table::IMAGES {
        for name in ["read_imagef", "read_imagei", "read_imageui"] {
            let signature = format!("gentype4 {name}({}, [sampler_t,] coord)", image.0);
            let label = Label { section: "image", built_in: name, signature: &signature, element: image.0 };
            cases.add(&label, COMPILED, |kernel| kernel::read_image(kernel, name, *image));
        }
        for name in ["write_imagef", "write_imagei", "write_imageui"] {
            if image.0 == "image3d_t" {
                continue;
            }
            let signature = format!("void {name}({}, coord, gentype4)", image.0);
            let label = Label { section: "image", built_in: name, signature: &signature, element: image.0 };
            cases.add(&label, COMPILED, |kernel| kernel::write_image(kernel, name, *image));
        }
    }
    for (name, images) in table::IMAGE_QUERIES {
        for image in *images {
            let signature = format!("{name}({image})");
            let label = Label { section: "image", built_in: name, signature: &signature, element: image };
            cases.add(&label, COMPILED, |kernel| kernel::image_query(kernel, name, image));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn labels_are_unique() {
        let cases = all(Widths::All).unwrap();
        let labels: BTreeSet<String> = cases.iter().map(Case::label).collect();
        assert_eq!(labels.len(), cases.len());
        assert!(cases.len() > 700, "{}", cases.len());
    }

    fn source(cases: &[Case], name: &str) -> String {
        cases.iter().find(|case| case.built_in == name).unwrap().source.clone()
    }

    #[test]
    fn fewer_widths_are_the_same_cases() {
        let full = all(Widths::All).unwrap();
        let few = all(Widths::Few).unwrap();
        assert!(full.iter().map(Case::label).eq(few.iter().map(Case::label)));
        assert!(source(&full, "sin").contains("float16") && !source(&few, "sin").contains("float16"));
        assert!(source(&few, "sin").contains("float4") && source(&few, "cross").contains("cross"));
    }
}
