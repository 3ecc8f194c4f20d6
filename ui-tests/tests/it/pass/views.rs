//! Types whose memory is their packed records, whatever their `repr`.
use dtype_runtime::{Datatype, bytes_of, view};

#[derive(Datatype)]
#[repr(transparent)]
struct Metres(f64);

#[derive(Datatype)]
#[repr(C, packed)]
struct Tight {
    flag: bool,
    value: u32,
    nothing: (),
}

#[derive(Datatype)]
#[repr(C)]
struct Generic<T> {
    lengths: [Metres; 2],
    more: T,
}

#[test]
fn main() {
    let tight = [Tight { flag: true, value: 7, nothing: () }];
    let same = view::<Tight>(bytes_of(&tight)).unwrap();
    assert!(same[0].flag && { same[0].value } == 7);
    assert!(view::<Tight>(&[2, 0, 0, 0, 0]).is_err());
    let generic = [Generic { lengths: [Metres(1.0), Metres(2.0)], more: (3_u32, 4_u32) }];
    assert_eq!(view::<Generic<(u32, u32)>>(bytes_of(&generic)).unwrap()[0].more, (3, 4));
}
