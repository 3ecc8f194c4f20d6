//! What the commands print, word for word: `tests/commands/*.trycmd`. `TRYCMD=overwrite` writes them anew.

#[cfg(target_endian = "little")]
#[test]
fn commands() {
    trycmd::TestCases::new().case("tests/commands/*.trycmd");
}
