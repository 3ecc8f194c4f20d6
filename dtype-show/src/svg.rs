//! A picture as SVG.

mod paper;
mod picture;

use crate::diagram::Diagram;

/// How to draw a picture as SVG.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SvgStyle {
    /// The colours of background and text.
    pub theme: Theme,
    /// Width of a cell in pixels, 4 to 64.
    pub cell: u32,
    /// The numbers along the rows: displacements in bytes.
    pub rulers: bool,
    /// Lines with the extent and the true extent.
    pub ranges: bool,
    /// The maximum number of fields in the legend; 0 for no legend.
    pub legend: usize,
}

/// The colours of background and text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Theme {
    /// The reader's preference, by `prefers-color-scheme`.
    #[default]
    Auto,
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

impl Default for SvgStyle {
    /// Everything, in cells of 14 pixels, with a legend of up to 40 fields.
    fn default() -> Self {
        Self { theme: Theme::Auto, cell: 14, rulers: true, ranges: true, legend: 40 }
    }
}

impl SvgStyle {
    setters! {
        with_theme, theme: Theme;
        with_cell, cell: u32, "pixels";
        with_rulers, rulers: bool;
        with_ranges, ranges: bool;
        with_legend, legend: usize;
    }
}

impl Diagram {
    /// The picture as a self-contained SVG document, without fonts, style sheets or scripts. It has a `viewBox`, a title
    /// and a description, and a tooltip for each box. Fields differ by colours that colour-blind readers can tell apart,
    /// and by their names, or letters where a name does not fit.
    ///
    /// ```
    /// use dtype_show::{Diagram, SvgStyle, View};
    /// let svg = Diagram::of::<(f64, [u8; 3])>(&View::default()).svg(&SvgStyle::default());
    /// assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    /// assert!(svg.contains("extent 16"));
    /// ```
    pub fn svg(&self, style: &SvgStyle) -> String {
        picture::draw(self, style)
    }
}
