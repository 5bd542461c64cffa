// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"maps"
	"testing"

	"github.com/opcrew/opcrew/internal/backuppod"
)

func TestTheStoreOfABackupNeedsTheRightsOfTheUserWhoNamedIt(t *testing.T) {
	bucket, claim := backuppod.Place{Secret: "keys"}, backuppod.Place{Claim: "backups"}
	for name, test := range map[string]struct {
		origin Origin
		want   map[string]string
	}{
		"a bucket of an EtcdRestore":       {Origin{Place: bucket, Requester: new("bob")}, map[string]string{"storage": "bob"}},
		"a claim of an EtcdBackup":         {Origin{Place: claim, Requester: new("eve")}, map[string]string{"backups": "eve"}},
		"an object without a record":       {Origin{Place: bucket, Requester: new("")}, map[string]string{"storage": ""}},
		"the certificate of the cluster's": {Origin{TLSSecret: "tls"}, nil},
	} {
		if got := test.origin.Trust().Requesters; !maps.Equal(got, test.want) {
			t.Errorf("%s: expected %v, got %v", name, test.want, got)
		}
	}
}
