//! The layouts of `DDTBench`.

use anyhow::Result;
use dtype_benches::ddtbench::{ByHand, Pattern, Visitor, families};
use dtype_runtime::Type;

use super::layouts::compare;

/// Packed bytes of the largest pattern that is compared: larger ones only have more of the same blocks.
const LARGEST: u64 = 400_000;

struct Compare;

impl Visitor for Compare {
    fn visit<H: ByHand>(&mut self, pattern: Pattern<H>) -> Result<()> {
        let Pattern { family, parameters, ty, count, .. } = pattern;
        let size = ty.size() as usize * count;
        if ty.size() * count as u64 <= LARGEST {
            let name = format!("{family} {parameters}");
            let third = size / 3 / 8 * 8;
            compare(&name, &ty, count, (0, 0), &[third..2 * third]);
        }
        Ok(())
    }
}

#[test]
fn all_families() -> Result<()> {
    for patterns in families::<Compare>()? {
        // The smallest one, and one of another shape.
        for pattern in patterns.into_iter().take(2) {
            pattern.visit(&mut Compare)?;
        }
    }
    Ok(())
}

#[test]
fn a_type_without_data() -> Result<()> {
    let nothing = Type::contiguous(0, &Type::basic(dtype_runtime::Basic::F64))?;
    let Some(queue) = super::devices::queue("a_type_without_data") else { return Ok(()) };
    let packing = dtype_gpu::PrepareOn::prepare_on(&nothing.commit(), queue.device())?;
    let buffer = queue.device().buffer(0)?;
    packing.pack(&queue, (&buffer, 0), 7, (&buffer, 0))?;
    packing.unpack(&queue, (&buffer, 0), 7, (&buffer, 0))?;
    Ok(())
}
