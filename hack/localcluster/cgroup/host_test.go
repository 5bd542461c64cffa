// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cgroup

import "testing"

func TestAHierarchyIsMountedAgainWithItsOwnControllers(t *testing.T) {
	all := parseHierarchies(`cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,nosuid,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/systemd cgroup rw,relatime,xattr,release_agent=/lib/agent,name=systemd 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,nosuid,nsdelegate 0 0
`)
	want := []string{"cpu,cpuacct", "xattr,name=systemd", ""}
	for i, h := range all {
		if got := h.controllers(); got != want[i] {
			t.Errorf("%s: got the options %q, want %q", h.path, got, want[i])
		}
	}
	if len(all) != len(want) {
		t.Errorf("got %d hierarchies", len(all))
	}
}
