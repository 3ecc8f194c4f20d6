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
    /// Loads a copy of the build's file: the loader would return the same code and data for the same file.
    pub(crate) fn new(build: &Build, number: usize) -> Result<Self> {
        let copy = build.library.with_extension(format!("{}-{number}.so", process::id()));
        fs::copy(&build.library, &copy).with_context(|| build.name.clone())?;
        // SAFETY: a Rust library that was just built, and that runs nothing when it is loaded.
        let library = unsafe { Library::new(&copy) };
        // The library stays loaded. Deleting the file keeps another run from writing to it.
        fs::remove_file(&copy)?;
        let loaded = Self { library: library.with_context(|| build.name.clone())? };
        loaded.engine()?;
        Ok(loaded)
    }

    fn engine(&self) -> Result<&Engine> {
        // SAFETY: the symbol has this type, and lives as long as the library is loaded.
        unsafe { Ok(&**self.library.get::<*const Engine>(SYMBOL.as_bytes())?) }
    }

    /// A type of this build.
    pub(crate) fn open(&self, class: Class, seed: u64, index: usize) -> Result<Type<'_>> {
        let engine = self.engine()?;
        Ok(Type { engine, subject: (engine.open)(class, seed, index) })
    }
}

/// A type of one build.
pub(crate) struct Type<'a> {
    engine: &'a Engine,
    subject: *mut Subject,
}

impl Type<'_> {
    /// The lengths of the buffers for this number of instances.
    pub(crate) fn sizes(&self, count: usize) -> Sizes {
        // SAFETY: the subject belongs to this engine.
        unsafe { (self.engine.sizes)(self.subject, count) }
    }

    /// Does the work this number of times.
    ///
    /// # Safety
    ///
    /// The buffers must be those of instances for which this type has the same [`sizes`](Self::sizes), in memory that is zeros,
    /// or has values as they were made or unpacked; bytes to unpack must have been packed.
    pub(crate) unsafe fn run(&self, work: Work, buffers: Buffers, repetitions: u32) {
        // SAFETY: the subject belongs to this engine, and the caller promises the rest.
        unsafe { (self.engine.run)(self.subject, work, buffers, repetitions) };
    }
}

impl Drop for Type<'_> {
    fn drop(&mut self) {
        // SAFETY: the subject belongs to this engine, and is not used afterwards.
        unsafe { (self.engine.close)(self.subject) };
    }
}

/// Instances and their packed bytes, for both builds.
pub(crate) struct Instances {
    count: usize,
    pub(crate) memory: Placed<u8>,
    pub(crate) packed: Placed<u8>,
}

impl Instances {
    /// Instances with random values.
    pub(crate) fn new(ty: &Type<'_>, count: usize, seed: u64) -> Self {
        let Sizes { memory, packed } = ty.sizes(count);
        let mut instances = Self {
            count,
            memory: Placed::new(0, memory, MEMORY + VECTOR),
            packed: Placed::new(0, packed, PACKED + VECTOR),
        };
        // SAFETY: the subject belongs to this engine, the buffers have the lengths that it needs, and the memory is zeros.
        unsafe { (ty.engine.fill)(ty.subject, instances.lend(), seed) };
        instances
    }

    /// Lends the buffers to a call.
    pub(crate) fn lend(&mut self) -> Buffers {
        let (memory, packed) = (self.memory.as_mut_ptr(), self.packed.as_mut_ptr());
        Buffers { count: self.count, memory, packed }
    }
}
