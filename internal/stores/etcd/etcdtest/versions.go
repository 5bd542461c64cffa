// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdtest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
)

// agree raises the cluster version when the members have been listed VersionLooks times since all of them run a newer
// minor version.
func agree(w *World, c *cluster) {
	low := lowest(w, c)
	switch {
	case low == nil, c.version != "" && !version.MustParseSemantic(c.version).LessThan(low):
		c.looks = 0
	case c.looks >= w.VersionLooks:
		c.version = low.String()
		c.wrote(c.version)
	}
}

// lowest returns the lowest minor version of the members; nil if a member does not run.
func lowest(w *World, c *cluster) *version.Version {
	runs := map[uint64]*version.Version{}
	for _, p := range w.processes.up(c) {
		runs[p.id] = minor(p.Version)
	}
	var low *version.Version
	for _, m := range c.members {
		v := runs[m.ID]
		if v == nil {
			return nil
		}
		if low == nil || v.LessThan(low) {
			low = v
		}
	}
	return low
}

// mayRun records a violation if a process is more than one minor version ahead of its cluster. etcd does start such a
// process, although its upgrade guides forbid it.
func mayRun(w *World, p *process) {
	if p.cluster == nil || p.cluster.version == "" {
		return
	}
	runs, speaks := minor(p.Version), version.MustParseSemantic(p.cluster.version)
	if runs != nil && runs.Minor() > speaks.Minor()+1 {
		w.violated("%s runs %s in a cluster that speaks %s", p.Name, p.Version, p.cluster.version)
	}
}

// minor returns a version with patch number 0, as in cluster versions; nil if the text is not a version.
func minor(text string) *version.Version {
	v, err := version.ParseSemantic(text)
	if err != nil {
		return nil
	}
	return version.MustParseSemantic(fmt.Sprintf("%d.%d.0", v.Major(), v.Minor()))
}
