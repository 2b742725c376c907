//! stub
use crate::path::Role;
pub fn read(_text: &str) -> ShellText { ShellText::Unparsable(String::new()) }
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShellText { Reading(Reading), Unparsable(String) }
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading { pub commands: Vec<Command>, pub opaque: Option<String>, pub foreign: bool, pub touches: Vec<Touch>, pub background: bool }
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command { pub words: Vec<Word>, pub env: Vec<(String, Word)>, pub redirects: Vec<Redirect>, pub proven: bool }
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect { pub to: Word, pub writes: bool }
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word { pub text: String, pub dynamic: bool, pub glob: bool }
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch { pub path: Word, pub role: Role, pub whole: bool, pub dir: Dir, pub metadata: bool }
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Dir { #[default] Here, At(String), Unknown }
impl Command { pub fn program(&self) -> Option<&str> { None } }
pub fn glob_matches(_: &Command, _: &str) -> bool { false }
pub fn glob_may_match(_: &Command, _: &str) -> bool { false }
