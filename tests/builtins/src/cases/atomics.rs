//! Kernels of atomic functions.

use super::super::atomic::{Atomic, Outcome};
use super::super::case::{ORDERED, Run};
use super::super::element::Element;
use super::super::kernel;
use super::super::table::{self, Bound, Cells};
use super::{Label, exact};

const SPACES: [&str; 2] = ["__global", "__local"];

/// 6.12.11.
pub(super) fn of_32_bits(cases: &mut super::Cases) {
    for (name, _, operands) in table::ATOMICS {
        let float: &[Element] = if *name == "atomic_xchg" { &[Element::Float] } else { &[] };
        for element in [Element::Int, Element::UInt].iter().chain(float) {
            unordered(cases, ("atomic", name), (*operands, *element));
        }
    }
}

/// `cl_khr_int64_base_atomics` and `cl_khr_int64_extended_atomics`.
pub(super) fn of_64_bits(cases: &mut super::Cases) {
    for (_, name, operands) in table::ATOMICS {
        for element in [Element::Long, Element::ULong] {
            unordered(cases, ("atomic64", name), (*operands, element));
        }
    }
}

fn unordered(
    cases: &mut super::Cases,
    (section, name): (&'static str, &'static str),
    (operands, element): (usize, Element),
) {
    for space in SPACES {
        let more = ", gentype".repeat(operands);
        let signature = format!("gentype {name}(volatile {space} gentype *{more})");
        let atomic = Atomic {
            name,
            element,
            cell: element.name().to_string(),
            space,
            operands,
            outcome: Outcome::Old,
            forms: table::PLAIN,
        };
        add(
            cases,
            &Label { section, built_in: name, signature: &signature, element: element.name() },
            atomic,
        );
    }
}

/// 6.15.8 and 6.15.12 of OpenCL C 3.0.
pub(super) fn ordered(cases: &mut super::Cases) {
    for function in table::ORDERED {
        for element in elements(function.cells) {
            let flag = function.cells == Cells::Flag;
            let cell = if flag { "atomic_flag".to_string() } else { format!("atomic_{}", element.name()) };
            for space in SPACES {
                let signature = function.signature.replace("NAME", function.name);
                let signature = signature.replace("volatile A", &format!("volatile {space} A"));
                let label = Label {
                    section: ORDERED,
                    built_in: function.name,
                    signature: &signature,
                    element: &cell,
                };
                let atomic = Atomic {
                    name: function.name,
                    element: *element,
                    cell: cell.clone(),
                    space,
                    operands: function.operands,
                    outcome: function.outcome,
                    forms: function.forms,
                };
                add(cases, &label, atomic);
            }
        }
    }
    fences(cases);
}

fn elements(cells: Cells) -> &'static [Element] {
    use Element::{Double, Float, Int, Long, UInt, ULong};
    match cells {
        Cells::Numbers => &[Int, UInt, Long, ULong, Float, Double],
        Cells::Integers => &[Int, UInt, Long, ULong],
        Cells::Flag => &[Int],
    }
}

fn add(cases: &mut super::Cases, label: &Label<'_>, atomic: Atomic) {
    let run = Run::Atomic(atomic.clone());
    cases.add(label, (run, Bound::Exact), |kernel| kernel::atomic(kernel, &atomic));
}

fn fences(cases: &mut super::Cases) {
    let name = "atomic_work_item_fence";
    let signature = format!("void {name}(cl_mem_fence_flags, memory_order, memory_scope)");
    let label = Label { section: ORDERED, built_in: name, signature: &signature, element: "local memory" };
    cases.add(&label, passed("reverse"), |kernel| kernel::local_fence(kernel, name));
    let (run, bound) = passed("mirror");
    let label = Label { element: "global memory", ..label };
    cases.add(&label, (with_scratch(run), bound), |kernel| kernel::global_fence(kernel, name));

    let name = "work_group_barrier";
    let signature = format!("void {name}(cl_mem_fence_flags[, memory_scope])");
    let label = Label { section: ORDERED, built_in: name, signature: &signature, element: "" };
    cases.add(&label, passed("reverse"), |kernel| kernel::fence(kernel, name));
}

fn passed(function: &str) -> (Run, Bound) {
    exact(function, &[Element::UInt], Element::UInt, &[1])
}

fn with_scratch(run: Run) -> Run {
    match run {
        Run::Map(map) => Run::Map(super::Map { scratch: Some(Element::UInt), ..map }),
        run => run,
    }
}
