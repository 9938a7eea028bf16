//! A specialisation constant with a value of another type, and one that there is not.

include!("../kernels.inc");

use offload_rt::Local;

fn main() {
    let _ = typed::Spec { TILE: 32u32, ..Default::default() };
    let _ = typed::Spec { TILL: 32, ..Default::default() };
    let _ = Local::<f32>::new(1);
}
