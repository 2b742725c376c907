//! The table of programs that run the command in their arguments, and of those that run a text.

/// A wrapper: options that take a value, and words to skip before the command.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    pub(super) valued: &'static [&'static str],
    pub(super) skip: usize,
    pub(super) passes_status: bool,
    /// Options whose value is a shell text.
    pub(super) texts: &'static [&'static str],
    /// Options whose value is the directory it runs in.
    pub(super) dirs: &'static [&'static str],
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], skip: usize) -> Wrapper {
    Wrapper { name, valued, skip, passes_status: true, texts: &[], dirs: &[] }
}

/// One whose exit status says nothing about the command's.
const fn loose(name: &'static str, valued: &'static [&'static str], skip: usize) -> Wrapper {
    Wrapper { passes_status: false, ..wrapper(name, valued, skip) }
}

impl Wrapper {
    const fn texts(self, texts: &'static [&'static str]) -> Self {
        Self { texts, ..self }
    }

    const fn dirs(self, dirs: &'static [&'static str]) -> Self {
        Self { dirs, ..self }
    }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        &["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-R", "--user", "--group", "--host", "--prompt"],
        0,
    )
    .dirs(&["-D", "--chdir"]),
    wrapper("doas", &["-u", "-C"], 0),
    wrapper("su", &["-s", "-g", "-G", "-w", "--shell", "--group"], 1).texts(&["-c", "--command"]),
    wrapper("runuser", &["-u", "-g", "-G", "-s", "--user", "--group", "--shell"], 0).texts(&["-c", "--command"]),
    wrapper("setpriv", &["--reuid", "--regid", "--groups", "--inh-caps", "--bounding-set"], 0),
    wrapper("env", &["-u", "--unset", "-a", "--argv0"], 0).dirs(&["-C", "--chdir"]),
    wrapper("nohup", &[], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    wrapper("chrt", &[], 1),
    wrapper("taskset", &[], 1),
    wrapper("prlimit", &[], 0),
    wrapper("setarch", &[], 1),
    wrapper("numactl", &["-C", "-m", "-N", "-i"], 0),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("chronic", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("fakeroot", &["-l", "-s", "-i", "-b"], 0),
    wrapper("xvfb-run", &["-n", "-s", "-e", "-f", "--server-args", "--server-num"], 0),
    wrapper("dbus-run-session", &[], 0),
    wrapper("ssh-agent", &["-a", "-E", "-O", "-P", "-t"], 0),
    wrapper("corepack", &[], 0),
    wrapper("flock", &["-w", "-E", "--timeout", "--conflict-exit-code"], 1).texts(&["-c", "--command"]),
    loose("script", &["-E", "-I", "-O", "-B", "-m", "-T"], 1).texts(&["-c", "--command"]),
    loose("setsid", &[], 0),
    wrapper("unshare", &[], 0),
    loose("nsenter", &["-t", "--target"], 0),
    wrapper("firejail", &[], 0),
    loose("systemd-run", &["-p", "-u", "--unit", "--property", "-E", "--setenv"], 0).dirs(&["--working-directory"]),
    wrapper("command", &[], 0),
    wrapper("builtin", &[], 0),
    wrapper("exec", &["-a"], 0),
    wrapper("noglob", &[], 0),
    wrapper("nocorrect", &[], 0),
    loose("repeat", &[], 1),
    loose(
        "xargs",
        &[
            "-n",
            "-I",
            "-P",
            "-L",
            "-d",
            "-E",
            "-s",
            "-a",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
            "--max-chars",
            "--process-slot-var",
        ],
        0,
    ),
    loose("watch", &["-n", "--interval"], 0),
    wrapper("strace", &["-o", "-e", "-p", "-s", "-E", "-u"], 0),
    wrapper("ltrace", &["-o", "-e", "-p", "-s"], 0),
    wrapper("valgrind", &[], 0),
    loose(
        "parallel",
        &[
            "-j",
            "--jobs",
            "-a",
            "-S",
            "--halt",
            "-n",
            "-N",
            "-I",
            "--colsep",
            "-C",
            "--timeout",
            "--joblog",
            "--results",
        ],
        0,
    ),
    loose("entr", &[], 0),
    wrapper("chroot", &["--userspec", "--groups"], 1),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("npx", &["-p", "--package", "-w", "--workspace"], 0).texts(&["-c", "--call"]),
    wrapper("bunx", &[], 0),
    wrapper("uvx", &["--from", "--with", "-p", "--python"], 0),
];

/// Subcommands of tools that run a program in their environment, and their options that take a value.
pub(super) const RUNNERS: &[(&str, &str, &[&str])] = &[
    (
        "uv",
        "run",
        &["--with", "--extra", "--group", "-p", "--python", "--project", "--directory", "--env-file", "--only-group"],
    ),
    ("poetry", "run", &[]),
    ("pipenv", "run", &[]),
    ("rye", "run", &[]),
    ("hatch", "run", &[]),
    ("pdm", "run", &[]),
    ("bundle", "exec", &[]),
    ("npm", "exec", &["-p", "--package", "-w", "--workspace"]),
    ("pnpm", "exec", &[]),
    ("yarn", "exec", &[]),
    ("mise", "exec", &[]),
    ("direnv", "exec", &[]),
    ("rbenv", "exec", &[]),
    ("pyenv", "exec", &[]),
    ("perf", "stat", &["-e", "-o"]),
    ("perf", "record", &["-e", "-o"]),
    ("jobs", "-x", &[]),
];
