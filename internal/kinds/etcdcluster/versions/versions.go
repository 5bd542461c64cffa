// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package versions knows etcd's versions: which can follow which, and what each can do. It does not decide what members
// run, or when they change.
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

// newest lists, for each minor version, the last patch version, which upgrades pass through. No minor version can be
// skipped (etcd's upgrade guides), and patches matter: 3.6 must be entered from 3.5.26 or later, 3.7 from 3.6.11 or
// later.
var newest = []string{"3.2.32", "3.3.27", "3.4.44", "3.5.35", "3.6.16", "3.7.3"}

// enterFrom has, for a minor version, the oldest patch version from which the next minor version can be entered.
var enterFrom = map[uint]string{5: "3.5.26", 6: "3.6.11"}

// Parse parses a version as specs and members write it.
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

// Next returns the version that members change to now, on the way from the lowest running version to the desired one:
// the desired version, or a step through the next minor version. Once all members run a new minor version, they cannot
// go back (etcd's downgrade guide).
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

// tooOld reports whether a member needs a newer patch of its minor version before it can enter the next minor version.
func tooOld(v *version.Version) bool {
	least, ok := enterFrom[v.Minor()]
	return ok && v.Major() == 3 && v.LessThan(version.MustParseSemantic(least))
}

// through returns the patch version to run on the way through a minor version: the first match in path, which the user
// sets, or the newest that opcrew knows.
func through(old *version.Version, minor uint, path []string) string {
	for _, text := range slices.Concat(path, newest) {
		v, err := Parse(text)
		if err == nil && v.Major() == old.Major() && v.Minor() == minor && old.LessThan(v) && !tooOld(v) {
			return strings.TrimPrefix(text, "v")
		}
	}
	return ""
}

// SameMinor reports whether a change between two versions needs no new agreement of the members.
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

// HasLearners reports whether a version has learners, which came with 3.4.
func HasLearners(text string) bool {
	v, err := Parse(text)
	return err != nil || v.AtLeast(version.MustParseSemantic("3.4.0"))
}

// HasQuietHealth reports whether a health check of this version leaves no trace in its log: see --ready-by-leader of
// the gate.
func HasQuietHealth(text string) bool {
	v, err := Parse(text)
	return err != nil || v.AtLeast(version.MustParseSemantic("3.5.0"))
}

// HasMetricsListener reports whether a version has a separate listener for health and metrics, which came with 3.3.
func HasMetricsListener(text string) bool {
	v, err := Parse(text)
	return err != nil || v.AtLeast(version.MustParseSemantic("3.3.0"))
}
