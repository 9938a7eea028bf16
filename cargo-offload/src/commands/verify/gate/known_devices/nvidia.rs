//! NVIDIA GPUs by architecture.
//!
//! <https://developer.nvidia.com/cuda-gpus> and <https://developer.nvidia.com/cuda-legacy-gpus>; of China's editions and
//! of clouds the data sheets of the chips that they have. A GPU for laptops that is called as one for desktops has the
//! same architecture, so that it has no entry of its own.

use super::devices::Devices;

pub(super) const NVIDIA: &[Devices] = &[
    ("sm_50", &["GTX 745", "GTX 750", "GTX 750 Ti", "GTX 850M", "GTX 860M", "GTX 950M", "GTX 960M"]),
    ("sm_50", &["830M", "840M", "845M", "930M", "930MX", "940M", "940MX", "945M", "MX110", "MX130"]),
    ("sm_50", &["M10", "NVS 810", "K620", "K1200", "K2200", "M500M", "M520", "M600M", "M620"]),
    ("sm_50", &["M1000M", "M1200", "M2000M"]),
    (
        "sm_52",
        &["GTX 950", "GTX 960", "GTX 965M", "GTX 970", "GTX 970M", "GTX 980", "GTX 980M", "GTX 980 Ti"],
    ),
    ("sm_52", &["GTX Titan X", "M4", "M6", "M40", "M60", "M2000", "M2200", "M3000M", "M4000", "M4000M"]),
    ("sm_52", &["M5000", "M5000M", "M5500", "M6000"]),
    ("sm_53", &["Jetson Nano", "Jetson TX1", "Tegra X1"]),
    ("sm_60", &["P100", "GP100"]),
    ("sm_61", &["GT 1010", "GT 1030", "GTX 1050", "GTX 1050 Ti", "GTX 1060", "GTX 1070", "GTX 1070 Ti"]),
    (
        "sm_61",
        &["GTX 1080", "GTX 1080 Ti", "Titan X (Pascal)", "Titan Xp", "MX150", "MX230", "MX250", "MX330"],
    ),
    (
        "sm_61",
        &["MX350", "P4", "P6", "P40", "P400", "P500", "P520", "P600", "P620", "P1000", "P2000", "P2200"],
    ),
    ("sm_61", &["P3000", "P3200", "P4000", "P4200", "P5000", "P5200", "P6000"]),
    ("sm_62", &["Jetson TX2", "Tegra X2", "Drive PX2"]),
    ("sm_70", &["V100", "V100S", "Titan V", "GV100"]),
    ("sm_72", &["Jetson AGX Xavier", "Jetson Xavier NX", "Xavier"]),
    ("sm_75", &["GTX 1630", "GTX 1650", "GTX 1650 Super", "GTX 1650 Ti", "GTX 1660", "GTX 1660 Super"]),
    ("sm_75", &["GTX 1660 Ti", "RTX 2060", "RTX 2060 Super", "RTX 2070", "RTX 2070 Super", "RTX 2080"]),
    ("sm_75", &["RTX 2080 Super", "RTX 2080 Ti", "Titan RTX", "MX450", "MX550", "T4", "T4G", "T10", "T40"]),
    ("sm_75", &["T400", "T500", "T550", "T600", "T1000", "T1200", "T2000"]),
    ("sm_75", &["RTX 3000", "RTX 4000", "RTX 5000", "RTX 6000", "RTX 8000"]),
    ("sm_80", &["A100", "A100X", "A30", "A30X", "A800", "CMP 170HX"]),
    ("sm_86", &["RTX 2050", "RTX 3050", "RTX 3050 Ti", "RTX 3060", "RTX 3060 Ti", "RTX 3070", "RTX 3070 Ti"]),
    ("sm_86", &["RTX 3080", "RTX 3080 Ti", "RTX 3090", "RTX 3090 Ti", "MX570", "CMP 90HX"]),
    ("sm_86", &["A2", "A10", "A10G", "A10M", "A16", "A40"]),
    ("sm_86", &["RTX A400", "RTX A500", "RTX A1000", "RTX A2000", "RTX A3000", "RTX A4000", "RTX A4500"]),
    ("sm_86", &["RTX A5000", "RTX A5500", "RTX A6000"]),
    (
        "sm_87",
        &[
            "Jetson AGX Orin",
            "Jetson Orin",
            "Jetson Orin NX",
            "Jetson Orin Nano",
            "Jetson Orin Nano Super",
            "Orin",
        ],
    ),
    ("sm_87", &["Drive AGX Orin", "IGX Orin"]),
    ("sm_89", &["RTX 4050", "RTX 4060", "RTX 4060 Ti", "RTX 4070", "RTX 4070 Super", "RTX 4070 Ti"]),
    ("sm_89", &["RTX 4070 Ti Super", "RTX 4080", "RTX 4080 Super", "RTX 4090", "RTX 4090 D"]),
    ("sm_89", &["L2", "L4", "L20", "L40", "L40G", "L40S"]),
    (
        "sm_89",
        &["RTX 500 Ada", "RTX 1000 Ada", "RTX 2000 Ada", "RTX 2000E Ada", "RTX 3000 Ada", "RTX 3500 Ada"],
    ),
    ("sm_89", &["RTX 4000 Ada", "RTX 4500 Ada", "RTX 5000 Ada", "RTX 5880 Ada", "RTX 6000 Ada"]),
    ("sm_90", &["H100", "H200", "H800", "H20", "GH200"]),
    ("sm_100", &["B100", "B200", "GB200"]),
    ("sm_103", &["B300", "GB300"]),
    ("sm_107", &["R200", "VR200"]),
    ("sm_110", &["Jetson AGX Thor", "Jetson Thor", "Jetson T4000", "Jetson T5000", "Drive AGX Thor", "Thor"]),
    ("sm_120", &["RTX 5050", "RTX 5060", "RTX 5060 Ti", "RTX 5070", "RTX 5070 Ti", "RTX 5080", "RTX 5090"]),
    (
        "sm_120",
        &["RTX 5090 D", "RTX 5090 D V2", "RTX PRO 500", "RTX PRO 1000", "RTX PRO 2000", "RTX PRO 3000"],
    ),
    ("sm_120", &["RTX PRO 4000", "RTX PRO 4500", "RTX PRO 5000", "RTX PRO 6000", "RTX PRO 6000D"]),
    ("sm_121", &["GB10", "DGX Spark"]),
];
