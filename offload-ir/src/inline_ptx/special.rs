//! Registers of the machine (<https://docs.nvidia.com/cuda/parallel-thread-execution/#special-registers>).

use super::body::{Body, Value};
use super::types::{Form, Machine};

/// The value of a register by its name, without `%`.
pub(super) fn value(body: &mut Body, name: &str) -> Option<Value> {
    if let Some(mask) = name.strip_prefix("lanemask_") {
        let lane = lane(body);
        return lane_mask(body, mask, &lane);
    }
    match name {
        "laneid" => return Some(lane(body)),
        "WARP_SZ" => return Some(Value::constant(Form::Integer(32), 32)),
        _ => {}
    }
    let (register, dimension) = name.split_once('.')?;
    let number = ["x", "y", "z"].iter().position(|letter| *letter == dimension)?;
    let value = match (body.machine, register) {
        (Machine::Amd, "tid" | "ctaid") => {
            let kind = if register == "tid" { "workitem" } else { "workgroup" };
            body.call(Form::Integer(32), &format!("llvm.amdgcn.{kind}.id.{dimension}"), &[])
        }
        (Machine::Amd, _) => return None,
        (Machine::Host, _) => {
            let function = match register {
                "tid" => "_Z12get_local_idj",
                "ntid" => "_Z14get_local_sizej",
                "ctaid" => "_Z12get_group_idj",
                "nctaid" => "_Z14get_num_groupsj",
                _ => return None,
            };
            let number = Value::constant(Form::Integer(32), i64::try_from(number).ok()?);
            let value = body.call(Form::Integer(64), function, &[&number]);
            body.resize(&value, 32, false)
        }
    };
    Some(value)
}

/// The number of the thread in its warp of 32.
pub(super) fn lane(body: &mut Body) -> Value {
    let linear = match body.machine {
        Machine::Host => {
            let linear = body.call(Form::Integer(64), "_Z19get_local_linear_idv", &[]);
            body.resize(&linear, 32, false)
        }
        Machine::Amd => wave_lane(body),
    };
    body.binary("and", &linear, &Value::constant(linear.form, 31))
}

/// The number of the thread in a wave of an AMD GPU, which may have 64.
pub(super) fn wave_lane(body: &mut Body) -> Value {
    let word = Form::Integer(32);
    let all = Value::constant(word, -1);
    let low = body.call(word, "llvm.amdgcn.mbcnt.lo", &[&all, &Value::constant(word, 0)]);
    body.call(word, "llvm.amdgcn.mbcnt.hi", &[&all, &low])
}

/// The lanes that compare with `lane` as the mask's name says.
fn lane_mask(body: &mut Body, name: &str, lane: &Value) -> Option<Value> {
    let all = Value::constant(lane.form, -1);
    let own = body.binary("shl", &Value::constant(lane.form, 1), lane);
    let beneath = body.binary("add", &own, &all);
    let up_to = body.binary("or", &own, &beneath);
    Some(match name {
        "eq" => own,
        "lt" => beneath,
        "le" => up_to,
        "gt" => body.binary("xor", &up_to, &all),
        "ge" => body.binary("xor", &beneath, &all),
        _ => return None,
    })
}
