//! What the kernels of NEON cost. There was no machine to measure them on: emulators tell only whether bytes are right. So the
//! costs are those of AVX2, whose kernels are the same algorithms over registers of the same width.

pub(crate) use super::avx2::SHUFFLE;
