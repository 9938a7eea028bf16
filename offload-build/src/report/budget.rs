//! Spills against the budget of the configuration.

use offload_format::pack::{KernelInfo, NewImage};

use crate::env::CargoEnv;
use crate::error::{Error, Result};
use crate::options::SpillBudget;

/// Warns of every kernel of `image` that spills more than `budget` allows, or refuses it.
pub(crate) fn check(env: &CargoEnv, budget: SpillBudget, image: &NewImage) -> Result<()> {
    let over = |limit: u64| {
        image.kernels.iter().filter(move |kernel| kernel.spilled.is_some_and(|bytes| bytes > limit))
    };
    match budget {
        SpillBudget::Any => {}
        SpillBudget::Warn => over(0).for_each(|kernel| env.warn(&spills(kernel, image))),
        SpillBudget::WarnAbove(limit) => over(limit).for_each(|kernel| env.warn(&spills(kernel, image))),
        SpillBudget::AtMost(limit) => {
            if let Some(kernel) = over(limit).next() {
                let error = Error::new(format!("{}; `max-spills` allows {limit}", spills(kernel, image)));
                return Err(error.with_hint(
                    "give the kernel fewer live values or more registers, or raise `max-spills`",
                ));
            }
        }
    }
    Ok(())
}

fn spills(kernel: &KernelInfo, image: &NewImage) -> String {
    let bytes = kernel.spilled.unwrap_or(0);
    let of = match image.variant.as_str() {
        "" => image.module.clone(),
        variant => format!("{}[{variant}]", image.module),
    };
    let mut text = format!("kernel `{}` of `{of}` spills {bytes} bytes on {}", kernel.name, image.target);
    if let Some(registers) = kernel.registers {
        text.push_str(&format!(" with {registers} registers"));
    }
    text
}
