// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"strings"
	"testing"
	"time"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

func TestWhatIsKnownOfARun(t *testing.T) {
	for name, c := range map[string]struct {
		object   *egov1.Activity
		facts    Observed
		after    time.Duration
		state    egov1.State
		reason   string
		words    string
		withdraw bool
	}{
		"it may begin":                            {activitytest.New(), Observed{Begin: allowed()}, 0, egov1.StatePending, egov1.ReasonWaiting, "is creating the pod", false},
		"the requester may not":                   {activitytest.New(), Observed{Begin: blocked(egov1.ReasonForbidden, "ada may not", true)}, 0, egov1.StateRefused, egov1.ReasonForbidden, "ada may not", false},
		"its order is too long":                   {activitytest.New(), Observed{Begin: blocked(egov1.ReasonNotStarted, "too long", true)}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "too long", false},
		"there is no such host yet":               {activitytest.New(), Observed{Begin: blocked(egov1.ReasonHostMissing, "no node", false)}, 0, egov1.StatePending, egov1.ReasonHostMissing, "no node", false},
		"there was no such host":                  {activitytest.New(), Observed{Begin: blocked(egov1.ReasonHostMissing, "no node", false)}, time.Hour, egov1.StateUnreachable, egov1.ReasonHostMissing, "within 300 s: no node", false},
		"a Secret never came":                     {activitytest.New(), Observed{Begin: blocked(egov1.ReasonSecretMissing, "no key", false)}, time.Hour, egov1.StateFailed, egov1.ReasonSecretMissing, "within 300 s: no key", false},
		"cancelled before it began":               {activitytest.New(activitytest.Cancelled), Observed{}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "before the command started", false},
		"the scheduler says why":                  {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Unschedulable("0/3 nodes: cordoned"))}, 0, egov1.StatePending, egov1.ReasonWaiting, "cordoned", false},
		"the host does not begin":                 {activitytest.New(), Observed{Pod: activitytest.Pod()}, 301 * time.Second, egov1.StateUnreachable, egov1.ReasonHostUnreachable, "the pod is starting", true},
		"its pod could not be made":               {activitytest.New(), Observed{Begin: allowed()}, time.Hour, egov1.StateFailed, egov1.ReasonNotStarted, "could not be created", false},
		"cancelled on a host that does not begin": {activitytest.New(activitytest.Cancelled), Observed{Pod: activitytest.Pod()}, 301 * time.Second, egov1.StateUnreachable, egov1.ReasonHostUnreachable, "the pod is starting", true},
		"it runs":                            {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Running)}, time.Hour, egov1.StateRunning, egov1.ReasonRunning, "is running on node1", false},
		"it runs and is cancelled":           {activitytest.New(activitytest.Cancelled), Observed{Pod: activitytest.Pod(activitytest.Running)}, 0, egov1.StateRunning, egov1.ReasonCancelled, "being ended", true},
		"its host is not heard of":           {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Running, activitytest.Unreachable)}, time.Hour, egov1.StateRunning, egov1.ReasonHostUnreachable, "does not respond", false},
		"a cancel waits for its host":        {activitytest.New(activitytest.Cancelled), Observed{Pod: activitytest.Pod(activitytest.Running, activitytest.Unreachable)}, 0, egov1.StateRunning, egov1.ReasonHostUnreachable, "does not respond", true},
		"it ended badly":                     {activitytest.New(activitytest.InState(egov1.StateRunning)), Observed{Pod: activitytest.Pod(activitytest.EndedWith(activitytest.Exit3))}, 0, egov1.StateFailed, egov1.ReasonExited, "exit code 3", false},
		"a signal ended it":                  {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Failed","signal":"SIGKILL"}`))}, 0, egov1.StateFailed, egov1.ReasonKilled, "SIGKILL", false},
		"its time was up":                    {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"TimedOut"}`))}, 0, egov1.StateTimedOut, egov1.ReasonTimedOut, "longer than its timeout", false},
		"another client deleted its pod":     {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Cancelled"}`), activitytest.Deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "deleted by another client", false},
		"it was cancelled":                   {activitytest.New(activitytest.Cancelled), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Cancelled"}`), activitytest.Deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "the processes of the command were ended", false},
		"the host has no such user":          {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"NotStarted","message":"there is no user bob"}`))}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "no user bob", false},
		"it ran before a restart":            {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Unknown","message":"began before"}`))}, 0, egov1.StateUnknown, egov1.ReasonLost, "began before", false},
		"the runner was killed":              {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith("garbage\x00"))}, 0, egov1.StateUnknown, egov1.ReasonLost, "without reporting a result", false},
		"the kubelet would not":              {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.FailedAtOnce("Pod was rejected: OutOfpods"))}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "OutOfpods", false},
		"its node was taken away at once":    {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.FailedAtOnce(""), activitytest.Disrupted("DeletionByPodGC", "PodGC: node no longer exists"), activitytest.Deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "the host disappeared before it reported whether the command started: PodGC: node no longer exists; opcrew runs the command again only", false},
		"and it was cancelled":               {activitytest.New(activitytest.Cancelled), Observed{Pod: activitytest.Pod(activitytest.FailedAtOnce(""), activitytest.Disrupted("DeletionByPodGC", "PodGC: node no longer exists"), activitytest.Deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "the host disappeared", false},
		"its node was given up":              {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.FailedAtOnce(""), activitytest.Deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "the pod was deleted", false},
		"its kubelet has no container":       {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.NotFound, activitytest.Deleted)}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "could not be located", false},
		"its kubelet has it no more":         {activitytest.New(activitytest.Started), Observed{Pod: activitytest.Pod(activitytest.NotFound, activitytest.Deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "could not be located", false},
		"its kubelet was killed as it began": {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.StartCutShort(time.Unix(0, 0)))}, 0, egov1.StateUnknown, egov1.ReasonLost, "without reporting a result: failed to start containerd task: context canceled; whether the command ended is unknown, and opcrew runs the command again only", false},
		"and its start is unknown":           {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.StartCutShort(time.Time{}))}, 0, egov1.StateUnknown, egov1.ReasonLost, "runs the command again only if", false},
		"its next container never came":      {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.StartCutShort(time.Unix(0, 0)), activitytest.WaitsAgain)}, 0, egov1.StateUnknown, egov1.ReasonLost, "without reporting a result: failed to start containerd task: context canceled; whether", false},
		"it had no node that could run it":   {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Nowhere, activitytest.FailedAtOnce(""), activitytest.Deleted)}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "the pod was deleted", false},
		"its host is dead":                   {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Unschedulable("0/3 nodes: untolerated taint")), Host: dead(time.Minute)}, 0, egov1.StatePending, egov1.ReasonWaiting, "has not started: node node1 has not been Ready since 2026-08-01T11:59:00Z: Kubelet stopped posting node status.", false},
		"its host was dead all the time":     {activitytest.New(), Observed{Pod: activitytest.Pod(), Host: dead(time.Minute)}, time.Hour, egov1.StateUnreachable, egov1.ReasonHostUnreachable, "within 300 s: the pod has not started: node node1 has not been Ready since 2026-08-01T11:59:00Z", true},
		"its host has gone":                  {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Unschedulable("0/3 nodes")), Host: &Host{Missing: true}}, 0, egov1.StatePending, egov1.ReasonWaiting, "node node1 no longer exists", false},
		"its host is well, and cordoned":     {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Unschedulable("0/3 nodes: cordoned")), Host: &Host{Ready: true}}, 0, egov1.StatePending, egov1.ReasonWaiting, "cordoned", false},
		"its host joins a pool":              {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Unschedulable("0/3 nodes: untolerated taint")), Host: &Host{Ready: true, joins: "node node1 joins"}}, 0, egov1.StatePending, egov1.ReasonWaiting, "the pod has not started: node node1 joins", false},
		"its host joins a pool for too long": {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Unschedulable("0/3 nodes: untolerated taint")), Host: &Host{Ready: true, joins: "node node1 joins"}}, time.Hour, egov1.StateUnreachable, egov1.ReasonHostUnreachable, "within 300 s: the pod has not started: node node1 joins", true},
		"its pod was placed before that":     {activitytest.New(), Observed{Pod: activitytest.Pod(), Host: &Host{Ready: true, joins: "node node1 joins"}}, 0, egov1.StatePending, egov1.ReasonWaiting, "the pod is starting", false},
		"its host dies in the run":           {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.Running, activitytest.Unreachable), Host: dead(time.Minute)}, 0, egov1.StateRunning, egov1.ReasonHostUnreachable, "the host does not respond (node node1 has not been Ready since 2026-08-01T11:59:00Z: Kubelet stopped posting node status.); the state of the command", false},
		"its kubelet evicts it":              {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Cancelled"}`), activitytest.EvictedBy("The node was low on resource: memory. "), activitytest.Deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "the pod was evicted (The node was low on resource: memory.), so the processes of the command were ended", false},
		"a drain evicts it":                  {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Cancelled"}`), activitytest.Disrupted("EvictionByEvictionAPI", "Eviction API: evicting"), activitytest.Deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "the pod was evicted (Eviction API: evicting)", false},
		"another pod takes its place":        {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Cancelled"}`), activitytest.Disrupted("PreemptionByScheduler", "preempting to accommodate a higher priority pod"), activitytest.Deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "disrupted by PreemptionByScheduler (preempting to", false},
		"it is evicted before it began":      {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.NotFound, activitytest.EvictedBy("low on disk"))}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "the command did not start: the pod was evicted (low on disk)", false},
		"it is evicted without a word":       {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(""), activitytest.EvictedBy("low on memory"))}, 0, egov1.StateUnknown, egov1.ReasonLost, "without reporting a result: the pod was evicted (low on memory)", false},
		"its host was restarted in the run":  {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(""), activitytest.InBoot("first")), Host: &Host{Ready: true, boot: "second"}}, 0, egov1.StateUnknown, egov1.ReasonLost, "without reporting a result: Error, exit code 137, and host node1 was restarted after the pod was created; whether the command ended", false},
		"it was not":                         {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith(""), activitytest.InBoot("first")), Host: &Host{Ready: true, boot: "first"}}, 0, egov1.StateUnknown, egov1.ReasonLost, "without reporting a result: Error, exit code 137; whether the command ended", false},
		"its boot is not recorded":           {activitytest.New(), Observed{Pod: activitytest.Pod(activitytest.EndedWith("")), Host: &Host{Ready: true, boot: "first"}}, 0, egov1.StateUnknown, egov1.ReasonLost, "without reporting a result: Error, exit code 137; whether the command ended", false},
		"cancelled in the queue":             {activitytest.New(activitytest.Cancelled), Observed{Pod: activitytest.Pod(activitytest.Nowhere, activitytest.Deleted)}, 0, egov1.StateCancelled, egov1.ReasonCancelled, "before the command started", false},
		"its pod was lost":                   {activitytest.New(activitytest.WithPodUID("uid-of-pod")), Observed{}, 0, egov1.StateUnknown, egov1.ReasonLost, "opcrew runs the command again only if spec.run is increased", false},
		"a lost host answers late":           {activitytest.New(activitytest.InState(egov1.StateUnreachable), activitytest.WithPodUID("uid-of-pod")), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Succeeded","exitCode":0}`), activitytest.Deleted)}, time.Hour, egov1.StateSucceeded, egov1.ReasonSucceeded, "exit code 0", false},
		"a lost host never began":            {activitytest.New(activitytest.InState(egov1.StateUnreachable), activitytest.WithPodUID("uid-of-pod")), Observed{Pod: activitytest.Pod(activitytest.FailedAtOnce(""), activitytest.Deleted)}, time.Hour, egov1.StateUnreachable, "", "", false},
		"it runs over SSH":                   {activitytest.New(activitytest.OverSSH), Observed{Pod: activitytest.Pod(activitytest.Running)}, time.Hour, egov1.StateRunning, egov1.ReasonRunning, "opcrew connects to db1 (db1.example.com:2222) over SSH, and runs the command there", false},
		"no node can run its pod":            {activitytest.New(activitytest.OverSSH), Observed{Pod: activitytest.Pod(activitytest.Unschedulable("0/3 nodes"))}, 0, egov1.StatePending, egov1.ReasonWaiting, "cannot be scheduled: 0/3 nodes", false},
		"the node of its pod dies":           {activitytest.New(activitytest.OverSSH), Observed{Pod: activitytest.Pod(activitytest.Running, activitytest.Unreachable), Host: dead(time.Minute)}, 0, egov1.StateRunning, egov1.ReasonHostUnreachable, "the node from which opcrew runs the command does not respond (node node1 has not been Ready since", false},
		"the node of its pod is gone":        {activitytest.New(activitytest.OverSSH), Observed{Pod: activitytest.Pod(activitytest.FailedAtOnce(""), activitytest.Deleted)}, 0, egov1.StateUnknown, egov1.ReasonLost, "the node from which opcrew runs the command disappeared", false},
		"the SSH server does not answer":     {activitytest.New(activitytest.OverSSH), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"NotStarted","reason":"NoConnection","message":"refused"}`))}, 0, egov1.StateUnreachable, egov1.ReasonHostUnreachable, "the command did not start: refused", false},
		"and stays so":                       {activitytest.New(activitytest.OverSSH, activitytest.InState(egov1.StateUnreachable)), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"NotStarted","reason":"NoConnection"}`))}, 0, egov1.StateUnreachable, "", "", false},
		"it has another host key":            {activitytest.New(activitytest.OverSSH), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"NotStarted","reason":"HostKey","message":"another machine"}`))}, 0, egov1.StateFailed, egov1.ReasonNotStarted, "another machine", false},
		"the SSH connection is lost":         {activitytest.New(activitytest.OverSSH), Observed{Pod: activitytest.Pod(activitytest.EndedWith(`{"state":"Unknown","reason":"ConnectionLost","message":"not run again"}`))}, 0, egov1.StateUnknown, egov1.ReasonLost, "not run again", false},
		"what is over stays over":            {activitytest.New(activitytest.InState(egov1.StateSucceeded), activitytest.WithPodUID("uid-of-pod")), Observed{}, time.Hour, egov1.StateSucceeded, "", "", false},
		"what is over is not cancelled":      {activitytest.New(activitytest.InState(egov1.StateFailed), activitytest.Cancelled), Observed{}, time.Hour, egov1.StateFailed, "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := Judge(c.object, c.facts, activitytest.Noon.Add(c.after))
			activitytest.Check(t, "state", got.State, c.state)
			activitytest.Check(t, "reason", got.Reason, c.reason)
			activitytest.Check(t, "withdraw", got.Withdraw, c.withdraw)
			if !strings.Contains(got.Message, c.words) {
				t.Errorf("expected a message with %q, got %q", c.words, got.Message)
			}
		})
	}
}
