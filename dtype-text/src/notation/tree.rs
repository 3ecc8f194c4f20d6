//! The tree that the grammar makes from a text, before evaluation.

use std::ops::Range;

/// An expression and its position in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) expression: Expression,
}

#[derive(Clone, Debug)]
pub(super) enum Expression {
    /// Digits as written.
    Number,
    /// A name: one word, or several for C names.
    Name,
    Call(Call),
    List(Vec<Node>),
    /// `[element; count]`.
    Array(Box<(Node, Node)>),
    Struct(Vec<Field>),
    Negative(Box<Node>),
    /// The first term, and the following terms with their operators.
    Arithmetic(Box<Node>, Vec<(Operator, Node)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plus,
    Minus,
    Times,
}

/// `name(arguments)`.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: Range<usize>,
    pub(super) arguments: Vec<Node>,
}

/// `name: type @ displacement`.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Option<Range<usize>>,
    pub(super) ty: Node,
    pub(super) displacement: Option<Node>,
}

/// `let name = value;`.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    pub(super) name: Range<usize>,
    pub(super) value: Node,
}

/// A whole text.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) bindings: Vec<Binding>,
    pub(super) result: Node,
}
