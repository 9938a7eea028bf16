//! Accesses to memory, and barriers
//! (<https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions>).

use super::body::{Body, Value};
use super::template::{Instruction, Operand};
use super::types::{Form, Kind, Machine, SHARED_SPACE, Type};

pub(super) fn lower(body: &mut Body, instruction: &Instruction) -> Option<()> {
    match instruction.name.as_str() {
        "ld" | "ldu" => load(body, instruction),
        "st" => store(body, instruction),
        "atom" | "red" => atomic(body, instruction),
        "cp" => copy(body, instruction),
        "fence" | "membar" => fence(body, instruction),
        "bar" | "barrier" => barrier(body, instruction),
        "trap" => {
            let region = body.enter();
            body.declarations.push("declare void @llvm.trap()".to_string());
            body.emit_effect("call void @llvm.trap()");
            body.leave(&region, Vec::new());
            Some(())
        }
        // What a GPU does ahead, or how long it waits, changes no result.
        "prefetch" | "prefetchu" | "griddepcontrol" | "nanosleep" | "pragma" | "applypriority" => Some(()),
        _ => None,
    }
}

/// The words of an access.
struct Access {
    is_shared: bool,
    is_volatile: bool,
    /// The order of an atomic access in LLVM.
    order: Option<&'static str>,
    scope: Scope,
    /// Values in a register each.
    count: usize,
    of: Type,
}

/// The threads that an atomic access is atomic for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Block,
    Device,
    System,
}

impl Scope {
    fn from_suffix(word: &str) -> Option<Scope> {
        match word {
            "cta" => Some(Scope::Block),
            "cluster" | "gpu" | "gl" => Some(Scope::Device),
            "sys" => Some(Scope::System),
            _ => None,
        }
    }

    /// The scope of a fence or an atomic access, with the space before it
    /// (<https://llvm.org/docs/AMDGPUUsage.html#memory-scopes>).
    fn text(self, machine: Machine) -> &'static str {
        match (machine, self) {
            (Machine::Amd, Scope::Block) => " syncscope(\"workgroup\")",
            (Machine::Amd, Scope::Device) => " syncscope(\"agent\")",
            _ => "",
        }
    }
}

impl Access {
    /// Reads the words that `ld`, `st`, `atom` and `red` share; `operation` gets those that are of one of them.
    fn parse<'i>(instruction: &'i Instruction, operation: &mut Vec<&'i str>) -> Option<Access> {
        let (last, words) = instruction.suffixes.split_last()?;
        let mut access = Access {
            is_shared: false,
            is_volatile: false,
            order: None,
            scope: Scope::Device,
            count: 1,
            of: Type::from_suffix(last)?,
        };
        for word in words {
            match word.as_str() {
                "shared" | "shared::cta" => access.is_shared = true,
                // Addresses of the others are generic ones too.
                "global" | "const" => {}
                "volatile" | "mmio" => access.is_volatile = true,
                "relaxed" => access.order = Some("monotonic"),
                "acquire" => access.order = Some("acquire"),
                "release" => access.order = Some("release"),
                "acq_rel" => access.order = Some("acq_rel"),
                "v2" => access.count = 2,
                "v4" => access.count = 4,
                "weak" | "nc" | "ca" | "cg" | "cs" | "lu" | "cv" | "wb" | "wt" => {}
                // Levels of caches.
                "L1" | "L2" => {}
                word if word.starts_with("L1::") || word.starts_with("L2::") => {
                    if word.ends_with("cache_hint") {
                        return None;
                    }
                }
                word => match Scope::from_suffix(word) {
                    Some(scope) => access.scope = scope,
                    None => operation.push(word),
                },
            }
        }
        Some(access)
    }

    /// The bytes of an element.
    fn size(&self) -> u32 {
        self.of.size() / 8
    }

    fn form(&self) -> Form {
        Form::Integer(self.of.size())
    }

    /// The value at `number` behind an address.
    fn pointer(&self, body: &mut Body, address: &Operand, number: u32) -> Option<Value> {
        let Operand::Address { base, offset } = address else { return None };
        let base = body.register_bits(base)?;
        pointer(body, base, self.is_shared, offset.checked_add(i64::from(number.checked_mul(self.size())?))?)
    }
}

/// A pointer to `offset` bytes behind an address.
fn pointer(body: &mut Body, base: Value, is_shared: bool, offset: i64) -> Option<Value> {
    let base = match base.form.width() {
        32 if is_shared => body.shared_pointer(base)?,
        32 => return None,
        _ => {
            let space = if is_shared && body.machine == Machine::Amd { SHARED_SPACE } else { 0 };
            body.as_form(base, Form::Pointer(space))?
        }
    };
    if offset == 0 {
        return Some(base);
    }
    Some(body.emit(base.form, format!("getelementptr i8, {}, i64 {offset}", base.typed())))
}

/// The registers of a vector, or the one register.
fn registers(operand: &Operand, count: usize) -> Option<Vec<Operand>> {
    match operand {
        Operand::List(list) if list.len() == count => Some(list.clone()),
        Operand::List(_) => None,
        single => (count == 1).then(|| vec![single.clone()]),
    }
}

fn load(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let mut operation = Vec::new();
    let access = Access::parse(instruction, &mut operation)?;
    let [to, address] = instruction.operands.as_slice() else { return None };
    if !operation.is_empty() || access.of.kind == Kind::Predicate {
        return None;
    }
    let targets = registers(to, access.count)?;
    let form = access.form();
    let region = body.enter();
    let mut values = Vec::new();
    for number in (0u32..).take(access.count) {
        let pointer = access.pointer(body, address, number)?;
        let volatile = if access.is_volatile { "volatile " } else { "" };
        let atomic = if access.order.is_some() { "atomic " } else { "" };
        // The last of several accesses orders all of them.
        let is_last = usize::try_from(number).ok()?.checked_add(1)? == access.count;
        let order = access.order.map(|order| if is_last { order } else { "monotonic" });
        let order =
            order.map_or(String::new(), |order| format!("{} {order}", access.scope.text(body.machine)));
        let text = format!(
            "load {atomic}{volatile}{}, {}{order}, align {}",
            form.text(),
            pointer.typed(),
            access.size()
        );
        values.push(body.emit(form, text));
    }
    let values = body.leave(&region, values);
    for (target, value) in targets.iter().zip(values) {
        body.write(target, value, access.of.is_signed())?;
    }
    Some(())
}

fn store(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let mut operation = Vec::new();
    let access = Access::parse(instruction, &mut operation)?;
    let [address, from] = instruction.operands.as_slice() else { return None };
    if !operation.is_empty() || access.of.kind == Kind::Predicate {
        return None;
    }
    let sources = registers(from, access.count)?;
    let exact = Type::bits(access.of.size());
    let region = body.enter();
    for (number, source) in (0u32..).zip(&sources) {
        let value = match source {
            Operand::Bits { .. } => body.read(source, access.of)?,
            _ => body.read(source, exact)?,
        };
        let pointer = access.pointer(body, address, number)?;
        let volatile = if access.is_volatile { "volatile " } else { "" };
        let atomic = if access.order.is_some() { "atomic " } else { "" };
        // The first of several accesses orders all of them.
        let order = access.order.map(|order| if number == 0 { order } else { "monotonic" });
        let order =
            order.map_or(String::new(), |order| format!("{} {order}", access.scope.text(body.machine)));
        let (value, pointer) = (value.typed(), pointer.typed());
        body.emit_effect(format!(
            "store {atomic}{volatile}{value}, {pointer}{order}, align {}",
            access.size()
        ));
    }
    body.leave(&region, Vec::new());
    Some(())
}

/// The operation of `atomicrmw` for one of PTX.
fn atomic_operation(name: &str, of: Type) -> Option<&'static str> {
    let is_float = of.kind == Kind::Float;
    let operation = match name {
        "add" if is_float => "fadd",
        "add" => "add",
        "exch" => "xchg",
        "and" => "and",
        "or" => "or",
        "xor" => "xor",
        "min" if of.is_signed() => "min",
        "max" if of.is_signed() => "max",
        "min" => "umin",
        "max" => "umax",
        "inc" => "uinc_wrap",
        "dec" => "udec_wrap",
        _ => return None,
    };
    (!is_float || ["fadd", "xchg"].contains(&operation)).then_some(operation)
}

fn atomic(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let mut operation = Vec::new();
    let access = Access::parse(instruction, &mut operation)?;
    let operation: Vec<&str> =
        operation.into_iter().filter(|word| !["ftz", "noftz"].contains(word)).collect();
    let [operation] = operation.as_slice() else { return None };
    if access.count != 1 || access.of.lanes != 1 || access.size() < 4 {
        return None;
    }
    let has_result = instruction.name == "atom";
    let first = usize::from(has_result);
    let address = instruction.operands.get(first)?;
    let operand = body.source(instruction, first.checked_add(1)?, access.of)?;
    let scope = access.scope.text(body.machine);
    let order = access.order.unwrap_or("monotonic");
    let region = body.enter();
    let pointer = access.pointer(body, address, 0)?.typed();
    let old = if *operation == "cas" {
        let new = body.source(instruction, first.checked_add(2)?, access.of)?;
        let failure = if order.starts_with("acq") { "acquire" } else { "monotonic" };
        let width = operand.form.text();
        let pair = Form::Integer(1);
        let text =
            format!("cmpxchg {pointer}, {}, {}{scope} {order} {failure}", operand.typed(), new.typed());
        let both = body.emit(pair, text);
        body.emit(operand.form, format!("extractvalue {{ {width}, i1 }} {}, 0", both.text))
    } else {
        let name = atomic_operation(operation, access.of)?;
        body.emit(operand.form, format!("atomicrmw {name} {pointer}, {}{scope} {order}", operand.typed()))
    };
    let values = body.leave(&region, vec![old]);
    match values.into_iter().next() {
        Some(old) if has_result => body.finish(instruction, old, access.of.is_signed()),
        _ => Some(()),
    }
}

/// A copy to shared memory that other work may overlap, done at once; what waits for it does nothing.
fn copy(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let words: Vec<&str> = instruction.suffixes.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["async", "commit_group" | "wait_group" | "wait_all"] => return Some(()),
        ["async", "ca" | "cg", "shared" | "shared::cta", "global", ..] => {}
        _ => return None,
    }
    if words.iter().any(|word| word.ends_with("cache_hint")) {
        return None;
    }
    let [Operand::Address { base: to, offset: to_offset }, Operand::Address { base: from, offset }, ..] =
        instruction.operands.as_slice()
    else {
        return None;
    };
    let size = body.source(instruction, 2, Type::bits(32))?.known()?;
    let read = match instruction.operands.get(3) {
        Some(Operand::Name(_)) => return None,
        Some(_) => Some(body.source(instruction, 3, Type::bits(32))?),
        None => None,
    };
    if ![4, 8, 16].contains(&size) {
        return None;
    }
    let region = body.enter();
    let to = body.register_bits(to)?;
    let to = pointer(body, to, true, *to_offset)?;
    let from = body.register_bits(from)?;
    let from = pointer(body, from, false, *offset)?;
    let length = match read {
        Some(read) => {
            clear(body, &to, size);
            body.at_most(&read, size)?
        }
        None => Value::constant(Form::Integer(32), size),
    };
    let spaces = format!("p{}.p0", if to.form == Form::Pointer(SHARED_SPACE) { SHARED_SPACE } else { 0 });
    let declared = format!("declare void @llvm.memcpy.{spaces}.i32({}, ptr, i32, i1)", to.form.text());
    body.declarations.push(declared);
    let (to, from, length) = (to.typed(), from.typed(), length.typed());
    body.emit_effect(format!("call void @llvm.memcpy.{spaces}.i32({to}, {from}, {length}, i1 false)"));
    body.leave(&region, Vec::new());
    Some(())
}

/// Bytes that are not read are zero.
fn clear(body: &mut Body, to: &Value, size: i64) {
    let words = size.checked_div(4).unwrap_or_default();
    body.emit_effect(format!("store <{words} x i32> zeroinitializer, {}, align 4", to.typed()));
}

fn fence(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let mut order = "seq_cst";
    let mut scope = Scope::Device;
    for word in &instruction.suffixes {
        match word.as_str() {
            "sc" => {}
            "acq_rel" => order = "acq_rel",
            "acquire" => order = "acquire",
            "release" => order = "release",
            word => scope = Scope::from_suffix(word)?,
        }
    }
    let scope = scope.text(body.machine);
    let region = body.enter();
    body.emit_effect(format!("fence{scope} {order}"));
    body.leave(&region, Vec::new());
    Some(())
}

/// The barrier of a whole block.
fn barrier(body: &mut Body, instruction: &Instruction) -> Option<()> {
    let is_of_block = match instruction.suffixes.as_slice() {
        [sync] => sync == "sync",
        [cta, sync] => cta == "cta" && sync == "sync",
        _ => false,
    };
    if !is_of_block || instruction.operands != [Operand::Constant(0)] || instruction.guard.is_some() {
        return None;
    }
    body.is_convergent = true;
    match body.machine {
        Machine::Host => {
            body.declarations.push("declare void @__offload_wait_block()".to_string());
            body.emit_effect("call void @__offload_wait_block() convergent");
        }
        Machine::Amd => {
            body.declarations.push("declare void @llvm.amdgcn.s.barrier()".to_string());
            body.emit_effect("fence syncscope(\"workgroup\") release");
            body.emit_effect("call void @llvm.amdgcn.s.barrier() convergent");
            body.emit_effect("fence syncscope(\"workgroup\") acquire");
        }
    }
    Some(())
}
