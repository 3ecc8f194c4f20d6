//! Packing and unpacking on a CUDA device: bytes beside those of the host's engine, and times beside the device's own copy,
//! kernels written by hand, the driver's copies of rows, and one copy for each block.
//!
//! `device [FILE]` prints the results and writes them to the file. After `DTYPE_SECONDS` seconds it begins no layout. Without a
//! device, it compiles the kernels by hand and prints what the layouts touch.

#![allow(unsafe_code, reason = "calls the driver")]
#![allow(clippy::cast_possible_truncation, reason = "sizes of memory, on 64 bits")]
#![allow(clippy::cast_sign_loss, reason = "the layouts have no negative displacements or extents")]
#![allow(clippy::cast_precision_loss, reason = "figures")]

mod check;
mod gpu;
mod hand;
mod latency;
mod layouts;
mod report;
mod sectors;

use std::fs::File;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use dtype_gpu::cuda::{Cuda, nvrtc};
use dtype_gpu::driver::Driver as _;
use dtype_gpu::{Packing, PrepareOn as _};

use crate::check::{Noise, Way};
use crate::gpu::{COPIES, GUARD, Gpu, Ready};
use crate::hand::Direction;
use crate::layouts::{Layout, Rows};
use crate::report::Report;
use crate::sectors::Traffic;

/// Packed bytes of most rows.
const PACKED: usize = 128 << 20;
/// Memory that a layout may take.
const MOST: usize = 2 << 30;
/// Device memory, so that turns use different memory; the caches are smaller.
const ARENA: usize = 12 << 30;
const PACKED_ARENA: usize = 4 << 30;
/// What all turns together touch at least, if the arenas have room.
const COLD: usize = 768 << 20;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    if !nvrtc::is_present() {
        println!("left out: no NVRTC here");
        return Ok(());
    }
    if Cuda::count() == 0 {
        return without_device();
    }
    let path = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let file = path.map(|path| File::create(&path).context(path)).transpose()?;
    let limit = std::env::var("DTYPE_SECONDS").ok().and_then(|text| text.parse().ok());
    let mut report = Report::new(file, limit.unwrap_or(240.0));
    let mut gpu = Gpu::new(ARENA, PACKED_ARENA)?;
    head(&mut report, &gpu);
    let noise = Noise::new(MOST + 2 * GUARD);
    let (synthetic, applications) = (layouts::synthetic()?, layouts::applications()?);

    gpu.compile(synthetic.iter().chain(&applications).map(|layout| &layout.hand))?;
    report.line(&format!("Prepared in {:.0} s", report.seconds()));

    report.heading("Layouts, 128 MiB of packed bytes");
    for layout in &synthetic {
        report.attempt(layout, |report| rows(report, &gpu, &noise, layout))?;
    }
    report.heading("DDTBench, as many messages as make 128 MiB of packed bytes or 2 GiB of memory");
    for layout in &applications {
        report.attempt(layout, |report| rows(report, &gpu, &noise, layout))?;
    }
    latency::run(&mut report, &gpu, &synthetic, &applications)?;
    report.heading("Sizes");
    let swept = |layout: &&Layout| {
        ["13 of 16 B", "8 of 16 B", "512 of 1024 B", "1024×1024 f64"].contains(&&*layout.name)
    };
    for layout in synthetic.iter().filter(swept) {
        for packed in [1 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30] {
            report.attempt(layout, |report| sizes(report, &gpu, layout, packed))?;
        }
    }
    latency::host_memory(&mut report, &gpu, &synthetic)?;
    report.targets();
    report.end()
}

/// Compiles the kernels by hand for compute capability 9.0, and prints what 1 MiB of each layout touches.
fn without_device() -> Result<()> {
    println!("left out: the figures: no CUDA device here");
    for layout in layouts::synthetic()?.iter().chain(&layouts::applications()?) {
        let traffic = Traffic::of(layout, layout.count(1 << 20, MOST), GUARD)?;
        println!("{:<40}{traffic:?}", layout.name);
        for form in &layout.hand.forms {
            print!("{}", nvrtc::compile(&form.source, 90)?.log);
        }
    }
    Ok(())
}

fn head(report: &mut Report, gpu: &Gpu) {
    let capability = gpu.cuda().capability();
    report.line(&format!(
        "{}, compute capability {}.{}, driver for CUDA {}",
        gpu.cuda().name(),
        capability / 10,
        capability % 10,
        driver_version(),
    ));
    if let Ok(text) = std::env::var("DTYPE_MACHINE") {
        report.line(&text);
    }
    report.line("");
    for (bytes, speed) in COPIES.into_iter().zip(gpu.copies) {
        let (mebibytes, speed) = (bytes >> 20, speed / 1e9);
        report.line(&format!(
            "The device's copy of {mebibytes:>5} MiB{speed:>8.0} GB/s, read and written"
        ));
    }
    for line in [
        "a: the packed bytes, read and written, over that copy",
        "b: the packed bytes and the sectors of 32 bytes that have data, over that copy",
        "c: for unpack, sectors that have gaps as well count twice: the memory reads them to fill them",
        "by hand: the best of the kernels written for the layout",
        "bytes: whether all bytes, gaps and guard zones included, are those of the host's engine",
    ] {
        report.line(line);
    }
}

fn driver_version() -> String {
    let mut version = 0;
    // SAFETY: the driver is loaded, and the pointer points to an int.
    let _ = unsafe { cudarc::driver::sys::cuDriverGetVersion(&raw mut version) };
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// The rows of a layout, with its bytes checked.
fn rows(report: &mut Report, gpu: &Gpu, noise: &Noise, layout: &Layout) -> Result<()> {
    let count = layout.count(PACKED, noise.len());
    let packing = layout.ty.prepare_on(&gpu.device)?;
    let hand = Ready::all(gpu, &layout.hand)?;
    for direction in [Direction::Pack, Direction::Unpack] {
        let verdict = |report: &mut Report, way, count| -> Result<&'static str> {
            let wrong = noise.wrong(gpu, layout, count, way, direction)?;
            report.wrong += usize::from(wrong > 0);
            Ok(if wrong > 0 { "WRONG" } else { "equal" })
        };
        let ours = verdict(report, Way::Ours(&packing), count)?;
        // A few instances, with a part of a tile, show whether a kernel by hand does the same.
        let few = layout.count((1 << 20) + 777, noise.len());
        let mut by_hand = Vec::new();
        for ready in hand.iter().filter(|ready| ready.form.direction == direction) {
            by_hand.push((ready, verdict(report, Way::Hand(ready), few)?));
        }
        measure(report, gpu, layout, direction, count, (&packing, ours), &by_hand)?;
    }
    Ok(())
}

/// The rows of a layout whose bytes have been checked.
fn sizes(report: &mut Report, gpu: &Gpu, layout: &Layout, packed: usize) -> Result<()> {
    let count = layout.count(packed, 2 * MOST);
    let packing = layout.ty.prepare_on(&gpu.device)?;
    let hand = Ready::all(gpu, &layout.hand)?;
    for direction in [Direction::Pack, Direction::Unpack] {
        let by_hand: Vec<_> = hand
            .iter()
            .filter(|ready| ready.form.direction == direction)
            .map(|ready| (ready, ""))
            .collect();
        measure(report, gpu, layout, direction, count, (&packing, ""), &by_hand)?;
    }
    Ok(())
}

/// Times `count` instances packed by this crate, by hand and by the driver's copy of rows.
fn measure(
    report: &mut Report,
    gpu: &Gpu,
    layout: &Layout,
    direction: Direction,
    count: usize,
    (packing, verdict): (&Packing<Cuda>, &str),
    hand: &[(&Ready<'_>, &str)],
) -> Result<()> {
    let traffic = Traffic::of(layout, count, GUARD)?;
    let memory = (layout.span(count) + GUARD).next_multiple_of(4096);
    let packed = (traffic.packed + GUARD).next_multiple_of(4096);
    let turns = COLD.div_ceil(traffic.packed + traffic.touched).clamp(1, 8);
    let turns = turns.min((ARENA - GUARD) / memory).min((PACKED_ARENA - GUARD) / packed).max(1);
    let places = |turn: usize| {
        let turn = turn % turns;
        (GUARD + layout.base + turn * memory, GUARD + turn * packed)
    };
    let time = |way: Way<'_>| {
        gpu.time(|turn| {
            let (memory, packed) = places(turn);
            way.queue(gpu, direction, memory, packed, count)
        })
    };
    let mut best: Option<(f64, &str)> = None;
    for (ready, verdict) in hand {
        let time = time(Way::Hand(ready))?;
        if best.is_none_or(|(best, _)| time < best) {
            best = Some((time, verdict));
        }
    }
    let ours = time(Way::Ours(packing))?;
    let name = &layout.name;
    report.row(gpu, name, "dtype", direction, traffic, ours, best.map(|(time, _)| time), verdict);
    if let Some((time, verdict)) = best {
        report.row(gpu, name, "by hand", direction, traffic, time, None, verdict);
    }
    // The driver takes long for rows of a few bytes.
    let fits = |rows: &Rows| rows.planes.is_some() || rows.width >= 24 || count < 1 << 20;
    if let Some(rows) = layout.rows.filter(fits) {
        let time = gpu.time(|turn| {
            let (memory, packed) = places(turn);
            gpu.copy_instances(direction, layout, rows, (memory, packed), count)
        })?;
        report.row(gpu, name, rows.function(), direction, traffic, time, None, "");
    }
    Ok(())
}
