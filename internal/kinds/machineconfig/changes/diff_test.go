// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package changes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig/changes"
	"github.com/opcrew/opcrew/internal/podapi/hostconfig"
)

func file(path, content string, change ...func(*hostconfig.File)) hostconfig.File {
	f := hostconfig.File{Entry: hostconfig.Entry{Path: path}, Contents: new([]byte(content))}
	for _, c := range change {
		c(&f)
	}
	return f
}

func mode(m uint32) func(*hostconfig.File) { return func(f *hostconfig.File) { f.Mode = &m } }

func files(all ...hostconfig.File) hostconfig.Config { return hostconfig.Config{Files: all} }

func units(all ...hostconfig.Unit) hostconfig.Config { return hostconfig.Config{Units: all} }

func users(all ...hostconfig.User) hostconfig.Config { return hostconfig.Config{Users: all} }

// short shows the length of a content instead of its hash.
func short(_ string, content []byte) string { return fmt.Sprintf("hash-%d", len(content)) }

func lines(all []changes.Change) string {
	var out []string
	for _, c := range all {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s: %s > %s", c.Action, c.Kind, c.Name, c.From, c.To)))
	}
	return strings.Join(out, "\n")
}

func TestDiffShowsWhatDiffers(t *testing.T) {
	empty := hostconfig.Config{}
	for name, c := range map[string]struct {
		from, to hostconfig.Config
		want     string
	}{
		"nothing, for equal configurations of different names": {hostconfig.Config{Name: "a"}, hostconfig.Config{Name: "b"}, ""},
		"a new file":                   {empty, files(file("/a", "x", mode(0o600))), "Added File /a:  > hash-1, mode 0600"},
		"an empty new file":            {empty, files(file("/a", "")), "Added File /a:  > hash-0"},
		"a removed file":               {files(file("/a", "xx")), empty, "Removed File /a: hash-2 >"},
		"a changed content":            {files(file("/a", "x")), files(file("/a", "yy")), "Changed File /a: hash-1 > hash-2"},
		"a changed mode only":          {files(file("/a", "x", mode(0o644))), files(file("/a", "x", mode(0o600))), "Changed File /a: mode 0644 > mode 0600"},
		"a mode that is no longer set": {files(file("/a", "x", mode(0o644))), files(file("/a", "x")), "Changed File /a: mode 0644 >"},
		"an owner":                     {files(file("/a", "x")), files(file("/a", "x", func(f *hostconfig.File) { f.User.ID = new(7); f.Group.Name = "ntp" })), "Changed File /a:  > user 7, group ntp"},
		"appended text":                {files(file("/a", "x")), files(file("/a", "x", func(f *hostconfig.File) { f.Append = [][]byte{[]byte("yyy")} })), "Changed File /a:  > appends hash-3"},
		"a file that becomes a link": {files(file("/a", "x")), hostconfig.Config{Links: []hostconfig.Link{{Entry: hostconfig.Entry{Path: "/a"}, Target: "/b"}}},
			"Removed File /a: hash-1 >\nAdded Link /a:  > to /b"},
		"a directory":                      {empty, hostconfig.Config{Directories: []hostconfig.Directory{{Entry: hostconfig.Entry{Path: "/a"}, Mode: new(uint32(0o1777))}}}, "Added Directory /a:  > mode 1777"},
		"a unit that is enabled":           {units(hostconfig.Unit{Name: "a.service", Contents: new("x")}), units(hostconfig.Unit{Name: "a.service", Contents: new("x"), Enabled: new(true)}), "Changed Unit a.service:  > enabled"},
		"a unit that is unmasked":          {units(hostconfig.Unit{Name: "a.service", Mask: new(true)}), units(hostconfig.Unit{Name: "a.service", Mask: new(false)}), "Changed Unit a.service: masked > unmasked"},
		"a drop-in":                        {empty, units(hostconfig.Unit{Name: "a.service", DropIns: []hostconfig.DropIn{{Name: "b.conf", Contents: "x"}}}), "Added DropIn a.service/b.conf:  > hash-1"},
		"a password, without a hash of it": {users(hostconfig.User{Name: "core", PasswordHash: new("$6$a")}), users(hostconfig.User{Name: "core", PasswordHash: new("$6$b")}), "Changed Password core: password > password"},
		"a kernel argument": {hostconfig.Config{KernelArguments: []string{"a"}}, hostconfig.Config{KernelArguments: []string{"b"}, RemovedKernelArguments: []string{"a"}},
			"Changed KernelArgument a: required once > forbidden once\nAdded KernelArgument b:  > required once"},
		"the order of kernel arguments": {hostconfig.Config{KernelArguments: []string{"a", "b"}}, hostconfig.Config{KernelArguments: []string{"b", "a"}}, "Changed KernelArgument (order): [a b] > [b a]"},
		"a repeated kernel argument": {hostconfig.Config{KernelArguments: []string{"a"}}, hostconfig.Config{KernelArguments: []string{"a", "a"}},
			"Changed KernelArgument a: required once > required 2 times"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lines(changes.Diff(c.from, c.to, short)); got != c.want {
				t.Errorf("expected the differences\n%s\ngot\n%s", c.want, got)
			}
		})
	}
}

func TestAChangeNeverContainsAContent(t *testing.T) {
	const secret = "correct horse battery staple"
	config := hostconfig.Config{
		Files: []hostconfig.File{file("/a", secret, func(f *hostconfig.File) { f.Append = [][]byte{[]byte(secret)} })},
		Units: []hostconfig.Unit{{Name: "a.service", Contents: new(secret), DropIns: []hostconfig.DropIn{{Name: "a.conf", Contents: secret}}}},
		Users: []hostconfig.User{{Name: "core", PasswordHash: new(secret), SSHAuthorizedKeys: []string{secret}}},
	}
	for _, pair := range [][2]hostconfig.Config{{{}, config}, {config, {}}} {
		all := changes.Diff(pair[0], pair[1], changes.SHA256)
		if len(all) != 5 || strings.Contains(lines(all), "horse") {
			t.Errorf("expected five changes without contents, got\n%s", lines(all))
		}
	}
	if text := lines(changes.Diff(hostconfig.Config{}, users(config.Users...), changes.SHA256)); strings.Count(text, "sha256-") != 1 {
		t.Errorf("expected a hash of the SSH key, and none of the password, got\n%s", text)
	}
}

func TestTheStatusListsTheFirstChangesAndCountsAll(t *testing.T) {
	var config hostconfig.Config
	for i := range 100 {
		config.Files = append(config.Files, file(fmt.Sprintf("/f%02d", i), "x"))
	}
	list, count := changes.Status(changes.Diff(hostconfig.Config{}, config, short))
	want := mcfgv1.Change{Kind: "File", Name: "/f00", Action: "Added", To: "hash-1"}
	if len(list) != mcfgv1.MaxChanges || count != 100 || list[0] != want || !slices.IsSortedFunc(list, func(a, b mcfgv1.Change) int { return strings.Compare(a.Name, b.Name) }) {
		t.Errorf("expected 32 of 100 changes, sorted by path, got %d of %d, beginning with %v", len(list), count, list[0])
	}
}
