// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redissim

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/opcrew/opcrew/internal/stores/redis"
)

// banned is how long a server ignores a forgotten node that other servers mention.
const banned = time.Minute

// reads lists the commands that change nothing.
var reads = []string{"PING", "ROLE", "MEMORY", "MYID", "COUNTKEYSINSLOT", "GETKEYSINSLOT", "INFO", "GETSLOTMIGRATIONS", "DUMP", "STATUS"}

// do executes a command, or refuses it with the error of a real server.
func (n console) do(command redis.Command) (any, error) {
	words := make([]string, len(command))
	for i, word := range command {
		words[i] = fmt.Sprint(word)
	}
	name, args := words[0], words[1:]
	if name == "CLUSTER" || name == "FUNCTION" {
		name, args = words[1], words[2:]
	}
	if !slices.Contains(reads, name) && (name != "MIGRATION" || !slices.Contains(reads, args[0])) {
		n.world.changes++
	}
	known := map[string]func([]string) (any, error){
		"PING": n.ping, "ROLE": n.role, "MEMORY": n.usage, "MIGRATE": n.migrate, "ACL": n.acl, "CONFIG": n.configure,
		"MYID": n.myID, "MEET": n.meet, "SET-CONFIG-EPOCH": n.setEpoch, "BUMPEPOCH": n.bumpEpoch, "REPLICATE": n.replicate, "FAILOVER": n.failover,
		"FORGET": n.forget, "RESET": n.reset, "ADDSLOTSRANGE": n.addSlots, "SETSLOT": n.setSlot,
		"INFO": n.info, "MIGRATESLOTS": n.migrateSlots, "GETSLOTMIGRATIONS": n.getSlotMigrations, "MIGRATION": n.migration,
		"COUNTKEYSINSLOT": n.countKeys, "GETKEYSINSLOT": n.getKeys, "DUMP": n.dumpLibraries, "RESTORE": n.restoreLibraries,
	}
	if known[name] == nil {
		return nil, refuse("ERR unknown command '%s', with args beginning with: %s", name, strings.Join(args, " "))
	}
	return known[name](args)
}

func (n console) ping([]string) (any, error) { return "PONG", nil }

func (n console) myID([]string) (any, error) { return n.id, nil }

func (n console) role([]string) (any, error) {
	if n.primary == "" {
		return []any{"master", n.offset, []any{}}, nil
	}
	return []any{"slave", "", int64(0), "connected", n.offset}, nil
}

func (n console) meet(args []string) (any, error) {
	n.meets = append(n.meets, net.JoinHostPort(args[0], args[1]))
	return "OK", nil
}

func (n console) setEpoch(args []string) (any, error) {
	switch {
	case len(n.peers) > 0:
		return nil, refuse("ERR The user can assign a config epoch only when the node does not know any other node.")
	case n.epoch != 0:
		return nil, refuse("ERR Node config epoch is already non-zero")
	}
	n.epoch, _ = strconv.ParseUint(args[0], 10, 64) // tests send only numbers
	n.current = max(n.current, n.epoch)
	return "OK", nil
}

// bumpEpoch implements CLUSTER BUMPEPOCH. It changes nothing if this server alone has the highest epoch.
func (n console) bumpEpoch([]string) (any, error) {
	most := n.current
	for _, p := range n.peers {
		most = max(most, p.epoch)
	}
	if n.epoch != 0 && n.epoch == most {
		return "STILL", nil
	}
	n.bump()
	return "BUMPED", nil
}

func (n console) replicate(args []string) (any, error) {
	p := n.peers[args[0]]
	switch {
	case args[0] == n.id:
		return nil, refuse("ERR Can't replicate myself")
	case p == nil:
		return nil, refuse("ERR Unknown node %s", args[0])
	case p.primary != "":
		return nil, refuse("ERR I can only replicate a master, not a replica.")
	case n.primary == "" && (len(n.data) > 0 || !n.slots.empty()):
		n.world.violated(n.Cluster, "%s was to replicate another, and is a primary with %d keys and %d slots", n.Address, len(n.data), n.slots.count())
		return nil, refuse("ERR To set a master the node must be empty and without assigned slots.")
	}
	n.follow(p.id)
	return "OK", nil
}

// failover implements CLUSTER FAILOVER. It promotes a replica by agreement with its primary and a majority, by the
// votes of a majority (FORCE), or without votes (TAKEOVER).
func (n console) failover(args []string) (any, error) {
	if n.primary == "" {
		return nil, refuse("ERR You should send CLUSTER FAILOVER to a replica")
	}
	p := n.peers[n.primary]
	if p == nil {
		return nil, refuse("ERR I'm a replica but my master is unknown to me")
	}
	agreed, runs := len(args) == 0, n.reach(p) != nil
	switch {
	case agreed && !runs:
		return nil, refuse("ERR Master is down or failed, please use CLUSTER FAILOVER FORCE")
	case !agreed && runs:
		n.world.violated(n.Cluster, "%s got FAILOVER %s, and its primary %s runs", n.Address, args[0], p.address)
	}
	if takes := !agreed && args[0] == "TAKEOVER"; !takes && (agreed && !n.synced || !n.elected()) {
		return "OK", nil // a real server too answers OK when the failover fails later
	}
	n.promote()
	n.world.gossip(n.Cluster)
	return "OK", nil
}

func (n console) forget(args []string) (any, error) {
	p := n.peers[args[0]]
	switch {
	case args[0] == n.id:
		return nil, refuse("ERR I tried hard but I can't forget myself...")
	case p == nil:
		return nil, refuse("ERR Unknown node %s", args[0])
	case args[0] == n.primary:
		return nil, refuse("ERR Can't forget my master!")
	}
	if other := n.reach(p); other != nil && (other.leads() || len(other.data) > 0) {
		n.world.violated(n.Cluster, "%s got FORGET of %s, which holds %d slots and %d keys", n.Address, p.address, other.slots.count(), len(other.data))
	}
	delete(n.peers, args[0])
	delete(n.silent, args[0])
	n.banned[args[0]] = time.Now().Add(banned)
	return "OK", nil
}

func (n console) reset(args []string) (any, error) {
	if n.primary == "" && len(n.data) > 0 {
		n.world.violated(n.Cluster, "%s was to be reset, and is a primary with %d keys", n.Address, len(n.data))
		return nil, refuse("ERR CLUSTER RESET can't be called with master nodes containing keys")
	}
	if !n.slots.empty() {
		n.world.violated(n.Cluster, "%s was reset with %d slots", n.Address, n.slots.count())
	}
	n.follow("")
	clear(n.data)
	clear(n.peers)
	n.meets = nil
	n.heard()
	if args[0] == "HARD" {
		n.world.made++
		n.id, n.current, n.epoch = newID(n.world.made), 0, 0
	}
	return "OK", nil
}
