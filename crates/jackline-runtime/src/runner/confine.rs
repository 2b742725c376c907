//! Confines what this thread starts: reading is free save of what is kept back, writing is not, and there is no TCP unless it is wanted.
//!
//! Landlock holds a thread and everything it starts, for ever. So a thread of its own is confined and then starts the
//! command: nothing has to run between fork and exec, and no other thread is held.

use std::path::Path;

use super::Confined;

#[cfg(target_os = "linux")]
pub(super) use landlocked::hold;

/// What is held.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rights<'a> {
    /// What may be written, and read.
    pub(super) writable: &'a [&'a Path],
    /// What may not be read otherwise.
    pub(super) unreadable: &'a [&'a Path],
    pub(super) network: bool,
}

/// Elsewhere nothing is held, and this says so.
#[cfg(not(target_os = "linux"))]
pub(super) fn hold(_rights: &Rights<'_>) -> Confined {
    Confined::No("only Linux can confine a command".to_owned())
}

#[cfg(target_os = "linux")]
mod landlocked {
    use std::path::PathBuf;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, LandlockStatus, Ruleset,
        RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
    };

    use super::super::reading;
    use super::{Confined, Rights};

    /// The oldest Landlock that counts. The ones before could not stop a file from being emptied, and forbade to move
    /// files between directories, which compilers do.
    const FILES: ABI = ABI::V3;
    /// The oldest that knows TCP.
    const TCP: ABI = ABI::V4;
    /// The newest we have tried: devices' controls, signals and abstract sockets.
    const TRIED: ABI = ABI::V6;

    /// Devices that are written without consequences; nothing can be created beside them.
    const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
    /// Why what is to be kept back can be read all the same.
    const UNLISTED: &str = "what it may not read lies beside too many files, or beside ones that cannot be listed";
    const WRITABLE: &str = "what it may not read lies where it may write";
    /// Memory shared between processes, which test runners use.
    const SHARED_MEMORY: &str = "/dev/shm";

    /// Holds this thread and all it starts: what it may write, and whether it may use the network.
    pub(in super::super) fn hold(rights: &Rights<'_>) -> Confined {
        // What may be written is read, too: what is kept back in there cannot be.
        let readable = reading::without(rights.unreadable).ok_or(UNLISTED);
        let readable = readable.and_then(|all| if reading::bared(rights) { Err(WRITABLE) } else { Ok(all) });
        let everything = || vec![PathBuf::from("/")];
        let (readable, bare) = readable.map_or_else(|why| (everything(), Some(why)), |readable| (readable, None));
        match restrict(rights, &readable) {
            Err(fault) => Confined::No(why(&fault).to_owned()),
            Ok(LandlockStatus::Available { effective_abi, .. }) if effective_abi >= TCP || rights.network => {
                bare.map_or(Confined::Yes, |why| Confined::Partly(why.to_owned()))
            }
            Ok(LandlockStatus::Available { .. }) => {
                Confined::Partly("the kernel's Landlock is too old to stop TCP; Linux 6.7 can".to_owned())
            }
            Ok(LandlockStatus::NotEnabled) => Confined::No("the kernel's Landlock is switched off".to_owned()),
            Ok(LandlockStatus::NotImplemented) => Confined::No("the kernel has no Landlock".to_owned()),
        }
    }

    /// Why it could not be had, for people: what the library says names bits of the kernel's.
    fn why(fault: &RulesetError) -> &'static str {
        match fault {
            RulesetError::HandleAccesses(_) | RulesetError::CreateRuleset(_) => {
                "the kernel has no Landlock that can hold files, or it is switched off; Linux 6.2 can"
            }
            _ => "the kernel's Landlock refused to hold it",
        }
    }

    fn restrict(rights: &Rights<'_>, readable: &[PathBuf]) -> Result<LandlockStatus, RulesetError> {
        let mut ruleset = Ruleset::default();
        // Writing is held as it should be, or this fails; the rest as far as the kernel can.
        (&mut ruleset).set_compatibility(CompatLevel::HardRequirement).handle_access(AccessFs::from_all(FILES))?;
        (&mut ruleset).set_compatibility(CompatLevel::BestEffort).handle_access(AccessFs::from_all(TRIED))?;
        (&mut ruleset).scope(Scope::from_all(TRIED))?;
        if !rights.network {
            (&mut ruleset).handle_access(AccessNet::from_all(TCP))?;
        }
        let status = ruleset
            .create()?
            .add_rules(path_beneath_rules(["/"], AccessFs::ReadDir))?
            .add_rules(path_beneath_rules(readable, AccessFs::from_read(TRIED)))?
            .add_rules(path_beneath_rules(DEVICES, AccessFs::from_file(TRIED)))?
            .add_rules(path_beneath_rules([SHARED_MEMORY], writing()))?
            .add_rules(path_beneath_rules(rights.writable, writing()))?
            .restrict_self()?;
        Ok(status.landlock)
    }

    /// All that writing takes, save making or steering devices: a device of one's own is a way to the whole disk.
    fn writing() -> BitFlags<AccessFs> {
        AccessFs::from_all(TRIED) & !(AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev)
    }

    #[cfg(test)]
    mod tests {
        use landlock::{AccessError, CompatError, HandleAccessError, HandleAccessesError};

        use super::*;

        #[test]
        fn what_cannot_be_had_is_said_in_words() {
            let fault = HandleAccessError::Compat(CompatError::Access(AccessError::Empty));
            let said = why(&RulesetError::HandleAccesses(HandleAccessesError::Fs(fault)));
            assert!(said.contains("no Landlock") && !said.contains("BitFlags"), "{said}");
        }
    }
}
