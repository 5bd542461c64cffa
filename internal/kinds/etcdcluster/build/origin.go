// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// SourceTLS is where the restore container mounts the client certificate with which it reads a remaining member.
const SourceTLS = "/etc/opcrew/tls"

// Origin is the source of the data in a restore or recovery: a backup, or a remaining member. The restored cluster
// starts with one member, the seed, which starts with this data.
type Origin struct {
	// Name describes the origin in messages, such as "EtcdRestore db".
	Name string
	// Place, Object and Bump describe the backup to restore. From is the member whose data is used instead; nil if a
	// backup is used.
	Place  backuppod.Place
	Object string
	Bump   *int64
	From   *backup.Source
	// Requester is the user who created or last edited the object that specifies Place; nil if this object is the
	// EtcdCluster itself.
	Requester *string
	// TLSSecret is the Secret with the client certificate for reading the member; empty without TLS.
	TLSSecret string
}

// mounts returns the volumes of the container that restores the data.
func (o Origin) mounts() []backuppod.Mount {
	out := o.Place.Mounts(true)
	if o.TLSSecret != "" {
		out = append(out, backuppod.SecretMount("source-tls", SourceTLS, o.TLSSecret))
	}
	return out
}

// Trust returns the users whose permissions opcrew checks before a pod mounts the backup's volumes.
func (o Origin) Trust() guard.Trust {
	if o.Requester == nil {
		return guard.Trust{}
	}
	out := guard.Trust{Requesters: map[string]string{}}
	for _, mount := range o.Place.Mounts(true) {
		out.Requesters[mount.Name] = *o.Requester
	}
	return out
}

// Needs returns the Secrets and claims that must exist before the restore container can run.
func (o Origin) Needs() []backuppod.Need {
	out := o.Place.Needs()
	if o.TLSSecret != "" {
		out = append(out, backuppod.SecretNeed("TLS.static.operatorSecret", o.TLSSecret))
	}
	return out
}
