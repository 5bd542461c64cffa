// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

// child returns the Activity of one host in the given state.
func child(fleet string, number int64, host string, state egov1.State) *egov1.Activity {
	c := activitytest.New(activitytest.InState(state))
	c.Name, c.Spec.Host = ChildName(fleet, number, host), host
	return c
}

// row returns hosts a, b, c and so on in the given states: "" for a host that has not started, and "cordoned" for one
// that is not available either. "broken" is a host that the command broke although it succeeded. "starting" is a host that the status records as starting.
func row(states ...string) []Host {
	var out []Host
	for i, state := range states {
		h := Host{Name: string(rune('a' + i))}
		switch state {
		case "":
		case "cordoned":
			h.Problem = "is cordoned"
		case "broken":
			h.Child, h.Problem = child("upgrade", 1, h.Name, egov1.StateSucceeded), "is not Ready"
		case "starting":
			h.Starting = true
		case "earlier":
			h.Earlier = true
		default:
			h.Child = child("upgrade", 1, h.Name, egov1.State(state))
		}
		out = append(out, h)
	}
	return out
}

func input(hosts []Host, options ...func(*Input)) *Input {
	in := &Input{Hosts: hosts, Now: activitytest.Noon, Selection: "hosts.nodePool web"}
	for _, o := range options {
		o(in)
	}
	return in
}

func most(n int32) func(*Input) {
	return func(in *Input) { in.Limits.MaxUnavailable = new(intstr.FromInt32(n)) }
}

func failures(n int32) func(*Input) { return func(in *Input) { in.Limits.MaxFailures = &n } }

func canary(n int32, soak int64) func(*Input) {
	return func(in *Input) { in.Limits.Canary = &egov1.Canary{Hosts: n, SoakSeconds: soak} }
}

func batches(sizes ...intstr.IntOrString) func(*Input) {
	return func(in *Input) { in.Limits.Batches = sizes }
}

// endedAt makes all ended hosts end at a time after noon.
func endedAt(after time.Duration) func(*Input) {
	return func(in *Input) {
		for i := range in.Hosts {
			if h := &in.Hosts[i]; h.over() {
				h.Child.Status.EndedAt = &metav1.Time{Time: activitytest.Noon.Add(after)}
			}
		}
	}
}

func repeat(n int, state string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = state
	}
	return out
}

func describe(v Verdict) string {
	text := fmt.Sprintf("%s %s", v.State, v.Reason)
	for _, name := range v.Start {
		text += " +" + name
	}
	for word, is := range map[string]bool{" create": v.Create, " drop": v.Drop} {
		if is {
			text += word
		}
	}
	if v.Cancel {
		text += " cancel"
	}
	if v.Again > 0 {
		text += " " + v.Again.String()
	}
	return text
}
