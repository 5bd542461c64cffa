// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package account

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const passwd = `root:x:0:0:root:/root:/bin/bash
ada:x:1000:1000:Ada,,,:/home/ada:/bin/zsh
twin:x:1000:2000::/home/twin:/bin/sh
4711:x:1001:1001:::
+nis::::::
+::0:0:::
# a comment:x:1:1:::
broken:x:1002
far:x:4294967295:1::/:/bin/sh
neg:x:-1:1::/:/bin/sh
crlf:x:1003:1003::/home/crlf:/bin/sh` + "\r\n"

func TestAUserIsFoundByNameAndByNumber(t *testing.T) {
	for user, want := range map[string]entry{
		"root":       {"root", 0, 0, "/root", "/bin/bash"},
		"0":          {"root", 0, 0, "/root", "/bin/bash"},
		"ada":        {"ada", 1000, 1000, "/home/ada", "/bin/zsh"},
		"1000":       {"ada", 1000, 1000, "/home/ada", "/bin/zsh"},
		"4711":       {"4711", 1001, 1001, "", ""},
		"crlf":       {"crlf", 1003, 1003, "/home/crlf", "/bin/sh"},
		"nobody":     {},
		"root;id":    {},
		"$(id)":      {},
		"+nis":       {},
		"nis":        {},
		"+0":         {},
		"00":         {},
		"\t0":        {},
		"-1":         {},
		"broken":     {},
		"far":        {},
		"neg":        {},
		"x":          {},
		"":           {},
		"4294967295": {},
		"4294967296": {},
	} {
		got, found := findEntry(passwd, user)
		if got != want || found != (want != entry{}) {
			t.Errorf("%q: expected %+v, got %+v (found: %v)", user, want, got, found)
		}
	}
}

func TestGroupsAreThoseThatListTheUser(t *testing.T) {
	const group = "root:x:0:\nwheel:x:10:root,ada\nadam:x:11:adam\ndisk:x:6:ada\nbroken:x\nodd:x:-5:ada\nlast:x:99:bob,ada"
	if diff := cmp.Diff([]uint32{10, 6, 99}, groupsOf(group, "ada")); diff != "" {
		t.Error(diff)
	}
	who := entry{name: "ada", uid: 1, gid: 10}.identity(groupsOf(group, "ada"))
	want := Identity{Name: "ada", UID: 1, GID: 10, Groups: []int{10, 6, 99}, Home: "/", Shell: "/bin/sh"}
	if diff := cmp.Diff(want, who); diff != "" {
		t.Errorf("expected the user's own group once, at the beginning: %s", diff)
	}
}

func TestTheGroupsOfADirectoryServiceAreNumbersBehindTheName(t *testing.T) {
	for line, want := range map[string][]uint32{
		"ada                   10 6 99": {10, 6, 99},
		"ada":                           nil,
		"ada 10 x -1 20":                {10, 20},
	} {
		if diff := cmp.Diff(want, parseInitgroups(line, "ada")); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	}
	if diff := cmp.Diff([]uint32{10}, parseInitgroups("1000 10", "1000")); diff != "" {
		t.Errorf("expected a numeric name not to be read as a group: %s", diff)
	}
}

// FuzzFindEntry checks that a returned entry is always the requested one.
func FuzzFindEntry(f *testing.F) {
	f.Add(passwd, "ada")
	f.Add("a:x:00:0::/:/bin/sh\n", "0")
	f.Fuzz(func(t *testing.T, passwd, user string) {
		a, found := findEntry(passwd, user)
		number, numeric := parseID(user)
		if found && a.name != user && (!numeric || a.uid != number) {
			t.Errorf("%+v was found for %q", a, user)
		}
	})
}
