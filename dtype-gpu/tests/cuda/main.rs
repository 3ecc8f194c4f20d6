//! The compiler of CUDA's kernels, which needs no device.

mod nvrtc;
