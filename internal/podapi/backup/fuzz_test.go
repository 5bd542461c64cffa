// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"strings"
	"testing"
	"unicode"
)

func FuzzResult(f *testing.F) {
	f.Add(string(Result{Outcome: Failed, Reason: "NoSpace", Message: "the disk is full", PrunedObjects: []string{"a/b"}}.Encode()))
	f.Add(`{"outcome":"Succeeded","message":"\u001b[31m` + "\\n" + `","verification":{"note":"\u0000"}}`)
	f.Add(strings.Repeat("[", 5000))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseResult(text)
		if err != nil {
			return
		}
		if strings.ContainsFunc(string(r.Reason)+r.Message+r.Object+r.EtcdVersion+r.ClusterID, unicode.IsControl) || len(r.Message) > maxMessage {
			t.Errorf("%q is read as %+v", text, r)
		}
		if again, err := ParseResult(string(r.Encode())); err != nil || again.Outcome != r.Outcome {
			t.Errorf("%+v is written such that it is read as %+v (%v)", r, again, err)
		}
	})
}

func FuzzOrder(f *testing.F) {
	f.Add(`{"id":"a","target":{"type":"Folder","path":"a/b","dir":"/backups"},"prune":{"keep":3}}`)
	f.Add(`{"id":"a","restore":{"dataDir":"/d/x","name":"m","initialCluster":"m=http://m:2380","token":"t","peerURLs":["http://m:2380"],"revisionBump":9223372036854775807}}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := ParseOrder(text)
		if err != nil {
			return
		}
		if o.Subcommand() == "" {
			t.Errorf("%q has not one task", text)
		}
		if o.Restore != nil {
			_, _ = o.Restore.BumpFrom(1 << 62)
		}
	})
}

func FuzzMeta(f *testing.F) {
	f.Add([]byte(`{"format":1,"order":"a","savedAt":"2026-01-02T03:04:05Z","revision":7,"etcdVersion":"3.6.8","clusterID":"c","member":"m","size":9,"sha256":"` + strings.Repeat("a", 64) + `"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if m, err := ParseMeta(text); err == nil && (len(m.SHA256) != 64 || m.Size <= 0) {
			t.Errorf("%q is read as %+v", text, m)
		}
	})
}
