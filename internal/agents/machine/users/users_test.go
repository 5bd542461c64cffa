// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package users

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAccountsAreThoseOfLogins(t *testing.T) {
	passwd := "root:x:0:0:root:/root:/bin/bash\ncore:x:1000:1001::/home/core:/bin/sh\ncore:x:1:1::/:/bin/sh\n+nis::::::\n#a:x:1:1:::\nshort:x:1\nneg:x:-1:0:::\nfar:x:4294967295:0:::\nlast:x:7:7::/:/bin/sh"
	got := Parse(passwd, "root:x:0:\ndisk:x:6:core\nbad:x:y:\n")
	want := Accounts{
		Users:  map[string]User{"root": {0, 0, "/root"}, "core": {1000, 1001, "/home/core"}, "last": {7, 7, "/"}},
		Groups: map[string]int{"root": 0, "disk": 6},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if file, ok := got.Users["core"].KeysFile(); !ok || file != "/home/core/.ssh/authorized_keys" {
		t.Errorf("expected the file of core's keys, got %q", file)
	}
	if _, ok := got.Users["last"].KeysFile(); ok {
		t.Error("expected a user with home / to have no file for keys, because /.ssh would belong to no one")
	}
}

func TestForeignLinesStayByteForByte(t *testing.T) {
	for _, file := range []string{"", "ssh-rsa A a", "ssh-rsa A a\n", "\n\n# x\nssh-rsa A\r\n", begin, begin + "x\n", end, begin + "x\n" + strings.TrimSpace(end)} {
		with := SetKeys(file, "k1\nk2\n")
		if got := Keys(with); got != "k1\nk2\n" {
			t.Errorf("%q: expected opcrew's keys, got %q", file, got)
		}
		if again := SetKeys(with, "k1\nk2\n"); again != with {
			t.Errorf("%q: expected no change when the keys are equal, got %q", file, again)
		}
		if got := SetKeys(SetKeys(with, "k3\n"), ""); got != file {
			t.Errorf("expected %q to be as before, got %q", file, got)
		}
	}
	edited := SetKeys("a\n"+SetKeys("b\n", "k\n"), "new\n")
	if want := "a\n" + begin + "new\n" + end + "b\n"; edited != want {
		t.Errorf("expected the block to stay where an administrator moved it, got %q", edited)
	}
}

func TestOnlyTheHashOfTheUserChanges(t *testing.T) {
	const shadow = "root:*:1::::::\ncore:!:2:0:99999:7:::\ncore2:x:3::::::\nodd\nlast:y:"
	for user, want := range map[string]string{"root": "*", "core": "!", "core2": "x", "last": "y"} {
		got, found := Hash(shadow, user)
		if got != want || !found {
			t.Errorf("%s: expected %q, got %q", user, want, got)
		}
		changed := SetHash(shadow, user, "$6$new")
		if back := SetHash(changed, user, want); back != shadow || changed == shadow {
			t.Errorf("%s: expected the file as before, got %q after %q", user, back, changed)
		}
	}
	for _, user := range []string{"odd", "", "re", "cor", "x"} {
		if _, found := Hash(shadow, user); found || SetHash(shadow, user, "z") != shadow {
			t.Errorf("%q: expected no such user", user)
		}
	}
	if SetHash(shadow, "core", "a:b") != shadow || SetHash(shadow, "core", "a\nroot::") != shadow {
		t.Error("expected a hash with a colon or line break to be refused")
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("a\n"+begin+"b\n"+end+"c", "k\n")
	f.Fuzz(func(t *testing.T, file, line string) {
		line = strings.ReplaceAll(line, "\n", "") + "\n"
		if line == end || line == begin {
			return
		}
		old := Keys(file)
		with := SetKeys(file, line)
		if Keys(with) != line {
			t.Errorf("%q: the keys are %q", file, Keys(with))
		}
		if _, _, found := block(file); SetKeys(with, old) != file && (old != "" || !found) {
			t.Errorf("%q is not as before: %q", file, SetKeys(with, old))
		}
	})
}

func FuzzShadow(f *testing.F) {
	f.Add("root:*:1::::::\ncore:!:2:\n", "core", "x")
	f.Fuzz(func(t *testing.T, shadow, user, hash string) {
		old, found := Hash(shadow, user)
		if !found || strings.ContainsAny(hash+user, ":\n") {
			return
		}
		if back := SetHash(SetHash(shadow, user, hash), user, old); back != shadow {
			t.Errorf("%q is not as before: %q", shadow, back)
		}
	})
}

func TestTheLockOfTheUserFilesExcludesOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lock")
	unlock, err := Lock(context.Background(), file)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, file); err == nil {
		t.Error("expected the lock to be held")
	}
	unlock()
	second, err := Lock(context.Background(), file)
	if err != nil {
		t.Fatalf("expected the lock to be free, got %v", err)
	}
	second()
}
