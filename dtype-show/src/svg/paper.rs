//! The SVG elements of a picture.

use core::fmt::Write;

use super::Theme;

/// The colours of the fields, by Okabe and Ito, and of the text on them.
const FIELDS: [(&str, &str); 8] = [
    ("#56b4e9", "#111111"),
    ("#e69f00", "#111111"),
    ("#009e73", "#111111"),
    ("#cc79a7", "#111111"),
    ("#f0e442", "#111111"),
    ("#0072b2", "#ffffff"),
    ("#d55e00", "#111111"),
    ("#999999", "#111111"),
];

/// Background, text, faint text, gaps.
const LIGHT: [&str; 4] = ["#ffffff", "#1b1f24", "#59636e", "#f1f3f5"];
const DARK: [&str; 4] = ["#0f1216", "#e6e9ed", "#9aa4b0", "#1c2128"];

/// Pixels of a character, at the size of the text; an upper estimate.
pub(super) const CHARACTER: usize = 8;

/// Pixels of a small character, in boxes and rulers.
pub(super) const SMALL: usize = 7;

/// The point of a text that is at the given position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// The elements of a picture, and the width that they take.
pub(super) struct Paper {
    body: String,
    width: usize,
}

/// A rectangle, in pixels.
#[derive(Clone, Copy)]
pub(super) struct Rect {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// The patterns for fields after the eighth, which reuse the eight colours.
const PATTERNS: [(&str, &str); 3] = [
    ("dots", "<circle cx=\"2\" cy=\"2\" r=\"1\"/><circle cx=\"5\" cy=\"5\" r=\"1\"/>"),
    ("lines", "<rect width=\"6\" height=\"2\"/>"),
    ("bars", "<rect width=\"2\" height=\"6\"/>"),
];

/// The number of the colour of a field.
pub(super) fn colour(field: u16) -> usize {
    usize::from(field) % FIELDS.len()
}

impl Paper {
    pub(super) fn new() -> Self {
        Self { body: String::new(), width: 0 }
    }

    pub(super) fn reach(&mut self, x: usize) {
        self.width = self.width.max(x);
    }

    fn push(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    pub(super) fn rect(&mut self, class: &str, rect: Rect, tip: Option<&str>) {
        let Rect { x, y, width, height } = rect;
        self.reach(x + width);
        let tip = tip.map_or_else(String::new, |tip| format!("<title>{}</title>", escaped(tip)));
        self.push(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">{tip}</rect>"
        ));
    }

    /// Draws the box of a field.
    pub(super) fn field(&mut self, field: Option<u16>, rect: Rect, tip: Option<&str>) {
        let field = field.unwrap_or(u16::MAX);
        let pattern = (usize::from(field) / FIELDS.len()) % (PATTERNS.len() + 1);
        let class = format!("dt-box dt-f{}", colour(field));
        match pattern.checked_sub(1).and_then(|pattern| PATTERNS.get(pattern)) {
            None => self.rect(&class, rect, tip),
            Some((pattern, _)) => {
                self.rect(&class, rect, None);
                self.rect(&format!("dt-{pattern}"), rect, tip);
            }
        }
    }

    /// Draws a key in a circle, so that it does not look like a name.
    pub(super) fn key(&mut self, (x, y): (usize, usize), key: char) {
        self.push(&format!("<circle class=\"dt-key\" cx=\"{x}\" cy=\"{y}\" r=\"6.5\"/>"));
        let key = String::from(key);
        self.text("dt-ink dt-small", x, y + 4, Anchor::Middle, &key);
    }

    pub(super) fn text(&mut self, class: &str, x: usize, y: usize, anchor: Anchor, text: &str) {
        let each = if class.contains("dt-small") { SMALL } else { CHARACTER };
        let length = text.chars().count() * each;
        self.reach(match anchor {
            Anchor::Start => x + length,
            Anchor::Middle => x + length / 2,
            Anchor::End => x,
        });
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let text = escaped(text);
        self.push(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"));
    }

    pub(super) fn line(&mut self, class: &str, from: (usize, usize), to: (usize, usize)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.reach(x1.max(x2));
        self.push(&format!(
            "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        ));
    }

    /// The document with this height.
    pub(super) fn finish(
        self,
        height: usize,
        margin: usize,
        theme: Theme,
        words: [&str; 2],
    ) -> String {
        let width = self.width + margin;
        let [title, desc] = words.map(escaped);
        let style = style(theme);
        let body = self.body;
        // The document defines only patterns that the picture uses.
        let mut patterns = String::new();
        for (name, shapes) in PATTERNS {
            if body.contains(&format!("\"dt-{name}\"")) {
                let _ = write!(
                    patterns,
                    "<pattern id=\"dt-{name}-p\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
                     fill=\"#ffffff\">{shapes}</pattern>"
                );
            }
        }
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <title>{title}</title>\n<desc>{desc}</desc>\n<style>{style}</style>\n\
             <defs><pattern id=\"dt-stripes\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"6\" fill=\"#000000\"/></pattern>{patterns}</defs>\n\
             <rect class=\"dt-paper\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n"
        )
    }
}

fn style(theme: Theme) -> String {
    let mut css = String::from(
        "text{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px;\
         white-space:pre}\
         .dt-small{font-size:11px}.dt-name{font-weight:bold;font-size:15px}\
         .dt-box{stroke-width:1}.dt-overlap{fill:url(#dt-stripes);fill-opacity:.55}\
         .dt-other{fill:url(#dt-stripes);fill-opacity:.2}\
         .dt-line{stroke-width:1.5;fill:none}\
         .dt-key{fill:#ffffff;stroke:#111111;stroke-width:1}.dt-ink{fill:#111111}",
    );
    for (i, (fill, text)) in FIELDS.iter().enumerate() {
        let _ =
            write!(css, ".dt-f{i}{{fill:{fill}}}.dt-t{i}{{fill:{text}}}.dt-s{i}{{stroke:{text}}}");
    }
    for (name, _) in PATTERNS {
        let _ = write!(css, ".dt-{name}{{fill:url(#dt-{name}-p);fill-opacity:.6}}");
    }
    match theme {
        Theme::Light => css.push_str(&colours(LIGHT)),
        Theme::Dark => css.push_str(&colours(DARK)),
        Theme::Auto => {
            css.push_str(&colours(LIGHT));
            let _ = write!(css, "@media (prefers-color-scheme:dark){{{}}}", colours(DARK));
        }
    }
    css
}

fn colours([paper, text, faint, gap]: [&str; 4]) -> String {
    format!(
        ".dt-paper{{fill:{paper}}}.dt-text{{fill:{text}}}.dt-faint{{fill:{faint}}}\
         .dt-box{{stroke:{paper}}}.dt-gap{{fill:{gap};stroke:{faint};stroke-width:1;stroke-dasharray:2 2}}\
         .dt-line{{stroke:{text}}}.dt-thin{{stroke:{faint}}}"
    )
}

/// Text as the contents of an element. Characters that XML does not allow become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The contrast of two colours by WCAG 2.2: from 1 to 21.
    fn contrast(one: &str, other: &str) -> f64 {
        let luminance = |colour: &str| {
            let channel = |from: usize| {
                let value = u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    #[test]
    fn text_can_be_read() {
        for (fill, text) in FIELDS {
            assert!(contrast(fill, text) >= 4.5, "{text} on {fill}");
        }
        for [paper, text, faint, gap] in [LIGHT, DARK] {
            assert!(contrast(paper, text) >= 7.0, "{text} on {paper}");
            assert!(contrast(paper, faint) >= 4.5, "{faint} on {paper}");
            assert!(contrast(gap, faint) >= 4.5, "{faint} on {gap}");
        }
    }

    #[test]
    fn names_are_text() {
        assert_eq!(escaped("a<b>&\"c\"\u{1}\n"), "a&lt;b&gt;&amp;\"c\"\u{fffd} ");
    }
}
