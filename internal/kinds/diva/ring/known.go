// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ring

import (
	"fmt"
	"strings"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

// Known returns the known_hosts file of the manager pods, with the host key of each client pod under all its DNS names.
// As long as client pods of earlier versions of opcrew exist, their shared host key is valid for all names.
func (r *Ring) Known(d *opsv1.Diva, clients []string) string {
	var out strings.Builder
	id := names.Clients(d)
	for _, name := range clients {
		if _, public, err := sshkeys.HostKey([]byte(r.Seed), name); err == nil {
			full := name + "." + id.Name
			fmt.Fprintf(&out, "%s %s\n", patterns(d, name, full, full+"."+id.Namespace, full+"."+id.Namespace+".*"), public)
		}
	}
	for _, key := range append(r.sharedPublic(), r.FormerShared...) {
		short := id.Name + "." + id.Namespace
		fmt.Fprintf(&out, "%s %s\n", patterns(d, "*."+short+".svc", "*."+short+".svc.*", "*."+short, "*."+id.Name, id.Name+"-*"), key)
	}
	return out.String()
}

// patterns formats the names of a host for known_hosts.
func patterns(d *opsv1.Diva, hosts ...string) string {
	if port := names.SSHPort(d); port != opsv1.DefaultSSHPort {
		for i := range hosts {
			hosts[i] = fmt.Sprintf("[%s]:%d", hosts[i], port)
		}
	}
	return strings.Join(hosts, ",")
}

// Sharing reports whether the manager pods know a host key that client pods of earlier versions of opcrew share.
func (r *Ring) Sharing() bool { return r.Shared != nil || len(r.FormerShared) > 0 }

// sharedPublic returns the public host key that client pods of earlier versions of opcrew share, or nothing.
func (r *Ring) sharedPublic() []string {
	if r.Shared == nil {
		return nil
	}
	return []string{r.Shared.Public}
}
