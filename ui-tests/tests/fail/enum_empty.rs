use dtype_runtime::Datatype;

#[derive(Datatype)]
enum Never {}

fn main() {}
