//! The text of a kernel: valid as OpenCL C and as CUDA C++ behind a prelude of macros for each.

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
    /// The number of threads of a group; not always a power of two.
    pub threads: u32,
    /// The text behind the prelude.
    pub body: String,
}

impl Source {
    /// The whole text for a compiler: the prelude of the dialect and the kernel.
    pub fn text(&self, dialect: Dialect) -> String {
        let prelude = match dialect {
            Dialect::OpenClC => include_str!("kernels/opencl.c"),
            Dialect::CudaCpp => include_str!("kernels/cuda.c"),
        };
        format!("#define THREADS {}\n{prelude}{}", self.threads, self.body)
    }
}
