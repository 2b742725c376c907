//! The table of programs that run the command in their arguments, and of those that run a text.

/// A wrapper: options that take a value, and words to skip before the command.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    pub(super) valued: &'static [&'static str],
    pub(super) skip: usize,
    pub(super) passes_status: bool,
    /// Options whose value is a shell text.
    pub(super) texts: &'static [&'static str],
    /// Options whose value is the directory it runs in; one that ends in `=` has it in the same word or has none.
    pub(super) dirs: &'static [&'static str],
    /// Where it begins if it is not told.
    pub(super) begins: Begins,
    /// Options with which it runs nothing, does not wait, or lets something else run: its status says nothing then.
    pub(super) idle: &'static [&'static str],
    /// Options with which its status is the command's, where it says nothing without them.
    pub(super) told: &'static [&'static str],
}

/// Where a wrapper begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    Here,
    /// In the home directory, with one of these options.
    AtHome(&'static [&'static str]),
    /// In the home directory, but for one of these options.
    AtHomeBut(&'static [&'static str]),
    /// In the directory that the first word before the command names.
    Named,
}

const fn wrapper(name: &'static str, valued: &'static [&'static str], skip: usize) -> Wrapper {
    let (texts, dirs, idle, told): (&[&str], &[&str], &[&str], &[&str]) = (&[], &[], &[], &[]);
    Wrapper { name, valued, skip, passes_status: true, texts, dirs, begins: Begins::Here, idle, told }
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

    const fn begins(self, begins: Begins) -> Self {
        Self { begins, ..self }
    }

    const fn idle(self, idle: &'static [&'static str]) -> Self {
        Self { idle, ..self }
    }

    const fn told(self, told: &'static [&'static str]) -> Self {
        Self { told, ..self }
    }
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    wrapper(
        "sudo",
        &[
            "-a",
            "-u",
            "-g",
            "-h",
            "-p",
            "-C",
            "-c",
            "-r",
            "-t",
            "-T",
            "-U",
            "-R",
            "--user",
            "--group",
            "--host",
            "--prompt",
            "--chroot",
            "--close-from",
            "--command-timeout",
            "--login-class",
            "--other-user",
            "--role",
            "--type",
        ],
        0,
    )
    .dirs(&["-D", "--chdir"])
    .begins(Begins::AtHome(&["-i", "--login"]))
    .idle(&["-b", "-e", "-K", "-l", "-v", "--background", "--edit", "--list", "--remove-timestamp", "--validate"]),
    wrapper("doas", &["-a", "-u", "-C"], 0).idle(&["-C", "-L"]),
    wrapper("su", &["-s", "-g", "-G", "-w", "--shell", "--group"], 1)
        .texts(&["-c", "--command"])
        .begins(Begins::AtHome(&["-", "-l", "--login"]))
        .idle(&["-s", "--shell"]),
    wrapper("runuser", &["-u", "-g", "-G", "-s", "--user", "--group", "--shell"], 0)
        .texts(&["-c", "--command"])
        .begins(Begins::AtHome(&["-", "-l", "--login"]))
        .idle(&["-s", "--shell"]),
    wrapper("sg", &[], 1).texts(&["-c"]),
    wrapper("setpriv", &["--reuid", "--regid", "--groups", "--inh-caps", "--bounding-set"], 0).idle(&[
        "-d",
        "--dump",
        "--list-caps",
    ]),
    wrapper("env", &["-u", "--unset", "-a", "--argv0"], 0).dirs(&["-C", "--chdir"]),
    wrapper("nohup", &[], 0),
    wrapper("nice", &["-n", "--adjustment"], 0),
    wrapper("ionice", &["-c", "-n", "--class", "--classdata"], 0),
    wrapper("chrt", &[], 1).idle(&["-m", "-p", "--max", "--pid"]),
    wrapper("taskset", &[], 1),
    wrapper("prlimit", &[], 0),
    wrapper("setarch", &[], 1),
    wrapper("linux32", &[], 0),
    wrapper("linux64", &[], 0),
    wrapper("i386", &[], 0),
    wrapper("x86_64", &[], 0),
    wrapper("uname26", &[], 0),
    wrapper("choom", &["-n", "--adjust"], 0).idle(&["-p", "--pid"]),
    wrapper("numactl", &["-C", "-m", "-N", "-i"], 0).idle(&["-H", "-s", "--hardware", "--show"]),
    wrapper("time", &["-f", "-o", "--format", "--output"], 0),
    wrapper("timeout", &["-k", "-s", "--kill-after", "--signal"], 1),
    wrapper("stdbuf", &["-i", "-o", "-e", "--input", "--output", "--error"], 0),
    wrapper("unbuffer", &[], 0),
    wrapper("chronic", &[], 0),
    wrapper("caffeinate", &["-t", "-w"], 0),
    wrapper("fakeroot", &["-l", "-s", "-i", "-b"], 0).idle(&["-v"]),
    wrapper("xvfb-run", &["-n", "-s", "-e", "-f", "--server-args", "--server-num"], 0),
    wrapper("dbus-run-session", &[], 0),
    wrapper("ssh-agent", &["-a", "-E", "-O", "-P", "-t"], 0).idle(&["-k"]),
    wrapper("corepack", &[], 0),
    wrapper("flock", &["-w", "-E", "--timeout", "--conflict-exit-code"], 1)
        .texts(&["-c", "--command"])
        .idle(&["-E", "--conflict-exit-code"]),
    loose("script", &["-E", "-I", "-O", "-B", "-m", "-T"], 1).texts(&["-c", "--command"]).told(&["-e", "--return"]),
    loose("setsid", &[], 0),
    wrapper(
        "unshare",
        &[
            "-S",
            "--setuid",
            "-G",
            "--setgid",
            "-l",
            "--load-interp",
            "--boottime",
            "--map-group",
            "--map-groups",
            "--map-user",
            "--map-users",
            "--monotonic",
            "--propagation",
            "--setgroups",
        ],
        0,
    )
    .dirs(&["-R", "--root", "-w", "--wd"]),
    loose("nsenter", &["-t", "--target", "-S", "--setuid", "-G", "--setgid", "-N", "--net-socket"], 0)
        .dirs(&["-W", "--wd=", "--wdns"]),
    wrapper("firejail", &[], 0).idle(&[
        "--apparmor.print",
        "--caps.print",
        "--cat",
        "--cpu.print",
        "--debug-caps",
        "--debug-errnos",
        "--debug-protocols",
        "--debug-syscalls",
        "--dns.print",
        "--fs.print",
        "--get",
        "--list",
        "--ls",
        "--netstats",
        "--profile.print",
        "--protocol.print",
        "--put",
        "--seccomp.print",
        "--shutdown",
        "--top",
        "--tree",
    ]),
    loose("systemd-run", &["-p", "-u", "--unit", "--property", "-E", "--setenv"], 0).dirs(&["--working-directory"]),
    wrapper("systemd-inhibit", &["--mode", "--what", "--who", "--why"], 0).idle(&["--list"]),
    loose("ifne", &[], 0),
    loose("run-one", &[], 0),
    loose("sem", &["-j", "--id", "--jobs"], 0),
    wrapper("dumb-init", &["-r", "--rewrite"], 0),
    wrapper("tini", &["-e", "-p"], 0).idle(&["-e", "-l"]),
    wrapper("pkexec", &["--user"], 0).begins(Begins::AtHomeBut(&["--keep-cwd"])),
    wrapper("gosu", &[], 1),
    wrapper("su-exec", &[], 1),
    wrapper("setuidgid", &[], 1),
    wrapper("s6-setuidgid", &[], 1),
    wrapper("chpst", &["-u", "-U", "-b", "-e", "-d", "-o", "-p", "-f", "-c", "-m", "-n"], 0),
    wrapper("envdir", &[], 1),
    wrapper("softlimit", &["-a", "-c", "-d", "-f", "-l", "-m", "-o", "-p", "-r", "-s", "-t"], 0),
    wrapper("with-contenv", &[], 0),
    wrapper("eatmydata", &[], 0),
    wrapper("faketime", &[], 1),
    wrapper("torsocks", &[], 0),
    wrapper("tsocks", &[], 0),
    wrapper("proxychains", &["-f"], 0),
    wrapper("proxychains4", &["-f"], 0),
    wrapper("cgexec", &["-g"], 0),
    wrapper("catchsegv", &[], 0),
    wrapper("gtime", &["-f", "-o", "--format", "--output"], 0),
    wrapper("cross-env", &[], 0),
    loose("rlwrap", &["-C", "-f", "-H", "-O", "-s", "-S"], 0),
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
            "--arg-file",
            "--arg-file-sep",
            "--arg-sep",
            "--delay",
            "--delimiter",
            "--load",
            "--max-args",
            "--max-procs",
            "--memfree",
            "--nice",
            "--retries",
            "--rpl",
            "--sshlogin",
            "--tagstring",
            "--tmpdir",
            "-L",
            "-P",
            "-d",
            "-s",
        ],
        0,
    )
    .dirs(&["--wd", "--workdir"]),
    loose("entr", &[], 0),
    loose(
        "watchexec",
        &[
            "-E",
            "-W",
            "-d",
            "-e",
            "-f",
            "-i",
            "-o",
            "-s",
            "-w",
            "--debounce",
            "--delay-run",
            "--env",
            "--exts",
            "--filter",
            "--ignore",
            "--on-busy-update",
            "--project-origin",
            "--shell",
            "--signal",
            "--watch",
        ],
        0,
    )
    .dirs(&["--workdir"]),
    wrapper("chroot", &["--userspec", "--groups"], 1).begins(Begins::Named),
    wrapper("busybox", &[], 0),
    wrapper("toybox", &[], 0),
    wrapper("npx", &["-p", "--package", "-w", "--workspace"], 0).texts(&["-c", "--call"]),
    wrapper("bunx", &[], 0),
    wrapper("uvx", &["--from", "--with", "-p", "--python"], 0),
];

/// When a wrapper that is given no command starts a shell.
#[derive(Clone, Copy)]
pub(super) enum Bare {
    Always,
    /// With one of these letters, or of these options.
    With(&'static str, &'static [&'static str]),
}

/// Wrappers that do.
pub(super) const BARE: &[(&str, Bare)] = &[
    ("chroot", Bare::Always),
    ("doas", Bare::With("s", &[])),
    ("fakeroot", Bare::Always),
    ("firejail", Bare::Always),
    ("i386", Bare::Always),
    ("linux32", Bare::Always),
    ("linux64", Bare::Always),
    ("nsenter", Bare::Always),
    ("pkexec", Bare::Always),
    ("setarch", Bare::Always),
    ("sg", Bare::Always),
    ("sudo", Bare::With("si", &["--login", "--shell"])),
    ("systemd-run", Bare::With("S", &["--shell"])),
    ("uname26", Bare::Always),
    ("unshare", Bare::Always),
    ("x86_64", Bare::Always),
];

/// Subcommands of tools that run a program in their environment, and their options that take a value.
pub(super) const RUNNERS: &[(&str, &str, &[&str])] = &[
    (
        "uv",
        "run",
        &["--with", "--extra", "--group", "-p", "--python", "--project", "--directory", "--env-file", "--only-group"],
    ),
    (
        "codex",
        "sandbox",
        &["-c", "-C", "-p", "--cd", "--config", "--disable", "--enable", "--permissions-profile", "--profile"],
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
    ("pnpm", "dlx", &["--package"]),
    ("yarn", "dlx", &["-p", "--package"]),
    ("bun", "x", &["-p", "--package"]),
    ("pipx", "run", &["--index-url", "--pip-args", "--python", "--spec"]),
    ("mise", "exec", &[]),
    ("direnv", "exec", &[]),
    ("rbenv", "exec", &[]),
    ("pyenv", "exec", &[]),
    ("conda", "run", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    ("mamba", "run", &["-n", "-p", "--name", "--prefix", "--cwd"]),
    ("pixi", "run", &["-e", "--environment", "--manifest-path"]),
    ("tox", "exec", &["-e"]),
    ("asdf", "exec", &[]),
    ("rustup", "run", &[]),
    ("aws-vault", "exec", &["-d", "--duration"]),
    ("doppler", "run", &["-p", "-c", "--project", "--config"]),
    ("op", "run", &["--env-file", "--account"]),
    ("foreman", "run", &["-e", "-f", "--env"]),
    ("perf", "stat", &["-e", "-o"]),
    ("perf", "record", &["-e", "-o"]),
    ("jobs", "-x", &[]),
];

/// Subcommands among them with a word of their own before the program.
pub(super) const NAMED_RUNNERS: &[&str] = &["direnv", "rustup", "aws-vault"];

/// Words that some name a kind of sandbox with before the program.
pub(super) const SANDBOXES: &[&str] = &["landlock", "linux", "macos", "seatbelt", "windows"];

/// Options of programs that otherwise run nothing, whose value is a command that they run.
pub(super) const TEXT_OPTIONS: &[(&str, &[&str])] = &[
    ("ack", &["--pager"]),
    ("strace", &["-o", "--output"]),
    ("ag", &["--pager"]),
    ("bat", &["--pager"]),
    ("batcat", &["--pager"]),
    ("go", &["-exec", "-toolexec"]),
    ("man", &["-P", "-H", "--pager", "--html"]),
    ("nodemon", &["-x", "--exec"]),
    ("npm", &["--script-shell"]),
    ("nix-shell", &["--run", "--command"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh"]),
    ("scp", &["-S"]),
    ("sftp", &["-S"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("wget", &["--use-askpass"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Options of git's commands whose value is a command that it runs.
pub(super) const GIT_TEXT_OPTIONS: &[(&str, &[&str])] = &[
    ("archive", &["--exec"]),
    ("clone", &["-u", "--upload-pack"]),
    ("difftool", &["-x", "--extcmd"]),
    ("fetch", &["--upload-pack"]),
    ("fetch-pack", &["--exec", "--upload-pack"]),
    ("grep", &["-O", "--open-files-in-pager"]),
    ("ls-remote", &["--exec", "--upload-pack"]),
    ("pull", &["--upload-pack"]),
    ("push", &["--exec", "--receive-pack"]),
    ("rebase", &["-x", "--exec"]),
    ("send-email", &["--cc-cmd", "--sendmail-cmd", "--smtp-server", "--to-cmd"]),
    ("send-pack", &["--exec", "--receive-pack"]),
];

/// Options of `ssh` and its kin whose value is a command that runs here.
pub(super) const SSH_COMMANDS: &[&str] = &["proxycommand", "localcommand", "knownhostscommand"];
