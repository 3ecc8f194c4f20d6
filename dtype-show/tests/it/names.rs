//! Pictures of fields whose names have quotation marks, control characters and more.

use dtype_show::{Diagram, SvgStyle, TextStyle, View};
use dtype_test_support::odd_names::{NAMES, Step};

#[test]
fn pictures_have_the_names() {
    let picture = Diagram::of::<Step>(&View::default());
    let paths: Vec<_> = picture.fields().iter().map(|field| field.path.as_str()).collect();
    let text = picture.text(&TextStyle::default()).to_string();
    let svg = picture.svg(&SvgStyle::default());
    let tree = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<_> = tree.descendants().filter_map(|node| node.text()).collect();
    for name in ["total blocks", "größe 'in' \"m\\s\"", "<&>: x", r"a\tb\n\u{9b}2J"] {
        assert!(text.contains(&format!(" {name} ")), "{name} in {text}");
        assert!(texts.iter().any(|text| text.contains(name)), "{name} in {texts:?}");
    }
    assert!(!text.contains(['\t', '\u{9b}']), "{text}");
    assert!(paths.contains(&NAMES[4]) && paths.contains(&"is.on [0][].on/off"), "{paths:?}");
}
