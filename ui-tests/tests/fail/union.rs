use dtype_runtime::Datatype;

#[derive(Datatype)]
#[repr(C)]
union Bits {
    float: f32,
    integer: u32,
}

#[derive(Datatype)]
struct Uses {
    bits: Bits,
}

fn main() {}
