//! What a rule demands: of all its conditions the one that is met most rarely, as cues of which a call must carry one.

use super::{Cue, OPENING_BYTES, OPTION_BYTES, Way};
use crate::definition::Kind;
use crate::definition::model::{CommandMatcher, CommandParts, Matcher, Step};
use crate::glob;
use crate::shell;

/// How rarely a condition is met, the rarest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Word,
    Segment,
    Program,
    Ending,
    Path,
    Command,
    Tool,
    Anything,
}

/// Any of these cues.
#[derive(Debug)]
struct Demand {
    rank: Rank,
    cues: Vec<Cue>,
}

impl Demand {
    fn new(rank: Rank, cues: impl IntoIterator<Item = Cue>) -> Self {
        Self { rank, cues: cues.into_iter().collect() }
    }

    /// One of several: as common as the most common of them.
    fn any_of(demands: impl Iterator<Item = Self>) -> Self {
        demands.fold(Self::new(Rank::Word, []), |mut all, one| {
            all.cues.extend(one.cues);
            Self { rank: all.rank.max(one.rank), ..all }
        })
    }
}

/// The cues of which a call carries one if it matches. A name of a step
/// demands nothing.
pub(crate) fn demanded(matcher: &Matcher, steps: &[Step]) -> Vec<Cue> {
    let mut cues = demand(matcher, steps).cues;
    cues.sort_unstable();
    cues.dedup();
    cues
}

/// All given keys must hold, so any one of them is demanded; what is not looked at here demands nothing.
fn demand(matcher: &Matcher, steps: &[Step]) -> Demand {
    let inner = |part: &Matcher| demand(part, steps);
    let mut all = vec![Demand::new(Rank::Anything, [Cue::ANY])];
    all.extend(of_tools(&matcher.tool, steps));
    all.extend(matcher.command.as_ref().map(of_command).into_iter().flatten());
    all.extend(matcher.opaque.then(|| Demand::new(Rank::Program, [Cue::OPAQUE])));
    all.extend((!matcher.path.is_empty()).then(|| of_paths(matcher)));
    all.extend(matcher.all.iter().map(inner));
    all.extend((!matcher.any.is_empty()).then(|| Demand::any_of(matcher.any.iter().map(inner))));
    let rarest = all.into_iter().min_by_key(|demand| demand.rank);
    rarest.unwrap_or_else(|| Demand::new(Rank::Anything, [Cue::ANY]))
}

fn of_tools(names: &[String], steps: &[Step]) -> Option<Demand> {
    let tool = |name: &str| !glob::is_pattern(name) && steps.iter().all(|step| step.name != name);
    let cue = |name: &String| match name.strip_prefix('@') {
        Some(kind) => Kind::parse(kind).map(Cue::kind),
        None => tool(name).then(|| Cue::tool(name)),
    };
    let cues = names.iter().map(cue).collect::<Option<Vec<_>>>()?;
    (!cues.is_empty()).then(|| Demand::new(Rank::Tool, cues))
}

fn of_command(command: &CommandMatcher) -> Vec<Demand> {
    match command {
        CommandMatcher::Glob(globs) => {
            let programs: Vec<Cue> = globs.iter().map(|glob| first_word(glob)).collect();
            vec![Demand::new(rank(&programs), told(&programs, None))]
        }
        CommandMatcher::Parts(parts) => of_parts(parts),
    }
}

/// The program that a glob over words begins with, as far as it is told before anything that may stand for another.
fn first_word(glob: &str) -> Cue {
    let first = glob.split(' ').next().unwrap_or_default();
    match first.find(['*', '?', '[', ']', '{', '}', '\\', '/', '=']) {
        Some(_) if first.contains(['/', '=']) => Cue::anyone(),
        Some(wild) => Cue::beginning(first.get(..wild).unwrap_or_default()),
        None => Cue::program(first),
    }
}

fn rank(programs: &[Cue]) -> Rank {
    if programs.contains(&Cue::anyone()) { Rank::Command } else { Rank::Program }
}

fn of_parts(parts: &CommandParts) -> Vec<Demand> {
    let programs = programs(&parts.program);
    let words = words(parts);
    let rank = if words.is_some() { Rank::Word } else { rank(&programs) };
    let redirects = (!parts.redirects_to.is_empty()).then(|| of_places(&parts.redirects_to, &[Way::Redirect]));
    let told = Demand::new(rank, told(&programs, words.as_deref()));
    std::iter::once(told).chain(redirects).collect()
}

/// Programs with their words; and each by itself, for commands whose words are not all known.
fn told(programs: &[Cue], words: Option<&[Cue]>) -> Vec<Cue> {
    let words = words.unwrap_or(&[Cue::ALONE]);
    let with = |program: &Cue| words.iter().map(|word| program.told(*word)).collect::<Vec<_>>();
    programs.iter().flat_map(|program| std::iter::once(*program).chain(with(program))).collect()
}

fn programs(patterns: &[String]) -> Vec<Cue> {
    if patterns.is_empty() {
        return vec![Cue::anyone()];
    }
    let written = patterns.iter().flat_map(|pattern| written_out(pattern));
    written
        .map(|name| match name.find(['*', '?']) {
            Some(wild) => Cue::beginning(name.get(..wild).unwrap_or_default()),
            None => Cue::program(&name),
        })
        .collect()
}

/// Words of which a command has one, the rarest that the parts tell; `None` where they tell none.
fn words(parts: &CommandParts) -> Option<Vec<Cue>> {
    let takes_cuts = |pattern: &String| glob::is_pattern(pattern) || shell::takes_cuts(pattern);
    let cut = parts.program.is_empty() || parts.program.iter().any(takes_cuts);
    let of_word = |text: &String| match text.starts_with("--") {
        true => of_flag(text, cut),
        false => vec![Cue::word(text.as_bytes())],
    };
    let literal = |text: &str| Some(literals(text)?.iter().flat_map(of_word).collect());
    // A word says more than an option, such as the module after `-m`.
    let rarest = |(arg, words): &(&String, Vec<Cue>)| (arg.contains('-'), words.len());
    let args = parts.args.iter().filter_map(|arg| Some((arg, literal(arg)?))).min_by_key(rarest);
    let args = args.map(|(_, words)| words);
    let flags = || (!parts.flags.is_empty()).then(|| parts.flags.iter().flat_map(|flag| of_flag(flag, cut)).collect());
    let first = |wanted: &String| literal(wanted.split_whitespace().next()?);
    let subcommands = || {
        let all = parts.subcommand.iter().map(first).collect::<Option<Vec<Vec<Cue>>>>()?;
        Some(all.concat()).filter(|_| !parts.subcommand.is_empty())
    };
    let env = || (!parts.env.is_empty()).then(|| vec![Cue::SETS]);
    args.or_else(flags).or_else(subcommands).or_else(env)
}

/// A single letter may stand among others; all else stands before a `=`, if there is one, and may be cut short.
fn of_flag(flag: &str, cut: bool) -> Vec<Cue> {
    let mut letters = flag.chars();
    let name = match (letters.next(), letters.next(), letters.next()) {
        (Some('-'), Some(letter), None) if letter != '-' => return vec![Cue::word(flag.as_bytes())],
        _ => flag.split('=').next().unwrap_or_default(),
    };
    let shorter = (3..OPTION_BYTES).filter(|_| cut && name.starts_with("--")).filter_map(|end| name.get(..end));
    let shorter = shorter.filter(|cut| cut.len() < name.len());
    std::iter::once(Cue::option(name)).chain(shorter.map(Cue::option)).collect()
}

fn of_paths(matcher: &Matcher) -> Demand {
    let ways: Vec<Way> = matcher.access.iter().map(|role| Way::from(*role)).collect();
    of_places(&matcher.path, if ways.is_empty() { &[Way::Read, Way::Write, Way::Delete] } else { &ways })
}

fn of_places(patterns: &[String], ways: &[Way]) -> Demand {
    let all = ways.iter().flat_map(|way| patterns.iter().map(|pattern| of_place(pattern, *way)));
    let mut demand = Demand::any_of(all);
    demand.cues.extend(ways.iter().map(|way| Cue::lost(*way)));
    demand
}

fn of_place(pattern: &str, way: Way) -> Demand {
    if pattern == "outside" {
        return Demand::new(Rank::Path, [Cue::path(way)]);
    }
    Demand::any_of(written_out(pattern).iter().map(|pattern| of_written(pattern, way)))
}

/// A segment without wildcards is one of the path's own; failing that, how its last segment begins or ends.
fn of_written(pattern: &str, way: Way) -> Demand {
    // Where home is, is not known here, and `.` is no segment of a path.
    let named = |segment: &&str| !matches!(*segment, "" | "." | "~") && !is_wild(segment);
    let longest = pattern.split('/').filter(named).max_by_key(|segment| segment.len());
    let last = pattern.rsplit('/').next().unwrap_or_default();
    let opening = last.find(['*', '?']).filter(|wild| *wild >= OPENING_BYTES);
    let ending = last.rsplit_once('.').filter(|(_, ending)| !ending.is_empty() && !is_wild(ending));
    match (longest, opening, ending) {
        // A short one, such as `dev` or `etc`, is in too many paths.
        (Some(segment), _, _) if segment.len() > 3 => Demand::new(Rank::Segment, [Cue::segment(way, segment)]),
        (_, Some(_), _) => Demand::new(Rank::Segment, [Cue::opening(way, last)]),
        (Some(segment), None, _) => Demand::new(Rank::Segment, [Cue::segment(way, segment)]),
        (None, None, Some((_, ending))) => Demand::new(Rank::Ending, [Cue::ending(way, ending)]),
        (None, None, None) => Demand::new(Rank::Path, [Cue::path(way)]),
    }
}

fn is_wild(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The patterns that one with braces stands for; one that cannot be read stands for none, as it matches nothing.
fn written_out(pattern: &str) -> Vec<String> {
    if glob::is_pattern(pattern) { glob::alternatives(pattern) } else { vec![pattern.to_owned()] }
}

/// The texts that a pattern stands for, if they can be listed.
fn literals(pattern: &str) -> Option<Vec<String>> {
    let written = written_out(pattern);
    written.iter().all(|text| !text.contains(['*', '?'])).then_some(written)
}
