//! A build in this process.

use std::{fs, process};

use anyhow::{Context, Result};
use dtype_ablation_engine::{Buffers, Class, Engine, SYMBOL, Sizes, Subject, Work};
use dtype_benches::placed::{MEMORY, PACKED, Placed, VECTOR};
use libloading::Library;

use crate::builds::Build;

/// A build's functions.
pub(crate) struct Loaded {
    library: Library,
}

impl Loaded {
    /// Loads a copy, with code and data of its own: what is in the same file is loaded once.
    pub(crate) fn new(build: &Build, number: usize) -> Result<Self> {
        let copy = build.library.with_extension(format!("{}-{number}.so", process::id()));
        fs::copy(&build.library, &copy).with_context(|| build.name.clone())?;
        // SAFETY: a library of Rust, which has just been built; nothing runs when it is loaded.
        let library = unsafe { Library::new(&copy) };
        // What is loaded stays; another run must not write to it.
        fs::remove_file(&copy)?;
        let loaded = Self { library: library.with_context(|| build.name.clone())? };
        loaded.engine()?;
        Ok(loaded)
    }

    fn engine(&self) -> Result<&Engine> {
        // SAFETY: the symbol's type; it lives as long as the library is loaded.
        unsafe { Ok(&**self.library.get::<*const Engine>(SYMBOL.as_bytes())?) }
    }

    /// A type of this build.
    pub(crate) fn open(&self, class: Class, seed: u64, index: usize) -> Result<Type<'_>> {
        let engine = self.engine()?;
        Ok(Type { engine, subject: (engine.open)(class, seed, index) })
    }
}

/// A type in a build.
pub(crate) struct Type<'a> {
    engine: &'a Engine,
    subject: *mut Subject,
}

impl Type<'_> {
    /// What this number of instances takes.
    pub(crate) fn sizes(&self, count: usize) -> Sizes {
        // SAFETY: the subject is this engine's.
        unsafe { (self.engine.sizes)(self.subject, count) }
    }

    /// Repeats the work.
    ///
    /// # Safety
    ///
    /// The buffers must be those of instances for which this type has the same [`sizes`](Self::sizes), in memory that is zeros,
    /// or has values as they were made or unpacked; bytes to unpack must have been packed.
    pub(crate) unsafe fn run(&self, work: Work, buffers: Buffers, repetitions: u32) {
        // SAFETY: the subject is this engine's; the rest is passed on to the caller.
        unsafe { (self.engine.run)(self.subject, work, buffers, repetitions) };
    }
}

impl Drop for Type<'_> {
    fn drop(&mut self) {
        // SAFETY: the subject is this engine's, and not used afterwards.
        unsafe { (self.engine.close)(self.subject) };
    }
}

/// Memory and packed bytes of instances, which both builds use.
pub(crate) struct Instances {
    count: usize,
    pub(crate) memory: Placed<u8>,
    pub(crate) packed: Placed<u8>,
}

impl Instances {
    /// Values.
    pub(crate) fn new(ty: &Type<'_>, count: usize, seed: u64) -> Self {
        let Sizes { memory, packed } = ty.sizes(count);
        let mut instances = Self {
            count,
            memory: Placed::new(0, memory, MEMORY + VECTOR),
            packed: Placed::new(0, packed, PACKED + VECTOR),
        };
        // SAFETY: the subject is this engine's, the lengths are its lengths, and the memory is zeros.
        unsafe { (ty.engine.fill)(ty.subject, instances.lend(), seed) };
        instances
    }

    /// The buffers, as long as nothing else uses them.
    pub(crate) fn lend(&mut self) -> Buffers {
        let (memory, packed) = (self.memory.as_mut_ptr(), self.packed.as_mut_ptr());
        Buffers { count: self.count, memory, packed }
    }
}
