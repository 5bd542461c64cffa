// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/opcrew/opcrew/test/testenv/repo"
)

const (
	// ProgramVar is an environment variable with the path of the server program to test. The default is
	// bin/redis-server.
	ProgramVar = "OPCREW_REDIS_SERVER"

	// Username is the user name of the users' account.
	Username = "demo@redislabs.com"
	// Password is the password of the users' account.
	Password = "users' own"
	// SystemPassword is the password of the operator's user. It contains characters that must be quoted in a
	// configuration.
	SystemPassword = `sys"tem\ $1`

	subcommand = "redis-server"
)

// volume holds what both servers of a Pod share: directories, Secrets and the server program.
type volume struct {
	testing.TB
	Dir, Secrets string
	Path         string // directory with the server programs
}

func newVolume(t testing.TB) *volume {
	t.Helper()
	dir := t.TempDir()
	v := &volume{TB: t, Dir: dir, Secrets: filepath.Join(dir, "secrets")}
	v.program()
	return v
}

func (v *volume) put(name, text string) {
	v.Helper()
	path := filepath.Join(v.Secrets, name)
	v.must(os.MkdirAll(filepath.Dir(path), 0o700))
	v.must(os.WriteFile(path, []byte(text), 0o600))
}

// program links the server program under each of its names in a directory, and puts this directory first on PATH. No
// other server program of the machine is then used.
func (v *volume) program() {
	v.Helper()
	program := os.Getenv(ProgramVar)
	if program == "" {
		program = repo.Path(v, "bin", "redis-server")
	}
	program, err := filepath.Abs(program)
	v.must(err)
	if _, err := os.Stat(program); err != nil {
		if testing.Short() {
			v.Skip("needs a real server")
		}
		v.Fatalf("a real server is needed: run `make bin/redis-server`, or name one in %s: %v", ProgramVar, err)
	}
	path := filepath.Join(v.Dir, "path")
	v.must(os.Mkdir(path, 0o700))
	v.Path = path + ":/usr/bin:/bin" // so that the program can also be a script
	for _, name := range []string{"redis-server", "valkey-server"} {
		v.must(os.Symlink(program, filepath.Join(path, name)))
	}
}

func (v *volume) must(err error) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
}
