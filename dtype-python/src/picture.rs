//! Pictures of layouts.

use dtype_npy::{Dtype, Kind};
use dtype_runtime::Type;
use dtype_show::{Diagram, SvgStyle, TextStyle, Theme, View};

use crate::types::joined;

/// The picture as text.
pub(crate) fn text(item: &Dtype, ty: &Type) -> String {
    let text = diagram(item, ty).text(&TextStyle::default()).to_string();
    text.trim_end().to_owned()
}

/// The picture as SVG.
pub(crate) fn svg(item: &Dtype, ty: &Type, theme: Theme) -> String {
    diagram(item, ty).svg(&SvgStyle::default().with_theme(theme))
}

fn diagram(item: &Dtype, ty: &Type) -> Diagram {
    let mut diagram = Diagram::of_type(ty, &View::default());
    diagram.rename_fields(|field| renamed(item, &field.path).unwrap_or_else(|| field.path.clone()));
    diagram
}

/// A path of names for one of numbers: `place[].x` for `1[].0`.
fn renamed(item: &Dtype, path: &str) -> Option<String> {
    let (mut item, mut names) = (item, String::new());
    for part in path.split('.') {
        let (number, repeated) = match part.split_once('[') {
            Some((number, _)) => (number, &part[number.len()..]),
            None => (part, ""),
        };
        let Kind::Structure { fields } = item.axes().1.kind() else { return None };
        let field = fields.get(number.parse::<usize>().ok()?)?;
        names = joined(&names, &field.name) + repeated;
        item = &field.dtype;
    }
    Some(names)
}
