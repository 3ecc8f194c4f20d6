//! NVRTC compiles the kernels of all layouts for devices that this machine need not have, and none spills registers.

use anyhow::Result;
use dtype_benches::ddtbench::{ByHand, Pattern, Visitor, families};
use dtype_gpu::Error;
use dtype_gpu::cuda::nvrtc;
use dtype_gpu::forms::sources;
use dtype_gpu::source::{Direction, Source};
use dtype_runtime::{Basic, Type};

/// Whether the library is here; says that a test is left out if it is not.
fn is_present(test: &str) -> bool {
    let present = nvrtc::is_present();
    if !present {
        println!("left out: {test}: no libnvrtc here");
    }
    present
}

/// Compiles all kernels of a type for devices of two generations.
fn compile(ty: &Type) -> Result<(), Error> {
    let committed = ty.commit();
    for source in [Direction::Pack, Direction::Unpack].map(|way| sources(&committed, way)).concat()
    {
        for capability in [80, 90] {
            let image = nvrtc::compile(&source, capability)?;
            assert!(image.bytes().starts_with(b"\x7FELF"), "not a binary");
            // The compiler names spilled registers.
            assert!(image.log.is_empty(), "for {capability}: {}\n{}", image.log, source.body);
        }
    }
    Ok(())
}

struct Compile;

impl Visitor for Compile {
    fn visit<H: ByHand>(&mut self, pattern: Pattern<H>) -> Result<()> {
        Ok(compile(&pattern.ty)?)
    }
}

#[test]
fn layouts_of_ddtbench() {
    if !is_present("layouts of DDTBench, compiled for CUDA") {
        return;
    }
    for family in families::<Compile>().unwrap() {
        // The patterns of a family differ in constants.
        for pattern in family.into_iter().take(1) {
            pattern.visit(&mut Compile).unwrap();
        }
    }
}

#[test]
fn structs() {
    type Struct<'a> = (&'a [u64], &'a [i64], &'a [Basic], i64);
    if !is_present("structs, compiled for CUDA") {
        return;
    }
    let structs: [Struct<'_>; 6] = [
        (&[1, 1], &[0, 8], &[Basic::U8, Basic::U64], 16),
        (&[3], &[0], &[Basic::F32], 16),
        (&[2, 2], &[32, 0], &[Basic::F64, Basic::F64], 48),
        (&[1, 1, 3], &[0, 4, 6], &[Basic::F32, Basic::U8, Basic::U8], 11),
        (&[6, 1, 1], &[0, 48, 52], &[Basic::F64, Basic::F32, Basic::U8], 56),
        (
            &[5, 11, 13, 3],
            &[0, 48, 104, 208],
            &[Basic::F64, Basic::F32, Basic::F32, Basic::F64],
            240,
        ),
    ];
    for (lengths, disps, basics, extent) in structs {
        let types: Vec<Type> = basics.iter().map(|&basic| Type::basic(basic)).collect();
        let ty = Type::structure(lengths, disps, &types).unwrap();
        compile(&Type::resized(&ty, 0, extent).unwrap()).unwrap();
    }
}

#[test]
fn what_the_compiler_refuses_is_named() {
    if !is_present("errors of CUDA's compiler") {
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
}

#[test]
fn devices_newer_than_the_library_get_ptx() {
    if !is_present("PTX") {
        return;
    }
    let source =
        Source { name: "empty", threads: 32, body: "KERNEL(empty)(u8 *memory) { }".into() };
    let image = nvrtc::compile(&source, 999).unwrap();
    assert!(String::from_utf8_lossy(image.bytes()).contains(".visible .entry empty("), "not PTX");
    assert_eq!(image.bytes().last(), Some(&0), "the driver finds the end by a zero");
}
