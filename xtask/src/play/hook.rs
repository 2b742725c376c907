//! Events as an agent causes them, for the hook.

use std::process::Stdio;
use std::{fs, io};

use super::day::{CALLS, MOMENTS, Message};
use super::{Play, Ran};
use crate::shell::clear;

/// How often all events are played in one session: once for their effects, and once when all files are there.
const ROUNDS: usize = 2;
/// Sessions that are played to a build that records: enough for what every event runs to stand out.
const RECORDED_SESSIONS: usize = 2;

/// How a session comes to us: which definition it is under, how the hook is started, and whether git knows the workspace.
#[derive(Debug, Clone, Copy)]
struct Way {
    name: &'static str,
    /// Ten rules and all packs beside the twenty policies.
    are_all: bool,
    /// As `jackline init` writes it, with its places on the command line.
    is_wired: bool,
    is_repository: bool,
}

/// What differs between owners decides which parts of a function run, so each of it has its sessions.
const WAYS: [Way; 4] = [
    Way { name: "all-wired", are_all: true, is_wired: true, is_repository: true },
    Way { name: "few-wired", are_all: false, is_wired: true, is_repository: true },
    Way { name: "all", are_all: true, is_wired: false, is_repository: false },
    Way { name: "few", are_all: false, is_wired: false, is_repository: false },
];

impl Play {
    /// Kinds of events that are played, again and again in the same order.
    pub(crate) const KINDS: usize = CALLS.len() * Message::OF_CALL.len() + MOMENTS.len();

    /// Plays each event in all ways, and tells what each ran.
    pub(crate) fn events(&self) -> Result<Vec<Ran>, String> {
        let mut ran = Vec::new();
        for way in WAYS {
            self.prepare(way).map_err(|fault| format!("a workspace cannot be made: {fault}"))?;
            for session in 0..if self.watching.is_some() { 1 } else { RECORDED_SESSIONS } {
                for round in 0..ROUNDS {
                    ran.extend(self.round(way, &format!("{}-{session}", way.name), round)?);
                }
            }
        }
        Ok(ran)
    }

    fn prepare(&self, way: Way) -> io::Result<()> {
        self.define(way.are_all)?;
        let git = self.workspace().join(".git");
        if !way.is_repository {
            return clear(&git);
        }
        fs::create_dir_all(git.join("objects"))?;
        fs::create_dir_all(git.join("refs"))?;
        fs::write(git.join("config"), "[core]\n\trepositoryformatversion = 0\n")?;
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n")
    }

    fn round(&self, way: Way, session: &str, round: usize) -> Result<Vec<Ran>, String> {
        Message::all(self.place(), session, round).map(|message| self.answer(way, &message)).collect()
    }

    /// Asks the hook.
    fn answer(&self, way: Way, message: &str) -> Result<Ran, String> {
        let input = self.place().join("message");
        let broken = |what: &str, fault: io::Error| format!("{what}: {fault}");
        fs::write(&input, message).map_err(|fault| broken("the message cannot be written", fault))?;
        let message = fs::File::open(&input).map_err(|fault| broken("the message cannot be read", fault))?;
        let mut command = self.command();
        command.args(["hook", "claude"]).stdin(message).stdout(Stdio::null());
        if way.is_wired {
            let home = self.place().join("home");
            command.arg("--store").arg(home.join(".local/state/jackline")).arg("--root").arg(self.workspace());
            command.arg("--home").arg(home).args(["--wired", "local"]);
        }
        match self.run(&mut command).map_err(|fault| broken("the hook cannot be played to", fault))? {
            (status, ran) if status.success() => Ok(ran),
            (status, _) => Err(format!("the hook failed: {status}")),
        }
    }
}
