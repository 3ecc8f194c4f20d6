//! Packing on every device that OpenCL has here, byte for byte as the host's engine does. Where there is none, the tests of
//! devices say that they were left out.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::single_range_in_vec_init,
    reason = "everything here is small, and some lists of ranges have one"
)]

mod any_device;
mod golden;
mod streams;

use dtype_gpu::Error;
use dtype_gpu::opencl::OpenCl as Tested;

fn open() -> Result<Tested, Error> {
    Tested::first()
}
