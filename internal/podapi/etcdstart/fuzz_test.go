// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdstart

import "testing"

func FuzzReport(f *testing.F) {
	f.Add(`{"reason":"VolumeLost","message":"there is no log"}`)
	f.Add(`{"reason":"EtcdEnded","message":"\ud800\u001b"}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReport(text)
		if err != nil {
			return
		}
		if again, err := ParseReport(string(r.Encode())); err != nil || again.Reason != r.Reason {
			t.Errorf("%+v is written such that it is read as %+v (%v)", r, again, err)
		}
	})
}

func FuzzStart(f *testing.F) {
	f.Add("join 0123456789abcdef")
	f.Add("bootstrap  0123456789abcdeg")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseStart(text)
		if err != nil {
			return
		}
		if again, err := ParseStart(s.String()); err != nil || again != s {
			t.Errorf("%q is read as %+v and then as %+v (%v)", text, s, again, err)
		}
	})
}
