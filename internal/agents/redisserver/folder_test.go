// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	id       = "e7d1eecce10fd6bb5eb35b9f99a514335d9ba9ca"
	other    = "67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1"
	line     = id + " 10.0.0.1:6379@16379,shop-0.shop.web.svc myself,%s - 0 0 1 connected%s\n"
	replica  = id + " 10.0.0.1:6379@16379 myself,slave " + other + " 0 0 1 connected\n"
	peer     = other + " 10.0.0.2:6379@16379 master - 0 1426238316232 2 connected 0-16383\n"
	vars     = "vars currentEpoch 6 lastVoteEpoch 0\n"
	logFile  = logFolder + "/appendonly.aof.1.incr.aof"
	snapshot = "dump.rdb"
)

func master(slots string) string { return fmt.Sprintf(line, "master", slots) + peer + vars }

// folderOf creates a folder with files. A name that ends with / is a directory.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), string(Home))
	for name, text := range files {
		path := filepath.Join(folder, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o700))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return folder
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestAServerContinuesOnlyAsTheNodeWhoseDataItHas(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		aside string // part of the reason why the folder is renamed; empty if the server may start with it
	}{
		"no folder":                         {nil, ""},
		"an empty folder":                   {map[string]string{"/": ""}, ""},
		"a first start that was cut off":    {map[string]string{nodesFile: master("")}, ""},
		"the same, before a line was there": {map[string]string{nodesFile: ""}, ""},
		"the same, within the log":          {map[string]string{nodesFile: master(""), logFolder + "/": ""}, ""},
		"a primary":                         {map[string]string{nodesFile: master(" 0-5460"), manifest: "x", logFile: ""}, ""},
		"a replica":                         {map[string]string{nodesFile: replica + peer, manifest: "x"}, ""},
		"a log of no node":                  {map[string]string{manifest: "x", logFile: "x"}, ""},
		"an empty list of the log, which servers refuse": {map[string]string{nodesFile: master(" 0-5460"), manifest: ""}, ""},
		"a primary without data":                         {map[string]string{nodesFile: master(" 0-5460 [5460->-" + other + "]")}, "primary of 5461 slots"},
		"a primary of one slot without data":             {map[string]string{nodesFile: master(" 7")}, "primary of 1 slots"},
		"a replica without data":                         {map[string]string{nodesFile: replica + peer}, "replica of " + other},
		"a primary with an empty log":                    {map[string]string{nodesFile: master(" 0-5460"), logFolder + "/": ""}, "lost its append-only file"},
		"a primary with some of its log":                 {map[string]string{nodesFile: master(" 0-5460"), logFile: "x"}, "lost its append-only file"},
		"a primary with only a snapshot":                 {map[string]string{nodesFile: master(" 0-5460"), snapshot: "x"}, "lost its append-only file"},
		"a new node with some of a log":                  {map[string]string{nodesFile: master(""), logFile: "x"}, "without a manifest"},
		"some of a log, and nothing else":                {map[string]string{logFile: "x"}, "without a manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := look(folderOf(t, test.files))
			why := decide(found)
			if err != nil || (why == "") != (test.aside == "") || !strings.Contains(why, test.aside) {
				t.Errorf("expected %q, got %q, error %v", test.aside, why, err)
			}
		})
	}
}

func TestAnUnreadableFolderIsAnError(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"nodes.conf is a directory": {nodesFile + "/": ""},
		"nodes.conf is cut off":     {nodesFile: master(" 0-5460")[:70]},
		"nodes.conf is no table":    {nodesFile: "what is this\n"},
		"the log is a file":         {nodesFile: master(" 0-5460"), logFolder: "x"},
	} {
		folder := folderOf(t, files)
		if _, err := look(folder); err == nil {
			t.Errorf("%s: expected an error", name)
		}
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("%s: expected the folder to stay: %v", name, err)
		}
	}
}

func TestFoldersThatArePutAsideAreKept(t *testing.T) {
	folder := folderOf(t, nil)
	for i := range 3 {
		text := master(fmt.Sprintf(" %d", i))
		must(t, os.MkdirAll(folder, 0o700))
		must(t, os.WriteFile(filepath.Join(folder, nodesFile), []byte(text), 0o600))
		must(t, os.WriteFile(filepath.Join(folder, snapshot), []byte("x"), 0o600))
		found, err := look(folder)
		must(t, err)
		must(t, prepareFolder(folder, found, slog.New(slog.DiscardHandler)))
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("expected an empty folder, got %v, error %v", left, err)
		}
		aside := fmt.Sprintf("%s.lost-%d", folder, i+1)
		kept, err := os.ReadFile(filepath.Join(aside, nodesFile))
		if _, errOther := os.Stat(filepath.Join(aside, snapshot)); err != nil || errOther != nil || string(kept) != text {
			t.Errorf("expected the whole folder in %s: %q, errors %v, %v", aside, kept, err, errOther)
		}
	}
}
