// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package ensure

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	configMaps = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	secrets    = corev1.SchemeGroupVersion.WithKind("Secret")
)

func at(version string) client.Object {
	object := shop()
	object.ResourceVersion = version
	return object
}

func TestACacheIsBehindUntilItHasSeenOurWrite(t *testing.T) {
	for name, test := range map[string]struct {
		cached string
		behind bool
	}{
		"the version before the write":                 {"99", true},
		"the version of the write":                     {"100", false},
		"a later version, by another client":           {"101", false},
		"a version that is smaller only as text":       {"1000", false},
		"a version that is greater only as text":       {"9", true},
		"a version that cannot be compared is no wait": {"v7", false},
	} {
		t.Run(name, func(t *testing.T) {
			writes := &Applier{}
			writes.Record(configMaps, at("100"))
			if got := writes.Behind(configMaps, at(test.cached)); got != test.behind {
				t.Errorf("behind: %t, expected %t", got, test.behind)
			}
		})
	}
}

func TestOnlyTheWrittenObjectIsWaitedFor(t *testing.T) {
	writes := &Applier{}
	if writes.Behind(configMaps, at("1")) {
		t.Error("behind without any write, as after a start: expected not to wait")
	}
	writes.Record(configMaps, at("100"))
	other := at("1")
	other.SetName("other")
	if writes.Behind(configMaps, other) {
		t.Error("another object of the kind is waited for")
	}
	if writes.Behind(secrets, at("1")) {
		t.Error("an object of another kind is waited for")
	}
}

func TestTheLastOfSeveralWritesIsWaitedFor(t *testing.T) {
	writes := &Applier{}
	writes.Record(configMaps, at("100"))
	writes.Record(configMaps, at("200"))
	if !writes.Behind(configMaps, at("100")) {
		t.Error("not behind at the first of two writes, expected to wait for the second")
	}
}

func TestWhatWasSeenOrIsGoneIsForgotten(t *testing.T) {
	writes := &Applier{}
	writes.Record(configMaps, at("100"))
	writes.Behind(configMaps, at("100"))
	writes.Record(secrets, at("100"))
	writes.Forget(secrets, client.ObjectKeyFromObject(shop()))
	if len(writes.writes.versions) != 0 {
		t.Errorf("remembered: %v, expected nothing", writes.writes.versions)
	}
}
