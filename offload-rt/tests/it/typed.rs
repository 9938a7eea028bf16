//! Typed kernels: every kind of argument reaches its kernel. What does not fit a kernel does not compile, which the
//! end-to-end tests show (`refused_launches`).

#[cfg(all(target_os = "linux", target_arch = "x86_64", feature = "host"))]
#[path = "../typed/launches.rs"]
mod launches;
