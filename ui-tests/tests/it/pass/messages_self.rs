// `Self` in the type of a message is the enum.

use std::marker::PhantomData;

use dtype_message::{Framing, Limits, Messages};
use dtype_runtime::Datatype;

#[derive(Datatype, Debug, PartialEq)]
struct Answer<M> {
    number: u32,
    to: PhantomData<fn(M)>,
}

#[derive(Messages, Debug, PartialEq)]
enum r#Type {
    Answers(Vec<Answer<Self>>),
    Pair(Answer<(Self, u8)>),
}

#[test]
fn main() {
    for sent in [
        r#Type::Answers(vec![Answer { number: 1, to: PhantomData }]),
        r#Type::Pair(Answer { number: 2, to: PhantomData }),
    ] {
        let mut bytes = Vec::new();
        dtype_message::encode(&mut bytes, &sent, Framing::new()).unwrap();
        assert_eq!(dtype_message::decode(&mut &bytes[..], &Limits::new()).unwrap(), Some(sent));
    }
}
