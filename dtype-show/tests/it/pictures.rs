//! Pictures as they are printed: the layouts of the source documents, and layouts that are hard to draw.

use dtype_runtime::types::{Order, UcpField};
use dtype_runtime::{Basic, Datatype, Type};
use dtype_show::{DescriptionTable, Diagram, EnvelopeTree, SvgStyle, TextStyle, Theme, View};
use dtype_test_support::seeds::{basic, seed_000, seed_003};

fn text(ty: &Type, view: &View) -> String {
    Diagram::of_type(ty, view).text(&TextStyle::default()).to_string()
}

/// The rows alone, as the source documents draw them.
fn rows(ty: &Type, view: &View) -> String {
    let style = TextStyle::default()
        .with_title(false)
        .with_rulers(false)
        .with_ranges(false)
        .with_letters(false)
        .with_legend(0);
    Diagram::of_type(ty, view).text(&style).to_string()
}

#[test]
fn seed_000_in_full() {
    assert_eq!(
        text(&seed_000(), &View::default()),
        "\
size 30, lb 24, extent 12, true lb 0, true extent 34

  0       8       16      24      32
0 ■■■■■■■■■■■■■■■■■■■■■■■■■■□□■■□□■■□□
  a·······b···c·d·b···c·d·e·  e·  e·
                          └──────────┘ extent 12
  └──────── true extent 34 ────────┘

   field  type  offset  bytes  repeated
a  0      u64        0      8
b  1[].0  u32        8      8  2 every 8
c  1[].1  u16       12      4  2 every 8
d  1[].2  u16       14      4  2 every 8
e  2      u16       24      6  3 every 4
"
    );
    let style = TextStyle::default().with_ascii(true).with_legend(2);
    assert_eq!(
        Diagram::of_type(&seed_000(), &View::default()).text(&style).to_string(),
        "\
size 30, lb 24, extent 12, true lb 0, true extent 34

  0       8       16      24      32
0 ##########################..##..##..
  a-------b---c-d-b---c-d-e-  e-  e-
                          [----------] extent 12
  [-------- true extent 34 --------]

   field  type  offset  bytes  repeated
a  0      u64        0      8
b  1[].0  u32        8      8  2 every 8
... and 3 more fields
"
    );
}

/// The source's picture, line by line: a cell is a `u16`, and a row is one repetition of `contiguous`.
#[test]
fn seed_003_as_the_source_draws_it() {
    let view = View::default().with_unit(2).with_columns(40);
    assert_eq!(
        rows(&seed_003(), &view),
        "\
■■■■■□■■■■■□■■■■■□■■■■■□□
■■■■■□■■■■■□■■■■■□■■■■■□□
■■■■■□■■■■■□■■■■■□■■■■■□□
□□
"
    );
    assert_eq!(
        text(&seed_003(), &view),
        "\
size 120, lb 0, extent 154, true lb 0, true extent 146; a cell is 2 bytes

    +0      +16     +32     +48
  0 ■■■■■□■■■■■□■■■■■□■■■■■□□
    └───── extent 154 ───────
    └─── true extent 146 ────
 50 ■■■■■□■■■■■□■■■■■□■■■■■□□
100 ■■■■■□■■■■■□■■■■■□■■■■■□□
    ──────────────────────┘ true extent 146
150 □□
    ─┘ extent 154

   field  type     offset  bytes  repeated
a  data   u16 × 5       0    120  3 every 50, 4 every 12
"
    );
}

#[test]
fn seed_004_examples() {
    let bytes = |count| Type::contiguous(count, &basic(Basic::Byte)).unwrap();
    let field = |extent, ty| UcpField { displacement: 0, extent, ty };
    let first = Type::ucp_struct(&[field(8, bytes(4))], 2).unwrap();
    assert_eq!(rows(&first, &View::default()), "■■■■□□□□■■■■\n");
    let dt1 = Type::ucp_struct(&[field(8, bytes(2))], 2).unwrap();
    let third = Type::ucp_struct(&[field(32, dt1)], 2).unwrap();
    let one = "■■□□□□□□■■□□□□□□□□□□□□□□□□□□□□□□■■□□□□□□■■\n";
    assert_eq!(rows(&third, &View::default()), one);
    // One row at a time: UCX registers a key for each row.
    let view = View::default().with_columns(40);
    assert_eq!(rows(&third, &view), "■■□□□□□□■■□□□□□□□□□□□□□□□□□□□□□□\n■■□□□□□□■■\n");
}

#[test]
fn one_line() {
    let picture = |ty: &Type| Diagram::of_type(ty, &View::default()).to_string();
    // The bounds leave out the first 24 bytes; the data do not.
    assert_eq!(picture(&seed_000()), "■■■■■■■■ ■■■■ ■■ ■■ ■■■■ ■■ ■■ ■■□□ ■■□□ ■■□□");
    let bytes = |count| Type::contiguous(count, &basic(Basic::Byte)).unwrap();
    let field = |displacement, extent, ty| UcpField { displacement, extent, ty };
    let ucp = |fields: &[UcpField]| Type::ucp_struct(fields, 2).unwrap();
    assert_eq!(picture(&ucp(&[field(0, 8, bytes(4))])), "■ ■ ■ ■□□□□ ■ ■ ■ ■");
    let second = [field(0, 16, bytes(4)), field(8, 16, ucp(&[field(0, 4, bytes(2))]))];
    assert_eq!(picture(&ucp(&second)), "■ ■ ■ ■□□□□ ■ ■□□ ■ ■□□ ■ ■ ■ ■□□□□ ■ ■□□ ■ ■");
    let third = [field(0, 32, ucp(&[field(0, 8, bytes(2))]))];
    assert_eq!(picture(&ucp(&third)), "■ ■□□□□□□ ■ ■□□□□□□□□□□□□□□□□□□□□□□ ■ ■□□□□□□ ■ ■");
}

#[derive(Datatype)]
#[repr(u8)]
enum Kind {
    Free,
    Fixed,
}

#[derive(Datatype)]
#[repr(C)]
struct Site {
    mass: f64,
    tags: [u16; 3],
    kind: Kind,
}

#[derive(Datatype)]
#[repr(C)]
struct Body {
    name: [u8; 5],
    sites: [Site; 2],
    #[dtype(skip)]
    cache: u64,
    at: (f32, f32),
}

fn bodies() -> Diagram {
    let _ = (Kind::Free, Kind::Fixed);
    Diagram::of::<Body>(&View::default().with_instances(2).with_columns(32))
}

#[test]
fn derived_types_have_names_and_enums_and_skipped_fields() {
    assert_eq!(
        bodies().text(&TextStyle::default()).to_string(),
        "\
Body: size 43, lb 0, extent 56, true lb 0, true extent 56; 2 instances

   +0      +8      +16     +24
 0 ■■■■■□□□■■■■■■■■■■■■■■■□■■■■■■■■
   aaaaa   b·······c·c·c·d b·······
   └───────── extent 56 ───────────
   └─────── true extent 56 ────────
32 ■■■■■■■□□□□□□□□□■■■■■■■■■■■■■□□□
   c·c·c·d         e···f···aaaaa
   ───────────────────────┘ extent 56
                           └─────── extent 56
   ───────────────────────┘ true extent 56
64 ■■■■■■■■■■■■■■■□■■■■■■■■■■■■■■■□
   b·······c·c·c·d b·······c·c·c·d
96 □□□□□□□□■■■■■■■■
           e···f···
   ───────────────┘ extent 56

   field         type       offset  bytes  repeated
a  name          u8 × 5          0      5
b  sites[].mass  f64             8     16  2 every 16
c  sites[].tags  u16 × 3        16     12  2 every 16
d  sites[].kind  Kind: u8       22      2  2 every 16
e  at.0          f32            48      4
f  at.1          f32            52      4
   cache         (skipped)      40      8
"
    );
}

#[test]
fn colours_are_switched_on_and_off() {
    let style = TextStyle::default().with_colour(true);
    let diagram = Diagram::of::<(u16, u8)>(&View::default());
    let coloured = diagram.text(&style).to_string();
    let (mut plain, mut in_escape, mut on) = (String::new(), false, 0);
    for c in coloured.chars() {
        match c {
            '\x1b' => in_escape = true,
            'm' if in_escape => in_escape = false,
            c if !in_escape => plain.push(c),
            _ => {}
        }
    }
    assert_eq!(plain, diagram.text(&TextStyle::default()).to_string());
    for line in coloured.lines() {
        let starts = line.matches("\x1b[38;5;").count();
        assert!(starts == 0 || line.contains("\x1b[0m"), "{line}");
        on += starts;
    }
    // The row, the letters and the legend each have the colours of two fields.
    assert_eq!(on, 6);
}

/// The width of a format has 16 bits, and names can be longer.
#[test]
fn names_of_any_length_are_aligned() {
    let ty = Type::structure(&[1, 1], &[0, 2], &[basic(Basic::U8), basic(Basic::U16)]).unwrap();
    let mut picture = Diagram::of_type(&ty, &View::default());
    picture.rename_fields(|field| if field.offset == 0 { "x".repeat(70_000) } else { "y".into() });
    let text = picture.text(&TextStyle::default()).to_string();
    let lines: Vec<&str> =
        text.lines().filter(|line| line.contains("u8 ") || line.contains("u16")).collect();
    assert_eq!((lines[0].find("u8"), lines[1].find("u16")), (Some(70_005), Some(70_005)));
}

/// Displacements before the origin, bounds outside the data and in reverse order, and bytes that are named twice.
#[test]
fn negative_displacements_and_overlaps() {
    let back = Type::vector(4, 1, -2, &basic(Basic::I16)).unwrap();
    let odd = Type::resized(&back, -20, -4).unwrap();
    assert_eq!(
        text(&odd, &View::default().with_instances(3)),
        "\
size 8, lb -20, extent -4, true lb -12, true extent 14; 3 instances

    -32     -24     -16     -8      0
-32 □□□□□□□□□□□□■■□□▣▣□□▣▣□□▣▣□□▣▣□□■■
            └──┘ extent -4, ub before lb
                        └────────────┘ true extent 14

▣ named more than once

   field  type  offset  bytes  repeated
a  data   i16        0      8  4 every -4
"
    );
}

/// The face of a halo in a three-dimensional array. Each row is a line of the array, so a wrong stride is visible.
#[test]
fn a_halo_is_folded_at_the_rows_of_its_array() {
    let face =
        Type::subarray(&[3, 4, 10], &[3, 2, 1], &[0, 1, 9], Order::C, &basic(Basic::F64)).unwrap();
    let view = View::default().with_unit(8).with_columns(16);
    assert_eq!(
        rows(&face, &view),
        "\
□□□□□□□□□□
□□□□□□□□□■
□□□□□□□□□■
□□□□□□□□□□
□□□□□□□□□□
□□□□□□□□□■
□□□□□□□□□■
□□□□□□□□□□
□□□□□□□□□□
□□□□□□□□□■
□□□□□□□□□■
□□□□□□□□□□
"
    );
    // The stride here is wrong by one.
    let wrong = Type::vector(3, 1, 9, &basic(Basic::F64)).unwrap();
    let view = view.with_row(80);
    assert_eq!(rows(&wrong, &view), "■□□□□□□□□■\n□□□□□□□□■\n");
}

#[test]
fn long_layouts_are_shortened_where_nothing_starts_or_ends() {
    let far = Type::resized(&basic(Basic::U32), -1000, 1_000_000).unwrap();
    let twice = Type::hvector(2, 1, 500_000, &far).unwrap();
    assert_eq!(
        text(&twice, &View::default().with_columns(16).with_rows(6).with_unit(1)),
        "\
size 8, lb -1000, extent 1500000, true lb 0, true extent 500004

        +0      +8
  -1000 □□□□□□□□□□□□□□□□
        └─────────────── extent 1500000
        … 976 bytes left out …
     -8 □□□□□□□□■■■■□□□□
                └─────── true extent 500004
      8 □□□□□□□□□□□□□□□□
     24 □□□□□□□□□□□□□□□□
        … 499952 bytes left out …
 499992 □□□□□□□□■■■■□□□□
        ───────────┘ true extent 500004
        … 998976 bytes left out …
1498984 □□□□□□□□□□□□□□□□
        ───────────────┘ extent 1500000

   field  type  offset  bytes  repeated
a  data   u32        0      8  2 every 500000
"
    );
}

/// Without settings, a cell is an element, and a row is the stride.
#[test]
fn a_vector_is_drawn_element_by_element() {
    let column = Type::vector(4, 1, 10, &basic(Basic::F64)).unwrap();
    let column = Type::hindexed_block(1, &[8], &column).unwrap();
    let told = View::default().with_unit(8).with_row(80);
    assert_eq!(text(&column, &View::default()), text(&column, &told));
    assert_eq!(rows(&column, &told), "□■□□□□□□□□\n□■□□□□□□□□\n□■□□□□□□□□\n□■\n");
    // Values of several sizes, and values at displacements where no cell starts.
    let [f64, u8] = [Basic::F64, Basic::U8].map(basic);
    let pair = Type::structure(&[1, 1], &[0, 8], &[f64.clone(), u8]).unwrap();
    let odd = Type::hvector(9, 1, 12, &f64).unwrap();
    for ty in [Type::vector(9, 1, 10, &pair).unwrap(), odd] {
        assert_eq!(Diagram::of_type(&ty, &View::default()).unit(), 1);
    }
    // A layout that fits one row is drawn byte by byte.
    assert_eq!(Diagram::of_type(&Type::contiguous(8, &f64).unwrap(), &View::default()).unit(), 1);
    assert_eq!(Diagram::of_type(&Type::contiguous(9, &f64).unwrap(), &View::default()).unit(), 8);
}

#[test]
fn rows_of_gap_are_one_line() {
    let face = Type::subarray(&[3, 6, 10], &[3, 2, 1], &[0, 1, 9], Order::C, &basic(Basic::F64));
    let face = face.unwrap();
    assert_eq!(
        rows(&face, &View::default()),
        "\
□□□□□□□□□□
□□□□□□□□□■
□□□□□□□□□■
… 4 rows of gap
□□□□□□□□□■
□□□□□□□□□■
… 4 rows of gap
□□□□□□□□□■
□□□□□□□□□■
□□□□□□□□□□
□□□□□□□□□□
□□□□□□□□□□
"
    );
    assert!(
        Diagram::of_type(&face, &View::default())
            .svg(&SvgStyle::default())
            .contains("4 rows of gap, 320 bytes")
    );
}

/// The boxes of an SVG document: the tooltip and the class of each.
fn boxes(svg: &str) -> Vec<(String, String)> {
    let document = roxmltree::Document::parse(svg).unwrap();
    let rects = document.descendants().filter(|node| node.tag_name().name() == "rect");
    rects
        .filter_map(|rect| {
            let tip = rect.children().find(|node| node.tag_name().name() == "title")?;
            Some((tip.text()?.to_owned(), rect.attribute("class")?.to_owned()))
        })
        .collect()
}

#[test]
fn a_run_of_values_is_one_box() {
    let svg = Diagram::of::<([u8; 40], f64)>(&View::default()).svg(&SvgStyle::default());
    let tips: Vec<String> = boxes(&svg).into_iter().map(|(tip, _)| tip).collect();
    assert_eq!(tips, ["0: u8 × 40; bytes 0 to 39", "1: f64; bytes 40 to 47"]);
}

/// The texts in the boxes of a single field, and the number of lines that divide the boxes.
fn texts_and_dividers(ty: &Type, view: &View) -> (Vec<String>, usize) {
    let svg = Diagram::of_type(ty, view).svg(&SvgStyle::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let of = |class| {
        let nodes = document.descendants();
        let is_of = move |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|text| text.split(' ').any(|word| word == class))
        };
        nodes.filter(is_of)
    };
    let texts = of("dt-t0").filter_map(|node| node.text().map(String::from));
    (texts.collect(), of("dt-s0").count())
}

/// A single field has neither a name nor a letter, so its box has its type.
#[test]
fn no_box_is_empty() {
    let i32 = basic(Basic::I32);
    let marked =
        Type::structure(&[1, 1, 1], &[-3, 0, 6], &[Type::lb_marker(), i32, Type::ub_marker()]);
    let marked = marked.unwrap();
    assert_eq!(texts_and_dividers(&marked, &View::default()).0, ["i32"]);
    let twice = Type::contiguous(2, &marked).unwrap();
    assert_eq!(texts_and_dividers(&twice, &View::default()).0, ["i32", "i32"]);
}

/// Adjacent bytes of different instances are divided. The bytes of an array are not.
#[test]
fn bytes_of_neighbours_are_divided() {
    let u8 = basic(Basic::U8);
    let column = Type::resized(&Type::vector(3, 1, 4, &u8).unwrap(), 0, 1).unwrap();
    let view = View::default().with_instances(2).with_row(4);
    // Each row has two short lines.
    assert_eq!(texts_and_dividers(&column, &view).1, 2 * 3);
    let array = Type::contiguous(5, &u8).unwrap();
    assert_eq!(texts_and_dividers(&array, &View::default()).1, 0);
}

/// No two of the first 32 fields look the same. Keys are in circles, and names are not.
#[test]
fn many_fields_differ() {
    let members = vec![basic(Basic::U16); 40];
    let places: Vec<i64> = (0..40).map(|i| 4 * i).collect();
    let ty = Type::structure(&[1; 40], &places, &members).unwrap();
    let svg = Diagram::of_type(&ty, &View::default().with_columns(200)).svg(&SvgStyle::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let rects: Vec<(&str, &str, &str)> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "rect")
        .filter_map(|rect| {
            Some((rect.attribute("class")?, rect.attribute("x")?, rect.attribute("y")?))
        })
        .collect();
    // The classes of all rectangles that cover one another.
    let mut looks: Vec<String> = Vec::new();
    let mut place = None;
    for (class, x, y) in rects.into_iter().filter(|(class, ..)| *class != "dt-gap") {
        match (place == Some((x, y)), looks.last_mut()) {
            (true, Some(last)) => *last += class,
            _ => looks.push(class.to_owned()),
        }
        place = Some((x, y));
    }
    let different: std::collections::BTreeSet<&String> = looks.iter().take(32).collect();
    assert_eq!(different.len(), 32, "{different:?}");
    for pattern in ["dots", "lines", "bars"] {
        assert!(svg.contains(&format!("pattern id=\"dt-{pattern}-p\"")), "{pattern}");
    }
    let circles = document.descendants().filter(|node| node.tag_name().name() == "circle");
    assert!(circles.filter(|circle| circle.attribute("class") == Some("dt-key")).count() >= 40);
}

/// Each document is well-formed and has a title, and its boxes lie inside the picture.
#[test]
fn svg_is_well_formed() {
    #[derive(Datatype)]
    #[dtype(name = "<A & \"b\"\u{1} c>")]
    struct Odd {
        value: u64,
    }
    let _ = Odd { value: 0 }.value;
    let diagrams = [
        Diagram::of_type(&seed_000(), &View::default()),
        Diagram::of_type(&seed_003(), &View::default().with_unit(4)),
        bodies(),
        Diagram::of::<Odd>(&View::default()),
        Diagram::of_type(&Type::contiguous(0, &basic(Basic::U8)).unwrap(), &View::default()),
        Diagram::of_type(
            &Type::vector(1_000_000, 1, 7, &basic(Basic::F64)).unwrap(),
            &View::default(),
        ),
    ];
    for diagram in &diagrams {
        for theme in [Theme::Auto, Theme::Light, Theme::Dark] {
            let svg = diagram.svg(&SvgStyle::default().with_theme(theme));
            let document = roxmltree::Document::parse(&svg).unwrap();
            let root = document.root_element();
            let child = |name: &str| {
                root.children().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", name)))
            };
            assert!(child("title").and_then(|title| title.text()).is_some());
            let desc = child("desc").and_then(|desc| desc.text()).unwrap();
            assert!(desc.contains("extent"), "{desc}");
            assert_eq!(svg.contains("prefers-color-scheme"), theme == Theme::Auto);
            let number = |node: roxmltree::Node<'_, '_>, name| -> Option<u32> {
                node.attribute(name)?.parse().ok()
            };
            let (width, height) = (number(root, "width").unwrap(), number(root, "height").unwrap());
            assert_eq!(root.attribute("viewBox").unwrap(), format!("0 0 {width} {height}"));
            for node in root.children().filter(|node| node.tag_name().name() == "rect") {
                if let (Some(x), Some(w)) = (number(node, "x"), number(node, "width")) {
                    assert!(x + w <= width, "{x} + {w} of {width}");
                    let (y, h) = (number(node, "y").unwrap(), number(node, "height").unwrap());
                    assert!(y + h <= height, "{y} + {h} of {height}");
                }
            }
        }
    }
    let svg = diagrams[3].svg(&SvgStyle::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    let title = document.descendants().find(|node| node.has_tag_name("title"));
    let title =
        title.or_else(|| document.descendants().find(|node| node.tag_name().name() == "title"));
    assert_eq!(title.unwrap().text(), Some("<A & \"b\"\u{fffd} c>"));
}

#[test]
fn long_plans_and_descriptions_are_cut() {
    let members: Vec<Type> = (0..100).map(|_| basic(Basic::U8)).collect();
    // All distances between members differ, and the members are in no order.
    let places: Vec<i64> = (0..100).map(|i| i * i * 3 % 10_007 * 2).collect();
    let ty = Type::structure(&vec![1; 100], &places, &members).unwrap().commit();
    let table = DescriptionTable::new(&ty.description(), 3).to_string();
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(table.ends_with("… and 98 more entries\n"), "{table}");
    let tree = EnvelopeTree::new(&ty, 3).to_string();
    assert_eq!(
        tree,
        "\
structure: 100 members; size 100, lb 0, extent 19495
├ 1 at 0: u8
├ 1 at 6: u8
…
"
    );
}

#[test]
fn trees_write_shared_types_once() {
    let inner = Type::resized(&basic(Basic::F32), 0, 16).unwrap();
    let column = Type::hvector(4, 1, 64, &inner).unwrap();
    let list: Vec<i64> = (0..20).collect();
    let lists = Type::hindexed_block(2, &list, &inner).unwrap();
    let part = Type::subarray(&[4, 6], &[2, 3], &[1, 2], Order::Fortran, &column).unwrap();
    let all =
        [column.clone(), lists, part, Type::lb_marker(), Type::f90_real(Some(6), None).unwrap()];
    let ty = Type::structure(&[1, 2, 1, 1, 1], &[0, 300, 4000, -8, 9000], &all).unwrap();
    let tree = EnvelopeTree::new(&Type::dup(&ty).unwrap(), 40).to_string();
    let (first, rest) = tree.split_once('\n').unwrap();
    assert!(first.starts_with("dup; size "), "{tree}");
    assert_eq!(
        rest.lines()
            .map(|line| line.split_once("; ").map_or(line, |line| line.0))
            .collect::<Vec<_>>(),
        [
            "└ structure: 5 members",
            "  ├ 1 at 0: hvector #1: count 4, blocklength 1, stride 64",
            "  │ └ resized #2: lb 0, extent 16",
            "  │   └ f32",
            "  ├ 2 at 300: hindexed_block: blocklength 2, displacements [0, 1, 2, 3, 4, 5, 6, 7, … 12 more]",
            "  │ └ resized #2, as above",
            "  ├ 1 at 4000: subarray: sizes [4, 6], subsizes [2, 3], starts [1, 2], order Fortran",
            "  │ └ hvector #1, as above",
            "  ├ 1 at -8: lb_marker",
            "  └ 1 at 9000: f90_real: precision 6, any range, f32 here",
        ]
    );
}

/// The rows of a picture without rulers, brackets and legend.
fn rows_of(ty: &Type, view: &View) -> Vec<String> {
    let style = TextStyle::default().with_ascii(true).with_rulers(false).with_ranges(false);
    let text = Diagram::of_type(ty, view).text(&style.with_legend(0).with_title(false)).to_string();
    text.lines().map(str::to_owned).collect()
}

/// The right face of a cube is a column of each plane, and so a column of the picture.
#[test]
fn rows_of_an_array_that_are_a_little_too_long() {
    for basic in [Basic::F64, Basic::U8] {
        let face =
            Type::subarray(&[66, 66, 66], &[64, 64, 1], &[1, 1, 64], Order::C, &Type::basic(basic));
        let rows = rows_of(&face.unwrap(), &View::default());
        let data: Vec<&String> = rows.iter().filter(|row| row.contains('#')).collect();
        assert!(data.len() > 15, "{rows:?}");
        assert!(data.iter().all(|row| row.find('#') == Some(64) && row.matches('#').count() == 1));
        let is_row = |row: &&String| !row.contains("left out");
        assert!(rows.iter().filter(is_row).all(|row| row.len() == 66), "{rows:?}");
    }
}

/// A row of 150 elements is drawn as three rows of 50. The last of these may be shorter.
#[test]
fn rows_of_an_array_that_are_far_too_long() {
    for (columns, part) in [(150, 50), (149, 50), (131, 66)] {
        let column = Type::vector(5, 1, columns, &Type::basic(Basic::F32)).unwrap();
        let column = Type::hindexed_block(1, &[4 * 7], &column).unwrap();
        let rows = rows_of(&column, &View::default());
        let whole = |row: &&String| row.len() == part;
        assert!(rows.iter().filter(|row| row.contains('#')).all(|row| row.find('#') == Some(7)));
        let parts = usize::try_from(columns).unwrap().div_ceil(part);
        assert_eq!(rows.iter().filter(|row| row.contains('#')).count(), 5, "{rows:?}");
        assert!(rows.iter().filter(whole).count() >= 4 * (parts - 1), "{rows:?}");
        assert_eq!(rows.len(), 4 * parts + 1, "{rows:?}");
    }
}
