// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshfiles

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
)

// pod simulates a pod that runs a Keeper. Its Secret is mounted as a kubelet would mount it.
type pod struct {
	*testing.T
	dir    string
	log    bytes.Buffer
	keeper *Keeper
	swaps  int
}

func newPod(t *testing.T, require ...string) *pod {
	p := &pod{T: t, dir: t.TempDir()}
	p.must(os.Mkdir(p.path("secret"), 0o777))
	p.restart(require...)
	return p
}

// restart simulates a new process with an empty log and the same files.
func (p *pod) restart(require ...string) {
	p.log.Reset()
	options := Options{From: p.path("secret"), To: p.path("live"), InPlace: p.path("home"), Require: require}
	p.keeper = New(options, clock.RealClock{}, slog.New(slog.NewJSONHandler(&p.log, nil)))
}

// mount updates the mounted Secret to a new version.
func (p *pod) mount(files map[string]string) {
	p.Helper()
	p.swaps++
	version := fmt.Sprintf("..version-%d", p.swaps)
	p.must(os.Mkdir(p.path("secret", version), 0o777))
	for name, content := range files {
		p.must(os.WriteFile(p.path("secret", version, name), []byte(content), 0o640))
		_ = os.Remove(p.path("secret", name))
		p.must(os.Symlink(filepath.Join("..data", name), p.path("secret", name)))
	}
	p.must(os.Symlink(version, p.path("secret", "..next")))
	p.must(os.Rename(p.path("secret", "..next"), p.path("secret", data)))
}

func (p *pod) path(names ...string) string {
	return filepath.Join(append([]string{p.dir}, names...)...)
}

func (p *pod) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

func (p *pod) has(dir, name, content string, mode fs.FileMode) {
	p.Helper()
	got, err := os.ReadFile(p.path(dir, name))
	p.must(err)
	info, err := os.Stat(p.path(dir, name))
	p.must(err)
	if string(got) != content || info.Mode().Perm() != mode {
		p.Errorf("%s/%s: expected %q with mode %o, got %q with %o", dir, name, content, mode, got, info.Mode().Perm())
	}
}

func TestPrivateFilesAreForTheirOwnerOnlyAndPublicOnesForAll(t *testing.T) {
	p := newPod(t)
	p.mount(map[string]string{"identity": "a key", "identity.pub": "pub", "authorized_keys": "them", "known_hosts": "hosts", "ssh_host_ed25519_key": "host"})
	p.keeper.look()
	for _, dir := range []string{"live", "home"} {
		p.has(dir, "identity", "a key", 0o600)
		p.has(dir, "ssh_host_ed25519_key", "host", 0o600)
		p.has(dir, "identity.pub", "pub", 0o644)
		p.has(dir, "authorized_keys", "them", 0o644)
		p.has(dir, "known_hosts", "hosts", 0o644)
		info, err := os.Stat(p.path(dir))
		p.must(err)
		if info.Mode().Perm() != 0o755 {
			t.Errorf("%s has mode %o, expected 755: sshd refuses files that others can put another in the place of", dir, info.Mode().Perm())
		}
	}
}

func TestTheLogHasTheDigestOfTheFiles(t *testing.T) {
	p := newPod(t)
	p.mount(map[string]string{"authorized_keys": "old"})
	p.keeper.look()
	old := sshkeys.Digest(map[string][]byte{"authorized_keys": []byte("old")})
	if got := sshkeys.Served(p.log.String()); got != old {
		t.Errorf("expected %s to be logged, got %q", old, got)
	}
	lines := strings.Count(p.log.String(), "\n")
	p.keeper.look()
	if got := strings.Count(p.log.String(), "\n"); got != lines {
		t.Error("expected no second log line while nothing changes")
	}
	p.mount(map[string]string{"authorized_keys": "old\nnew"})
	p.keeper.look()
	p.has("live", "authorized_keys", "old\nnew", 0o644)
	if got, want := sshkeys.Served(p.log.String()), sshkeys.Digest(map[string][]byte{"authorized_keys": []byte("old\nnew")}); got != want {
		t.Errorf("expected %s to be logged, got %q", want, got)
	}
	p.restart()
	p.keeper.look()
	if sshkeys.Served(p.log.String()) == "" {
		t.Error("expected a restarted agent to log at once, because its log is new")
	}
}

func TestADigestDiffersWithNamesAndContents(t *testing.T) {
	seen := map[string]bool{}
	for _, files := range []map[string]string{{}, {"a": ""}, {"a": "b"}, {"b": "a"}, {"a": "b", "c": ""}, {"a": "b\"c\" 0\n"}} {
		view := map[string][]byte{}
		for name, content := range files {
			view[name] = []byte(content)
		}
		if digest := sshkeys.Digest(view); seen[digest] {
			t.Errorf("the digest of %v is that of another", files)
		} else {
			seen[digest] = true
		}
	}
}

func TestTheLastDigestOfTheLogCounts(t *testing.T) {
	for name, test := range map[string]struct{ log, want string }{
		"nothing":             {"", ""},
		"other lines":         {`{"msg":"Starting"}` + "\nSegmentation fault\n", ""},
		"one":                 {`{"msg":"Serving","digest":"a"}` + "\n", "a"},
		"the last of several": {`{"msg":"Serving","digest":"a"}` + "\n" + `{"msg":"Serving","digest":"b"}` + "\n" + `{"msg":"The files differ from the Secret"}`, "b"},
		"half a line":         {`{"msg":"Serving","digest":"a"}` + "\n" + `{"msg":"Serving","dig`, "a"},
	} {
		if got := sshkeys.Served(test.log); got != test.want {
			t.Errorf("%s: expected %q, got %q", name, test.want, got)
		}
	}
}

func TestNoFileIsWrittenWithoutTheRequiredOnes(t *testing.T) {
	p := newPod(t, "identity")
	p.mount(map[string]string{"known_hosts": "hosts"})
	p.keeper.look()
	if Check(p.keeper.options) == nil || sshkeys.Served(p.log.String()) != "" {
		t.Error("expected nothing to be served without a private key")
	}
	if !strings.Contains(p.log.String(), "missing are identity") {
		t.Errorf("expected the missing file to be logged, got %s", p.log.String())
	}
	p.mount(map[string]string{"known_hosts": "hosts", "identity": "a key"})
	p.keeper.look()
	if err := Check(p.keeper.options); err != nil {
		t.Errorf("expected the files to be there, got %v", err)
	}
}

// The deletion of the Secret must not lock out any user.
func TestFilesStayWhenTheSecretLosesThem(t *testing.T) {
	p := newPod(t)
	p.mount(map[string]string{"identity": "a key", "known_hosts": "hosts"})
	p.keeper.look()
	p.mount(map[string]string{"known_hosts": "more hosts"})
	p.keeper.look()
	p.has("live", "identity", "a key", 0o600)
	p.has("live", "known_hosts", "more hosts", 0o644)
	p.must(os.RemoveAll(p.path("secret")))
	p.keeper.look()
	p.keeper.look()
	p.has("live", "identity", "a key", 0o600)
	if got := strings.Count(p.log.String(), "The files differ from the Secret"); got != 1 {
		t.Errorf("expected the problem to be logged once, got %d times", got)
	}
}

func TestAFileThatIsMountedByItselfIsChangedInPlace(t *testing.T) {
	p := newPod(t)
	p.mount(map[string]string{"identity": "a long old key"})
	p.keeper.look()
	mounted, err := os.Open(p.path("home", "identity"))
	p.must(err)
	defer mounted.Close()
	p.mount(map[string]string{"identity": "a new key"})
	p.keeper.look()
	got := make([]byte, 100)
	n, _ := mounted.ReadAt(got, 0)
	if string(got[:n]) != "a new key" {
		t.Errorf("expected who has the file open to read the new key, got %q", got[:n])
	}
}

func TestAFileInItsDirectoryIsReplacedAtomically(t *testing.T) {
	p := newPod(t)
	p.mount(map[string]string{"identity": "an old key"})
	p.keeper.look()
	reading, err := os.Open(p.path("live", "identity"))
	p.must(err)
	defer reading.Close()
	p.mount(map[string]string{"identity": "a new key"})
	p.keeper.look()
	got := make([]byte, 100)
	n, _ := reading.Read(got)
	if string(got[:n]) != "an old key" {
		t.Errorf("expected who has begun to read to have the old key whole, got %q", got[:n])
	}
	p.has("live", "identity", "a new key", 0o600)
}

// The client container runs the user's image. It may see the host key of its own host, but not the seed, from which the
// keys of all hosts are derived.
func TestAClientGetsItsOwnHostKeyAndNeverTheSeed(t *testing.T) {
	p := newPod(t, "authorized_keys", sshkeys.SeedFile)
	p.keeper.options.Host = "ops-client-1"
	p.mount(map[string]string{"authorized_keys": "them"})
	p.keeper.look()
	if Check(p.keeper.options) == nil {
		t.Error("expected nothing to be served before the seed is there: sshd would start without a host key")
	}
	p.mount(map[string]string{"authorized_keys": "them", sshkeys.SeedFile: "a seed"})
	p.keeper.look()
	own, err := sshkeys.HostFiles([]byte("a seed"), "ops-client-1")
	p.must(err)
	p.has("live", "ssh_host_ed25519_key", string(own["ssh_host_ed25519_key"]), 0o600)
	p.has("live", "ssh_host_ed25519_key.pub", string(own["ssh_host_ed25519_key.pub"]), 0o644)
	own["authorized_keys"] = []byte("them")
	if got, want := sshkeys.Served(p.log.String()), sshkeys.Digest(own); got != want {
		t.Errorf("expected the digest %s of the own files to be logged, got %q", want, got)
	}
	for _, dir := range []string{"live", "home"} {
		if _, err := os.Stat(p.path(dir, sshkeys.SeedFile)); err == nil {
			t.Errorf("%s has the seed: a client could derive the host keys of all others", dir)
		}
	}
}

func TestHostKeysAreDerivedFromTheSeedAndTheNameAlone(t *testing.T) {
	seen := map[string]string{}
	for _, from := range [][2]string{{"seed", "ops-client-0"}, {"seed", "ops-client-1"}, {"other", "ops-client-0"}} {
		private, public, err := sshkeys.HostKey([]byte(from[0]), from[1])
		p := &pod{T: t}
		p.must(err)
		if again, _, _ := sshkeys.HostKey([]byte(from[0]), from[1]); string(again) != string(private) {
			t.Errorf("%v: expected the same key each time, or a restart would change it", from)
		}
		if other, ok := seen[public]; ok {
			t.Errorf("%v has the key of %s", from, other)
		}
		seen[public] = fmt.Sprint(from)
	}
}
