//! `devices`: the devices of this machine, their compatible targets, and the image of a file that each one loads.

mod fitting;
mod properties;

use offload_rt::{Device, Outcome, Registry};
use serde::Serialize;

use self::properties::PropertiesObject;
use crate::cargo::artifact;
use crate::cli;
use crate::error::ExitStatus;
use crate::error::Result;
use crate::print::output::Output;
use crate::print::text::escaped;
use crate::read::input::{Contents, Input};
use crate::read::missing;
use crate::read::registry;

#[derive(Debug, Serialize)]
struct DeviceMessage {
    reason: &'static str,
    device: usize,
    driver: &'static str,
    name: String,
    description: String,
    aspects: Vec<String>,
    /// Targets whose images it takes, the best first.
    targets: Vec<String>,
    properties: PropertiesObject,
}

#[derive(Debug, Serialize)]
struct DriverMessage {
    reason: &'static str,
    driver: &'static str,
    problem: String,
}

#[derive(Debug, Serialize)]
struct NoFitMessage<'a> {
    reason: &'static str,
    device: usize,
    module: &'a str,
    problem: &'a str,
}

#[derive(Debug, Serialize)]
struct CandidateMessage<'a> {
    reason: &'static str,
    device: usize,
    module: &'a str,
    variant: &'a str,
    target: &'a str,
    part: &'a str,
    /// `picked`, `less-preferred` or `refused`.
    outcome: &'static str,
    why: &'a str,
}

/// A device and through which driver it was found.
struct NumberedDevice {
    driver: &'static str,
    device: Device,
    /// Its place in what is printed.
    number: usize,
}

pub(super) fn run(output: &Output, args: &cli::Devices) -> Result<ExitStatus> {
    // An unreadable file is an error before any device is printed.
    let path = artifact::path_if_any(output, args.path.as_deref(), &args.cargo)?;
    let input = path.as_deref().map(|path| Input::open(path, output.limits())).transpose()?;
    let contents = input.as_ref().map(Input::contents).transpose()?;
    let devices = devices(output)?;
    for found in &devices {
        print_device(output, found, args)?;
    }
    contents.map_or(Ok(ExitStatus::Success), |contents| judge(output, &devices, &contents))
}

/// Tells what each device would get of what a file carries.
fn judge(output: &Output, devices: &[NumberedDevice], contents: &Contents<'_>) -> Result<ExitStatus> {
    let registries = registry::read(contents, registry::Detail::Needs)?;
    for found in devices {
        output.space()?;
        output.remark(&format!("{}: {}", found.number, found.device.description()))?;
        for registry in &registries {
            print_candidates(output, found, registry)?;
        }
    }
    missing::print(output, contents)?;
    Ok(contents.status())
}

/// The host first, then the devices of each driver. A missing driver is a message, not an error.
fn devices(output: &Output) -> Result<Vec<NumberedDevice>> {
    let mut found = vec![NumberedDevice { driver: "host", device: Device::host(), number: 0 }];
    for (driver, listed) in [
        ("OpenCL", offload_rt::opencl::devices()),
        ("CUDA", offload_rt::cuda::devices()),
        ("HIP", offload_rt::hip::devices()),
    ] {
        match listed {
            Ok(devices) => {
                for device in devices {
                    found.push(NumberedDevice { driver, device, number: found.len() });
                }
            }
            Err(error) => {
                let problem = error.to_string();
                let why = problem.strip_prefix(&format!("{driver}: ")).unwrap_or(&problem);
                let text = format!("no {driver} device: {why}");
                output.message(&DriverMessage { reason: "no-driver", driver, problem }, &text)?;
            }
        }
    }
    Ok(found)
}

fn print_device(output: &Output, found: &NumberedDevice, args: &cli::Devices) -> Result<()> {
    let targets = fitting::targets(found.device.description())?;
    let shown = if args.all_targets { targets.join(", ") } else { fitting::short(&targets) };
    let description = found.device.description();
    let properties = PropertiesObject::new(&found.device);
    let has = properties.line().map(|line| format!("\n   has {line}")).unwrap_or_default();
    let text = format!("{}: {description}\n   takes {shown}{has}", found.number);
    let message = DeviceMessage {
        reason: "device",
        device: found.number,
        driver: found.driver,
        name: found.device.name().to_string(),
        description: description.to_string(),
        aspects: description.aspects().names(),
        targets,
        properties,
    };
    output.message(&message, &text)
}

/// Prints the candidates among the images of each module, picked ones first.
fn print_candidates(output: &Output, found: &NumberedDevice, registry: &Registry) -> Result<()> {
    for (module, variant) in registry::modules(registry) {
        let values = variant.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let candidates = match registry.request(&module).variants(values).select(&found.device) {
            Ok(selection) => selection.candidates().to_vec(),
            Err(error) => {
                let problem = error.problem();
                let message = NoFitMessage {
                    reason: "no-fit",
                    device: found.number,
                    module: &module,
                    problem: &problem,
                };
                output.message(&message, &format!("  {}", problem.replace('\n', "\n  ")))?;
                continue;
            }
        };
        for candidate in &candidates {
            let (outcome, why) = match candidate.outcome() {
                Outcome::Picked(why) => ("picked", why.clone()),
                Outcome::LessPreferred(why) => ("less-preferred", why.clone()),
                Outcome::Refused(refusal) => ("refused", refusal.to_string()),
                _ => continue,
            };
            let entry = candidate.entry();
            let module = entry.module();
            let variant = entry.variant();
            let target = entry.target_text();
            let part = entry.part();
            let message = CandidateMessage {
                reason: "verdict",
                device: found.number,
                module,
                variant,
                target,
                part,
                outcome,
                why: &why,
            };
            output.message(&message, &format!("  {}", escaped(&format!("{module} {candidate}"))))?;
        }
    }
    Ok(())
}
