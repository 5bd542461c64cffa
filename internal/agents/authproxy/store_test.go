// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package authproxy

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type shelf struct {
	*store
	logs     lockedBuffer
	override *secret
	tenant   *secret
}

func newShelf(t *testing.T) *shelf {
	s := &shelf{override: &secret{dir: t.TempDir()}, tenant: newSecret(t, "tenant:"+shaOfOne)}
	s.store = &store{directories: []string{s.override.dir, s.tenant.dir}, log: slog.New(slog.NewJSONHandler(&s.logs, nil)), metrics: newMetrics()}
	return s
}

func (s *shelf) expect(t *testing.T, user, problem string) {
	t.Helper()
	s.refresh()
	got, why := "", ""
	if set := s.current.Load(); set != nil {
		for user := range set.users {
			got += user
		}
	}
	if p := s.problem.Load(); p != nil {
		why = *p
	}
	if got != user || !strings.Contains(why, problem) || (why == "") != (problem == "") {
		t.Errorf("the user is %q with problem %q, expected %q with %q", got, why, user, problem)
	}
}

func TestTheFirstDirectoryWithAValidLineCounts(t *testing.T) {
	s := newShelf(t)
	s.expect(t, "tenant", "")
	s.override.put(t, "htpasswd", "# nothing\nada:plain")
	s.expect(t, "tenant", "")
	for _, key := range keys() {
		s.override = &secret{dir: t.TempDir()}
		s.directories[0] = s.override.dir
		s.override.put(t, key, "override:"+shaOfOne)
		s.expect(t, "override", "")
	}
	must(t, os.RemoveAll(s.override.dir))
	s.expect(t, "tenant", "")
}

func TestAReloadThatFailsKeepsTheLastGoodCredentials(t *testing.T) {
	s := newShelf(t)
	s.expect(t, "tenant", "")
	s.tenant.put(t, "htpasswd", "tenant:plain")
	s.expect(t, "tenant", "there is no valid htpasswd line")
	s.expect(t, "tenant", "there is no valid htpasswd line")
	s.tenant.put(t, "htpasswd", strings.Repeat("x", maxFileBytes+1))
	s.expect(t, "tenant", "larger than")
	must(t, os.RemoveAll(s.tenant.dir))
	s.expect(t, "tenant", "there is no valid htpasswd line")
	if strings.Contains(s.logs.String(), "plain") {
		t.Errorf("the log has a password:\n%s", s.logs.String())
	}
	must(t, os.Mkdir(s.tenant.dir, 0o755))
	s.tenant = &secret{dir: s.tenant.dir}
	s.tenant.put(t, "htpasswd", "new:"+shaOfOne)
	s.expect(t, "new", "")
}

// Regression: emptying the Secret had no effect, so all users kept their access.
func TestAnEmptiedFileRefusesEveryone(t *testing.T) {
	s := newShelf(t)
	s.expect(t, "tenant", "")
	s.tenant.put(t, "htpasswd", "# no user\n")
	s.expect(t, "", "a credentials file has no user")
	s.tenant.put(t, "htpasswd", "new:"+shaOfOne)
	s.expect(t, "new", "")
}

func TestAnOverrideThatCannotBeReadIsNotSkipped(t *testing.T) {
	s := newShelf(t)
	must(t, os.Mkdir(filepath.Join(s.override.dir, "htpasswd"), 0o755))
	s.expect(t, "", "is a directory")
	must(t, os.Remove(filepath.Join(s.override.dir, "htpasswd")))
	s.expect(t, "tenant", "")
}

func TestUnchangedFilesAreNotReadAgain(t *testing.T) {
	s := newShelf(t)
	for range 3 {
		s.expect(t, "tenant", "")
	}
	if n := s.metrics.reloads.Load(); n != 1 {
		t.Errorf("%d readings, expected 1", n)
	}
	s.tenant.put(t, "htpasswd", "tenant:"+shaOfOne)
	s.expect(t, "tenant", "")
	if n := s.metrics.reloads.Load(); n != 2 {
		t.Errorf("%d readings after a swap, expected 2", n)
	}
}

func TestAProblemThatStaysIsLoggedOnce(t *testing.T) {
	s := newShelf(t)
	s.directories = []string{s.override.dir}
	must(t, os.Mkdir(filepath.Join(s.override.dir, "auth"), 0o755))
	for range 5 {
		s.expect(t, "", "is a directory")
	}
	if n := strings.Count(s.logs.String(), "The credentials were not loaded"); n != 1 {
		t.Errorf("%d lines of log, expected 1:\n%s", n, s.logs.String())
	}
}
