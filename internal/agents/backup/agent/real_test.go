// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/opcrew/opcrew/internal/agents/backup/store"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/loopback"
	"github.com/opcrew/opcrew/test/testenv/repo"
)

const patience = 60 * time.Second

// program returns the path of a program that is built separately. If the program is missing, the test is skipped.
func program(t *testing.T, parts ...string) string {
	t.Helper()
	path := repo.Path(t, append([]string{"bin"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skip("needs ", path)
	}
	return path
}

// starts runs a program until it is killed or the test ends.
func starts(t *testing.T, env []string, command ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	if filepath.Base(command[0]) == "kube" {
		cmd.Args[0] = "etcd" // the program behaves according to the name by which it is called
	}
	cmd.Env = append(os.Environ(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // the process may have ended already
		_ = cmd.Wait()         // the process may have ended already
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Args[0], said.Bytes()[max(0, said.Len()-3000):])
		}
	})
	return cmd
}

// startEtcd runs an etcd cluster with one member. Its data directory may be a restored one.
func startEtcd(t *testing.T, binary, dir, peer string) (*clientv3.Client, *exec.Cmd) {
	t.Helper()
	endpoint, cmd := startMember(t, binary, "a", dir, peer, "a="+peer)
	return serving(t, endpoint), cmd
}

func startMember(t *testing.T, binary, name, dir, peer, cluster string) (endpoint string, cmd *exec.Cmd) {
	t.Helper()
	endpoint = "http://" + loopback.Address()
	cmd = starts(t, nil, binary, "--name="+name, "--data-dir="+dir, "--listen-client-urls="+endpoint, "--advertise-client-urls="+endpoint,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster="+cluster, "--initial-cluster-token=t", "--log-level=error")
	return endpoint, cmd
}

// serving returns a client for a member, after the member is healthy.
func serving(t *testing.T, endpoint string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { _ = client.Close() })
	eventually.True(t, patience, "etcd serves", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Get(ctx, "x")
		return err
	})
	return client
}

// fill writes keys, deletes some of them, and attaches a lease to one. It compacts the revision history at the revision
// of a deletion, because etcd releases differ in what they keep of such a revision. It returns the number of keys and
// the current revision.
func fill(t *testing.T, c *clientv3.Client) (keys, revision int64) {
	t.Helper()
	lease, err := c.Grant(t.Context(), 3600)
	must(t, err)
	_, err = c.Put(t.Context(), "leased", "x", clientv3.WithLease(lease.ID))
	must(t, err)
	for i := range 60 {
		_, err := c.Put(t.Context(), fmt.Sprintf("key%d", i%40), strings.Repeat("x", 1000))
		must(t, err)
	}
	gone, err := c.Delete(t.Context(), "key7")
	must(t, err)
	_, err = c.Compact(t.Context(), gone.Header.Revision, clientv3.WithCompactPhysical())
	must(t, err)
	_, err = c.Put(t.Context(), "after", "x")
	must(t, err)
	_, err = c.Delete(t.Context(), "key8")
	must(t, err)
	all, err := c.Get(t.Context(), "", clientv3.WithPrefix(), clientv3.WithCountOnly())
	must(t, err)
	return all.Count, all.Header.Revision
}

func newReal(t *testing.T, c *clientv3.Client) *bench {
	b := newBench(t, &member{endpoint: c.Endpoints()[0]})
	b.Agent = New(slog.New(slog.DiscardHandler))
	return b
}

// The strongest check is the comparison of etcd's own hash, which all releases compute in the same way.
func TestARealClusterIsSavedProvenAndRestored(t *testing.T) {
	for _, version := range append(etcd.Releases(), "") {
		t.Run("etcd "+version, func(t *testing.T) {
			t.Parallel()
			binary := program(t, "kube")
			if version != "" {
				binary = program(t, "etcd", version, "etcd")
			}
			client, cmd := startEtcd(t, binary, t.TempDir(), "http://"+loopback.Address())
			keys, revision := fill(t, client)
			b := newReal(t, client)
			saved := b.runs(b.saving(0), backup.Succeeded, "")
			if record := b.record("dir/shop"); saved.Revision != revision || record.Keys == nil || *record.Keys != keys || record.Hash == nil {
				t.Fatalf("expected revision %d and %d keys, got %+v, %+v", revision, keys, saved, record)
			}
			must(t, cmd.Process.Kill())
			v := b.runs(b.verifying(""), backup.Succeeded, "").Verification
			if v == nil || !v.KeysCompared || !v.HashCompared || v.Keys != keys || v.Revision < revision {
				t.Errorf("expected keys and hash to be compared, got %+v", v)
			}
			restoredRuns(t, b, binary, keys, revision)
		})
	}
}

func restoredRuns(t *testing.T, b *bench, binary string, keys, revision int64) {
	t.Helper()
	dir, peer := t.TempDir(), "http://"+loopback.Address()
	o := b.restoring(dir)
	o.Restore.PeerURLs, o.Restore.InitialCluster = []string{peer}, "a="+peer
	o.Restore.Above = revision + backup.DefaultBump + 5 // as if an earlier restore had reached this revision
	if r := b.runs(o, backup.Succeeded, ""); r.RestoredRevision < o.Restore.Above+backup.DefaultBump {
		t.Errorf("expected a revision that no client has seen, got %+v", r)
	}
	client, _ := startEtcd(t, binary, o.Restore.DataDir, peer)
	all, err := client.Get(t.Context(), "key", clientv3.WithPrefix(), clientv3.WithCountOnly())
	must(t, err)
	if all.Count != keys-2 || all.Header.Revision < o.Restore.Above+backup.DefaultBump {
		t.Errorf("expected %d keys, got %d at %d", keys-2, all.Count, all.Header.Revision)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if answer := <-client.Watch(ctx, "key", clientv3.WithPrefix(), clientv3.WithRev(o.Restore.Above)); answer.CompactRevision == 0 {
		t.Errorf("expected a watcher of the old cluster to have to list again, got %+v", answer)
	}
	if r := b.runs(o, backup.Succeeded, ""); !r.Again {
		t.Errorf("expected the order to be done although etcd has started, got %+v", r)
	}
}

func TestAMemberThatIsKilledWhileItIsReadIsReplacedByAnother(t *testing.T) {
	binary := program(t, "kube")
	peers := []string{"http://" + loopback.Address(), "http://" + loopback.Address(), "http://" + loopback.Address()}
	cluster := fmt.Sprintf("m0=%s,m1=%s,m2=%s", peers[0], peers[1], peers[2])
	b := newBench(t)
	processes := map[string]*exec.Cmd{}
	for i, peer := range peers {
		endpoint, cmd := startMember(t, binary, fmt.Sprintf("m%d", i), t.TempDir(), peer, cluster)
		processes[endpoint], b.members = cmd, append(b.members, &member{endpoint: endpoint})
	}
	client := serving(t, b.members[0].endpoint)
	for i := range 40 { // more data than the buffers of a connection can hold
		_, err := client.Put(t.Context(), fmt.Sprintf("key%d", i), strings.Repeat("x", 1<<20))
		must(t, err)
	}
	b.Agent = New(slog.New(slog.DiscardHandler))
	killed := ""
	b.Open = watched(func(log string) {
		if killed == "" {
			killed = log
			must(t, processes[log].Process.Kill())
		}
	}, b)
	r := b.runs(b.saving(0), backup.Succeeded, "")
	if record := b.record("dir/shop"); killed == "" || record.Member == killed || r.Size < 40<<20 {
		t.Errorf("expected another member than %s to be read, got %+v", killed, record)
	}
	if v := b.runs(b.verifying(""), backup.Succeeded, "").Verification; v.Keys != 40 || !v.HashCompared {
		t.Errorf("got %+v", v)
	}
}

// watched returns a function that opens a store. When a snapshot is saved to this store and its first bytes arrive, the
// store passes the endpoint of the member that sends the snapshot to report.
func watched(report func(endpoint string), b *bench) func(context.Context, backup.Target) (store.Store, string, error) {
	reading := ""
	b.Log = slog.New(slog.NewJSONHandler(writerFunc(func(line []byte) {
		var said struct{ Msg, Endpoint string }
		if json.Unmarshal(line, &said) == nil && said.Msg == "Saving" {
			reading = said.Endpoint
		}
	}), nil))
	return func(ctx context.Context, t backup.Target) (store.Store, string, error) {
		s, key, err := store.Open(ctx, t)
		return slow{s, func() { report(reading) }}, key, err
	}
}

type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) { w(p); return len(p), nil }

// slow is a store that calls act during Put, after the first bytes of a snapshot have arrived and before the object is
// written.
type slow struct {
	store.Store
	act func()
}

func (s slow) Put(ctx context.Context, key string, content io.Reader) error {
	if strings.HasSuffix(key, ".meta.json") {
		return s.Store.Put(ctx, key, content)
	}
	var first [1024]byte
	n, err := io.ReadFull(content, first[:])
	if err != nil {
		return err
	}
	s.act()
	return s.Store.Put(ctx, key, io.MultiReader(bytes.NewReader(first[:n]), content))
}

// The record of the backup comes from another cluster, so it does not match the data.
func TestTheDataOfEtcdIsComparedWithTheRecord(t *testing.T) {
	client, _ := startEtcd(t, program(t, "kube"), t.TempDir(), "http://"+loopback.Address())
	fill(t, client)
	b := newReal(t, client)
	b.runs(b.saving(0), backup.Succeeded, "")
	good := b.record("dir/shop")
	for words, change := range map[string]func(*backup.Meta){
		"the hash of the backup is": func(m *backup.Meta) {
			m.Hash = &backup.Hash{Value: m.Hash.Value + 1, CompactRevision: m.Hash.CompactRevision}
		},
		"the backup has ":             func(m *backup.Meta) { more := *m.Keys + 1; m.Keys = &more },
		"the backup ends at revision": func(m *backup.Meta) { m.Revision += 1000 },
	} {
		m := good
		change(&m)
		b.put("dir/shop", b.content("dir/shop"), &m)
		b.runs(b.verifying(""), backup.Failed, backup.ReasonCorrupt, words)
	}
}

func TestAWholeSnapshotThatIsNoDatabaseIsReported(t *testing.T) {
	b := newBench(t)
	b.Agent = New(slog.New(slog.DiscardHandler))
	b.object("dir/shop", 9) // random bytes with a correct hash
	dir := t.TempDir()
	b.runs(b.restoring(dir), backup.Failed, backup.ReasonNotRestorable)
	empty(t, dir)
	wrong := b.restoring(dir)
	wrong.Restore.InitialCluster = "b=http://127.0.0.1:2380"
	b.runs(wrong, backup.Failed, backup.ReasonMemberInvalid, "couldn't find local name")
	b.runs(b.verifying(""), backup.Failed, backup.ReasonNotRestorable)
}

// The test uses a real S3 server. In contrast to a test library, it checks signatures and the parts of uploads.
func TestARealS3ServerIsSavedTo(t *testing.T) {
	binary, root := program(t, "versitygw"), t.TempDir()
	must(t, os.Mkdir(filepath.Join(root, "backups"), 0o700))
	address := loopback.Address()
	starts(t, []string{"ROOT_ACCESS_KEY=access", "ROOT_SECRET_KEY=secretkey"}, binary, "--port", address, "--quiet", "posix", root)
	eventually.True(t, patience, "the server listens", func() error {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			_ = connection.Close() // an error of Close does not matter: the test only checks that the port is open
		}
		return err
	})
	m := newMember(t, 9)
	m.database = database(9, 30<<20/512)
	b := newBench(t, m)
	o := b.saving(1)
	o.Target = backup.Target{Type: backup.S3, Path: "backups/dir/shop", Endpoint: "http://" + address, ForcePathStyle: true, SecretDir: credentials(t, "secretkey")}
	o.Save.Keep = 1
	b.runs(o, backup.Succeeded, "")
	m.revision, o.Save.Time = 10, day(2)
	if r := b.runs(o, backup.Succeeded, ""); r.Pruned != 1 || r.Object != "backups/"+named(10, 2) {
		t.Errorf("got %+v", r)
	}
	m.fault, o.Save.Time = breaks, day(3)
	b.runs(o, backup.Failed, backup.ReasonEtcdRefused)
	verify := o
	verify.Save, verify.Verify = nil, &backup.Verify{ScratchDir: t.TempDir()}
	if r := b.runs(verify, backup.Succeeded, ""); r.Object != "backups/"+named(10, 2) {
		t.Errorf("got %+v", r)
	}
	o.Target.SecretDir = credentials(t, "anothersecret")
	b.runs(o, backup.Failed, backup.ReasonAccessDenied, "SignatureDoesNotMatch")
	o.Target.SecretDir, o.Target.Path = verify.Target.SecretDir, "none/shop"
	b.runs(o, backup.Failed, backup.ReasonBucketMissing, "S3 bucket none")
}

func credentials(t *testing.T, secret string) string {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "credentials"), []byte("[default]\naws_access_key_id = access\naws_secret_access_key = "+secret+"\n"), 0o600))
	return dir
}
