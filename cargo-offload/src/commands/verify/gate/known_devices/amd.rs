//! AMD GPUs by target ID, with the default modes of the driver.
//!
//! <https://rocm.docs.amd.com/en/latest/reference/gpu-arch-specs.html> and
//! <https://llvm.org/docs/AMDGPUUsage.html#amdgpu-processors>; integrated GPUs by <https://www.amd.com/en/products/specifications/processors.html>.

use super::devices::Devices;

pub(super) const AMD: &[Devices] = &[
    ("gfx803", &["MI6", "MI8", "R9 Fury", "R9 Fury X", "R9 Nano", "RX 460", "RX 470", "RX 480", "RX 550"]),
    ("gfx803", &["RX 560", "RX 570", "RX 580", "RX 590", "Pro WX 4100", "Pro WX 5100", "Pro WX 7100"]),
    ("gfx900:xnack-", &["MI25", "RX Vega 56", "RX Vega 64", "Vega Frontier Edition", "Pro V340"]),
    ("gfx900:xnack-", &["Pro WX 8200", "Pro WX 9100"]),
    ("gfx902:xnack+", &["Vega 3", "Vega 8", "Vega 10", "Vega 11"]),
    ("gfx906:sramecc+:xnack-", &["MI50", "MI60", "Pro VII"]),
    ("gfx906:sramecc-:xnack-", &["VII"]),
    ("gfx908:sramecc+:xnack-", &["MI100"]),
    ("gfx90a:sramecc+:xnack-", &["MI210", "MI250", "MI250X"]),
    ("gfx90c:xnack-", &["Ryzen 7 4700G", "Ryzen 5 4600G", "Ryzen 7 5700G", "Ryzen 5 5600G"]),
    ("gfx942:sramecc+:xnack-", &["MI300A", "MI300X", "MI308X", "MI325X"]),
    ("gfx950:sramecc+:xnack-", &["MI350X", "MI355X"]),
    ("gfx1010:xnack-", &["RX 5600", "RX 5600 XT", "RX 5600M", "RX 5700", "RX 5700 XT", "RX 5700M"]),
    ("gfx1010:xnack-", &["PRO W5700", "Pro 5600 XT"]),
    ("gfx1011:xnack-", &["Pro V520", "Pro 5600M"]),
    ("gfx1012:xnack-", &["RX 5300", "RX 5300M", "RX 5500", "RX 5500 XT", "RX 5500M", "PRO W5500"]),
    (
        "gfx1030",
        &["RX 6800", "RX 6800 XT", "RX 6900 XT", "RX 6950 XT", "PRO W6800", "PRO W6800X", "PRO W6900X"],
    ),
    ("gfx1030", &["PRO V620"]),
    (
        "gfx1031",
        &["RX 6700", "RX 6700 XT", "RX 6700M", "RX 6750 XT", "RX 6750 GRE", "RX 6800M", "RX 6850M XT"],
    ),
    ("gfx1032", &["RX 6600", "RX 6600 XT", "RX 6600M", "RX 6600S", "RX 6650 XT", "RX 6650M", "RX 6700S"]),
    ("gfx1032", &["RX 6800S", "PRO W6600", "PRO W6600M"]),
    ("gfx1033", &["Steam Deck", "Van Gogh", "Custom GPU 0405"]),
    ("gfx1034", &["RX 6300", "RX 6400", "RX 6500 XT", "RX 6500M", "RX 6450M", "PRO W6300", "PRO W6400"]),
    ("gfx1034", &["PRO W6500M"]),
    ("gfx1035", &["660M", "680M", "Rembrandt"]),
    ("gfx1036", &["610M", "Raphael"]),
    ("gfx1100", &["RX 7900 GRE", "RX 7900 XT", "RX 7900 XTX", "RX 7900M", "PRO W7800", "PRO W7900"]),
    ("gfx1101", &["RX 7700", "RX 7700 XT", "RX 7800 XT", "PRO W7700", "PRO V710"]),
    ("gfx1102", &["RX 7400", "RX 7600", "RX 7600 XT", "RX 7600M", "RX 7600M XT", "RX 7600S", "RX 7700S"]),
    ("gfx1102", &["PRO W7500", "PRO W7600"]),
    ("gfx1103", &["740M", "760M", "780M", "Phoenix", "Hawk Point"]),
    ("gfx1150", &["880M", "890M", "Strix Point", "Ryzen AI 9 HX 370", "Ryzen AI 9 365"]),
    ("gfx1151", &["8040S", "8050S", "8060S", "Strix Halo", "Ryzen AI Max+ 395", "Ryzen AI Max 390"]),
    ("gfx1151", &["Ryzen AI Max 385", "Ryzen AI Max PRO 380"]),
    ("gfx1152", &["840M", "860M", "Krackan Point"]),
    ("gfx1153", &["820M"]),
    ("gfx1200", &["RX 9060", "RX 9060 XT"]),
    ("gfx1201", &["RX 9070", "RX 9070 XT", "RX 9070 GRE", "AI PRO R9600D", "AI PRO R9700", "AI PRO R9700S"]),
    ("gfx1250", &["MI450X", "MI455X"]),
];
