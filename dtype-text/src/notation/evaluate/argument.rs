//! The arguments of constructors.

use dtype_runtime::types::call::{ArgumentKind, Parameter};
use dtype_runtime::types::{Distribution, Order};

use super::super::calls::{Argument, expected};
use super::super::tree::{Expression, Node};
use super::Evaluator;
use crate::names::nearest;
use crate::problem::Problem;

impl Evaluator<'_> {
    pub(super) fn argument(
        &mut self,
        call: &str,
        parameter: Parameter,
        node: &Node,
    ) -> Option<Argument> {
        let what = || format!("{} ({} of {call})", expected(parameter.kind), parameter.name);
        match parameter.kind {
            ArgumentKind::Length(_) | ArgumentKind::Count(_) => {
                self.count(node).map(Argument::Count)
            }
            ArgumentKind::Offset(_) => self.offset(node).map(Argument::Offset),
            ArgumentKind::Type => self.ty(node, &what()).map(Argument::Type),
            ArgumentKind::Order => self.order(node, &what()).map(Argument::Order),
            ArgumentKind::Digits if self.is_undefined(node) => Some(Argument::Digits(None)),
            ArgumentKind::Digits => self.digits(node).map(|digits| Argument::Digits(Some(digits))),
            ArgumentKind::Range => self.digits(node).map(Argument::Range),
            ArgumentKind::Counts(_) => {
                self.list(node, &what(), Self::count).map(|list| Argument::Counts(list.into()))
            }
            ArgumentKind::Offsets(_) => {
                self.list(node, &what(), Self::offset).map(|list| Argument::Offsets(list.into()))
            }
            ArgumentKind::Types => {
                self.list(node, &what(), |this, item| this.ty(item, "a type")).map(Argument::Types)
            }
            ArgumentKind::Distributions => self
                .list(node, &what(), Self::distribution)
                .map(|list| Argument::Distributions(list.into())),
        }
    }

    /// A number of elements.
    pub(super) fn count(&mut self, node: &Node) -> Option<u64> {
        self.fitting(node, 0, u64::MAX.into()).and_then(|number| u64::try_from(number).ok())
    }

    /// A displacement, a stride, a bound or an extent.
    pub(super) fn offset(&mut self, node: &Node) -> Option<i64> {
        let (least, greatest) = (i64::MIN.into(), i64::MAX.into());
        self.fitting(node, least, greatest).and_then(|number| i64::try_from(number).ok())
    }

    fn fitting(&mut self, node: &Node, least: i128, greatest: i128) -> Option<i128> {
        let number = self.number(node)?;
        if (least..=greatest).contains(&number) {
            return Some(number);
        }
        let message = format!("{number} is not from {least} to {greatest}");
        self.wrong(Problem::new(message, node.span.clone(), "out of range"))
    }

    fn is_undefined(&self, node: &Node) -> bool {
        matches!(node.expression, Expression::Name) && self.text(&node.span) == "undefined"
    }

    /// A number of decimal digits, or a decimal exponent range.
    fn digits(&mut self, node: &Node) -> Option<u32> {
        let number = self.fitting(node, 0, u32::MAX.into())?;
        u32::try_from(number).ok()
    }

    fn list<T>(
        &mut self,
        node: &Node,
        expected: &str,
        mut item: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Expression::List(items) = &node.expression else {
            let message = format!("expected {expected}");
            let problem = Problem::new(message, node.span.clone(), "not a list");
            return self.wrong(problem.help("a list is written `[1, 2, 3]`"));
        };
        // Evaluates all items, to find all mistakes.
        let mut all = Vec::with_capacity(items.len());
        let mut complete = true;
        for node in items {
            match item(self, node) {
                Some(item) => all.push(item),
                None => complete = false,
            }
        }
        complete.then_some(all)
    }

    fn order(&mut self, node: &Node, expected: &str) -> Option<Order> {
        let word = match node.expression {
            Expression::Name => self.text(&node.span),
            _ => "",
        };
        match word {
            "C" | "c" => Some(Order::C),
            "fortran" | "Fortran" => Some(Order::Fortran),
            _ => {
                let message = format!("expected {expected}");
                self.wrong(Problem::new(message, node.span.clone(), "not an order"))
            }
        }
    }

    fn distribution(&mut self, node: &Node) -> Option<Distribution> {
        let (word, arguments) = match &node.expression {
            Expression::Name => (self.text(&node.span), [].as_slice()),
            Expression::Call(call) => (self.text(&call.name), call.arguments.as_slice()),
            _ => ("", [].as_slice()),
        };
        match (word, arguments) {
            ("none", []) => Some(Distribution::None),
            ("block", []) => Some(Distribution::Block(None)),
            ("cyclic", []) => Some(Distribution::Cyclic(None)),
            ("block", [length]) => self.count(length).map(|n| Distribution::Block(Some(n))),
            ("cyclic", [length]) => self.count(length).map(|n| Distribution::Cyclic(Some(n))),
            _ => {
                let expected = "`none`, `block`, `block(n)`, `cyclic` or `cyclic(n)`";
                let message = format!("expected {expected}");
                let problem = Problem::new(message, node.span.clone(), "not a distribution");
                let near = nearest(word, ["none", "block", "cyclic"].into_iter());
                self.wrong(match near {
                    Some(near) if arguments.is_empty() => {
                        problem.help(format!("did you mean `{near}`?")).instead(near)
                    }
                    _ => problem,
                })
            }
        }
    }
}
