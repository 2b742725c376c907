//! What becomes of hooks in settings that a host cannot read.

use jackline_runtime::wiring::SettingsFault;

/// What a host does with settings that it cannot read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AtBroken {
    /// It starts without them, and so without our hooks.
    PassesOver,
    /// It does not start.
    DoesNotStart,
    /// Nobody tried.
    Unknown,
}

impl AtBroken {
    /// What follows from a fault, for people.
    pub(crate) fn consequence(self, fault: &SettingsFault) -> &'static str {
        use SettingsFault::{ByteOrderMark, NotJson, TooLarge};
        match (self, fault) {
            // Our own bound: the host may read on.
            (_, TooLarge { .. }) => "what the client makes of it is not known",
            (Self::PassesOver, _) => "the client passes over it, hooks included",
            (Self::DoesNotStart, NotJson(_) | ByteOrderMark) => "the client does not start with it",
            (Self::DoesNotStart | Self::Unknown, _) => "the client may pass over it, hooks included",
        }
    }
}
