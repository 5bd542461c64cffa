// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/opcrew/opcrew/test/e2e/etcd"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// smallQuota is a storage quota in bytes that about a hundred writes fill.
const smallQuota = 16 << 20

// withVariable adds an environment variable for etcd to the pod part of a spec.
func withVariable(how map[string]any, name, value string) map[string]any {
	out := maps.Clone(how)
	pod, _ := out["pod"].(map[string]any)
	pod = maps.Clone(pod)
	if pod == nil {
		pod = map[string]any{}
	}
	pod["etcdEnv"] = []any{map[string]any{"name": name, "value": value}}
	out["pod"] = pod
	return out
}

// fill writes one key repeatedly until etcd's storage is full. All values but the last one are history, which
// compaction can remove.
func (e *etcdTest) fill(t *testing.T) {
	t.Helper()
	eventually.True(t, 2*time.Minute, "etcd refuses a write because its storage is full", func() error {
		return e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
			for {
				_, err := c.Put(ctx, "filler", filler())
				switch {
				case errors.Is(err, rpctypes.ErrNoSpace):
					return nil
				case err != nil:
					return err
				}
			}
		})
	})
}

func filler() string { return strings.Repeat("x", 128<<10) }

// awaitNoAlarm waits until no alarm is active and etcd accepts writes.
func (e *etcdTest) awaitNoAlarm(t *testing.T) {
	t.Helper()
	eventually.True(t, 3*time.Minute, "no alarm is active, and writes succeed", func() error {
		return e.ask(t, e.serviceURL(), func(ctx context.Context, c *clientv3.Client) error {
			answer, err := c.AlarmList(ctx)
			if err == nil && len(answer.Alarms) > 0 {
				err = fmt.Errorf("the alarms are %v", answer.Alarms)
			}
			if err == nil {
				_, err = c.Put(ctx, "after", "alarm")
			}
			return err
		})
	})
}

func TestAnEtcdClusterThatIsFullIsWrittenToAgain(t *testing.T) {
	for _, version := range []string{etcd.V35, etcd.V36} {
		t.Run(version, func(t *testing.T) {
			e := newEtcdTest(t, version)
			how := withVariable(withClaims(), "ETCD_QUOTA_BACKEND_BYTES", fmt.Sprint(smallQuota))
			how["upkeep"] = map[string]any{"keepRevisions": int64(10)}
			e.create(t, asked(3, version, how))
			e.put(t, "foo", "bar")
			ids := e.memberIDs(t)
			e.fill(t)
			e.awaitNoAlarm(t)
			e.await(t, 3, version)
			if now := e.memberIDs(t); now != ids {
				t.Errorf("the members were %s and are %s", ids, now)
			}
			e.wantValue(t, "foo", "bar")
		})
	}
}

func TestAnEtcdClusterFullOfWhatIsKeptSaysSoAndTakesALargerQuota(t *testing.T) {
	e := newEtcdTest(t, etcd.V36)
	e.create(t, asked(3, etcd.V36, withVariable(withClaims(), "ETCD_QUOTA_BACKEND_BYTES", fmt.Sprint(smallQuota))))
	eventually.True(t, 3*time.Minute, "Ready reports that no data is left to give up", func() error {
		// fill writes fewer revisions than etcd retains, so only defragmentation can free space, not compaction.
		e.fill(t)
		s, _ := e.status(t)
		ready := meta.FindStatusCondition(s.Conditions, "Ready")
		if ready == nil || ready.Reason != "NoSpace" || !strings.Contains(ready.Message, "no more space can be freed") {
			return fmt.Errorf("Ready is %+v", ready)
		}
		return nil
	})
	e.wantValue(t, "filler", filler())
	e.edit(t, fmt.Sprintf(`{"pod":{"etcdEnv":[{"name":"ETCD_QUOTA_BACKEND_BYTES","value":"%d"}]}}`, 8*smallQuota))
	e.awaitNoAlarm(t)
	e.await(t, 3, etcd.V36)
}

// onNode runs a script on the node of a member. In the script, $db is the path of the member's data file.
func (e *etcdTest) onNode(t *testing.T, pod corev1.Pod, script string, in io.Reader) []byte {
	t.Helper()
	script = "set -e; etcd=" + fmt.Sprintf(process, pod.Name) + `; [ -n "$etcd" ]; db=/proc/$etcd/root/var/etcd/data/member/snap/db; ` + script
	cmd := e.program("localcluster", "node", "exec", pod.Spec.NodeName, "--", "sh", "-c", script)
	cmd.Stdin = in
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("on the node of %s: %v", pod.Name, err)
	}
	return out
}

// spoil changes a value in a member's data file but not in its log, as a bad disk could. It stops the etcd process with
// SIGSTOP, changes the file, and kills the process, so that etcd cannot overwrite the change. The kubelet restarts
// etcd.
func (e *etcdTest) spoil(t *testing.T, pod corev1.Pod, old, changed string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "db")
	if err := os.WriteFile(file, e.onNode(t, pod, `kill -STOP $etcd; cat $db`, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := spoilFile(file, []byte(old), []byte(changed)); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	e.onNode(t, pod, `cat >$db; kill -KILL $etcd`, bytes.NewReader(data))
}

// spoilFile replaces a text (old) in the last value of a data file with another text (changed) of the same length.
func spoilFile(file string, old, changed []byte) error {
	db, err := bolt.Open(file, 0o600, nil)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the change is already committed
	return db.Update(func(tx *bolt.Tx) error {
		keys := tx.Bucket([]byte("key"))
		at, value := keys.Cursor().Last()
		if !bytes.Contains(value, old) {
			return fmt.Errorf("the last value in the data file is not %q", old)
		}
		return keys.Put(bytes.Clone(at), bytes.Replace(value, old, changed, 1))
	})
}

func TestAMemberOfAnEtcdClusterWhoseDataWasChangedIsFoundAndReplaced(t *testing.T) {
	for _, who := range []string{"a follower", "the leader"} {
		t.Run(who, func(t *testing.T) {
			e := newEtcdTest(t, etcd.V36)
			how := withClaims()
			how["upkeep"] = map[string]any{"corruptionCheck": "1m"}
			e.create(t, asked(3, etcd.V36, how))
			e.put(t, "foo", "trueValue")
			time.Sleep(time.Second) // wait until the write is in the data file, not only in the log
			leader := e.leaderOf(t)
			pods := e.pods(t)
			victim := pods[slices.IndexFunc(pods, func(p corev1.Pod) bool { return p.Name != leader })]
			id := e.memberID(t, victim.Name)
			e.spoil(t, victim, "trueValue", "falseOnes")
			e.await(t, 3, etcd.V36)
			if who == "the leader" {
				e.handOver(t, leader, id)
			}
			e.awaitMemberGone(t, id)
			e.awaitNoAlarm(t)
			e.await(t, 3, etcd.V36)
			e.wantEverywhere(t, "foo", "trueValue")
		})
	}
}

// wantEverywhere checks that each member has the value for the key in its own data.
func (e *etcdTest) wantEverywhere(t *testing.T, key, value string) {
	t.Helper()
	for _, p := range e.pods(t) {
		err := e.ask(t, e.clientURL(p.Name), func(ctx context.Context, c *clientv3.Client) error {
			r, err := c.Get(ctx, key, clientv3.WithSerializable())
			if err == nil && (len(r.Kvs) != 1 || string(r.Kvs[0].Value) != value) {
				err = fmt.Errorf("the value of %s is %v", key, r.Kvs)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// leaderOf returns the name of the member that is etcd's leader.
func (e *etcdTest) leaderOf(t *testing.T) string {
	t.Helper()
	for _, p := range e.pods(t) {
		leads := false
		err := e.ask(t, e.clientURL(p.Name), func(ctx context.Context, c *clientv3.Client) error {
			r, err := c.Status(ctx, c.Endpoints()[0])
			leads = err == nil && r.Leader == r.Header.MemberId
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if leads {
			return p.Name
		}
	}
	t.Fatal("no member is the leader")
	return ""
}

// handOver transfers the leadership of the etcd cluster. leader is the name of the current leader, and to is the ID of
// the next one.
func (e *etcdTest) handOver(t *testing.T, leader string, to uint64) {
	t.Helper()
	err := e.ask(t, e.clientURL(leader), func(ctx context.Context, c *clientv3.Client) error {
		_, err := c.MoveLeader(ctx, to)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
