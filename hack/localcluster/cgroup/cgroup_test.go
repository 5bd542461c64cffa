// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"slices"
	"testing"
)

func TestHierarchiesOfAHybridMachine(t *testing.T) {
	mounts := `tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
cgroup /somewhere/else cgroup rw 0 0
`
	got := parseHierarchies(mounts)
	if len(got) != 3 || got[0].path != "/sys/fs/cgroup/cpu" || got[0].v2 || !got[2].v2 {
		t.Errorf("got %+v", got)
	}
}

func TestHierarchiesOfAUnifiedMachine(t *testing.T) {
	got := parseHierarchies("cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n")
	if len(got) != 1 || !got[0].v2 {
		t.Errorf("got %+v", got)
	}
}

func TestAMachinesOwnProcessesAreInALeaf(t *testing.T) {
	if got := system("node1"); got != "/opcrew-localcluster/node1/system" {
		t.Errorf("got %s", got)
	}
}

func TestOnlyControllersThatCameLaterAreSwitchedOff(t *testing.T) {
	got := added([]string{"cpu", "memory"}, []string{"cpu", "io", "memory", "pids"})
	if want := []string{"io", "pids"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
