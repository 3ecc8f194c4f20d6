//! The text of a kernel: valid as OpenCL C and as CUDA C++ behind a prelude of macros for each.

use core::fmt::Write as _;

/// The language of a driver's compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// OpenCL C 1.2.
    OpenClC,
    /// CUDA C++, as NVRTC compiles it.
    CudaCpp,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    /// The name of the kernel.
    pub name: &'static str,
    /// The number of threads of a group. A power of two is not required.
    pub threads: u32,
    /// The text behind the prelude.
    pub body: String,
}

const COMMON: &str = "\
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef uint4 u128;
";

const OPENCL: &str = "\
#define KERNEL(name) __kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void name
#define GLOBAL __global
#define LOCAL __local
#define CONSTANT __constant
#define FUNCTION
#define THREAD ((u32)get_local_id(0))
#define GROUP ((u32)get_group_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define PREFETCH(address)
#define FUNNEL(low, high, bits) ((u32)((((u64)(high) << 32) | (low)) >> (bits)))
#define ATOMIC_MIN(address, value) atom_min(address, value)
#define UNROLL _Pragma(\"unroll\")
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
typedef ulong u64;
typedef long i64;
";

const CUDA: &str = "\
#define KERNEL(name) extern \"C\" __global__ void __launch_bounds__(THREADS) name
#define GLOBAL
#define LOCAL __shared__
#define CONSTANT static __constant__ const
#define FUNCTION static __device__ __forceinline__
#define THREAD (threadIdx.x)
#define GROUP (blockIdx.x)
#define BARRIER __syncthreads()
#define PREFETCH(address) asm volatile(\"prefetch.global.L2 [%0];\" :: \"l\"(address))
#define FUNNEL(low, high, bits) __funnelshift_r(low, high, bits)
#define ATOMIC_MIN(address, value) atomicMin(address, value)
#define UNROLL _Pragma(\"unroll\")
typedef unsigned long long u64;
typedef long long i64;
";

impl Source {
    /// The whole text for a compiler: the prelude of the dialect and the kernel.
    pub fn text(&self, dialect: Dialect) -> String {
        let prelude = match dialect {
            Dialect::OpenClC => OPENCL,
            Dialect::CudaCpp => CUDA,
        };
        let mut text = String::new();
        // Writing to a string never fails.
        let _ = writeln!(text, "#define THREADS {}", self.threads);
        text + COMMON + prelude + &self.body
    }
}
