//! What is tested on a device of either interface.

mod calls;
mod checked;
mod ddtbench;
pub(crate) mod devices;
pub(crate) mod layouts;
mod random;
