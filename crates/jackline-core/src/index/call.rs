//! What a call carries: its tool, its commands with their words, and the paths it touches.

use std::cell::OnceCell;

use super::{BEGINNING_BYTES, Cue, Way};
use crate::call::{Touch, View};
use crate::glob;
use crate::path;
use crate::probe::{Fact, Facts, Identity};
use crate::shell::{Command, Redirect, Word};

/// Cues of one call; one with more is held against every rule, which then costs no more than looking each of them up.
const CUES_MAX: usize = 2_048;

/// The cues of one call.
#[derive(Debug, Default)]
pub(crate) struct Carried {
    cues: Vec<Cue>,
    commands: Vec<Told>,
    /// How many there are in all.
    count: usize,
    /// It has more than is looked up.
    crowded: bool,
    /// Every cue by itself, in order.
    flat: OnceCell<Vec<Cue>>,
}

/// A command of a shell text.
#[derive(Debug)]
struct Told {
    /// The ways to name its program.
    programs: Vec<Cue>,
    /// Its words; nothing where one of them is only known when the text runs.
    words: Option<Vec<Cue>>,
}

impl Carried {
    /// The cues of a call, with what is known of its paths.
    pub(crate) fn by(view: &View<'_>, facts: &Facts) -> Self {
        // A tool that may be any server's has more names than can be looked up.
        let crowded = view.of_some_server.is_some();
        let mut carried = Self { cues: vec![Cue::ANY, Cue::kind(view.kind)], crowded, ..Self::default() };
        carried.cues.extend(view.possible_names().map(Cue::tool));
        for touch in view.touches.iter().filter(|touch| touch.is_plain()) {
            carried.touch(touch, facts);
        }
        if let Some(reading) = view.reading() {
            carried.cues.extend(reading.opaque.is_some().then_some(Cue::OPAQUE));
            reading.commands.iter().for_each(|command| carried.command(command));
        }
        carried
    }

    /// Looks up all cues. `rows` gives the rules that demand a cue; `None` is said when every rule has to be looked at.
    pub(crate) fn find<R: Iterator<Item = usize>>(&self, rows: impl Fn(Cue) -> R) -> Option<Vec<usize>> {
        if self.crowded {
            return None;
        }
        let mut found: Vec<usize> = self.cues.iter().flat_map(|cue| rows(*cue)).collect();
        for (command, program) in self.commands.iter().flat_map(|told| told.programs.iter().map(move |p| (told, *p))) {
            // Most programs are nobody's concern, and then their words are not either.
            let mut named = rows(program).peekable();
            match &command.words {
                _ if named.peek().is_none() => {}
                Some(words) => found.extend(words.iter().flat_map(|word| rows(program.told(*word)))),
                None => found.extend(named),
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    /// Whether the call carries a cue.
    pub(crate) fn has(&self, cue: Cue) -> bool {
        self.crowded || self.flat.get_or_init(|| self.flat()).binary_search(&cue).is_ok()
    }

    fn flat(&self) -> Vec<Cue> {
        let mut flat = self.cues.clone();
        for (told, program) in self.commands.iter().flat_map(|told| told.programs.iter().map(move |p| (told, *p))) {
            match &told.words {
                Some(words) => flat.extend(words.iter().map(|word| program.told(*word))),
                None => flat.push(program),
            }
        }
        flat.sort_unstable();
        flat
    }

    fn touch(&mut self, touch: &Touch, facts: &Facts) {
        let way = Way::from(touch.role);
        let fact = if touch.dynamic { None } else { facts.get(&touch.probe()) };
        match fact.and_then(Fact::identity) {
            Some(identity) if touch.split().1.is_empty() => self.identity(identity, way),
            _ => self.carry([Cue::lost(way)]),
        }
    }

    fn identity(&mut self, identity: &Identity, way: Way) {
        self.place(&identity.path, way);
        // It is the end of the path, unless the root is known by another name.
        let apart = identity.inside.as_deref().filter(|inside| !identity.path.ends_with(inside));
        apart.into_iter().for_each(|inside| self.place(inside, way));
    }

    fn place(&mut self, place: &str, way: Way) {
        let place = place.trim_end_matches('/');
        let segments = place.split('/').filter(|segment| !segment.is_empty());
        self.carry(segments.map(|segment| Cue::segment(way, segment)));
        let last = place.rsplit('/').next().unwrap_or_default();
        self.carry(last.rsplit_once('.').map(|(_, ending)| Cue::ending(way, ending)));
        self.carry([Cue::opening(way, last), Cue::path(way)]);
    }

    fn command(&mut self, command: &Command) {
        command.redirects.iter().filter(|redirect| redirect.writes).for_each(|redirect| self.redirect(redirect));
        let written = command.words.first().map(|word| word.text.as_str());
        // What is written with a wildcard may be taken for more names than can be listed.
        self.crowded |= written.is_some_and(glob::is_pattern);
        let mut programs = vec![Cue::anyone()];
        for name in command.program().into_iter().chain(written.filter(|written| Some(*written) != command.program())) {
            programs.push(Cue::program(name));
            programs.extend((name.len() >= BEGINNING_BYTES).then(|| Cue::beginning(name)));
        }
        let words = words(command);
        if self.has_room(programs.len() + words.as_ref().map_or(0, Vec::len)) {
            self.commands.push(Told { programs, words });
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        if redirect.to.dynamic {
            self.carry([Cue::lost(Way::Redirect)]);
        } else {
            self.place(&path::fold(&redirect.to.text), Way::Redirect);
        }
    }

    fn carry(&mut self, cues: impl IntoIterator<Item = Cue>) {
        for cue in cues {
            if self.has_room(1) {
                self.cues.push(cue);
            }
        }
    }

    fn has_room(&mut self, more: usize) -> bool {
        self.count += more;
        self.crowded |= self.count > CUES_MAX;
        !self.crowded
    }
}

/// A command's words in every way a rule may ask for them.
fn words(command: &Command) -> Option<Vec<Cue>> {
    let told = command.words.get(1..).unwrap_or_default();
    if !told.iter().all(Word::known) {
        return None;
    }
    let mut cues = vec![Cue::ALONE];
    cues.extend((!command.env.is_empty()).then_some(Cue::SETS));
    for word in told {
        let text = word.text.as_str();
        cues.push(Cue::word(text.as_bytes()));
        let name = text.split('=').next().unwrap_or_default();
        match text.strip_prefix('-') {
            Some(letters) if !letters.starts_with('-') => {
                cues.extend(letters.chars().map(Cue::letter));
                cues.push(Cue::option(name));
            }
            _ if text.starts_with("--") || name.len() < text.len() => cues.push(Cue::option(name)),
            _ => {}
        }
    }
    Some(cues)
}
