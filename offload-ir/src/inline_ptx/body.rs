//! The body of a function that stands for a text: registers as values in SSA form, and guards.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::template::{Guard, Instruction, Operand};
use super::types::{Form, Kind, Machine, SHARED_SPACE, Type};

/// A value in IR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) form: Form,
    pub(super) text: String,
}

impl Value {
    pub(super) fn new(form: Form, text: String) -> Value {
        Value { form, text }
    }

    /// The low bits of `value`, as a signed number.
    pub(super) fn constant(form: Form, value: i64) -> Value {
        let unused = 64u32.saturating_sub(form.width());
        let value = value.checked_shl(unused).map_or(0, |shifted| shifted >> unused);
        Value { form, text: value.to_string() }
    }

    /// No bit of a register of `width` is set.
    pub(super) fn zero(width: u32) -> Value {
        Value::constant(Form::Integer(width), 0)
    }

    /// The value of a constant integer.
    pub(super) fn known(&self) -> Option<i64> {
        self.text.parse().ok().filter(|_| self.form.is_integer())
    }

    /// With its type.
    pub(super) fn typed(&self) -> String {
        format!("{} {}", self.form.text(), self.text)
    }
}

/// A register that the text declares, as bits.
#[derive(Clone, Debug)]
struct Register {
    width: u32,
    /// `None` before it is written.
    value: Option<Value>,
}

/// A block that a guard leads into.
pub(super) struct Region {
    guard: Option<Value>,
    before: String,
    number: u32,
}

pub(super) struct Body {
    pub(super) machine: Machine,
    pub(super) text: String,
    /// Functions and variables that the body names.
    pub(super) declarations: Vec<String>,
    pub(super) is_convergent: bool,
    /// The carry flag, if an instruction of this text has written it.
    pub(super) carry: Option<Value>,
    /// Whether the instruction is executed.
    guard: Option<Value>,
    /// The operands of the statement in C++, as bits.
    operands: Vec<Value>,
    scopes: Vec<BTreeMap<String, Register>>,
    block: String,
    count: u32,
}

impl Body {
    pub(super) fn new(machine: Machine) -> Body {
        Body {
            machine,
            text: "entry:\n".to_string(),
            declarations: Vec::new(),
            is_convergent: false,
            carry: None,
            guard: None,
            operands: Vec::new(),
            scopes: vec![BTreeMap::new()],
            block: "entry".to_string(),
            count: 0,
        }
    }

    pub(super) fn set_operands(&mut self, operands: Vec<Value>) {
        self.operands = operands;
    }

    /// Begins a scope of names.
    pub(super) fn open_scope(&mut self) {
        self.scopes.push(BTreeMap::new());
    }

    /// Ends the innermost scope; `None` for that of the function.
    pub(super) fn close_scope(&mut self) -> Option<()> {
        self.scopes.pop()?;
        (!self.scopes.is_empty()).then_some(())
    }

    /// Declares registers of `width` bits in the innermost scope.
    pub(super) fn declare(&mut self, names: &[String], width: u32) -> Option<()> {
        let scope = self.scopes.last_mut()?;
        scope.extend(names.iter().map(|name| (name.clone(), Register { width, value: None })));
        Some(())
    }

    pub(super) fn is_declared(&mut self, name: &str) -> bool {
        self.register(name).is_some()
    }

    /// Gives a register of the machine its value, for the whole function.
    pub(super) fn define(&mut self, name: &str, value: Value) -> Option<()> {
        let register = Register { width: value.form.width(), value: Some(value) };
        self.scopes.first_mut()?.insert(name.to_string(), register);
        Some(())
    }

    /// Sets the guard of the next instruction.
    pub(super) fn set_guard(&mut self, guard: Option<&Guard>) -> Option<()> {
        self.guard = None;
        if let Some(guard) = guard {
            self.guard = Some(self.condition(guard)?);
        }
        Some(())
    }

    fn condition(&mut self, guard: &Guard) -> Option<Value> {
        let value = self.read(&guard.register, Type::from_suffix("pred")?)?;
        if !guard.is_negated {
            return Some(value);
        }
        Some(self.emit(value.form, format!("xor {}, true", value.typed())))
    }

    /// The end of the function: its results from the operands with the lowest numbers.
    pub(super) fn result(&mut self, forms: &[Form], whole: &str) -> Option<String> {
        if self.scopes.len() != 1 {
            return None;
        }
        let mut values = Vec::new();
        for (number, form) in forms.iter().enumerate() {
            let bits = self.operands.get(number)?.clone();
            values.push(self.as_form(bits, *form)?);
        }
        if let [value] = values.as_slice() {
            return Some(format!("  ret {}\n", value.typed()));
        }
        if values.is_empty() {
            return Some("  ret void\n".to_string());
        }
        let mut all = "poison".to_string();
        for (number, value) in values.iter().enumerate() {
            let name = self.name();
            let _ = writeln!(self.text, "  {name} = insertvalue {whole} {all}, {}, {number}", value.typed());
            all = name;
        }
        Some(format!("  ret {whole} {all}\n"))
    }

    fn name(&mut self) -> String {
        self.count = self.count.saturating_add(1);
        format!("%v{}", self.count)
    }

    /// Adds an instruction of IR with a result.
    pub(super) fn emit(&mut self, form: Form, text: impl AsRef<str>) -> Value {
        let name = self.name();
        let _ = writeln!(self.text, "  {name} = {}", text.as_ref());
        Value::new(form, name)
    }

    /// Adds an instruction of IR without a result.
    pub(super) fn emit_effect(&mut self, text: impl AsRef<str>) {
        let _ = writeln!(self.text, "  {}", text.as_ref());
    }

    /// An instruction of IR on values of the first one's type, which is that of the result too.
    pub(super) fn binary(&mut self, opcode: &str, a: &Value, b: &Value) -> Value {
        self.emit(a.form, format!("{opcode} {}, {}", a.typed(), b.text))
    }

    pub(super) fn compare(&mut self, predicate: &str, a: &Value, b: &Value) -> Value {
        let opcode = if a.form.is_integer() { "icmp" } else { "fcmp" };
        self.emit(Form::Integer(1), format!("{opcode} {predicate} {}, {}", a.typed(), b.text))
    }

    pub(super) fn select(&mut self, condition: &Value, yes: &Value, no: &Value) -> Value {
        self.emit(yes.form, format!("select {}, {}, {}", condition.typed(), yes.typed(), no.typed()))
    }

    /// Calls a function, which is declared.
    pub(super) fn call(&mut self, form: Form, function: &str, arguments: &[&Value]) -> Value {
        let texts: Vec<String> = arguments.iter().map(|value| value.typed()).collect();
        let types: Vec<String> = arguments.iter().map(|value| value.form.text()).collect();
        self.declarations.push(format!("declare {} @{function}({})", form.text(), types.join(", ")));
        self.emit(form, format!("call {} @{function}({})", form.text(), texts.join(", ")))
    }

    /// Calls an intrinsic function of LLVM whose arguments and result have one type.
    pub(super) fn intrinsic(&mut self, name: &str, arguments: &[&Value]) -> Option<Value> {
        let form = arguments.first()?.form;
        Some(self.call(form, &format!("llvm.{name}.{}", form.suffix()), arguments))
    }

    /// The smaller of two unsigned numbers, the second of them constant.
    pub(super) fn at_most(&mut self, value: &Value, limit: i64) -> Option<Value> {
        self.intrinsic("umin", &[value, &Value::constant(value.form, limit)])
    }

    /// `value` with all bits in an integer.
    pub(super) fn as_bits(&mut self, value: Value) -> Value {
        let bits = Form::Integer(value.form.width());
        match value.form {
            Form::Integer(_) => value,
            Form::Pointer(_) => self.emit(bits, format!("ptrtoint {} to {}", value.typed(), bits.text())),
            _ => self.emit(bits, format!("bitcast {} to {}", value.typed(), bits.text())),
        }
    }

    /// The low bits of an integer as a value of another form; `None` if there are not as many.
    pub(super) fn as_form(&mut self, bits: Value, form: Form) -> Option<Value> {
        let width = form.width();
        let bits = match bits.form.width() {
            own if own == width => bits,
            own if own > width => {
                let narrow = Form::Integer(width);
                self.emit(narrow, format!("trunc {} to {}", bits.typed(), narrow.text()))
            }
            _ => return None,
        };
        Some(match form {
            Form::Integer(_) => bits,
            Form::Pointer(_) => self.emit(form, format!("inttoptr {} to {}", bits.typed(), form.text())),
            _ => self.emit(form, format!("bitcast {} to {}", bits.typed(), form.text())),
        })
    }

    /// A pointer to the shared memory of a block by the 32 bits that GPUs address it with. On a CPU these are the low bits
    /// of an address near that of any variable in it.
    pub(super) fn shared_pointer(&mut self, address: Value) -> Option<Value> {
        /// A variable in shared memory, for its address.
        const NEAR: &str = "@__offload_ptx_shared";
        if self.machine == Machine::Amd {
            return self.as_form(address, Form::Pointer(SHARED_SPACE));
        }
        self.declarations.push(format!("{NEAR} = internal global [4 x i8] undef, align 4"));
        let near = self.as_bits(Value::new(Form::Pointer(0), NEAR.to_string()));
        let low = self.resize(&near, 32, false);
        let distance = self.binary("sub", &address, &low);
        let distance = self.resize(&distance, 64, true);
        let whole = self.binary("add", &near, &distance);
        self.as_form(whole, Form::Pointer(0))
    }

    /// An integer in `width` bits.
    pub(super) fn resize(&mut self, value: &Value, width: u32, is_signed: bool) -> Value {
        let form = Form::Integer(width);
        let opcode = match value.form.width() {
            own if own == width => return value.clone(),
            own if own > width => "trunc",
            _ if is_signed => "sext",
            _ => "zext",
        };
        self.emit(form, format!("{opcode} {} to {}", value.typed(), form.text()))
    }

    /// The bits of an operand that is no constant.
    pub(super) fn register_bits(&mut self, operand: &Operand) -> Option<Value> {
        match operand {
            Operand::Number(number) => self.operands.get(*number).cloned(),
            Operand::Name(name) | Operand::Special(name) => self.register(name)?.value.clone(),
            _ => None,
        }
    }

    fn register(&mut self, name: &str) -> Option<&mut Register> {
        self.scopes.iter_mut().rev().find_map(|scope| scope.get_mut(name))
    }

    /// An operand as a value of a type, in the form that arithmetic has it in, and bfloat16 as bits.
    pub(super) fn read(&mut self, operand: &Operand, of: Type) -> Option<Value> {
        let form = match of.kind {
            Kind::BFloat => Form::Integer(of.size()),
            _ => of.form()?,
        };
        let bits = match operand {
            Operand::Constant(value) if form.is_integer() => return Some(Value::constant(form, *value)),
            Operand::Bits { value, width: 32 } => {
                Value::constant(Form::Integer(32), i64::try_from(*value).ok()?)
            }
            Operand::Bits { value, .. } if form == Form::Double => {
                Value::constant(Form::Integer(64), value.cast_signed())
            }
            Operand::Bits { value, .. } if form == Form::Float => {
                #[allow(
                    clippy::cast_possible_truncation,
                    reason = "a decimal constant is rounded to its type"
                )]
                let rounded = f64::from_bits(*value) as f32;
                Value::constant(Form::Integer(32), i64::from(rounded.to_bits()))
            }
            _ => self.register_bits(operand)?,
        };
        self.as_form(bits, form)
    }

    /// The operand with a number in the list, as [`Body::read`].
    pub(super) fn source(&mut self, instruction: &Instruction, number: usize, of: Type) -> Option<Value> {
        self.read(instruction.operands.get(number)?, of)
    }

    /// Writes the first operand.
    pub(super) fn finish(&mut self, instruction: &Instruction, value: Value, is_signed: bool) -> Option<()> {
        self.write(instruction.operands.first()?, value, is_signed)
    }

    /// Writes a register, with the bits that it has beyond those of the value extended; where the guard is false it keeps
    /// its value.
    pub(super) fn write(&mut self, to: &Operand, value: Value, is_signed: bool) -> Option<()> {
        let (width, old) = match to {
            Operand::Unused => return Some(()),
            Operand::Number(number) => {
                let old = self.operands.get(*number)?;
                (old.form.width(), Some(old.clone()))
            }
            Operand::Name(name) | Operand::Special(name) => {
                let register = self.register(name)?;
                (register.width, register.value.clone())
            }
            _ => return None,
        };
        let bits = self.as_bits(value);
        if bits.form.width() > width {
            return None;
        }
        let mut new = self.resize(&bits, width, is_signed);
        if let Some(guard) = self.guard.clone() {
            let old = old.unwrap_or(Value::zero(width));
            new = self.select(&guard, &new, &old);
        }
        match to {
            Operand::Number(number) => *self.operands.get_mut(*number)? = new,
            Operand::Name(name) | Operand::Special(name) => self.register(name)?.value = Some(new),
            _ => return None,
        }
        Some(())
    }

    /// Begins a block for effects, which are left out where the guard is false.
    pub(super) fn enter(&mut self) -> Region {
        self.count = self.count.saturating_add(1);
        let region = Region { guard: self.guard.clone(), before: self.block.clone(), number: self.count };
        if let Some(guard) = &region.guard {
            let number = region.number;
            let _ = writeln!(
                self.text,
                "  br {}, label %do{number}, label %done{number}\ndo{number}:",
                guard.typed()
            );
            self.block = format!("do{number}");
        }
        region
    }

    /// Ends a block: its values, and zero where it was left out.
    pub(super) fn leave(&mut self, region: &Region, values: Vec<Value>) -> Vec<Value> {
        if region.guard.is_none() {
            return values;
        }
        let inside = std::mem::replace(&mut self.block, format!("done{}", region.number));
        let _ = writeln!(self.text, "  br label %{0}\n{0}:", self.block);
        let mut merged = Vec::new();
        for value in values {
            let form = value.form;
            let zero = if form.is_integer() { "0" } else { "zeroinitializer" };
            let before = &region.before;
            let phi = format!("phi {} [ {}, %{inside} ], [ {zero}, %{before} ]", form.text(), value.text);
            merged.push(self.emit(form, phi));
        }
        merged
    }
}
