//! Rehearsals: the real programs that run agents, driven by a scripted model, on loopback, without an account.
//!
//! A [`Script`] says what the model will answer. [`Model`] is a server that plays it and remembers what it was shown.
//! A [`Stage`] is a repository and a home of a session's own. A [`Client`] is a real program, found by [`install`],
//! that works on the stage until the script ends; the [`Run`] that is left says how it ended. Tests then ask three
//! questions: what is on disk, what was the model shown, and did anything try to leave the machine.
//!
//! Only tests depend on this crate. It knows nothing of what is rehearsed: hooks are wired by the test.

pub mod client;
pub mod install;
pub mod mcp;
pub mod model;
pub mod stage;
mod terminal;

pub use client::codex::Codex;
pub use client::copilot::Copilot;
pub use client::gemini::Gemini;
pub use client::opencode::OpenCode;
pub use client::qwen::Qwen;
pub use client::{Client, Play, Run, Scripted, claude::Claude};
pub use mcp::Mcp;
pub use model::{Call, Lane, Model, Outcome, SUBAGENT, Script, call};
pub use stage::Stage;
pub use terminal::terminal;
