// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package versions knows which version of etcd can follow which, and which features each version has. Package rollout
// decides when members change their version.
package versions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
)

// Older reports whether version a is lower than version b.
func Older(a, b string) bool {
	x, errX := Parse(a)
	y, errY := Parse(b)
	return errX == nil && errY == nil && x.LessThan(y)
}

// newest lists the last known patch version of each minor version. An upgrade over several minor versions passes
// through each of them, because none can be skipped (etcd's upgrade guides). Old patches are not enough: a member must
// run 3.5.26 or later before 3.6, and 3.6.11 or later before 3.7.
var newest = []string{"3.2.32", "3.3.27", "3.4.44", "3.5.35", "3.6.16", "3.7.3"}

// enterFrom holds, by minor version, the oldest patch version from which a member may enter the next minor version.
var enterFrom = map[uint]string{5: "3.5.26", 6: "3.6.11"}

// Parse parses a version as it appears in specs and in members' answers.
func Parse(text string) (*version.Version, error) {
	v, err := version.ParseSemantic(strings.TrimPrefix(text, "v"))
	if err != nil {
		return nil, fmt.Errorf("version %q is not a number of three parts, such as 3.6.16", text)
	}
	return v, nil
}

// Desired returns the version in the spec, without a leading v.
func Desired(c *etcdv1beta2.EtcdCluster) string {
	return strings.TrimPrefix(cmp.Or(strings.TrimSpace(c.Spec.Version), etcdv1beta2.DefaultVersion), "v")
}

// Next returns the version that members change to now, from the lowest running version toward the desired one. This is
// the desired version, or a patch of the next minor version. Once all members run a new minor version, they cannot go
// back.
func Next(from, to string, path []string) (string, error) {
	old, err := Parse(from)
	if err != nil {
		return "", err
	}
	target, err := Parse(to)
	if err != nil {
		return "", err
	}
	switch {
	case old.Major() != target.Major():
		return "", fmt.Errorf("members cannot change from version %s to %s", from, to)
	case target.Minor() < old.Minor():
		return "", fmt.Errorf("all members run %s, and a downgrade to %s is not possible: their data has the newer format; set spec.version to %s, or restore a backup into a new cluster", from, to, from)
	case target.Minor() == old.Minor():
		return to, nil
	case tooOld(old):
		return through(old, old.Minor(), path), nil
	case target.Minor() == old.Minor()+1:
		return to, nil
	}
	between := through(old, old.Minor()+1, path)
	if between == "" {
		return "", fmt.Errorf("an upgrade from version %s to %s must pass through %d.%d, of which opcrew knows no patch version; name one in spec.upgradePath", from, to, old.Major(), old.Minor()+1)
	}
	return between, nil
}

// tooOld reports whether a member must first upgrade to a newer patch of its minor version before it can enter the next
// minor version.
func tooOld(v *version.Version) bool {
	least, ok := enterFrom[v.Minor()]
	return ok && v.Major() == 3 && v.LessThan(version.MustParseSemantic(least))
}

// through returns the patch version to run on the way through a minor version: the first match in path
// (spec.upgradePath), or else the newest that opcrew knows.
func through(old *version.Version, minor uint, path []string) string {
	for _, text := range slices.Concat(path, newest) {
		v, err := Parse(text)
		if err == nil && v.Major() == old.Major() && v.Minor() == minor && old.LessThan(v) && !tooOld(v) {
			return strings.TrimPrefix(text, "v")
		}
	}
	return ""
}

// SameMinor reports whether two versions have the same major and minor number. After a change between such versions,
// the members need not agree on a new cluster version.
func SameMinor(a, b string) bool {
	x, errX := Parse(a)
	y, errY := Parse(b)
	return errX == nil && errY == nil && x.Major() == y.Major() && x.Minor() == y.Minor()
}

// MinorOf returns a version without its patch number, such as 3.6.
func MinorOf(text string) string {
	v, err := Parse(text)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%d.%d", v.Major(), v.Minor())
}

// HasLearners reports whether a version supports learners, which etcd 3.4 introduced.
func HasLearners(text string) bool {
	v, err := Parse(text)
	return err != nil || v.AtLeast(version.MustParseSemantic("3.4.0"))
}

// HasQuietHealth reports whether health checks of this version leave no lines in etcd's log. For older versions,
// opcrew's agent in the pod checks for a leader instead (--ready-by-leader).
func HasQuietHealth(text string) bool {
	v, err := Parse(text)
	return err != nil || v.AtLeast(version.MustParseSemantic("3.5.0"))
}

// HasMetricsListener reports whether a version can serve health and metrics on a separate address, which etcd 3.3
// introduced.
func HasMetricsListener(text string) bool {
	v, err := Parse(text)
	return err != nil || v.AtLeast(version.MustParseSemantic("3.3.0"))
}
