//! Prompts that an agent had its host submit later. They come as a person's do, and are no person's word.

use super::{Key, Session};
use crate::sha::Digest;

/// Such prompts of one session, each once: five times as many as a client holds at a time. None makes room for another, or an agent
/// would schedule others until the one that still comes is forgotten. Once there are so many, no prompt counts as a person's.
pub const SCHEDULED_MAX: usize = 256;

/// What a prompt is remembered by: its letters and digits, for a host may cut or change what stands around and between them.
#[must_use]
pub fn prompt_key(text: &str) -> Key {
    let said: String = text.chars().filter(|letter| letter.is_alphanumeric()).collect();
    Digest::of(said.as_bytes()).short()
}

impl Session {
    /// Whether a prompt may be one that an agent scheduled; of one whose text the host does not tell nothing is known.
    #[must_use]
    pub fn is_scheduled(&self, prompt: Option<Key>) -> bool {
        let full = self.scheduled.len() >= SCHEDULED_MAX;
        full || prompt.is_some_and(|prompt| self.scheduled.contains(&prompt))
    }

    pub(super) fn schedule(&mut self, prompt: Key) {
        if !self.is_scheduled(Some(prompt)) {
            self.scheduled.push(prompt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Change;
    use crate::time::Timestamp;

    fn scheduling(prompts: impl Iterator<Item = String>) -> Session {
        let mut session = Session::default();
        let changes: Vec<Change> = prompts.map(|text| Change::Scheduled { prompt: prompt_key(&text) }).collect();
        session.apply(Timestamp(1), &changes, &|_| None);
        session
    }

    #[test]
    fn it_is_known_by_its_words_whatever_the_host_cuts() {
        let session = scheduling(["\u{feff}go on\r\nnow ".to_owned()].into_iter());
        assert!(session.is_scheduled(Some(prompt_key("go on\nnow"))));
        assert!(!session.is_scheduled(Some(prompt_key("go on"))) && !session.is_scheduled(None));
    }

    #[test]
    fn none_is_forgotten_for_others_and_a_reset_forgets_all() {
        let prompts = || (0..SCHEDULED_MAX * 2).map(|n| format!("prompt {n}"));
        let mut session = scheduling(prompts().chain(prompts()));
        assert_eq!(session.scheduled.len(), SCHEDULED_MAX);
        assert!(prompts().all(|text| session.is_scheduled(Some(prompt_key(&text)))));
        assert!(session.is_scheduled(None), "what comes now may be one that found no room");
        session.apply(Timestamp(2), &[Change::Restored { name: "s".into(), digest: Digest::ZERO }], &|_| None);
        assert_eq!(session.scheduled.len(), SCHEDULED_MAX, "no agent goes back to before it scheduled them");
        session.apply(Timestamp(3), &[Change::Reset], &|_| None);
        assert!(!session.is_scheduled(Some(prompt_key("prompt 0"))));
    }
}
