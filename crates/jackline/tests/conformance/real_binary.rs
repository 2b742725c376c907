//! The real binary: `jackline eval` as a process that can be killed.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::Engine;
use crate::case::Case;
use crate::world::World;

struct Binary {
    spawn: Box<dyn Fn() -> Child>,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

pub(crate) fn start(case: &Case, world: &World) -> Result<Box<dyn Engine>, String> {
    let (root, store, home) = (world.root.clone(), world.store.clone(), world.home.clone());
    let spawn = move || {
        Command::new(env!("CARGO_BIN_EXE_jackline"))
            .arg("eval")
            .arg("--definition")
            .arg(root.join("jackline.yaml"))
            .arg("--workspace")
            .arg(&root)
            .arg("--store")
            .arg(&store)
            .env_clear()
            .env("HOME", &home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("started")
    };
    if case.definition_error {
        let status = spawn().wait().expect("ended");
        return if status.code() == Some(2) { Err("refused".to_owned()) } else { Ok(Box::new(Nobody)) };
    }
    let mut child = spawn();
    let (input, output) = pipes(&mut child);
    Ok(Box::new(Binary { spawn: Box::new(spawn), child, input, output }))
}

fn pipes(child: &mut Child) -> (ChildStdin, BufReader<ChildStdout>) {
    (child.stdin.take().expect("piped"), BufReader::new(child.stdout.take().expect("piped")))
}

impl Engine for Binary {
    fn ask(&mut self, line: &str) -> String {
        writeln!(self.input, "{line}").expect("sent");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("answered");
        answer
    }

    fn restart(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("ended");
        self.child = (self.spawn)();
        (self.input, self.output) = pipes(&mut self.child);
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Stands for a binary that accepted a definition it should have refused.
struct Nobody;

impl Engine for Nobody {
    fn ask(&mut self, _line: &str) -> String {
        String::new()
    }

    fn restart(&mut self) {}
}
