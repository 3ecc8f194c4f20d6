//! Packing on every device that OpenCL has here, byte for byte as the host's engine does. Where there is none, the tests of
//! devices say that they were left out.

mod calls;
#[path = "../../../dtype-runtime/tests/case/mod.rs"]
mod case;
mod checked;
mod ddtbench;
mod devices;
mod golden;
mod layouts;
#[path = "../../../dtype-runtime/tests/model/mod.rs"]
mod model;
mod random;

use dtype_gpu::Error;
use dtype_gpu::opencl::OpenCl as Tested;

fn open() -> Result<Tested, Error> {
    Tested::first()
}
