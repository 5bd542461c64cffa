// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/opcrew/opcrew/internal/stores/redis/clusternodes"
)

// scripted is a store of servers with prepared answers. It records the commands that the servers receive.
type scripted struct {
	mu sync.Mutex
	// keys holds the keys that are left at the source of a move, by slot.
	keys map[int][]any
	got  []string
	// fails is a word of the command that should fail.
	fails string
	// jobs holds the successive states of a slot migration job. The last state is repeated. Without states, the servers
	// have no jobs.
	jobs []string
	job  string
	// replication is the answer to INFO. The default describes a primary whose replica has all data.
	replication string
	// sizes holds the sizes of keys that do not have the default size.
	sizes map[any]int64
	// role is the answer to ROLE; "" means master.
	role string
	// nodes is the answer to CLUSTER NODES. By default a:1 owns all slots.
	nodes string
	// dump is the answer to FUNCTION DUMP. refuses holds error answers, by a word of the refused command.
	dump    string
	refuses map[string]string
	// calls counts the round trips. setting is how long a SETSLOT blocks its connection.
	calls   int
	setting time.Duration
	// task holds the successive states of a slot migration job of Redis. The last state is repeated.
	task []string
}

// ownTable is a node table in which a:1 owns all slots.
const ownTable = "a:1 10.0.0.1:1@2 master - 0 0 1 connected 0-16383\nb:1 10.0.0.2:1@2 myself,master - 0 0 2 connected\n"

// sheltered is the answer to INFO replication from a primary whose replica has all data.
const sheltered = "role:master\r\nslave0:ip=c,port=2,state=online,offset=5000000,lag=0\r\nmaster_repl_offset:5000000\r\n"

// questions returns words by which scripted recognizes commands that only read. It does not record these commands.
func questions() []string {
	return []string{"MYID", "MEMORY USAGE", "GETKEYSINSLOT", "COUNTKEYSINSLOT", "GETSLOTMIGRATIONS", "INFO", "ROLE", "STATUS"}
}

func (s *scripted) Status(_ context.Context, address string) (NodeStatus, error) {
	nodes, err := clusternodes.Parse(cmp.Or(s.nodes, ownTable))
	status := NodeStatus{ID: address, Role: Primary, ClusterOK: true}
	for _, node := range nodes {
		peer := Peer{ID: node.ID, Address: node.Address, Role: Primary, ConfigEpoch: node.Epoch, Failed: node.Is("fail")}
		if node.Is("slave") {
			peer.Role = Replica
		}
		for _, slots := range node.Slots {
			peer.Slots = append(peer.Slots, SlotRange(slots))
		}
		status.Known = append(status.Known, peer)
	}
	return status, err
}

func (s *scripted) Do(ctx context.Context, address string, commands ...Command) ([]any, error) {
	for _, command := range commands {
		if len(command) > 1 && command[1] == "SETSLOT" {
			time.Sleep(s.setting)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	var out []any
	for _, command := range commands {
		line := strings.TrimSpace(fmt.Sprintln(append([]any{address}, command...)...))
		if s.fails != "" && strings.Contains(line, s.fails) {
			return out, errors.New("connection reset by peer")
		}
		if !slices.ContainsFunc(questions(), func(word string) bool { return strings.Contains(line, word) }) {
			s.got = append(s.got, line)
		}
		for word, text := range s.refuses {
			if strings.Contains(line, word) {
				return out, &Refusal{Text: text}
			}
		}
		answer := s.answer(address, command)
		if refusal, ok := answer.(*Refusal); ok {
			return out, refusal
		}
		out = append(out, answer)
	}
	return out, ctx.Err()
}

func (s *scripted) answer(address string, command Command) any {
	switch {
	case command[0] == "INFO":
		return cmp.Or(s.replication, sheltered)
	case command[0] == "ROLE":
		return []any{cmp.Or(s.role, "master")}
	case command[0] == "MEMORY":
		return cmp.Or(s.sizes[command[2]], int64(1000))
	case command[0] == "MIGRATE":
		moved := command[slices.Index(command, "KEYS")+1:]
		for slot, keys := range s.keys {
			s.keys[slot] = slices.DeleteFunc(keys, func(key any) bool { return slices.Contains(moved, key) })
		}
	case command[1] == "DUMP":
		return s.dump
	case command[1] == "COUNTKEYSINSLOT":
		return int64(len(s.keys[command[2].(int)]))
	case command[1] == "MYID":
		return address
	case command[1] == "GETKEYSINSLOT":
		return slices.Clone(s.keys[command[2].(int)])
	default:
		return s.answerJobs(command)
	}
	return "OK"
}

func (s *scripted) answerJobs(command Command) any {
	switch {
	case command[1] == "MIGRATESLOTS" && s.jobs != nil:
		s.job = strings.ReplaceAll(strings.Trim(fmt.Sprint(command[3:len(command)-2]...), "[]"), " ", "-")
	case command[1] == "GETSLOTMIGRATIONS":
		state := s.jobs[0]
		s.jobs = s.jobs[min(1, len(s.jobs)-1):]
		return []any{
			[]any{"operation", "EXPORT", "slot_ranges", s.job, "target_node", "b:1", "state", state, "message", "because"},
			[]any{"operation", "EXPORT", "slot_ranges", s.job, "target_node", "b:1", "state", "failed", "message", "an earlier one"},
		}
	case command[1] == "MIGRATION" && s.task == nil:
		return &Refusal{Text: "ERR unknown subcommand 'MIGRATION'. Try CLUSTER HELP."}
	case command[1] == "MIGRATION" && command[2] == "IMPORT":
		return "task-1"
	case command[1] == "MIGRATION" && command[2] == "STATUS":
		state := s.task[0]
		s.task = s.task[min(1, len(s.task)-1):]
		return []any{[]any{"id", "task-1", "slots", "0-4", "source", "a:1", "dest", "b:1", "operation", "import", "state", state, "last_error", "because"}}
	case command[1] == "MIGRATESLOTS":
		return &Refusal{Text: "ERR unknown subcommand 'MIGRATESLOTS'. Try CLUSTER HELP."}
	}
	return "OK"
}

func (s *scripted) Credentials() Credentials { return Credentials{User: "u", Password: "p"} }

func (s *scripted) Close() error { return nil }

var shop = types.NamespacedName{Namespace: "shop", Name: "rec"}

func plan(slots ...int) MoveSlots {
	return MoveSlots{Goal: 3, Moves: []Move{between("a", "b", slots...)}}
}

// between returns a move of slots from one server to another.
func between(from, to string, slots ...int) Move {
	return Move{From: End{Address: from + ":1", ID: from + ":1"}, To: End{Address: to + ":1", ID: to + ":1"}, Slots: SlotsOf(slots...)}
}

// numbers returns count consecutive slots from first.
func numbers(first, count int) []int {
	out := make([]int, count)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// probing calls do with a prober of one cluster in a synctest bubble, and then stops the prober.
func probing(t *testing.T, store *scripted, do func(p *Prober)) {
	synctest.Test(t, func(t *testing.T) {
		p := NewProber(func(Target) (Store, error) { return store, nil }, clock.RealClock{}, nil)
		p.Watch(shop, Target{Nodes: []Node{{Address: "a:1"}}})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- p.Start(ctx) }()
		go func() {
			for {
				select {
				case <-p.Events():
				case <-ctx.Done():
					return
				}
			}
		}()
		synctest.Wait()
		do(p)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
