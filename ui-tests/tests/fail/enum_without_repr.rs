use dtype_runtime::Datatype;

#[derive(Datatype)]
enum Kind {
    One,
    Two,
}

#[derive(Datatype)]
#[repr(C)]
enum AsInC {
    One,
}

#[derive(Datatype)]
struct Uses {
    kind: Kind,
    other: AsInC,
}

fn main() {}
