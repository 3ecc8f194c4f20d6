//! Nothing is here: the tests are in `tests`, one file for each thing that must compile (`pass`) and
//! for each that must not (`fail`), the latter with the exact message that its author gets.
