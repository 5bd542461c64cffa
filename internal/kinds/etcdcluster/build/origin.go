// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"github.com/opcrew/opcrew/internal/backuppod"
	"github.com/opcrew/opcrew/internal/guard"
	"github.com/opcrew/opcrew/internal/podapi/backup"
)

// SourceTLS is the path of the client certificate in the container that makes a seed's data by reading a member.
const SourceTLS = "/etc/opcrew/tls"

// Origin is the source of the seed's data in a restore or recovery: a backup, or a remaining member.
type Origin struct {
	// Name is how users refer to it.
	Name string
	// Place, Object and Bump describe the backup. From is the URL of the member to read if there is no backup.
	Place  backuppod.Place
	Object string
	Bump   *int64
	From   *backup.Source
	// Requester is the record of the user who asked for the place, if that is another object than the cluster.
	Requester *string
	// TLSSecret has the client certificate for the member; empty: without TLS.
	TLSSecret string
}

// mounts returns the volumes of the container that makes the seed's data.
func (o Origin) mounts() []backuppod.Mount {
	out := o.Place.Mounts(true)
	if o.TLSSecret != "" {
		out = append(out, backuppod.SecretMount("source-tls", SourceTLS, o.TLSSecret))
	}
	return out
}

// Trust says whose rights the volumes of the place need.
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

// Needs are the objects without which the seed's pod would not start.
func (o Origin) Needs() []backuppod.Need {
	out := o.Place.Needs()
	if o.TLSSecret != "" {
		out = append(out, backuppod.SecretNeed("TLS.static.operatorSecret", o.TLSSecret))
	}
	return out
}
