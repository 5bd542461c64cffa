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
)

// scripted is a store of processes that answer what commands are given here, and note what
// they were told.
type scripted struct {
	mu sync.Mutex
	// keys are left in the slots at the importing end's other side, by slot.
	keys map[int][]any
	told []string
	// fails is a word of the command that fails.
	fails string
	// jobs are the states that a job goes through, the last for ever; without any the servers have none.
	jobs []string
	job  string
	// replication is what INFO reports it; "" has it be a primary whose replica has all.
	replication string
	// sizes are of keys that have not the usual one.
	sizes map[any]int64
	// role is what ROLE tells; "" is master.
	role string
	// nodes is what CLUSTER NODES tells; "" has a:1 own all slots.
	nodes string
	// dump is what FUNCTION DUMP tells, and refuses is what servers say to commands with a word in them.
	dump    string
	refuses map[string]string
	// calls counts round trips; each SETSLOT takes some time, in which the connection takes no other.
	calls   int
	setting time.Duration
	// task is a job of Redis: its states, the last for ever.
	task []string
}

// ownTable has a:1 own all slots.
const ownTable = "a:1 10.0.0.1:1@2 master - 0 0 1 connected 0-16383\nb:1 10.0.0.2:1@2 myself,master - 0 0 2 connected\n"

// sheltered is what INFO replication says where a replica has all.
const sheltered = "role:master\r\nslave0:ip=c,port=2,state=online,offset=5000000,lag=0\r\nmaster_repl_offset:5000000\r\n"

// questions are words of commands that change nothing, and are not noted.
func questions() []string {
	return []string{"MYID", "MEMORY USAGE", "GETKEYSINSLOT", "COUNTKEYSINSLOT", "GETSLOTMIGRATIONS", "INFO", "ROLE", "STATUS"}
}

func (s *scripted) Status(_ context.Context, address string) (NodeStatus, error) {
	table, err := parseNodes(cmp.Or(s.nodes, ownTable))
	return NodeStatus{ID: address, Role: Primary, ClusterOK: true, Known: table.peers}, err
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
			s.told = append(s.told, line)
		}
		for word, text := range s.refuses {
			if strings.Contains(line, word) {
				return out, &Refusal{text}
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

// answerJobs answers commands about moves that servers carry out themselves.
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
		return &Refusal{"ERR unknown subcommand 'MIGRATION'. Try CLUSTER HELP."}
	case command[1] == "MIGRATION" && command[2] == "IMPORT":
		return "task-1"
	case command[1] == "MIGRATION" && command[2] == "STATUS":
		state := s.task[0]
		s.task = s.task[min(1, len(s.task)-1):]
		return []any{[]any{"id", "task-1", "slots", "0-4", "source", "a:1", "dest", "b:1", "operation", "import", "state", state, "last_error", "because"}}
	case command[1] == "MIGRATESLOTS":
		return &Refusal{"ERR unknown subcommand 'MIGRATESLOTS'. Try CLUSTER HELP."}
	}
	return "OK"
}

func (s *scripted) Credentials() Credentials { return Credentials{User: "u", Password: "p"} }

func (s *scripted) Close() error { return nil }

var shop = types.NamespacedName{Namespace: "shop", Name: "rec"}

func plan(slots ...int) MoveSlots {
	return MoveSlots{Goal: 3, Moves: []Move{between("a", "b", slots...)}}
}

// between is a move of slots from one process to another.
func between(from, to string, slots ...int) Move {
	return Move{From: End{from + ":1", from + ":1"}, To: End{to + ":1", to + ":1"}, Slots: SlotsOf(slots...)}
}

// numbers are so many slots from one on.
func numbers(first, count int) []int {
	out := make([]int, count)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// probing runs a prober of one cluster in a bubble of its own time, and ends it.
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

func TestASlotIsClosedAtTheEndThatGetsItFirst(t *testing.T) {
	store := &scripted{keys: map[int][]any{5: {"k1", "k2"}}}
	probing(t, store, func(p *Prober) {
		if err := p.Take(t.Context(), shop, plan(5)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		view, _ := p.View(shop)
		if view.Move == nil || !view.Move.Ended || view.Move.Err != nil || view.Move.Moved != 1 || view.Move.Keys != 2 || view.Move.Bytes != 2000 {
			t.Errorf("expected one slot of 2 keys to have been moved, got %+v", view.Move)
		}
	})
	want := []string{
		"b:1 CLUSTER SETSLOT 5 IMPORTING a:1", "a:1 CLUSTER SETSLOT 5 MIGRATING b:1",
		"a:1 MIGRATE b 1  0 5000 REPLACE AUTH2 u p KEYS k1 k2",
		"b:1 CLUSTER SETSLOT 5 NODE b:1", "a:1 CLUSTER SETSLOT 5 NODE b:1",
	}
	if !slices.Equal(store.told, want) {
		t.Errorf("expected\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(store.told, "\n"))
	}
}

func TestAMoveThatFailsEndsAndSaysWhy(t *testing.T) {
	store := &scripted{keys: map[int][]any{5: {"k"}}, fails: "MIGRATE"}
	probing(t, store, func(p *Prober) {
		if err := p.Take(t.Context(), shop, plan(5)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		view, _ := p.View(shop)
		if view.Move == nil || !view.Move.Ended || view.Move.Err == nil || view.Moving() {
			t.Errorf("expected the move to have failed, got %+v", view.Move)
		}
	})
	for _, line := range store.told {
		if strings.Contains(line, "NODE") {
			t.Errorf("expected no slot to be given away with its keys left behind, got %s", line)
		}
	}
}

func TestAMoveKeepsToItsRateAndIsStopped(t *testing.T) {
	store := &scripted{keys: map[int][]any{}}
	var slots []int
	for slot := range 320 {
		slots = append(slots, slot)
		store.keys[slot] = []any{fmt.Sprint(slot)}
	}
	probing(t, store, func(p *Prober) {
		step := plan(slots...)
		step.Bytes, step.BytesPerSecond = 320_000, 32_000 // a batch of 32 slots with a key each a second
		if err := p.Take(t.Context(), shop, step); err != nil {
			t.Fatal(err)
		}
		if err := p.Take(t.Context(), shop, step); !errors.Is(err, ErrMoving) {
			t.Errorf("expected one move at a time, got %v", err)
		}
		time.Sleep(5*time.Second + 300*time.Millisecond)
		view, _ := p.View(shop)
		if view.Move.Moved != 160 || !view.Moving() {
			t.Errorf("expected 5 of 10 batches after 5 seconds, got %+v", view.Move)
		}
		if err := p.Take(t.Context(), shop, StopMove{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if view, _ := p.View(shop); view.Moving() || !errors.Is(view.Move.Err, context.Canceled) {
			t.Errorf("expected the move to have been stopped, got %+v", view.Move)
		}
	})
	closed := strings.Count(strings.Join(store.told, "\n"), "b:1 CLUSTER SETSLOT")
	if opened := strings.Count(strings.Join(store.told, "\n"), "IMPORTING"); opened != 192 || closed != 2*opened {
		t.Errorf("expected the batch that was open to be moved and closed, got %d slots opened at b:1, and %d closed", opened, closed-opened)
	}
}

func TestASlotWhoseOwnerFollowsAnotherByNowIsNotClosed(t *testing.T) {
	store := &scripted{keys: map[int][]any{}, role: "slave"}
	got := moved(t, store, plan(5), time.Second)
	if got.Err == nil || !strings.Contains(got.Err.Error(), "no primary any more") {
		t.Errorf("expected the move to have failed, got %+v", got)
	}
	for _, line := range store.told {
		if strings.Contains(line, "NODE") {
			t.Errorf("expected no slot to be given away on the word of a replica, got %s", line)
		}
	}
}

func TestASlotWithAKeyThatIsTooLargeStaysAndOthersGo(t *testing.T) {
	large := "key\n" + strings.Repeat("x", 200)
	store := &scripted{keys: map[int][]any{5: {"k1"}, 6: {"k2", large}, 40: {"k3"}}, sizes: map[any]int64{large: 300 << 20}}
	got := moved(t, store, plan(5, 6, 40), time.Second)
	if got.Moved != 2 || got.Failures != 1 {
		t.Errorf("expected two slots to be moved, got %+v", got)
	}
	words := `key "key\n` + strings.Repeat("x", 96) + `"... keeps its slot from being moved, as it has 300 MiB and may have 256`
	if got.Err == nil || !strings.Contains(got.Err.Error(), words) {
		t.Errorf("expected the move to end with %s, got %v", words, got.Err)
	}
	for _, line := range store.told {
		if strings.Contains(line, "SETSLOT 6 ") || strings.Contains(line, "k2") {
			t.Errorf("expected nothing of the slot to be moved, got %s", line)
		}
	}
}

// It would stay half moved.
func TestASlotThatIsOpenIsMovedWhateverItsKeysHave(t *testing.T) {
	store := &scripted{keys: map[int][]any{5: {"k1"}}, sizes: map[any]int64{"k1": 300 << 20}, replication: "used_memory:1000000000\r\n"}
	step := plan(5)
	step.Open = true
	if got := moved(t, store, step, time.Second); !got.Ended || got.Err != nil || got.Moved != 1 {
		t.Errorf("expected the slot to have been moved, got %+v", got)
	}
}

func TestKeysAreNotWeighedWhereAllOfThemAreLess(t *testing.T) {
	store := &scripted{keys: map[int][]any{5: {"k1"}}, sizes: map[any]int64{"k1": 300 << 20}, replication: "used_memory:1000000\r\n"}
	b := &batch{Store: store, Move: Move{From: End{"a:1", "a:1"}}, slots: []int{5}}
	if large, err := b.leaveOut(t.Context()); large != nil || err != nil || len(b.slots) != 1 {
		t.Errorf("expected nothing to be asked for, got %v, %v", large, err)
	}
}

func TestTheEndThatGetsASlotIsToldWhoseItIs(t *testing.T) {
	const to = "b:1 10.0.0.2:1@2 myself,master - 0 0 2 connected\n"
	told := "b:1 CLUSTER SETSLOT 5 NODE a:1"
	for name, test := range map[string]struct {
		table  string
		told   bool
		failed string
	}{
		"it knows":                     {table: ownTable},
		"it has it with nobody":        {table: "a:1 10.0.0.1:1@2 master - 0 0 3 connected 6-16383\n" + to, told: true},
		"it has it with who was lost":  {table: "a:1 10.0.0.1:1@2 master - 0 0 3 connected\nc:1 10.0.0.3:1@2 master,fail - 0 0 1 connected 0-9\n" + to, told: true},
		"it knows of a later owner":    {table: "a:1 10.0.0.1:1@2 master - 0 0 3 connected\nc:1 10.0.0.3:1@2 master - 0 0 4 connected 0-9\n" + to, failed: "slot 5 is now with c:1"},
		"it holds the owner a replica": {table: "a:1 10.0.0.1:1@2 slave c:1 0 0 3 connected\n" + to, failed: "has yet to hear that a:1 is a primary"},
	} {
		t.Run(name, func(t *testing.T) {
			store := &scripted{keys: map[int][]any{}, nodes: test.table}
			got := moved(t, store, plan(5), time.Second)
			if slices.Contains(store.told, told) != test.told {
				t.Errorf("expected it to be told: %t, got\n%s", test.told, strings.Join(store.told, "\n"))
			}
			if got.Failed() != (test.failed != "") || got.Failed() && !strings.Contains(got.Err.Error(), test.failed) {
				t.Errorf("expected the move to fail by %q, got %v", test.failed, got.Err)
			}
		})
	}
}
