//! Small messages, launch included, and host memory.

use std::fmt::Write as _;

use anyhow::Result;
use dtype_gpu::cuda::Cuda;
use dtype_gpu::{Buffer, Packing, PrepareOn as _};

use crate::check::Way;
use crate::gpu::{GUARD, Gpu, Ready};
use crate::hand::Direction;
use crate::layouts::Layout;
use crate::report::Report;

const DIRECTIONS: [Direction; 2] = [Direction::Pack, Direction::Unpack];

/// Times from the call to the end, as the host sees them.
pub(crate) fn run(
    report: &mut Report,
    gpu: &Gpu,
    synthetic: &[Layout],
    applications: &[Layout],
) -> Result<()> {
    report.line("");
    report.line("Small messages, µs from the call until the host knows that it has ended");
    report.line(
        "(A copy a block: of more than 4096, the time is that of the first 4096, in proportion.)",
    );
    report.line(&format!(
        "{:<38}{:>8}{:>16}{:>16}{:>16}{:>24}",
        "", "KiB", "dtype", "by hand", "cuMemcpy2D/3D", "a copy a block"
    ));
    report.line(&format!(
        "{:<46}{}",
        "",
        "    pack  unpack".repeat(3) + "        pack      unpack"
    ));
    for layout in applications {
        report.attempt(layout, |report| line(report, gpu, layout, 1))?;
    }
    let small =
        ["13 of 16 B", "1+8 of 16 B", "53 of 56 B", "8 of 16 B", "96 of 192 B", "512 of 1024 B"];
    for layout in synthetic.iter().filter(|layout| small.contains(&&*layout.name)) {
        for packed in [4 << 10, 64 << 10, 1 << 20] {
            let count = layout.count(packed, 1 << 30);
            report.attempt(layout, |report| line(report, gpu, layout, count))?;
        }
    }
    Ok(())
}

fn line(report: &mut Report, gpu: &Gpu, layout: &Layout, count: usize) -> Result<()> {
    let packing = layout.ty.prepare_on(&gpu.device)?;
    let hand = Ready::all(gpu, &layout.hand)?;
    let (memory, most) = (GUARD + layout.base, 300);
    let mut text =
        format!("{:<38}{:>8.1}", layout.name, (layout.ty.size() as usize * count) as f64 / 1024.0);
    let mut add = |time: Option<f64>, width: usize| {
        let time = time.map_or_else(|| "-".into(), |time| format!("{:.1}", time * 1e6));
        let _ = write!(text, "{time:>width$}");
    };
    let through = |way: Way<'_>, direction| {
        gpu.latency(most, || way.queue(gpu, direction, memory, GUARD, count))
    };
    for direction in DIRECTIONS {
        add(Some(through(Way::Ours(&packing), direction)?), 8);
    }
    for direction in DIRECTIONS {
        let mut best: Option<f64> = None;
        for ready in hand.iter().filter(|ready| ready.form.direction == direction) {
            let time = through(Way::Hand(ready), direction)?;
            best = Some(best.map_or(time, |best| best.min(time)));
        }
        add(best, 8);
    }
    for direction in DIRECTIONS {
        let time = |rows| {
            let at = (memory, GUARD);
            gpu.latency(30, || gpu.copy_instances(direction, layout, rows, at, count))
        };
        add(layout.rows.map(time).transpose()?, 8);
    }
    for direction in DIRECTIONS {
        add(Some(copies(gpu, layout, count, direction)?), 12);
    }
    report.line(&text);
    Ok(())
}

/// One copy for each block, of which a large number is estimated from the first few thousand.
fn copies(gpu: &Gpu, layout: &Layout, count: usize, direction: Direction) -> Result<f64> {
    const MOST: usize = 4096;
    let size = layout.ty.size() * count as u64;
    let mut blocks = Vec::new();
    let (mut packed, mut number) = (GUARD, 0);
    for segment in layout.ty.iov(count, 0..size)? {
        if number < MOST {
            blocks.push((
                GUARD + layout.base + segment.disp as usize,
                packed,
                segment.len as usize,
            ));
        }
        packed += segment.len as usize;
        number += 1;
    }
    let time = gpu.latency(20, || {
        blocks.iter().try_for_each(|&(memory, packed, len)| match direction {
            Direction::Pack => gpu.copy(gpu.memory_at(memory), gpu.packed_at(packed), len),
            Direction::Unpack => gpu.copy(gpu.packed_at(packed), gpu.memory_at(memory), len),
        })
    })?;
    Ok(time * (number as f64 / blocks.len() as f64))
}

/// Packed bytes in pinned host memory: straight from the kernel, and through device memory.
pub(crate) fn host_memory(report: &mut Report, gpu: &Gpu, layouts: &[Layout]) -> Result<()> {
    const LARGEST: usize = 64 << 20;
    report.line("");
    report.line("Packed bytes in pinned host memory, µs from the call until the host knows that it has ended");
    report.line(&format!(
        "{:<26}{:>10}{:>18}{:>18}{:>18}",
        "", "KiB", "kernel alone", "kernel and copy", "the copy alone"
    ));
    report.line(&format!("{:<36}{}", "", "      pack  unpack".repeat(3)));
    let host = gpu.device.host_buffer(LARGEST + GUARD)?;
    for layout in
        layouts.iter().filter(|layout| ["13 of 16 B", "512 of 1024 B"].contains(&&*layout.name))
    {
        let packing = layout.ty.prepare_on(&gpu.device)?;
        for packed in [16 << 10, 64 << 10, 1 << 20, 4 << 20, LARGEST] {
            report.attempt(layout, |report| {
                let times = through_host(gpu, layout, &packing, &host, packed)?;
                let mut text = format!("{:<26}{:>10}", layout.name, packed >> 10);
                for pair in times.chunks(2) {
                    let _ = write!(text, "{:>10.1}{:>8.1}", pair[0] * 1e6, pair[1] * 1e6);
                }
                report.line(&text);
                Ok(())
            })?;
        }
    }
    Ok(())
}

fn through_host(
    gpu: &Gpu,
    layout: &Layout,
    packing: &Packing<Cuda>,
    host: &Buffer<Cuda>,
    packed: usize,
) -> Result<[f64; 6]> {
    let count = layout.count(packed, 1 << 30);
    let bytes = layout.ty.size() as usize * count;
    let memory = (&gpu.memory, (GUARD + layout.base) as i64);
    let device = (&gpu.packed, GUARD as u64);
    let (at_host, at_device) = (host.memory().address(), gpu.packed_at(GUARD));
    let most = 100;
    let queue = &gpu.queue;
    let pack = |to| -> Result<()> { Ok(packing.pack(queue, memory, count, to)?) };
    let unpack = |from| -> Result<()> { Ok(packing.unpack(queue, from, count, memory)?) };
    Ok([
        gpu.latency(most, || pack((host, 0)))?,
        gpu.latency(most, || unpack((host, 0)))?,
        gpu.latency(most, || {
            pack(device)?;
            gpu.copy(at_device, at_host, bytes)
        })?,
        gpu.latency(most, || {
            gpu.copy(at_host, at_device, bytes)?;
            unpack(device)
        })?,
        gpu.latency(most, || gpu.copy(at_device, at_host, bytes))?,
        gpu.latency(most, || gpu.copy(at_host, at_device, bytes))?,
    ])
}
