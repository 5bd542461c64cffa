// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheModulesAreOfTheReleasesThatScenariosName(t *testing.T) {
	for _, version := range Releases() {
		if FromDebian(version) {
			continue
		}
		mod, err := os.ReadFile(pins(filepath.Join("..", "..", ".."), version))
		if err != nil {
			t.Fatal(err)
		}
		for _, program := range []string{"server", "etcdctl"} {
			if want := "go.etcd.io/etcd/" + program + "/v3 v" + version + " "; !strings.Contains(string(mod), want) {
				t.Errorf("module %s should require %s", Minor(version), want)
			}
		}
	}
}
