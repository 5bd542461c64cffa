// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisserver_test

import (
	"context"
	"net"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/opcrew/opcrew/internal/agents/shared/redistest"
	"github.com/opcrew/opcrew/internal/podapi/redispod"
)

// usersMay lists commands that applications, cluster clients and tools need, so that users may run them.
const usersMay = `GET a
SET a b
DEL a
MULTI
EXEC
WATCH a
WAIT 1 100
BLPOP a 1
EVAL
SCRIPT LOAD x
SCRIPT FLUSH
FUNCTION LOAD x
FUNCTION LIST
FUNCTION DUMP
FUNCTION RESTORE x REPLACE
FCALL f 0
PUBLISH a b
SPUBLISH a b
SUBSCRIBE a
PUBSUB CHANNELS
SCAN 0
KEYS *
SORT a
SORT_RO a
FLUSHALL
FLUSHDB
DUMP a
RESTORE a 0 x
OBJECT ENCODING a
MEMORY USAGE a
DBSIZE
INFO
ROLE
TIME
LASTSAVE
PING
HELLO 3
AUTH a
READONLY
READWRITE
ASKING
COMMAND DOCS
CLUSTER SLOTS
CLUSTER SHARDS
CLUSTER NODES
CLUSTER INFO
CLUSTER MYID
CLUSTER LINKS
CLUSTER KEYSLOT a
CLUSTER COUNTKEYSINSLOT 1
CLUSTER GETKEYSINSLOT 1 1
CLUSTER REPLICAS a
CLIENT SETNAME a
CLIENT GETNAME
CLIENT ID
CLIENT INFO
CLIENT LIST
CLIENT UNBLOCK 1
CLIENT REPLY ON
CLIENT TRACKING ON
CLIENT NO-EVICT ON
SLOWLOG GET
SLOWLOG LEN
LATENCY LATEST
ACL WHOAMI`

// usersMayNot lists commands that reveal the operator's password or can break a cluster.
const usersMayNot = `CONFIG GET masterauth
CONFIG SET masterauth x
CONFIG REWRITE
CONFIG RESETSTAT
ACL SETUSER default +@all
ACL GETUSER opcrew
ACL LIST
ACL DELUSER default
SHUTDOWN
DEBUG SLEEP 1
MODULE LOAD x
MODULE LIST
MONITOR
REPLICAOF NO ONE
FAILOVER
PSYNC a 1
SYNC
SAVE
BGSAVE
BGREWRITEAOF
MIGRATE a 1 a 0 1
RESTORE-ASKING a 0 x
SWAPDB 0 1
CLIENT KILL a
CLIENT PAUSE 1
CLUSTER FLUSHSLOTS
CLUSTER RESET
CLUSTER MEET a 1
CLUSTER FORGET a
CLUSTER REPLICATE a
CLUSTER FAILOVER
CLUSTER ADDSLOTS 1
CLUSTER DELSLOTS 1
CLUSTER SETSLOT 1 STABLE
CLUSTER SET-CONFIG-EPOCH 1
CLUSTER BUMPEPOCH
CLUSTER SAVECONFIG
SLOWLOG RESET
LATENCY RESET`

func TestUsersMayUseACommandUnlessItCanBreakTheCluster(t *testing.T) {
	pod := led(t)
	check := func(how, user string) {
		t.Helper()
		for commands, may := range map[string]bool{usersMay: true, usersMayNot: user == redispod.System} {
			for command := range strings.Lines(commands) {
				words := strings.Fields(command)
				if words[0] == "EVAL" {
					words = []string{"EVAL", "return 1", "0"}
				}
				if got := pod.Home.Do(append([]string{"ACL", "DRYRUN", user}, words...)...); (got == "OK") != may {
					t.Errorf("%s: %s: %s: expected %t, got %q", how, user, strings.TrimSpace(command), may, got)
				}
			}
		}
	}
	for _, user := range []string{"default", redistest.Username, redispod.System} {
		check("at the start", user)
	}
	refusesUsers(t, pod)

	// Earlier versions of opcrew gave every user these rights.
	pod.Home.Do("ACL", "SETUSER", "default", "~*", "&*", "+@all")
	pod.Home.Do(append([]string{"ACL", "SETUSER", "default"}, redispod.UserRules()...)...)
	check("while it runs", "default")
}

// refusesUsers expects that users may not run the commands of usersMayNot.
func refusesUsers(t *testing.T, pod *redistest.Pod) {
	t.Helper()
	for _, command := range []string{"CONFIG GET masterauth", "ACL SETUSER default +@all", "SHUTDOWN NOSAVE", "CLUSTER FLUSHSLOTS"} {
		_, err := pod.Home.As("default", redistest.Password, strings.Fields(command)...)
		refused(t, "NOPERM", err)
	}
}

func TestAClientOfTheClusterWorksWithTheRightsOfAUser(t *testing.T) {
	pod := led(t)
	client := goredis.NewClusterClient(&goredis.ClusterOptions{
		Addrs: []string{pod.Home.Address()}, Username: redistest.Username, Password: redistest.Password, ClientName: "shop", ReadOnly: true,
		// The server announces a host name that the machine of the test cannot resolve. So every connection goes to
		// the address of the server, whatever host name the client asks for.
		Dialer: dialTo(pod.Home),
	})
	defer func() { _ = client.Close() }()
	ctx := t.Context()
	pipe := client.TxPipeline()
	pipe.Set(ctx, "{n}a", 1, 0)
	count := pipe.Incr(ctx, "{n}a")
	if _, err := pipe.Exec(ctx); err != nil || count.Val() != 2 {
		t.Errorf("a transaction: got %d, error %v", count.Val(), err)
	}
	pubsub := client.Subscribe(ctx, "news")
	defer func() { _ = pubsub.Close() }()
	for name, ask := range map[string]func() error{
		"a script": func() error {
			return goredis.NewScript("return redis.call('GET', KEYS[1])").Run(ctx, client, []string{"{n}a"}).Err()
		},
		"a function": func() error {
			return client.FunctionLoad(ctx, "#!lua name=own\nredis.register_function('f', function() return 1 end)").Err()
		},
		"a channel":             func() error { _, err := pubsub.Receive(ctx); return err },
		"the table":             func() error { return client.ClusterShards(ctx).Err() },
		"all keys":              func() error { return client.Keys(ctx, "*").Err() },
		"what a server says":    func() error { return client.Info(ctx).Err() },
		"an array of the state": func() error { return client.Do(ctx, "ROLE").Err() },
		"who else is there":     func() error { return client.ClientList(ctx).Err() },
	} {
		if err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := client.ForEachMaster(ctx, func(ctx context.Context, c *goredis.Client) error { return c.FlushAll(ctx).Err() }); err != nil {
		t.Errorf("to delete all keys: %v", err)
	}
}

func dialTo(server *redistest.Server) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, server.Address())
	}
}
