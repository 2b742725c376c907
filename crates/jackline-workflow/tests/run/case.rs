//! A workflow in a directory of its own, its runs, and what they leave.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};

use jackline_core::audit::{Format, Verifier};
use jackline_runtime::replay;
use jackline_runtime::runner::Environment;
use jackline_runtime::store::Store as _;
use jackline_runtime::store::files::FileStore;
use jackline_workflow::model::Offline;
use jackline_workflow::run::{self, Ended, Entry, Observer, Order, RunFault, Surroundings};
use jackline_workflow::{load, validate};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The time that whoever watches takes when he is slow.
pub(crate) const SLOW: std::time::Duration = std::time::Duration::from_secs(3);

/// A workflow, and where its runs are kept.
pub(crate) struct Case {
    dir: TempDir,
    /// After a record of this kind about this agent, somebody interrupts the run.
    interrupt: Option<(&'static str, &'static str)>,
    /// At a record of this kind about this agent, whoever watches panics.
    panic: Option<(&'static str, &'static str)>,
    /// At a record of this kind about this agent, whoever watches takes his time.
    slow: Option<(&'static str, &'static str)>,
    variables: Vec<(String, String)>,
}

/// What somebody who watches sees; may interrupt.
struct Watcher<'a> {
    case: &'a Case,
    signal: AtomicI32,
    seen: Mutex<Vec<Entry>>,
}

impl Observer for Watcher<'_> {
    fn saw(&self, entry: &Entry) {
        if self.case.interrupt == Some((entry.kind, entry.agent.as_str())) {
            self.signal.store(15, Ordering::Relaxed);
        }
        if self.case.slow == Some((entry.kind, entry.agent.as_str())) {
            std::thread::sleep(SLOW);
        }
        self.seen.lock().unwrap().push(entry.clone());
        assert_ne!(self.case.panic, Some((entry.kind, entry.agent.as_str())), "a panic, as ordered");
    }
}

impl Case {
    /// A workflow with this manifest below its head.
    pub(crate) fn new(manifest: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let head = "awp: \"1.0.0\"\nworkflow: {name: under-test, version: \"1.0.0\", description: a test}\n";
        let case = Self { dir, interrupt: None, panic: None, slow: None, variables: Vec::new() };
        case.write("workflow.awp.yaml", &format!("{head}{manifest}"));
        case
    }

    /// An agent that is a shell script; its contract takes any object.
    pub(crate) fn agent(self, name: &str, script: &str) -> Self {
        self.agent_with(name, "output: {contract: {type: object}}", script)
    }

    pub(crate) fn agent_with(self, name: &str, yaml: &str, script: &str) -> Self {
        let head = format!(
            "awp_agent: \"1.0.0\"\nidentity: {{id: {name}, role: r, description: d}}\nruntime: {{command: [sh, agents/{name}/run.sh]}}\n"
        );
        self.write(&format!("agents/{name}/agent.awp.yaml"), &format!("{head}{yaml}\n"));
        self.write(&format!("agents/{name}/run.sh"), script);
        self
    }

    /// A manager that decides what its script says, line by line, and then the last line again and again.
    pub(crate) fn manager(self, name: &str, decisions: &[Value]) -> Self {
        let lines: Vec<String> = decisions.iter().map(Value::to_string).collect();
        self.write(&format!("agents/{name}/script"), &format!("{}\n", lines.join("\n")));
        let script = r#"
cat > seen-NAME.json
turn=$(sed 's/.*"iteration":\([0-9]*\).*/\1/' seen-NAME.json)
cp seen-NAME.json "seen-NAME-$turn.json"
echo "$turn" >> turns-NAME
lines=$(wc -l < agents/NAME/script)
[ "$turn" -gt "$lines" ] && turn=$lines
sed -n "${turn}p" agents/NAME/script
"#;
        self.agent(name, &script.replace("NAME", name))
    }

    /// A worker that does what it is instructed to, as a shell text, in the output directory.
    pub(crate) fn worker(self, name: &str) -> Self {
        let script = r#"
cat > one.$$
told=$(sed 's/.*"instructions":"\([^"]*\)".*/\1/' one.$$)
dir=$(sed 's/.*"output_dir":"\([^"]*\)".*/\1/' one.$$)
rm one.$$
echo NAME >> worked
cd "$dir" && eval "$told" && echo '{"done": true}'
"#;
        self.agent(name, &script.replace("NAME", name))
    }

    pub(crate) fn interrupted_after(mut self, kind: &'static str, agent: &'static str) -> Self {
        self.interrupt = Some((kind, agent));
        self
    }

    pub(crate) fn panicking_at(mut self, kind: &'static str, agent: &'static str) -> Self {
        self.panic = Some((kind, agent));
        self
    }

    pub(crate) fn slow_at(mut self, kind: &'static str, agent: &'static str) -> Self {
        self.slow = Some((kind, agent));
        self
    }

    pub(crate) fn uninterrupted(mut self) -> Self {
        self.interrupt = None;
        self
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn forget(mut self, name: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().join("flow")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// The text of a file of the workflow's directory; empty when there is none.
    pub(crate) fn text(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap_or_default()
    }

    /// What an agent was given, if it keeps it in `seen-NAME.json`.
    pub(crate) fn seen(&self, name: &str) -> Value {
        let text = self.text(&format!("seen-{name}.json"));
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{name}: {why}: {text}"))
    }

    pub(crate) fn output(&self, path: &str) -> PathBuf {
        self.state().join("runs/r1/output").join(path)
    }

    #[track_caller]
    pub(crate) fn run(&self, input: Value) -> Ended {
        self.order(Order { run: "r1".to_owned(), task: None, input: Some(input), resume: false }).unwrap()
    }

    #[track_caller]
    pub(crate) fn resume(&self) -> Ended {
        self.try_resume().unwrap()
    }

    pub(crate) fn try_resume(&self) -> Result<Ended, RunFault> {
        self.order(Order { run: "r1".to_owned(), task: None, input: None, resume: true })
    }

    pub(crate) fn order(&self, order: Order) -> Result<Ended, RunFault> {
        let flow = load(&self.root()).unwrap();
        let report = validate(&flow);
        assert!(report.valid(), "{:?}", report.findings);
        let store = FileStore::open(self.state());
        let watcher = Watcher { case: self, signal: AtomicI32::new(0), seen: Mutex::default() };
        let variables = self.variables.clone();
        let all = || std::env::vars_os().chain(variables.iter().map(|(name, value)| (name.into(), value.into())));
        let ended = run::run(
            &flow,
            order,
            &Surroundings {
                store: &store,
                runs: self.state().join("runs"),
                records: store.records(),
                environment: &|named| Environment::filtered(all(), named),
                variable: &|name| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone()),
                signal: &|| Some(watcher.signal.load(Ordering::Relaxed)).filter(|signal| *signal != 0),
                observer: &watcher,
                post: Arc::new(Offline),
            },
        );
        if ended.is_ok() {
            // Whoever watches sees what is recorded, all of it and nothing else.
            let kinds: Vec<String> = watcher.seen.lock().unwrap().iter().map(|entry| entry.kind.to_owned()).collect();
            let recorded = self.kinds();
            assert_eq!(recorded[recorded.len() - kinds.len()..], kinds);
            self.verify();
        }
        ended
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        let store = FileStore::open(self.state());
        store.lines("r1", 0).unwrap().map(|line| replay::record(&line.unwrap()).unwrap()).collect()
    }

    pub(crate) fn kinds(&self) -> Vec<String> {
        self.records().iter().map(|record| record["kind"].as_str().unwrap().to_owned()).collect()
    }

    /// The data of all records of a kind.
    pub(crate) fn told(&self, kind: &str) -> Vec<Value> {
        self.records()
            .into_iter()
            .filter(|record| record["kind"] == kind)
            .map(|record| record["data"].clone())
            .collect()
    }

    /// The agents of all records of a kind.
    pub(crate) fn agents(&self, kind: &str) -> Vec<String> {
        let records = self.records().into_iter().filter(|record| record["kind"] == kind);
        records.map(|record| record["agent"].as_str().unwrap().to_owned()).collect()
    }

    /// Everything that is written down of runs, save what is kept to take them up again.
    pub(crate) fn written(&self) -> String {
        let mut text: String = self.records().iter().map(Value::to_string).collect();
        for name in ["run.json", "result.json"] {
            text.push_str(&fs::read_to_string(self.state().join("runs/r1").join(name)).unwrap_or_default());
        }
        text
    }

    /// The chain of a run holds, from the first record to the last.
    pub(crate) fn verify(&self) {
        let store = FileStore::open(self.state());
        let mut verifier = Verifier::new(Format::Ours);
        for line in store.lines("r1", 0).unwrap() {
            verifier.line(&line.unwrap()).unwrap();
        }
        verifier.finish().unwrap();
    }
}

/// How a run ended, in short.
pub(crate) fn end(ended: &Ended) -> (String, String) {
    let status = json!(ended.status);
    (status.as_str().unwrap().to_owned(), ended.reason.clone())
}

/// The same, to compare with.
pub(crate) fn words(status: &str, reason: &str) -> (String, String) {
    (status.to_owned(), reason.to_owned())
}
