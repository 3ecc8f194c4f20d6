//! The compiler of CUDA's kernels, which needs no device; and what the tests of OpenCL check, on a CUDA device. Without one,
//! those tests say that they were left out.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::single_range_in_vec_init,
    reason = "everything here is small, and some lists of ranges have one"
)]

#[path = "../it/any_device/mod.rs"]
mod any_device;
mod nvrtc;

use dtype_gpu::Error;
use dtype_gpu::cuda::Cuda as Tested;

fn open() -> Result<Tested, Error> {
    Tested::new(0)
}
