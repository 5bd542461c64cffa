// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostfs

// Type is the type of an entry.
type Type string

// The types of entries. The package changes no entry of type Other, such as a device or a socket.
const (
	Absent    Type = "absent"
	File      Type = "file"
	Directory Type = "directory"
	Link      Type = "link"
	Other     Type = "other"
)

// Entry is what the disk shows at a path.
type Entry struct {
	Type Type `json:"type,omitempty"`
	// Mode holds the permission bits with setuid, setgid and sticky. It is 0 for links.
	Mode uint32 `json:"mode,omitempty"`
	UID  int    `json:"uid,omitempty"`
	GID  int    `json:"gid,omitempty"`
	// Hash is the SHA-256 of a file's content, or the size of a large file (IsLarge).
	Hash string `json:"hash,omitempty"`
	// Target is the target of a link.
	Target string `json:"target,omitempty"`
	// Label is the SELinux context; empty on hosts without SELinux.
	Label string `json:"label,omitempty"`
}

// Same reports whether two entries are equal to a user of the host. Labels are not compared, because the policy of the
// host may assign another one to an equal file.
func (e Entry) Same(other Entry) bool {
	e.Label, other.Label = "", ""
	return e == other
}
