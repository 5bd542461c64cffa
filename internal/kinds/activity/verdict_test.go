// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"strings"
	"testing"
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
)

const exit3 = `{"state":"Failed","reason":"Exited","exitCode":3,"startedAt":"2026-08-01T12:00:01Z","endedAt":"2026-08-01T12:00:03.5Z","tail":"no"}`

func TestWhatIsKnownOfARun(t *testing.T) {
	for name, c := range map[string]struct {
		object   *egov1.Activity
		facts    facts
		after    time.Duration
		state    egov1.State
		reason   string
		words    string
		withdraw bool
	}{
		"it may begin":                            {newActivity(), facts{begin: permitted()}, 0, egov1.StatePending, egov1.ReasonWaiting, "being made", false},
		"the requester may not":                   {newActivity(), facts{begin: hindered(egov1.ReasonForbidden, "ada may not", true)}, 0, egov1.StateRefused, egov1.ReasonForbidden, "ada may not", false},
		"its order is too long":                   {newActivity(), facts{begin: hindered(egov1.ReasonNotStarted, "too long", true)}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "too long", false},
		"there is no such host yet":               {newActivity(), facts{begin: hindered(egov1.ReasonHostMissing, "no node", false)}, 0, egov1.StatePending, egov1.ReasonHostMissing, "no node", false},
		"there was no such host":                  {newActivity(), facts{begin: hindered(egov1.ReasonHostMissing, "no node", false)}, time.Hour, egov1.StateUnreachable, egov1.ReasonHostMissing, "within 300 s: no node", false},
		"a Secret never came":                     {newActivity(), facts{begin: hindered(egov1.ReasonSecretMissing, "no key", false)}, time.Hour, egov1.StateFailed, egov1.ReasonSecretMissing, "within 300 s: no key", false},
		"cancelled before it began":               {newActivity(cancelled), facts{}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "before it began", false},
		"the scheduler says why":                  {newActivity(), facts{pod: newPod(unschedulable("0/3 nodes: cordoned"))}, 0, egov1.StatePending, egov1.ReasonWaiting, "cordoned", false},
		"the host does not begin":                 {newActivity(), facts{pod: newPod()}, 301 * time.Second, egov1.StateUnreachable, egov1.ReasonHostUnreachable, "it is starting", true},
		"its pod could not be made":               {newActivity(), facts{begin: permitted()}, time.Hour, egov1.StateFailed, egov1.ReasonNotStarted, "could not be made", false},
		"cancelled on a host that does not begin": {newActivity(cancelled), facts{pod: newPod()}, 301 * time.Second, egov1.StateUnreachable, egov1.ReasonHostUnreachable, "it is starting", true},
		"it runs":                            {newActivity(), facts{pod: newPod(running)}, time.Hour, egov1.StateRunning, egov1.ReasonRunning, "runs on node1", false},
		"it runs and is cancelled":           {newActivity(cancelled), facts{pod: newPod(running)}, 0, egov1.StateRunning, egov1.ReasonCancelled, "being ended", true},
		"its host is not heard of":           {newActivity(), facts{pod: newPod(running, unheard)}, time.Hour, egov1.StateRunning, egov1.ReasonHostUnreachable, "does not answer", false},
		"a cancel waits for its host":        {newActivity(cancelled), facts{pod: newPod(running, unheard)}, 0, egov1.StateRunning, egov1.ReasonHostUnreachable, "does not answer", true},
		"it ended badly":                     {newActivity(inState(egov1.StateRunning)), facts{pod: newPod(endedWith(exit3))}, 0, egov1.StateFailed, egov1.ReasonExited, "exit code 3", false},
		"a signal ended it":                  {newActivity(), facts{pod: newPod(endedWith(`{"state":"Failed","signal":"SIGKILL"}`))}, 0, egov1.StateFailed, egov1.ReasonKilled, "SIGKILL", false},
		"its time was up":                    {newActivity(), facts{pod: newPod(endedWith(`{"state":"TimedOut"}`))}, 0, egov1.StateTimedOut, egov1.ReasonTimedOut, "time was up", false},
		"somebody deleted its pod":           {newActivity(), facts{pod: newPod(endedWith(`{"state":"Cancelled"}`), deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "deleted by somebody", false},
		"it was cancelled":                   {newActivity(cancelled), facts{pod: newPod(endedWith(`{"state":"Cancelled"}`), deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "its processes were ended", false},
		"the host has no such user":          {newActivity(), facts{pod: newPod(endedWith(`{"state":"NotStarted","message":"there is no user bob"}`))}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "no user bob", false},
		"it ran before a restart":            {newActivity(), facts{pod: newPod(endedWith(`{"state":"Unknown","message":"began before"}`))}, 0, egov1.StateUnknown, egov1.ReasonLost, "began before", false},
		"the runner was killed":              {newActivity(), facts{pod: newPod(endedWith("garbage\x00"))}, 0, egov1.StateUnknown, egov1.ReasonLost, "without a word", false},
		"the kubelet would not":              {newActivity(), facts{pod: newPod(failedAtOnce("Pod was rejected: OutOfpods"))}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "OutOfpods", false},
		"its node was taken away at once":    {newActivity(), facts{pod: newPod(failedAtOnce(""), disrupted("DeletionByPodGC", "PodGC: node no longer exists"), deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "its host was gone before it told whether the command began: PodGC: node no longer exists; it is not run again", false},
		"and it was cancelled":               {newActivity(cancelled), facts{pod: newPod(failedAtOnce(""), disrupted("DeletionByPodGC", "PodGC: node no longer exists"), deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "its host was gone", false},
		"its node was given up":              {newActivity(), facts{pod: newPod(failedAtOnce(""), deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "its pod was deleted", false},
		"its kubelet has no container":       {newActivity(), facts{pod: newPod(notFound, deleted)}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "could not be located", false},
		"its kubelet has it no more":         {newActivity(seenAtWork), facts{pod: newPod(notFound, deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "could not be located", false},
		"its kubelet was killed as it began": {newActivity(), facts{pod: newPod(startCutShort(time.Unix(0, 0)))}, 0, egov1.StateUnknown, egov1.ReasonLost, "without a word: failed to start containerd task: context canceled; whether the command did is not known, and it is not run again", false},
		"and nobody says since when":         {newActivity(), facts{pod: newPod(startCutShort(time.Time{}))}, 0, egov1.StateUnknown, egov1.ReasonLost, "not run again", false},
		"its next container never came":      {newActivity(), facts{pod: newPod(startCutShort(time.Unix(0, 0)), waitsAgain)}, 0, egov1.StateUnknown, egov1.ReasonLost, "without a word: failed to start containerd task: context canceled; whether", false},
		"it had no node that could run it":   {newActivity(), facts{pod: newPod(nowhere, failedAtOnce(""), deleted)}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "its pod was deleted", false},
		"its host is dead":                   {newActivity(), facts{pod: newPod(unschedulable("0/3 nodes: untolerated taint")), host: dead(time.Minute)}, 0, egov1.StatePending, egov1.ReasonWaiting, "has not begun: node node1 is not Ready since 2026-08-01T11:59:00Z: Kubelet stopped posting node status.", false},
		"its host was dead all the time":     {newActivity(), facts{pod: newPod(), host: dead(time.Minute)}, time.Hour, egov1.StateUnreachable, egov1.ReasonHostUnreachable, "within 300 s: its pod has not begun: node node1 is not Ready since 2026-08-01T11:59:00Z", true},
		"its host has gone":                  {newActivity(), facts{pod: newPod(unschedulable("0/3 nodes")), host: &hostState{missing: true}}, 0, egov1.StatePending, egov1.ReasonWaiting, "there is no node node1 any more", false},
		"its host is well, and cordoned":     {newActivity(), facts{pod: newPod(unschedulable("0/3 nodes: cordoned")), host: &hostState{ready: true}}, 0, egov1.StatePending, egov1.ReasonWaiting, "cordoned", false},
		"its host dies in the run":           {newActivity(), facts{pod: newPod(running, unheard), host: dead(time.Minute)}, 0, egov1.StateRunning, egov1.ReasonHostUnreachable, "the host does not answer (node node1 is not Ready since 2026-08-01T11:59:00Z: Kubelet stopped posting node status.); how the command fares", false},
		"its kubelet evicts it":              {newActivity(), facts{pod: newPod(endedWith(`{"state":"Cancelled"}`), evictedBy("The node was low on resource: memory. "), deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "its pod was evicted (The node was low on resource: memory.), so its processes were ended", false},
		"a drain evicts it":                  {newActivity(), facts{pod: newPod(endedWith(`{"state":"Cancelled"}`), disrupted("EvictionByEvictionAPI", "Eviction API: evicting"), deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "its pod was evicted (Eviction API: evicting)", false},
		"another pod takes its place":        {newActivity(), facts{pod: newPod(endedWith(`{"state":"Cancelled"}`), disrupted("PreemptionByScheduler", "preempting to accommodate a higher priority pod"), deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "taken away by PreemptionByScheduler (preempting to", false},
		"it is evicted before it began":      {newActivity(), facts{pod: newPod(notFound, evictedBy("low on disk"))}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "it did not begin: its pod was evicted (low on disk)", false},
		"it is evicted without a word":       {newActivity(), facts{pod: newPod(endedWith(""), evictedBy("low on memory"))}, 0, egov1.StateUnknown, egov1.ReasonLost, "without a word: its pod was evicted (low on memory)", false},
		"its host was restarted in the run":  {newActivity(), facts{pod: newPod(endedWith(""), madeIn("first")), host: &hostState{ready: true, boot: "second"}}, 0, egov1.StateUnknown, egov1.ReasonLost, "without a word: Error, exit code 137, and host node1 was restarted since its pod was made; whether the command did", false},
		"it was not":                         {newActivity(), facts{pod: newPod(endedWith(""), madeIn("first")), host: &hostState{ready: true, boot: "first"}}, 0, egov1.StateUnknown, egov1.ReasonLost, "without a word: Error, exit code 137; whether the command did", false},
		"nobody knows whether it was":        {newActivity(), facts{pod: newPod(endedWith("")), host: &hostState{ready: true, boot: "first"}}, 0, egov1.StateUnknown, egov1.ReasonLost, "without a word: Error, exit code 137; whether the command did", false},
		"cancelled in the queue":             {newActivity(cancelled), facts{pod: newPod(nowhere, deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "before it began", false},
		"its pod was lost":                   {newActivity(withPodUID("uid-of-pod")), facts{}, 0, egov1.StateUnknown, egov1.ReasonLost, "not run again unless spec.run is raised", false},
		"a lost host answers late":           {newActivity(inState(egov1.StateUnreachable), withPodUID("uid-of-pod")), facts{pod: newPod(endedWith(`{"state":"Succeeded","exitCode":0}`), deleted)}, time.Hour, egov1.StateSucceeded, egov1.ReasonSucceeded, "exit code 0", false},
		"a lost host never began":            {newActivity(inState(egov1.StateUnreachable), withPodUID("uid-of-pod")), facts{pod: newPod(failedAtOnce(""), deleted)}, time.Hour, egov1.StateUnreachable, "", "", false},
		"what is over stays over":            {newActivity(inState(egov1.StateSucceeded), withPodUID("uid-of-pod")), facts{}, time.Hour, egov1.StateSucceeded, "", "", false},
		"what is over is not cancelled":      {newActivity(inState(egov1.StateFailed), cancelled), facts{}, time.Hour, egov1.StateFailed, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := judge(c.object, c.facts, noon.Add(c.after))
			check(t, "state", got.state, c.state)
			check(t, "reason", got.reason, c.reason)
			check(t, "withdraw", got.withdraw, c.withdraw)
			if !strings.Contains(got.message, c.words) {
				t.Errorf("expected a message with %q, got %q", c.words, got.message)
			}
		})
	}
}
