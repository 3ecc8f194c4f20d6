#[derive(Clone, Copy, Debug, dtype_runtime::Datatype)]
#[repr(C)]
pub struct Part {
    #[dtype(rename = "x;y")]
    pub x_y: f64,
}

#[derive(Clone, Copy, Debug, dtype_runtime::Datatype)]
#[repr(C)]
pub struct Record {
    #[dtype(rename = "total blocks")]
    pub total_blocks: i32,
    pub time: f64,
    #[dtype(rename = "größe \"m\\s\"")]
    pub gr__e__m_s_: [u16; 2],
    pub r#type: u8,
    #[dtype(rename = "self")]
    pub self_: u8,
    #[dtype(rename = "2nd")]
    pub f2nd: u8,
    pub a_b: u8,
    #[dtype(rename = "a b")]
    pub a_b_2: u8,
    #[dtype(rename = "a-b")]
    pub a_b_3: u8,
    #[dtype(rename = "_pad0")]
    pub pad0: u8,
    #[dtype(rename = "é\n\u{202e}😀")]
    pub f____: [Part; 3],
}

const _: () = {
    assert!(std::mem::size_of::<Part>() == 8);
    assert!(std::mem::offset_of!(Part, x_y) == 0);
    assert!(std::mem::size_of::<Record>() == 56);
    assert!(std::mem::offset_of!(Record, total_blocks) == 0);
    assert!(std::mem::offset_of!(Record, time) == 8);
    assert!(std::mem::offset_of!(Record, gr__e__m_s_) == 16);
    assert!(std::mem::offset_of!(Record, r#type) == 20);
    assert!(std::mem::offset_of!(Record, self_) == 21);
    assert!(std::mem::offset_of!(Record, f2nd) == 22);
    assert!(std::mem::offset_of!(Record, a_b) == 23);
    assert!(std::mem::offset_of!(Record, a_b_2) == 24);
    assert!(std::mem::offset_of!(Record, a_b_3) == 25);
    assert!(std::mem::offset_of!(Record, pad0) == 26);
    assert!(std::mem::offset_of!(Record, f____) == 32);
};
