//! Which operating system this is, and how it installs a Chromium.

/// The package family of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Os {
    /// Debian, and what derives from it and keeps its package of that name.
    Debian,
    /// Ubuntu: its package is a stub for the snap.
    Ubuntu,
    /// Fedora, RHEL and what derives from them.
    Fedora,
    /// Arch and what derives from it.
    Arch,
    /// Alpine.
    Alpine,
    /// SUSE.
    Suse,
    /// macOS.
    Mac,
    /// Something else.
    Unknown,
}

impl Os {
    /// The system this process runs on.
    pub(crate) fn current() -> Os {
        if cfg!(target_os = "macos") {
            return Os::Mac;
        }
        let text =
            ["/etc/os-release", "/usr/lib/os-release"].iter().find_map(|f| std::fs::read_to_string(f).ok());
        Os::from_os_release(&text.unwrap_or_default())
    }

    /// Reads `ID`, then `ID_LIKE` from the nearest relative on (os-release(5)).
    pub(crate) fn from_os_release(text: &str) -> Os {
        let own = field(text, "ID").unwrap_or_default();
        let relatives = field(text, "ID_LIKE").unwrap_or_default();
        std::iter::once(own.as_str())
            .chain(relatives.split_whitespace())
            .map(Os::from_id)
            .find(|os| *os != Os::Unknown)
            .unwrap_or(Os::Unknown)
    }

    fn from_id(id: &str) -> Os {
        match id {
            "debian" => Os::Debian,
            "ubuntu" => Os::Ubuntu,
            "fedora" | "rhel" | "centos" => Os::Fedora,
            "arch" => Os::Arch,
            "alpine" => Os::Alpine,
            "suse" | "opensuse" => Os::Suse,
            _ => Os::Unknown,
        }
    }

    /// Whether `apt-get` is the tool here.
    pub(crate) fn has_apt(self) -> bool {
        matches!(self, Os::Debian | Os::Ubuntu)
    }

    /// The one command to run, without `sudo`; `None` where none is known.
    pub(crate) fn command(self) -> Option<&'static str> {
        match self {
            Os::Debian => Some("apt-get install -y --no-install-recommends chromium"),
            Os::Ubuntu => Some("snap install chromium"),
            Os::Fedora => Some("dnf install -y chromium"),
            Os::Arch => Some("pacman -S --noconfirm chromium"),
            Os::Alpine => Some("apk add chromium"),
            Os::Suse => Some("zypper --non-interactive install chromium"),
            Os::Mac => Some("brew install --cask google-chrome"),
            Os::Unknown => None,
        }
    }
}

fn field(text: &str, key: &str) -> Option<String> {
    text.lines()
        .filter_map(|line| line.trim().split_once('='))
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value.trim_matches(['"', '\'']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_id_wins_over_relatives() {
        assert_eq!(Os::from_os_release("NAME=\"Debian GNU/Linux\"\nID=debian\n"), Os::Debian);
        assert_eq!(Os::from_os_release("ID=ubuntu\nID_LIKE=debian\n"), Os::Ubuntu);
        assert_eq!(Os::from_os_release("ID=alpine\n"), Os::Alpine);
    }

    #[test]
    fn the_nearest_relative_that_is_known_decides() {
        assert_eq!(Os::from_os_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), Os::Ubuntu);
        assert_eq!(Os::from_os_release("ID='rocky'\nID_LIKE='rhel centos fedora'\n"), Os::Fedora);
        assert_eq!(Os::from_os_release("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n"), Os::Suse);
    }

    #[test]
    fn what_is_unknown_is_not_an_error() {
        assert_eq!(Os::from_os_release("ID=plan9\nVERSION_ID=4"), Os::Unknown);
        assert_eq!(Os::from_os_release("VERSION_ID=debian\n# ID=debian"), Os::Unknown);
        assert_eq!(Os::from_os_release(""), Os::Unknown);
    }
}
