// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/podapi/backup"
)

func TestTheBestMemberComesFirst(t *testing.T) {
	gone := Answer{Endpoint: "gone", Err: errors.New("connection refused")}
	for name, test := range map[string]struct {
		answers []Answer
		want    []string
	}{
		"the one ahead":        {[]Answer{{Endpoint: "a", Revision: 9}, gone, {Endpoint: "b", Revision: 10}}, []string{"b", "a"}},
		"ahead, though leads":  {[]Answer{{Endpoint: "a", Revision: 9}, {Endpoint: "b", Revision: 10, Leader: true}}, []string{"b", "a"}},
		"a follower":           {[]Answer{{Endpoint: "a", Revision: 9, Leader: true}, {Endpoint: "b", Revision: 9}}, []string{"b", "a"}},
		"a learner last":       {[]Answer{{Endpoint: "a", Revision: 9, Learner: true}, {Endpoint: "b", Revision: 9, Leader: true}}, []string{"b", "a"}},
		"as named":             {[]Answer{{Endpoint: "b", Revision: 9}, {Endpoint: "a", Revision: 9}}, []string{"b", "a"}},
		"none that is corrupt": {[]Answer{{Endpoint: "a", Revision: 10, Corrupt: true}, {Endpoint: "b", Revision: 9}}, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			answers, err := Choose(test.answers)
			var got []string
			for _, a := range answers {
				got = append(got, a.Endpoint)
			}
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("expected %q, got %q, %v", test.want, got, err)
			}
		})
	}
}

func TestTheErrorHasWhyNoMemberCanBeRead(t *testing.T) {
	for words, answers := range map[string][]Answer{
		"a: refused; b: etcd has found the data of this member corrupt": {{Endpoint: "a", Err: errors.New("refused")}, {Endpoint: "b", Corrupt: true}},
		"a belongs to 1, and b to 2":                                    {{Endpoint: "a", ClusterID: 1}, {Endpoint: "b", ClusterID: 2}},
	} {
		if got, err := Choose(answers); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("expected %q, got %v, %v", words, got, err)
		}
	}
}

func TestAMemberThatIsCutOffCanBeLeftOut(t *testing.T) {
	off := Answer{Endpoint: "off", Revision: 10}
	led := Answer{Endpoint: "led", Revision: 9, Led: true}
	if got, err := Choose(OnlyLed([]Answer{off, led})); err != nil || len(got) != 1 || got[0].Endpoint != "led" {
		t.Errorf("expected the member with a leader, got %+v, %v", got, err)
	}
	gone := Answer{Endpoint: "gone", Err: errors.New("refused")}
	if _, err := Choose(OnlyLed([]Answer{off, gone})); backup.ReasonOf(err, "") != backup.ReasonNoLeader || !strings.Contains(err.Error(), "off: the member has no leader") {
		t.Errorf("expected an error about the missing leader, got %v", err)
	}
	if _, err := Choose(OnlyLed([]Answer{gone})); backup.ReasonOf(err, "") != backup.ReasonEtcdUnreachable {
		t.Errorf("expected an error that no member answers, got %v", err)
	}
}

func TestAnInvalidTLSSecretIsAnError(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open([]string{"https://a:1"}, dir); backup.ReasonOf(err, "") != backup.ReasonSecretInvalid || !strings.Contains(err.Error(), "etcd-client.crt") {
		t.Errorf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "etcd-client.crt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open([]string{"https://a:1"}, dir); backup.ReasonOf(err, "") != backup.ReasonSecretInvalid {
		t.Errorf("got %v", err)
	}
}
