//! Atomic functions of OpenCL C 1.2 (6.12.11), those of two extensions for 64 bits
//! (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Ext.html#cl_khr_int64_atomics>), and those of
//! OpenCL C 3.0 (<https://registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_C.html#atomic-functions>).

use super::super::atomic::Outcome::{self, Nothing, Old, Success};
use super::super::atomic::Sharing::{Alone, Device, Group};
use super::super::atomic::{Form, Sharing};

/// 6.12.11: what follows `atomic_`, or `atom_` for 64 bits, and how many operands follow the pointer.
pub(in super::super) const ATOMICS: &[(&str, &str, usize)] = &[
    ("atomic_add", "atom_add", 1),
    ("atomic_sub", "atom_sub", 1),
    ("atomic_xchg", "atom_xchg", 1),
    ("atomic_inc", "atom_inc", 0),
    ("atomic_dec", "atom_dec", 0),
    ("atomic_cmpxchg", "atom_cmpxchg", 2),
    ("atomic_min", "atom_min", 1),
    ("atomic_max", "atom_max", 1),
    ("atomic_and", "atom_and", 1),
    ("atomic_or", "atom_or", 1),
    ("atomic_xor", "atom_xor", 1),
];

/// An atomic function of OpenCL C 3.0.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Ordered {
    pub(in super::super) name: &'static str,
    /// As the specification writes it, with `A` for the type of the cell and `gentype` for its value.
    pub(in super::super) signature: &'static str,
    pub(in super::super) operands: usize,
    pub(in super::super) outcome: Outcome,
    pub(in super::super) forms: &'static [Form],
    pub(in super::super) cells: Cells,
}

/// The types of cells that a function takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Cells {
    Numbers,
    Integers,
    Flag,
}

/// The function without `_explicit`: in order with all others, for the whole device.
pub(in super::super) const PLAIN: &[Form] = &[form("", Device)];

const INITIAL: &[Form] = &[form("", Alone)];

const READ_WRITE: &[Form] = &[
    form("", Device),
    form("memory_order_relaxed", Device),
    form("memory_order_acquire, memory_scope_work_group", Group),
    form("memory_order_release, memory_scope_device", Device),
    form("memory_order_acq_rel, memory_scope_all_svm_devices", Device),
    form("memory_order_seq_cst, memory_scope_work_group", Group),
];

const COMPARE: &[Form] = &[
    form("", Device),
    form("memory_order_acq_rel, memory_order_acquire", Device),
    form("memory_order_relaxed, memory_order_relaxed, memory_scope_work_group", Group),
    form("memory_order_release, memory_order_relaxed, memory_scope_device", Device),
    form("memory_order_seq_cst, memory_order_seq_cst, memory_scope_all_svm_devices", Device),
];

const LOAD: &[Form] = &[
    form("", Device),
    form("memory_order_acquire", Device),
    form("memory_order_relaxed, memory_scope_work_group", Group),
    form("memory_order_acquire, memory_scope_device", Device),
    form("memory_order_seq_cst, memory_scope_all_svm_devices", Device),
];

const STORE: &[Form] = &[
    form("", Device),
    form("memory_order_release", Device),
    form("memory_order_relaxed, memory_scope_work_group", Group),
    form("memory_order_release, memory_scope_device", Device),
    form("memory_order_seq_cst, memory_scope_all_svm_devices", Device),
];

const fn form(order: &'static str, sharing: Sharing) -> Form {
    Form { order, sharing }
}

/// 6.15.12.
pub(in super::super) const ORDERED: &[Ordered] = &[
    Ordered { forms: INITIAL, ..writing("atomic_init") },
    writing("atomic_store"),
    Ordered { signature: "gentype NAME(volatile A *)", operands: 0, forms: LOAD, ..fetching("atomic_load") },
    fetching("atomic_exchange"),
    comparing("atomic_compare_exchange_strong"),
    comparing("atomic_compare_exchange_weak"),
    Ordered { cells: Cells::Integers, ..fetching("atomic_fetch_add") },
    Ordered { cells: Cells::Integers, ..fetching("atomic_fetch_sub") },
    Ordered { cells: Cells::Integers, ..fetching("atomic_fetch_or") },
    Ordered { cells: Cells::Integers, ..fetching("atomic_fetch_xor") },
    Ordered { cells: Cells::Integers, ..fetching("atomic_fetch_and") },
    Ordered { cells: Cells::Integers, ..fetching("atomic_fetch_min") },
    Ordered { cells: Cells::Integers, ..fetching("atomic_fetch_max") },
    Ordered {
        signature: "bool NAME(volatile A *)",
        operands: 0,
        cells: Cells::Flag,
        ..fetching("atomic_flag_test_and_set")
    },
    Ordered {
        signature: "void NAME(volatile A *)",
        operands: 0,
        cells: Cells::Flag,
        ..writing("atomic_flag_clear")
    },
];

const fn fetching(name: &'static str) -> Ordered {
    Ordered {
        name,
        signature: "gentype NAME(volatile A *, gentype)",
        operands: 1,
        outcome: Old,
        forms: READ_WRITE,
        cells: Cells::Numbers,
    }
}

const fn writing(name: &'static str) -> Ordered {
    Ordered {
        signature: "void NAME(volatile A *, gentype)",
        outcome: Nothing,
        forms: STORE,
        ..fetching(name)
    }
}

const fn comparing(name: &'static str) -> Ordered {
    Ordered {
        signature: "bool NAME(volatile A *, gentype *, gentype)",
        operands: 2,
        outcome: Success,
        forms: COMPARE,
        ..fetching(name)
    }
}
