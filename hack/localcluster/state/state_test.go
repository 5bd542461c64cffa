// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/opcrew/opcrew/hack/localcluster/proc"
)

func TestTheRecordSurvivesSaveAndLoad(t *testing.T) {
	st := &State{
		Dir:       t.TempDir(),
		StartedAt: time.Now().UTC().Round(time.Second),
		Complete:  true,
		Network:   Network{Pods: netip.MustParsePrefix("10.215.0.0/16"), DNS: netip.MustParseAddr("10.96.0.10")},
		Nodes: []Node{{
			Machine: Machine{Name: "node1", Address: netip.MustParseAddr("10.214.0.11"), Init: proc.Identity{PID: 7, Start: 8, Boot: "b"}},
			PodCIDR: netip.MustParsePrefix("10.215.1.0/24"),
			Cut:     true,
		}},
	}
	if err := st.Save(); err != nil {
		t.Fatal(err)
	}
	got, err := Load(st.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(st, got) {
		t.Errorf("saved %+v\nloaded %+v", st, got)
	}
}

func TestLoadDistinguishesAbsentFromBroken(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); !errors.Is(err, ErrAbsent) {
		t.Errorf("empty directory: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir); err == nil || errors.Is(err, ErrAbsent) {
		t.Errorf("half a file: %v", err)
	}
}

func TestAChangedNodeIsSaved(t *testing.T) {
	st := &State{Dir: t.TempDir(), Nodes: []Node{{Machine: Machine{Name: "node1"}}, {Machine: Machine{Name: "node2"}}}}
	n, err := st.Node("node2")
	if err != nil {
		t.Fatal(err)
	}
	n.Cut = true
	if !st.Nodes[1].Cut {
		t.Error("the change went to a copy")
	}
	if _, err := st.Node("node3"); err == nil {
		t.Error("a node that is not there was found")
	}
}

func TestTheLockKeepsOthersOutUntilItsEnd(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	unlock, err := Lock(context.Background(), dir, func() {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	waited := 0
	if _, err := Lock(ctx, dir, func() { waited++ }); !errors.Is(err, context.DeadlineExceeded) || waited != 1 {
		t.Errorf("second lock: %v, reported waiting %d times", err, waited)
	}
	unlock()
	again, err := Lock(context.Background(), dir, func() {})
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestALockOnARemovedDirectoryIsNotTaken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	old, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = old.Close() }()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if isStill(old, dir) {
		t.Error("the removed directory counts as the new one")
	}
}

func TestABinaryIsReplacedAsAWhole(t *testing.T) {
	st := &State{Dir: t.TempDir()}
	source := filepath.Join(t.TempDir(), "tool")
	for _, content := range []string{"first", "second"} {
		if err := os.WriteFile(source, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		path, err := st.InstallBinary(source)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != content {
			t.Errorf("got %q, %v", got, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o111 == 0 {
			t.Errorf("not executable: %v %v", info, err)
		}
	}
}
