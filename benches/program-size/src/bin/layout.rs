//! A `Type` made at run time, packed by a `Packer`, unpacked by an `Unpacker`, and packed in another representation.

use dtype_program_size::{input, output};
use dtype_runtime::{Basic, Buffer, BufferMut, Representation, Type};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = input()?;
    let rows = u64::try_from(input.len())? / 8;
    let column = Type::vector(rows, 1, 2, &Type::basic(Basic::F32))?.commit();
    let mut packed = vec![0; column.packed_size(1)?];
    column.packer(Buffer::new(&input), 1)?.pack(&mut packed);
    column.unpacker(BufferMut::new(&mut input), 1)?.unpack(&packed)?;
    let external = column.conversion(Representation::External32)?;
    external.pack(&input, 1, &mut packed)?;
    Ok(output(&packed)?)
}
