//! NVRTC compiles the kernels of all layouts for devices that this machine need not have, and none spills registers.

use std::ops::Range;
use std::sync::Mutex;

use anyhow::Result;
use dtype_benches::ddtbench::{ByHand, Pattern, Visitor, families};
use dtype_gpu::cuda::nvrtc;
use dtype_gpu::driver::{Argument, Driver};
use dtype_gpu::source::{Dialect, Source};
use dtype_gpu::{Device, Error, PrepareOn};
use dtype_runtime::{Basic, Committed, Type};

/// A device that compiles and does nothing else.
#[derive(Debug)]
struct Compiler {
    capability: u32,
    /// Name and log of each kernel.
    compiled: Mutex<Vec<(String, String)>>,
}

impl Driver for Compiler {
    const DIALECT: Dialect = Dialect::CudaCpp;

    type Memory = ();
    type Queue = ();
    type Kernel = ();
    type Event = ();

    fn name(&self) -> String {
        format!("compute capability {}", self.capability)
    }

    fn local_memory(&self) -> usize {
        48 << 10
    }

    fn allocate(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn allocate_host(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn queue(&self) -> Result<(), Error> {
        Ok(())
    }

    fn compile(&self, source: &Source) -> Result<(), Error> {
        let image = nvrtc::compile(source, self.capability)?;
        assert!(image.bytes.starts_with(b"\x7FELF"), "a binary, not PTX");
        self.compiled.lock().unwrap().push((source.text(Self::DIALECT), image.log));
        Ok(())
    }

    unsafe fn launch(
        &self,
        (): &(),
        (): &(),
        _: u32,
        _: &[Argument<'_, Self>],
    ) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn copy(
        &self,
        (): &(),
        _: (&(), usize),
        _: (&(), usize),
        _: usize,
    ) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn read(&self, (): &(), _: (&(), usize), _: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn write(&self, (): &(), _: &[u8], _: (&(), usize)) -> Result<(), Error> {
        Ok(())
    }

    fn map(&self, (): &(), (): &(), _: usize) -> Result<*mut u8, Error> {
        unimplemented!("no test lends host memory")
    }

    unsafe fn unmap(&self, (): &(), (): &(), _: *mut u8) -> Result<(), Error> {
        Ok(())
    }

    fn record(&self, (): &()) -> Result<(), Error> {
        Ok(())
    }

    fn wait(&self, (): &()) -> Result<(), Error> {
        Ok(())
    }

    fn wait_on_device(&self, (): &(), (): &()) -> Result<(), Error> {
        Ok(())
    }

    fn has_happened(&self, (): &()) -> Result<bool, Error> {
        Ok(true)
    }
}

/// Compiles what packs and unpacks a range of the packed bytes of `count` instances, in memory without an end.
fn compile(
    device: &Device<Compiler>,
    ty: &Committed,
    count: usize,
    range: Range<u64>,
) -> Result<()> {
    let packing = ty.prepare_on(device)?;
    let (queue, memory) = (device.queue()?, device.buffer(1 << 40)?);
    let origin = 1 << 20;
    packing.pack_range(&queue, (&memory, origin), count, range.clone(), (&memory, 1 << 36))?;
    packing.unpack_range(&queue, (&memory, 1 << 36), count, range, (&memory, origin))?;
    Ok(())
}

/// Compiles the layouts of `DDTBench`.
struct Compile<'a>(&'a Device<Compiler>);

impl Visitor for Compile<'_> {
    fn visit<H: ByHand>(&mut self, pattern: Pattern<H>) -> Result<()> {
        let ty = pattern.ty.commit();
        let size = ty.size() * pattern.count as u64;
        compile(self.0, &ty, pattern.count, 0..size)
    }
}

/// A device of each capability: the oldest and the newest that are supported by the kernels' instructions of today.
fn devices(test: &str) -> Vec<Device<Compiler>> {
    if !nvrtc::is_present() {
        println!("left out: {test}: no libnvrtc here");
        return Vec::new();
    }
    let device = |capability| Device::new(Compiler { capability, compiled: Mutex::default() });
    [70, 80, 90].map(device).into()
}

/// Asserts that there are kernels, and that the compiler had nothing to say about them.
fn check(device: &Device<Compiler>) {
    let compiled = device.driver().compiled.lock().unwrap();
    assert!(!compiled.is_empty());
    for (text, log) in &*compiled {
        assert!(log.is_empty(), "{}: {log}\n{text}", device.driver().name());
    }
}

#[test]
fn layouts_of_ddtbench() {
    for device in devices("NVRTC, layouts of DDTBench") {
        for family in families::<Compile<'_>>().unwrap() {
            // The parameters of a family change constants alone.
            for pattern in family.into_iter().take(1) {
                pattern.visit(&mut Compile(&device)).unwrap();
            }
        }
        check(&device);
    }
}

#[test]
fn structs_whole_and_in_fragments() {
    let basic = Type::basic;
    let two = Type::structure(&[1, 1], &[0, 8], &[basic(Basic::U8), basic(Basic::U64)]).unwrap();
    let odd = Type::structure(&[1, 3], &[0, 6], &[basic(Basic::F32), basic(Basic::U8)]).unwrap();
    let odd = Type::resized(&odd, 0, 11).unwrap();
    let long = Type::structure(
        &[6, 1, 1],
        &[0, 48, 52],
        &[basic(Basic::F64), basic(Basic::F32), basic(Basic::U8)],
    );
    let wide = Type::structure(
        &[5, 11, 13, 3],
        &[0, 48, 104, 208],
        &[basic(Basic::F64), basic(Basic::F32), basic(Basic::F32), basic(Basic::F64)],
    );
    let wide = Type::resized(&wide.unwrap(), 0, 240).unwrap();
    for device in devices("NVRTC, structs") {
        for ty in [&two, &odd, long.as_ref().unwrap(), &wide] {
            let (ty, count) = (ty.commit(), 100_000);
            let size = ty.size() * count as u64;
            compile(&device, &ty, count, 0..size).unwrap();
            compile(&device, &ty, count, 3..size - 5).unwrap();
        }
        check(&device);
    }
}

#[test]
fn what_the_compiler_refuses_is_named() {
    if devices("NVRTC, errors").is_empty() {
        return;
    }
    let source =
        Source { name: "wrong", threads: 32, body: "KERNEL(wrong)(u8 *memory) { no; }".into() };
    match nvrtc::compile(&source, 90) {
        Err(Error::Compile { kernel, log }) => {
            assert_eq!(kernel, "wrong");
            assert!(log.contains("\"no\" is undefined"), "{log}");
        }
        other => panic!("{other:?}"),
    }
    // Devices that are newer than the library.
    let source =
        Source { name: "right", threads: 32, body: "KERNEL(right)(u8 *memory) { }".into() };
    let image = nvrtc::compile(&source, 999).unwrap();
    assert!(String::from_utf8_lossy(&image.bytes).contains(".visible .entry right"), "PTX");
    assert_eq!(image.bytes.last(), Some(&0), "what the driver loads ends with a zero");
}
