//! Constants, statics and types with names that the output of the derives uses.
#![deny(warnings)]
#![allow(
    dead_code,
    non_camel_case_types,
    non_upper_case_globals,
    reason = "named like values, and not used: they only must not get in the way"
)]

use dtype_message::{Framing, Limits};

type Byte = u8;

mod bindings {
    use dtype_message::Messages;
    use dtype_runtime::Datatype;

    static check: u32 = 0;
    static value: u32 = 0;
    static assembler: u32 = 0;
    static framing: u32 = 0;
    static header: u32 = 0;
    static input: u32 = 0;
    static limits: u32 = 0;
    static out: u32 = 0;
    static packed: u32 = 0;
    const tag: u32 = 0;

    #[derive(Debug, PartialEq, Datatype)]
    #[dtype(check = Checked::is_even)]
    pub struct Checked(pub u8);

    impl Checked {
        fn is_even(&self) -> bool {
            self.0 % 2 == 0
        }
    }

    #[derive(Datatype)]
    #[dtype(check = Sized::is_small)]
    struct Sized<const check: usize>([u8; check]);

    impl<const check: usize> Sized<check> {
        fn is_small(&self) -> bool {
            check < 9
        }
    }

    #[derive(Debug, PartialEq, Messages)]
    pub enum Packet {
        Checked(Checked),
        Nothing,
    }
}

mod types {
    use dtype_message::Messages;
    use dtype_runtime::Datatype;

    struct u8;
    struct u32;

    #[derive(Debug, PartialEq, Datatype)]
    pub struct PacketAssembler(pub super::Byte);

    #[derive(Debug, PartialEq, Messages)]
    pub enum Packet {
        Assembler(PacketAssembler),
        Error(Vec<PacketAssembler>),
    }
}

mod lints {
    #![forbid(missing_debug_implementations, unreachable_pub)]

    use dtype_message::Messages;

    #[derive(Debug, PartialEq, Messages)]
    pub(crate) enum r#type {
        #[deprecated]
        Old(String),
        New(String),
    }
}

fn through<M: dtype_message::Messages + std::fmt::Debug + PartialEq>(message: M) {
    let mut bytes = Vec::new();
    dtype_message::encode(&mut bytes, &message, Framing::new()).unwrap();
    assert_eq!(dtype_message::decode::<M>(&mut &bytes[..], &Limits::new()).unwrap(), Some(message));
}

#[test]
fn main() {
    through(bindings::Packet::Checked(bindings::Checked(2)));
    through(bindings::Packet::Nothing);
    through(types::Packet::Assembler(types::PacketAssembler(1)));
    through(types::Packet::Error(vec![types::PacketAssembler(1)]));
    through(lints::r#type::New(String::new()));
    let mut unknown = Vec::new();
    dtype_message::encode(&mut unknown, &String::new(), Framing::new().with_tag(9)).unwrap();
    let error =
        dtype_message::decode::<lints::r#type>(&mut &unknown[..], &Limits::new()).unwrap_err();
    assert!(error.to_string().contains("`type`"), "{error}");
}
