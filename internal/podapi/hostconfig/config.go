// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

// Config is the whole desired configuration of a host. Paths are unique over Files, Directories and Links, and no path
// lies below a link of the same configuration.
type Config struct {
	// Name is the name of the rendered MachineConfig, such as rendered-worker-0123.
	Name string `json:"name"`
	// Salt cannot be predicted if the configuration has data of Secrets. Otherwise, who sees the digest in an order could
	// guess short data. Hosts ignore it.
	Salt string `json:"salt,omitempty"`

	Directories     []Directory `json:"directories,omitempty"`
	Files           []File      `json:"files,omitempty"`
	Links           []Link      `json:"links,omitempty"`
	Units           []Unit      `json:"units,omitempty"`
	Users           []User      `json:"users,omitempty"`
	KernelArguments []string    `json:"kernelArguments,omitempty"`
	// RemovedKernelArguments must not be on the kernel command line (Ignition's kernelArguments.shouldNotExist).
	RemovedKernelArguments []string `json:"removedKernelArguments,omitempty"`
}

// Entry is what files, directories and links have in common.
type Entry struct {
	// Path is absolute and clean.
	Path string `json:"path"`
	// User and Group own the entry. An empty Principal means root. For an existing directory, and for an existing file
	// whose contents are kept, it means no change.
	User  Principal `json:"user,omitzero"`
	Group Principal `json:"group,omitzero"`
	// Overwrite allows the agent to replace an entry of another type that exists at Path.
	Overwrite bool `json:"overwrite,omitempty"`
}

// Principal is a user or group of the host, by number or by name. At most one of the fields is set.
type Principal struct {
	ID   *int   `json:"id,omitempty"`
	Name string `json:"name,omitempty"`
}

// Directory is a directory. Its parents are created with mode 0755 and owner root.
type Directory struct {
	Entry
	// Mode holds the permission bits; nil means 0755 for a new directory, and no change for an existing one.
	Mode *uint32 `json:"mode,omitempty"`
}

// File is a regular file.
type File struct {
	Entry
	// Mode holds the permission bits, including setuid, setgid and sticky. Nil means 0644 for a new file, and no change
	// for an existing one whose contents are kept.
	Mode *uint32 `json:"mode,omitempty"`
	// Contents is the whole content. Nil keeps the content of an existing file, and creates an empty one otherwise.
	Contents *[]byte `json:"contents,omitempty"`
	// Append is added after Contents, or after the content that the file had before opcrew changed it.
	Append [][]byte `json:"append,omitempty"`
}

// Link is a symbolic link, or a hard link to a file of the same file system.
type Link struct {
	Entry
	Target string `json:"target"`
	Hard   bool   `json:"hard,omitempty"`
}

// Unit is a systemd unit.
type Unit struct {
	// Name has a valid suffix, such as .service.
	Name string `json:"name"`
	// Enabled enables or disables the unit; nil leaves its enablement unchanged.
	Enabled *bool `json:"enabled,omitempty"`
	// Mask masks or unmasks the unit; nil leaves it unchanged.
	Mask *bool `json:"mask,omitempty"`
	// Contents is the unit file in /etc/systemd/system; nil if the configuration does not declare one.
	Contents *string `json:"contents,omitempty"`
	// DropIns are files in /etc/systemd/system/<name>.d.
	DropIns []DropIn `json:"dropIns,omitempty"`
}

// DropIn is a drop-in of a unit. Its name ends in .conf.
type DropIn struct {
	Name     string `json:"name"`
	Contents string `json:"contents"`
}

// User configures an existing user of the host.
type User struct {
	Name string `json:"name"`
	// SSHAuthorizedKeys are lines of authorized_keys. The agent keeps them in a marked block, and keeps foreign lines.
	SSHAuthorizedKeys []string `json:"sshAuthorizedKeys,omitempty"`
	// PasswordHash replaces the hash in /etc/shadow; nil leaves it unchanged.
	PasswordHash *string `json:"passwordHash,omitempty"`
}
