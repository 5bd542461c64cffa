// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
	"github.com/opcrew/opcrew/internal/agents/shared/resp"
)

func TestMain(m *testing.M) { os.Exit(redistest.Main(m)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused expects an error response with a code; "" expects no error.
func refused(t *testing.T, code string, err error) {
	t.Helper()
	refusal, _ := errors.AsType[resp.Error](err)
	if refusal.Code() != code || (err == nil) != (code == "") {
		t.Errorf("expected %q, got %v", code, err)
	}
}

func TestOnlyUsersWithAValidPasswordAreServed(t *testing.T) {
	pod := redistest.New(t)
	pod.Accept("old", "new")
	pod.Home.Start()
	ask := func(user, password string) error {
		_, err := pod.Home.As(user, password, "ACL", "WHOAMI")
		return err
	}
	for _, password := range []string{"old", "new"} {
		refused(t, "", ask("default", password))
		refused(t, "", ask(redistest.Username, password))
		refused(t, "WRONGPASS", ask("opcrew", password))
	}
	refused(t, "WRONGPASS", ask("default", "other"))
	refused(t, "WRONGPASS", ask("default", redistest.SystemPassword))
	refused(t, "WRONGPASS", ask("unknown", "new"))
	conn, err := resp.Dial(t.Context(), pod.Home.Address())
	must(t, err)
	defer conn.Close()
	_, err = conn.Do(t.Context(), "GET", "a")
	refused(t, "NOAUTH", err)

	pod.Home.Stop(syscall.SIGTERM)
	pod.Accept("new")
	pod.Home.Start()
	refused(t, "WRONGPASS", ask("default", "old"))
	refused(t, "", ask("default", "new"))
}

// led returns a pod with one server that is the primary of all slots and has one key.
func led(t *testing.T) *redistest.Pod {
	t.Helper()
	pod := redistest.New(t)
	pod.Home.Start("--memory-limit=104857600", "--announce-hostname=shop-0.shop.web.svc")
	pod.Home.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	pod.Home.Until("cluster_state:ok", "CLUSTER", "INFO")
	pod.Home.Do("SET", "a", "b")
	return pod
}

func TestAServerRunsWithItsSettings(t *testing.T) {
	pod := led(t)
	for section, want := range map[string]string{"memory": "maxmemory:78643200", "persistence": "aof_enabled:1", "cluster": "cluster_enabled:1"} {
		if info := pod.Home.Do("INFO", section); !strings.Contains(info, want) {
			t.Errorf("expected %s, got\n%s", want, info)
		}
	}
	if table := pod.Home.Do("CLUSTER", "NODES"); !strings.Contains(table, "127.0.0.1:"+strconv.Itoa(pod.Home.Port)+"@") || !strings.Contains(table, ",shop-0.shop.web.svc") {
		t.Errorf("expected its address and its name, got %s", table)
	}
	config, err := os.Stat(filepath.Join(pod.Dir, "home.conf"))
	must(t, err)
	if config.Mode().Perm() != 0o600 {
		t.Errorf("the configuration, which has a password, is %v", config.Mode())
	}
}

func TestDirectivesOfTheUserTakeEffectOrStopTheStart(t *testing.T) {
	pod := redistest.New(t)
	extra := filepath.Join(pod.Dir, "extra.conf")
	must(t, os.WriteFile(extra, []byte("maxmemory-policy allkeys-lru\n"), 0o600))
	pod.Home.Start("--extra-config=" + extra)
	if info := pod.Home.Do("INFO", "memory"); !strings.Contains(info, "maxmemory_policy:allkeys-lru") {
		t.Errorf("expected the user's policy, got\n%s", info)
	}
	must(t, os.WriteFile(extra, []byte("user evil on nopass ~* +@all\n"), 0o600))
	pod.Guest.Launch("--extra-config=" + extra)
	if code := pod.Guest.Ends(); code != 1 || !strings.Contains(pod.Guest.Log(), "the directive user is reserved") {
		t.Errorf("expected a refusal, got exit code %d and\n%s", code, pod.Guest.Log())
	}
}

func TestARefusedSettingKeepsAServerFromStartingOnlyIfTheOperatorCannotReportIt(t *testing.T) {
	pod := redistest.New(t)
	extra := filepath.Join(pod.Dir, "extra.conf")
	must(t, os.WriteFile(extra, []byte("hz 20\nmaxmemory-policy bogus\nno-such-setting 1\nsave \"\"\nproc-title-template {a b}\nmaxclients 5000\n"), 0o600))
	pod.Home.Start("--extra-config=" + extra)
	for _, name := range []string{"maxmemory-policy", "no-such-setting", "proc-title-template"} {
		if !strings.Contains(pod.Home.Log(), `"directive":"`+name+`"`) {
			t.Errorf("expected the log to report that %s is left out, got\n%s", name, pod.Home.Log())
		}
	}
	for _, want := range []string{"configured_hz:20", "maxclients:5000", "maxmemory_policy:noeviction"} {
		if info := pod.Home.Do("INFO"); !strings.Contains(info, want) {
			t.Errorf("expected %s, got\n%s", want, info)
		}
	}
	must(t, os.WriteFile(extra, []byte("hz 20\nio-threads many\n"), 0o600))
	pod.Guest.Launch("--extra-config=" + extra)
	if code := pod.Guest.Ends(); code != 1 || !strings.Contains(pod.Guest.Log(), "the server refuses the directive io-threads many") {
		t.Errorf("expected a refusal that names the directive, got exit code %d and\n%s", code, pod.Guest.Log())
	}
}

func TestANodeContinuesWithItsData(t *testing.T) {
	pod := led(t)
	id := pod.Home.Do("CLUSTER", "MYID")
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		pod.Home.Stop(signal)
		pod.Home.Start()
		pod.Home.Until("cluster_state:ok", "CLUSTER", "INFO")
		if again, value := pod.Home.Do("CLUSTER", "MYID"), pod.Home.Do("GET", "a"); again != id || value != "b" {
			t.Errorf("after signal %d, node %s is %s, and its key is %q", signal, id, again, value)
		}
	}
}

func TestAPrimaryThatLostItsDataStartsAsANewNode(t *testing.T) {
	pod := led(t)
	id := pod.Home.Do("CLUSTER", "MYID")
	pod.Home.Do("SAVE")
	pod.Home.Stop(syscall.SIGTERM)
	must(t, os.RemoveAll(filepath.Join(pod.Home.Folder(), "appendonlydir")))
	pod.Home.Start()
	if again := pod.Home.Do("CLUSTER", "MYID"); again == id {
		t.Errorf("the node is still %s", again)
	}
	if info := pod.Home.Do("CLUSTER", "INFO"); !strings.Contains(info, "cluster_slots_assigned:0") {
		t.Errorf("expected a node without slots, got\n%s", info)
	}
	if log := pod.Home.Log(); !strings.Contains(log, id+" was the primary of 16384 slots and has lost its append-only file") {
		t.Errorf("expected the reason in the output, got\n%s", log)
	}
}

// A replica without data could be elected. Its old primary would then copy the empty data.
func TestAReplicaThatLostItsDataStartsAsANewNode(t *testing.T) {
	pod := led(t)
	pod.Guest.Start()
	pod.Guest.Replicate(pod.Home) // the replica logs in with masteruser and masterauth
	id := pod.Guest.Do("CLUSTER", "MYID")

	pod.Guest.Stop(syscall.SIGKILL)
	pod.Guest.Start()
	pod.Guest.Until("master_link_status:up", "INFO", "replication")
	if again := pod.Guest.Do("CLUSTER", "MYID"); again != id {
		t.Errorf("a replica with its data is %s after a restart, was %s", again, id)
	}

	pod.Guest.Stop(syscall.SIGTERM)
	must(t, os.RemoveAll(filepath.Join(pod.Guest.Folder(), "appendonlydir")))
	pod.Guest.Start()
	if again := pod.Guest.Do("CLUSTER", "MYID"); again == id || !strings.Contains(pod.Guest.Do("INFO", "replication"), "role:master") {
		t.Errorf("the node is still %s", again)
	}
}

func TestNoReplicaCopiesAServerThatMayHaveTheAddressOfAnother(t *testing.T) {
	pod := redistest.New(t)
	copied := func(by string) {
		t.Helper()
		if answer := pod.Home.Do("ACL", "DRYRUN", "opcrew", "PSYNC", "?", "-1"); (answer == "OK") != (by == "") {
			t.Errorf("expected the copy to be blocked %q, got %q", by, answer)
		}
	}
	pod.Home.StartBlocked()
	copied("as it is new")
	pod.Home.Do("CLUSTER", "ADDSLOTSRANGE", "0", "16383")
	pod.Home.Until("cluster_state:ok", "CLUSTER", "INFO")
	pod.Home.Stop(syscall.SIGKILL)
	pod.Home.StartBlocked()
	copied("while replication is blocked")
	pod.Home.Stop(syscall.SIGKILL)
	pod.Home.Start() // Start also allows replication
	pod.Home.Stop(syscall.SIGKILL)
	pod.Home.StartBlocked()
	copied("")
	pod.Home.Stop(syscall.SIGTERM)
	pod.Home.StartBlocked("--announce-ip=127.0.0.2")
	copied("as it has another address")
	pod.Home.Stop(syscall.SIGTERM)
	must(t, os.Remove(pod.Home.Folder()+".conf"))
	pod.Home.StartBlocked("--announce-ip=127.0.0.2")
	copied("as it is in another pod")
}

// The address that a replica has stored for its primary may now belong to another server.
func TestAReplicaThatIsStartedFindsItsPrimaryByName(t *testing.T) {
	pod := led(t)
	pod.Guest.Start()
	pod.Guest.Replicate(pod.Home)
	primary := pod.Home.Do("CLUSTER", "MYID")
	pod.Guest.Stop(syscall.SIGTERM)
	pod.Home.Stop(syscall.SIGTERM)

	pod.Guest.Start()
	pod.Guest.Until(primary+" :0@0", "CLUSTER", "NODES")
	pod.Home.Start()
	pod.Guest.Until("master_link_status:up", "INFO", "replication")
	if value := pod.Guest.Do("CLUSTER", "COUNTKEYSINSLOT", "15495"); value != "1" {
		t.Errorf("expected the replica to have the key of its primary, got %s", value)
	}
}

func TestAnImageWithoutAServerIsReported(t *testing.T) {
	pod := redistest.New(t)
	pod.Path = t.TempDir()
	pod.Home.Launch()
	if code := pod.Home.Ends(); code != 1 || !strings.Contains(pod.Home.Log(), "the image contains no valkey-server and no redis-server") {
		t.Errorf("exit code %d and\n%s", code, pod.Home.Log())
	}
}
