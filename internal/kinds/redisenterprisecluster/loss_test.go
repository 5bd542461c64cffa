// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package redisenterprisecluster

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1alpha1 "github.com/opcrew/opcrew/api/redis/v1alpha1"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/clustertest"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster/loss"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/stores/redis"
)

// token identifies a loss that is first reported at noon.
const token = "tj3ao0"

var errAsk = errors.New("connection refused")

const command = "kubectl annotate --overwrite rec example -n shop redis.opcrew.io/accept-data-loss="

// withLostShard returns a cluster of three pods in which both servers of the first shard have lost their data.
func withLostShard() *scene {
	s := running(3, clustertest.With(persistentSpec))
	s.lose("h0", "g1")
	return s
}

// lose replaces both servers of a shard, its primary (home) and its replica (guest), with new, empty servers.
func (s *scene) lose(home, guest string) {
	h, g := s.procs[home], s.procs[guest]
	s.ghosts = append(s.ghosts, redis.Peer{ID: h.ID, Role: redis.Primary, Failed: true, Slots: h.Slots})
	h.ID, h.Slots, h.Keys = h.ID+"-new", nil, 0
	g.ID, g.PrimaryID = g.ID+"-new", h.ID
}

// serve assigns slots to a primary.
func (s *scene) serve(home string, slots redis.Slots) {
	s.procs[home].Slots, s.ghosts = slots, nil
}

// reportLoss sets the status at the given time, and stores it as the API server would.
func (s *scene) reportLoss(at time.Time) *scene {
	s.facts.now = at
	reportAt(s.Cluster, s.look(), kit.Outcome{}, at)
	for i, c := range s.Status.Conditions {
		s.Status.Conditions[i].LastTransitionTime = metav1.NewTime(c.LastTransitionTime.Truncate(time.Second))
	}
	return s
}

func (s *scene) annotate(value string) *scene {
	s.Annotations = map[string]string{redisv1alpha1.AcceptDataLossAnnotation: value}
	return s
}

func (s *scene) risk() string {
	return conditionText(s.Status.Conditions, redisv1alpha1.ConditionDataAtRisk)
}

func TestALossIsReportedWithTheCommandThatAcceptsIt(t *testing.T) {
	s := withLostShard().reportLoss(clustertest.Noon)
	want := "True DataMissing: The data of slots 0-5460 is lost: no server has a copy of it. If a volume with this data exists, restore it. " +
		"To go on without the data: " + command + "0-5460@" + token
	if got := s.risk(); got != want {
		t.Errorf("expected\n%s, got\n%s", want, got)
	}
	if got := conditionText(s.Status.Conditions, "Ready"); got != "False"+strings.TrimPrefix(want, "True") {
		t.Errorf("expected Ready to say the same, got %s", got)
	}
	if got := s.step(); got != "" {
		t.Errorf("expected nothing to be done by itself, got %q", got)
	}
}

// recreated replaces the object with a new object of the same name, which uses the volumes of the previous cluster.
func (s *scene) recreated() *scene {
	s.Status = redisv1alpha1.RedisEnterpriseClusterStatus{Nodes: s.Status.Nodes}
	return s
}

func TestAClusterThatIsCreatedAgainOnWhatWasLeftReportsWhatIsLost(t *testing.T) {
	s := withLostShard().recreated().reportLoss(clustertest.Noon)
	if got := s.risk(); !strings.HasPrefix(got, "True DataMissing") || !strings.HasSuffix(got, command+"0-5460@"+token) {
		t.Errorf("expected a report of the loss and of the command, got %s", got)
	}
	if got := conditionText(s.Status.Conditions, "Available"); !strings.HasPrefix(got, "False SlotsUnserved: 10923 of 16384 slots") || s.Status.Shards != 2 {
		t.Errorf("expected a report of what is served, got %d shards and %s", s.Status.Shards, got)
	}
	if got := s.step(); got != "" {
		t.Errorf("expected nothing to be done by itself, got %q", got)
	}
	if got := s.annotate("0-5460@" + token).step(); got != "forget h0" {
		t.Errorf("expected the loss to be accepted as the annotation says, got %q", got)
	}
}

func TestAClusterThatIsBeingFormedHasLostNothing(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"no server has slots": func(s *scene) {
			for _, p := range s.procs {
				p.Role, p.PrimaryID, p.Slots = redis.Primary, "", nil
			}
		},
		"one has yet to get its own": func(s *scene) { s.procs["h1"].Slots = nil },
		"one that may have them does not answer": func(s *scene) {
			s.lose("h0", "g1")
			s.silence(2)
		},
	} {
		s := running(3, clustertest.With(persistentSpec))
		change(s)
		if got := s.recreated().reportLoss(clustertest.Noon).risk(); got != "none" {
			t.Errorf("%s: expected no report of missing data, got %s", name, got)
		}
		if got := conditionText(s.Status.Conditions, "Available"); !strings.HasPrefix(got, "False Creating") {
			t.Errorf("%s: expected a report that the cluster is being made, got %s", name, got)
		}
	}
}

func TestOnlyTheAnnotationThatWasAskedForCounts(t *testing.T) {
	for value, test := range map[string]struct{ step, words string }{
		"0-5460@" + token:           {step: "forget h0", words: "the annotation accepts the loss"},
		"0-9999@" + token:           {step: "forget h0", words: "the annotation accepts the loss"},
		"5000-5460,0-4999@" + token: {step: "forget h0", words: "the annotation accepts the loss"},
		"0-5459@" + token:           {words: "names other slots, or only some of these"},
		"5000-5470@" + token:        {words: "names other slots, or only some of these"},
		"0-5460@tj3anz":             {words: `"0-5460@tj3anz" refers to another loss`},
		"0-5460@":                   {words: "cannot be read"},
		"0-5460":                    {words: "cannot be read"},
		"@" + token:                 {words: "cannot be read"},
		"all@" + token:              {words: "cannot be read"},
		"0-99999@" + token:          {words: "cannot be read"},
		"5460-0@" + token:           {words: "cannot be read"},
		"true":                      {words: "cannot be read"},
		strings.Repeat("é", 9999):   {words: "cannot be read"},
	} {
		s := withLostShard().reportLoss(clustertest.Noon).annotate(value)
		if got := s.step(); got != test.step {
			t.Errorf("%.40s: expected the step %q, got %q", value, test.step, got)
		}
		got := s.reportLoss(clustertest.Noon.Add(time.Minute)).risk()
		if !strings.Contains(got, test.words) || test.step == "" && !strings.HasSuffix(got, command+"0-5460@"+token) {
			t.Errorf("%.40s: expected a report of %q and what to write instead, got %s", value, test.words, got)
		}
	}
}

func TestALossIsAcceptedOnlyOnceItStandsInTheStatusAndIsCertain(t *testing.T) {
	for name, s := range map[string]*scene{
		"it is not reported yet": withLostShard(),
		"a server may have them": withLostShard().reportLoss(clustertest.Noon),
		"twins":                  withLostShard().reportLoss(clustertest.Noon),
	} {
		s.annotate("0-5460@" + token)
		switch name {
		case "a server may have them":
			s.silence(2)
		case "twins":
			s.procs["g2"].ID = s.procs["h1"].ID
		}
		if got := s.step(); got != "" {
			t.Errorf("%s: expected no step, got %q", name, got)
		}
	}
}

func TestSlotsThatWereGivenUpAreGivenOutAgainAndThatIsReportedOnce(t *testing.T) {
	s := withLostShard().reportLoss(clustertest.Noon).annotate("0-5460@" + token)
	if events := s.plan().Events; len(events) > 0 {
		t.Errorf("expected a report when it is done, and not before, got %v", events)
	}
	s.ghosts = nil
	plan := s.plan()
	if plan.Step == nil || plan.Step.Name != "assign slots to 1 primaries" {
		t.Fatalf("expected the slots to be given out, got %v", plan.Step)
	}
	if len(plan.Events) != 1 || plan.Events[0].Reason != "DataLossAccepted" || !plan.Events[0].Warning || !strings.Contains(plan.Events[0].Note, "0-5460") {
		t.Errorf("expected a warning of which slots, got %+v", plan.Events)
	}
	s.reportLoss(clustertest.Noon.Add(time.Minute))
	if at := loss.Reported(s.Cluster); at == nil || strconv.FormatInt(at.LastTransitionTime.Unix(), 36) != token {
		t.Errorf("expected the loss to be reported, as the same one, until the slots are served, got %v", at)
	}
	s.serve("h0", redis.Slots{{First: 0, Last: 5460}})
	if got := s.reportLoss(clustertest.Noon.Add(2 * time.Minute)).risk(); got != "none" {
		t.Errorf("expected no data to be at risk then, got %s", got)
	}
	if got := s.step(); got != "" {
		t.Errorf("expected the annotation to do nothing any more, got %q", got)
	}
}

func TestAnAnnotationDoesNotCountForALaterLoss(t *testing.T) {
	healed := func() *scene {
		s := withLostShard().reportLoss(clustertest.Noon).annotate("0-5460@" + token)
		s.serve("h0", redis.Slots{{First: 0, Last: 5460}})
		return s
	}
	for name, s := range map[string]*scene{
		"after all was well": healed().reportLoss(clustertest.Noon.Add(time.Minute)),
		"after other slots were lost before all was well": func() *scene {
			s := healed()
			s.lose("h1", "g2")
			return s.reportLoss(clustertest.Noon.Add(time.Minute))
		}(),
		"after data was at risk for another reason": func() *scene {
			s := healed()
			s.procs["g2"].ID = s.procs["h1"].ID
			s.reportLoss(clustertest.Noon.Add(time.Minute))
			if got := s.risk(); !strings.HasPrefix(got, "True DataContested") || strings.Contains(got, "kubectl") {
				t.Errorf("expected a report of the contest, and of no command, got %s", got)
			}
			s.procs["g2"].ID = "g2"
			return s
		}(),
	} {
		s.lose("h0", "g1")
		s.reportLoss(clustertest.Noon.Add(time.Hour))
		if got := s.step(); got != "" {
			t.Errorf("%s: expected no step, got %q", name, got)
		}
		if got := s.risk(); !strings.Contains(got, "refers to another loss") {
			t.Errorf("%s: expected a report that it is of another loss, got %s", name, got)
		}
	}
}

func TestWhatWasReportedOfALossStandsWhileItIsNotKnownToBeOver(t *testing.T) {
	for name, change := range map[string]func(*facts){
		"a step has just been taken":     func(f *facts) { f.view.Stale, f.view.Nodes = true, nil },
		"no server could be asked":       func(f *facts) { f.view.Err, f.view.Nodes = errAsk, nil },
		"a server that has them may run": func(f *facts) { f.view.Nodes["10.0.0.3:6379"] = redis.NodeStatus{Err: errAsk} },
		"no server answers":              func(f *facts) { f.view.Nodes = map[string]redis.NodeStatus{} },
	} {
		s := withLostShard().reportLoss(clustertest.Noon)
		before := *meta.FindStatusCondition(s.Status.Conditions, "DataAtRisk")
		f := s.look()
		change(&f)
		reportAt(s.Cluster, f, kit.Outcome{}, clustertest.Noon.Add(time.Minute))
		after := meta.FindStatusCondition(s.Status.Conditions, "DataAtRisk")
		if after == nil || *after != before {
			t.Errorf("%s: expected the report to stay, got %v", name, after)
		}
	}
}

// scattered returns a cluster of three pods. In one range of slots, the first and the second shard own alternate slots.
func scattered() *scene {
	s := running(3, clustertest.With(persistentSpec))
	var odd, even []int
	for n := 1; n < 5460; n += 2 {
		odd, even = append(odd, n), append(even, n+1)
	}
	s.procs["h0"].Slots, s.procs["h1"].Slots = redis.SlotsOf(odd...), redis.SlotsOf(even...)
	s.procs["h2"].Slots = redis.Slots{{First: 0, Last: redis.SlotCount - 1}}.Without(redis.SlotsOf(append(odd, even...)...))
	return s
}

// followCommand annotates the object, as the reported kubectl command would.
func (s *scene) followCommand(t *testing.T) *scene {
	t.Helper()
	_, value, found := strings.Cut(s.risk(), command)
	if !found {
		t.Fatalf("expected a command, got %s", s.risk())
	}
	return s.annotate(value)
}

func TestACommandOfOneRangeCountsForTheSlotsAloneThatWereLostWhenItWasReported(t *testing.T) {
	s := scattered()
	s.lose("h0", "g1")
	s.reportLoss(clustertest.Noon)
	if got := s.annotate("1-5459@" + token).step(); got != "" {
		t.Errorf("expected a token of no slots not to count for a range, got %q", got)
	}
	if got := s.followCommand(t).step(); got != "forget h0" {
		t.Fatalf("expected the loss to be accepted, got %q", got)
	}
	s.lose("h1", "g2")
	if got := s.step(); got != "" {
		t.Errorf("expected no server to be given up when slots are lost within the range that were not when it was reported, got %q", got)
	}
	s.reportLoss(clustertest.Noon.Add(time.Minute))
	if got := s.risk(); !strings.Contains(got, "refers to another loss") {
		t.Errorf("expected a report that it is of another loss, got %s", got)
	}
	if got := s.followCommand(t).step(); !strings.HasPrefix(got, "forget h") {
		t.Errorf("expected the new command to count, got %q", got)
	}
}
