// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"strings"
	"testing"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/clustertest"
)

func TestWhatIsAskedOfEtcdItselfIsInItsEnvironment(t *testing.T) {
	checked := clustertest.Upkeep(func(u *etcdv1beta2.Upkeep) { u.CorruptionCheck = "4h" })
	for name, test := range map[string]struct {
		c    *etcdv1beta2.EtcdCluster
		want []string
	}{
		"nothing":    {clustertest.New(), nil},
		"by time":    {clustertest.New(clustertest.Compacts("Periodic", "1h")), []string{"ETCD_AUTO_COMPACTION_MODE=periodic", "ETCD_AUTO_COMPACTION_RETENTION=1h"}},
		"by number":  {clustertest.New(clustertest.Compacts("Revision", "1000")), []string{"ETCD_AUTO_COMPACTION_MODE=revision", "ETCD_AUTO_COMPACTION_RETENTION=1000"}},
		"compared":   {clustertest.New(checked, clustertest.Versioned("3.6.16")), []string{"ETCD_CORRUPT_CHECK_TIME=4h"}},
		"before 3.6": {clustertest.New(checked), []string{"ETCD_EXPERIMENTAL_CORRUPT_CHECK_TIME=4h"}},
		"before 3.3": {clustertest.New(checked, clustertest.Versioned("3.2.32")), nil},
	} {
		var got []string
		for _, env := range ForPods(test.c).Environment() {
			got = append(got, *env.Name+"="+*env.Value)
		}
		if strings.Join(got, " ") != strings.Join(test.want, " ") {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}
