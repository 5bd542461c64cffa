// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"reflect"
	"strings"
	"testing"
)

func record() Meta {
	keys := int64(0)
	return Meta{
		Format: metaFormat, Order: "1", SavedAt: noon, Revision: 7, EtcdVersion: "3.7.3", ClusterID: "c", Member: "m",
		Size: 544, SHA256: strings.Repeat("a", 64), Keys: &keys, Hash: &Hash{Value: 1 << 31, CompactRevision: 3},
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	want := record()
	text, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseMeta(text); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("expected %+v, got %+v, %v", want, got, err)
	}
}

func TestAnInvalidRecordIsRefused(t *testing.T) {
	newer := strings.Replace(mustEncode(t, record()), `"format":1`, `"format":2`, 1)
	noHash := record()
	noHash.SHA256 = ""
	for text, want := range map[string]string{
		"": "not a backup record", "{}": "not a backup record", "<Error/>": "not a backup record",
		mustEncode(t, noHash): "not a backup record", newer: "format 2",
	} {
		if m, err := ParseMeta([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v", text, m, err)
		}
	}
}

func mustEncode(t *testing.T, m Meta) string {
	t.Helper()
	text, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestARecordIsTrustedIfItMatchesTheObject(t *testing.T) {
	m := record()
	if !m.Trusted(544) || m.Trusted(543) {
		t.Error("expected the size to count")
	}
	if m.Verified = (&Verified{At: noon}); !m.Trusted(544) {
		t.Error("expected one that was restored to be trusted")
	}
	if m.Verified.Corrupt = "its hash"; m.Trusted(544) {
		t.Error("expected one that was found corrupt not to be trusted")
	}
}
