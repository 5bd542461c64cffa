// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
)

const segment = "member/wal/0000000000000000-0000000000000000.wal"

// volume creates a data directory with files. A name that ends with / is a directory.
func volume(t *testing.T, files map[string]string) Options {
	t.Helper()
	dir := t.TempDir()
	o := Defaults()
	o.DataDir, o.Marker, o.Start = filepath.Join(dir, "data"), filepath.Join(dir, "opcrew.json"), filepath.Join(dir, "start")
	o.Latch = filepath.Join(t.TempDir(), "part")
	own := ours()
	o.Cluster, o.Member = own.Cluster, own.Member
	for name, content := range files {
		if path := filepath.Join(o.DataDir, name); strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o700))
		} else {
			must(t, put(path, content))
		}
	}
	return o
}

func TestALogIsWhatEtcdStartsFrom(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  bool
	}{
		"no directory":              {nil, false},
		"an empty one":              {map[string]string{"/": ""}, false},
		"no log yet":                {map[string]string{"member/snap/db": "x"}, false},
		"an unfinished one":         {map[string]string{"member/snap/db": "x", "member/wal.tmp/0000000000000000-0000000000000000.wal": "x"}, false},
		"an empty directory of it":  {map[string]string{"member/snap/db": "x", "member/wal/": ""}, false},
		"a log":                     {map[string]string{segment: "x"}, true},
		"a log and what is to come": {map[string]string{segment: "x", "member/wal/0.tmp": ""}, true},
		"one segment is left":       {map[string]string{segment: "", "member/wal/0000000000000001-0000000000000100.wal": "x"}, true},
		"only what is to come":      {map[string]string{"member/wal/0.tmp": "x"}, false},
		"only what was broken":      {map[string]string{segment + ".broken": "x"}, false},
		"only empty segments":       {map[string]string{segment: ""}, false},
		"a directory for a segment": {map[string]string{segment + "/": ""}, false},
		"what no etcd writes":       {map[string]string{"wal/0.wal": "x", "member/0.wal": "x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := hasLog(volume(t, test.files).DataDir); got != test.want || err != nil {
				t.Errorf("got %v, error %v", got, err)
			}
		})
	}
}

// A read error must not look like an empty directory or a new volume.
func TestAnUnreadableDirectoryIsAnError(t *testing.T) {
	in := func(o Options, name string) string { return filepath.Join(o.DataDir, name) }
	for name, damage := range map[string]func(Options) error{
		"the data directory is a file":      func(o Options) error { return os.WriteFile(o.DataDir, nil, 0o600) },
		"the member is a link to itself":    func(o Options) error { return link("member", in(o, "member")) },
		"the log is a link to nowhere":      func(o Options) error { return link("/none/there", in(o, "member/wal")) },
		"the log is a file":                 func(o Options) error { return put(in(o, "member/wal"), "x") },
		"the marker is a directory":         func(o Options) error { return os.Mkdir(o.Marker, 0o700) },
		"the marker is empty":               func(o Options) error { return put(o.Marker, "") },
		"the marker is cut off":             func(o Options) error { return put(o.Marker, `{"cluster":"3e`) },
		"the marker is longer than any is":  func(o Options) error { return put(o.Marker, strings.Repeat(" ", maxFile)+"{}") },
		"the marker is something different": func(o Options) error { return put(o.Marker, `["a"]`) },
	} {
		t.Run(name, func(t *testing.T) {
			o := volume(t, nil)
			must(t, damage(o))
			for _, mode := range []etcdstart.Mode{etcdstart.Bootstrap, etcdstart.Join, etcdstart.Established} {
				must(t, put(o.Start, etcdstart.Start{Mode: mode, ID: ours().ID}.String()))
				if _, refusal := admit(o); refusal == nil || refusal.Reason != etcdstart.VolumeUnreadable {
					t.Errorf("%s: expected %s, got %+v", mode, etcdstart.VolumeUnreadable, refusal)
				}
			}
		})
	}
}

func put(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

func link(to, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.Symlink(to, path)
}

// Each case interrupts the first start of the member, one step later than the previous case.
func TestAnInterruptedStartIsRepeatedUntilTheMemberIsEstablished(t *testing.T) {
	own := `{"cluster":"3e6b","member":"main-0a1b2c3d4e","id":"8e9e05c52164694d"}`
	for _, step := range []struct {
		name         string
		next, marker string
		files        map[string]string
		log          bool
	}{
		{name: "nothing was done"},
		{name: "the marker is empty", next: " "},
		{name: "the marker is half there", next: own[:30]},
		{name: "the marker has no name yet", next: own},
		{name: "the marker is in place", marker: own},
		{name: "etcd has its directory", marker: own, files: map[string]string{"/": ""}},
		{name: "etcd has the store", marker: own, files: map[string]string{"member/snap/db": "x"}},
		{name: "etcd has begun a log", marker: own, files: map[string]string{"member/snap/db": "x", "member/wal.tmp/0.wal": "x"}},
		{name: "etcd has a log", marker: own, files: map[string]string{"member/snap/db": "x", segment: "x"}, log: true},
	} {
		for _, mode := range []etcdstart.Mode{etcdstart.Bootstrap, etcdstart.Join, etcdstart.Established} {
			t.Run(step.name+", "+string(mode), func(t *testing.T) {
				o := volume(t, step.files)
				must(t, put(o.Start, etcdstart.Start{Mode: mode, ID: ours().ID}.String()))
				for path, text := range map[string]string{durable.Next(o.Marker): step.next, o.Marker: step.marker} {
					if text != "" {
						must(t, put(path, text))
					}
				}
				_, refusal := admit(o)
				if mode == etcdstart.Established && !step.log {
					if refusal == nil || refusal.Reason != etcdstart.VolumeLost {
						t.Fatalf("expected %s, got %+v", etcdstart.VolumeLost, refusal)
					}
					return
				}
				found, err := readMarker(o.Marker)
				if refusal != nil || err != nil || found == nil || *found != ours() {
					t.Fatalf("expected a start with the marker in place: %+v, %+v, %v", refusal, found, err)
				}
				// This start may be interrupted, too, so another call of admit must also allow etcd to start.
				if _, refusal := admit(o); refusal != nil {
					t.Errorf("the second time: %+v", refusal)
				}
			})
		}
	}
}

func TestEtcdDoesNotStartIfTheMarkerCannotBeWritten(t *testing.T) {
	o := volume(t, nil)
	must(t, put(o.Start, etcdstart.Start{Mode: etcdstart.Join, ID: ours().ID}.String()))
	must(t, os.MkdirAll(filepath.Join(durable.Next(o.Marker), "in the way"), 0o700))
	if _, refusal := admit(o); refusal == nil || refusal.Reason != etcdstart.VolumeUnwritable {
		t.Errorf("expected %s, got %+v", etcdstart.VolumeUnwritable, refusal)
	}
}
