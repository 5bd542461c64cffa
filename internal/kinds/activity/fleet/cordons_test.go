// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
)

func TestWhichNodesStayCordoned(t *testing.T) {
	began := func(c *egov1.Activity) *egov1.Activity {
		c.Status.StartTime = &metav1.Time{Time: activitytest.Noon}
		return c
	}
	in := func(state egov1.State) *Host { return &Host{Name: "a", Child: child("upgrade", 2, "a", state)} }
	starting := &Host{Name: "a", Starting: true, Drains: true}
	for name, c := range map[string]struct {
		host     *Host
		verdict  Verdict
		children []*egov1.Activity
		want     bool
	}{
		"the command is pending":                  {in(egov1.StatePending), Verdict{}, nil, true},
		"it runs":                                 {in(egov1.StateRunning), Verdict{}, nil, true},
		"it has succeeded":                        {in(egov1.StateSucceeded), Verdict{}, nil, false},
		"it has failed":                           {in(egov1.StateFailed), Verdict{}, nil, true},
		"its result is unknown":                   {in(egov1.StateUnknown), Verdict{}, nil, true},
		"it was refused":                          {in(egov1.StateRefused), Verdict{}, nil, false},
		"it was cancelled before it began":        {in(egov1.StateCancelled), Verdict{}, nil, false},
		"it was cancelled while it ran":           {&Host{Name: "a", Child: began(child("upgrade", 2, "a", egov1.StateCancelled))}, Verdict{}, nil, true},
		"its Activity was deleted":                {&Host{Name: "a", Removed: egov1.StateCancelled}, Verdict{}, nil, true},
		"its Activity was deleted after success":  {&Host{Name: "a", Removed: egov1.StateSucceeded}, Verdict{}, nil, false},
		"the node could not be drained":           {&Host{Name: "a", Removed: egov1.StateTimedOut, Message: "late"}, Verdict{}, nil, false},
		"the node is drained":                     {starting, Verdict{Create: true}, nil, true},
		"the drain must stop":                     {starting, Verdict{}, nil, false},
		"the host waits":                          {&Host{Name: "a"}, Verdict{}, nil, false},
		"the command failed in an earlier run":    {&Host{Name: "a"}, Verdict{}, []*egov1.Activity{child("upgrade", 1, "a", egov1.StateFailed)}, true},
		"it succeeded in an earlier run":          {&Host{Name: "a", Earlier: true}, Verdict{}, nil, false},
		"it failed on another host":               {&Host{Name: "a"}, Verdict{}, []*egov1.Activity{child("upgrade", 1, "b", egov1.StateFailed)}, false},
		"the node left the selection":             {nil, Verdict{}, nil, false},
		"the node left the selection, and failed": {nil, Verdict{}, []*egov1.Activity{child("upgrade", 1, "a", egov1.StateFailed)}, true},
	} {
		n := cordonedIn(1, 0, node("a", true, false))
		if got := KeepsCordon(fleetOf(draining, inRun(2)), n, c.host, c.verdict, c.children); got != c.want {
			t.Errorf("%s: expected the node to stay cordoned: %t, got %t", name, c.want, got)
		}
	}
}
