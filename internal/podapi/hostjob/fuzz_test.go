// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"strings"
	"testing"
)

func FuzzResult(f *testing.F) {
	f.Add(`{"state":"Failed","reason":"Exited","exitCode":3,"tail":"out\n","bytes":4}`)
	f.Add(`{"state":"Unknown","message":"` + strings.Repeat("x", 4000) + `","startedAt":"9999-12-31T23:59:59+23:59"}`)
	f.Add(strings.Repeat(`{"state":`, 400))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseResult(text)
		if err != nil {
			return
		}
		if strings.Contains(r.Message, "\n") || len(r.Reason) > maxWord || len(r.Signal) > maxWord || len(r.BootID) > maxWord {
			t.Errorf("%q is read as %+v", text, r)
		}
		if encoded := EncodeResult(r); len(encoded) > MaxResult {
			t.Errorf("%+v needs %d bytes", r, len(encoded))
		} else if again, err := ParseResult(string(encoded)); err != nil || again.State != r.State {
			t.Errorf("%+v is written such that it is read as %+v (%v)", r, again, err)
		}
	})
}

func FuzzOrder(f *testing.F) {
	f.Add([]byte(`{"uid":"a-1","run":1,"created":"2026-01-02T03:04:05Z","command":"id","user":"root","dir":"/tmp"}`))
	f.Add([]byte(`{"uid":"../x","run":1,"created":"2026-01-02T03:04:05Z","args":["a\u0000"],"envs":["=x"],"secretEnvs":{"A":".."}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		o, err := ParseOrder(text)
		if err == nil && (!IsUID(o.UID) || !strings.HasPrefix(o.Dir, "/") || o.checkNUL() != nil) {
			t.Errorf("%q is read as %+v", text, o)
		}
	})
}
