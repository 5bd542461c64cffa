// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostconfig

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func full() Config {
	mode, id, contents, unit, hash := uint32(0o4755), 12, []byte("a\x00\xff"), "[Install]\nWantedBy=multi-user.target\n", "$6$x$y"
	yes, no := true, false
	return Config{
		Name:                   "rendered-worker-1",
		Directories:            []Directory{{Entry: Entry{Path: "/etc/a", User: Principal{ID: &id}}, Mode: &mode}},
		Files:                  []File{{Entry: Entry{Path: "/etc/a/b", Group: Principal{Name: "disk"}, Overwrite: true}, Contents: &contents, Append: [][]byte{{1}}}},
		Links:                  []Link{{Entry: Entry{Path: "/etc/c"}, Target: "a/b"}, {Entry: Entry{Path: "/etc/d"}, Target: "/etc/a/b", Hard: true}},
		Units:                  []Unit{{Name: "x@1.service", Enabled: &yes, Mask: &no, Contents: &unit, DropIns: []DropIn{{Name: "10-a.conf", Contents: "[Unit]\n"}}}},
		Users:                  []User{{Name: "core", SSHAuthorizedKeys: []string{"ssh-ed25519 AAAA core@x"}, PasswordHash: &hash}},
		KernelArguments:        []string{"a=b"},
		RemovedKernelArguments: []string{"quiet"},
	}
}

func TestAConfigurationArrivesUnchanged(t *testing.T) {
	want := full()
	encoded, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(encoded)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("expected the same configuration, got %v, %s", err, diff)
	}
	again, err := Encode(got)
	if err != nil || Digest(again) != Digest(encoded) {
		t.Errorf("expected equal configurations to have equal digests, got %v", err)
	}
}

func TestWhatAHostCannotReadIsRefused(t *testing.T) {
	pack := func(text string) []byte { out, _ := compress([]byte(text)); return out }
	for name, test := range map[string]struct {
		encoded []byte
		want    string
	}{
		"plain text":       {[]byte(`{"name":"a"}`), "not compressed"},
		"an unknown field": {pack(`{"name":"a","partitions":[]}`), "cannot read"},
		"text behind":      {pack(`{"name":"a"} {}`), "text after"},
		"a torn text":      {pack(`{"name":"a"}`)[:20], "unpack"},
		"no name":          {pack(`{}`), "name must"},
		"a bomb":           {pack(`{"name":"` + strings.Repeat("a", MaxConfig) + `"}`), "at most"},
		"too many bytes":   {make([]byte, MaxEncoded+1), "at most"},
	} {
		if _, err := Parse(test.encoded); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: expected an error with %q, got %v", name, test.want, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	encoded, _ := Encode(full())
	f.Add(encoded)
	text, _ := unpack(encoded)
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, encoded := range [][]byte{text, must(compress(text))} {
			c, err := Parse(encoded)
			if err != nil {
				continue
			}
			again, err := Encode(c)
			if err != nil {
				t.Fatalf("a configuration that was parsed cannot be encoded: %v", err)
			}
			if got, err := Parse(again); err != nil || !cmp.Equal(c, got, cmpopts.EquateEmpty()) {
				t.Fatalf("a configuration changes when it is encoded: %v, %s", err, cmp.Diff(c, got))
			}
		}
	})
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}
