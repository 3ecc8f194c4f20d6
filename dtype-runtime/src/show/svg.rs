//! A picture as SVG.

mod paper;
mod picture;

use alloc::string::String;

use super::diagram::Diagram;

/// How a picture is drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SvgStyle {
    /// On which background.
    pub theme: Theme,
    /// Width of a cell in pixels, at least 4 and at most 64.
    pub cell: u32,
    /// The numbers along the rows: displacements in bytes.
    pub rulers: bool,
    /// Lines with the extent and the true extent.
    pub ranges: bool,
    /// How many fields the legend lists; 0 for no legend.
    pub legend: usize,
}

/// Which colours the background and the text have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// Those that whoever looks at it prefers: the style asks by `prefers-color-scheme`.
    #[default]
    Auto,
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl Default for SvgStyle {
    /// All of it, in cells of 14 pixels, with a legend of 40 fields.
    fn default() -> Self {
        Self { theme: Theme::Auto, cell: 14, rulers: true, ranges: true, legend: 40 }
    }
}

impl Diagram {
    /// The picture as a document in SVG that needs nothing else: no font, no style, no script. It has a `viewBox`, a
    /// title and a description; pointing at a box says what it is. Fields are told apart by colours that are different
    /// for people who see few of them too, and by their names, or letters where there is no room for these.
    ///
    /// ```
    /// use dtype_runtime::show::{Diagram, SvgStyle, View};
    /// let svg = Diagram::of::<(f64, [u8; 3])>(&View::default()).svg(&SvgStyle::default());
    /// assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    /// assert!(svg.contains("extent 16"));
    /// ```
    pub fn svg(&self, style: &SvgStyle) -> String {
        picture::draw(self, style)
    }
}
