// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// does is what a plan amounts to.
type does struct {
	children, patches int
	step              string
	holds, releases   bool
	again             time.Duration
}

func summary(p kit.Plan) does {
	d := does{len(p.Children), len(p.Patches), "", p.Finalizer != "", p.Release != "", p.Again}
	if p.Step != nil {
		d.step = p.Step.Name
	}
	return d
}

func TestWhatFollows(t *testing.T) {
	withSecret := func(a *egov1.Activity) { a.Spec.SecretEnvs = []egov1.SecretEnv{{Name: "TOKEN", Secret: "s", Key: "k"}} }
	shortLived := func(a *egov1.Activity) {
		a.Spec.TTLSecondsAfterFinished = new(int64(60))
		a.Status.EndedAt = &metav1.Time{Time: noon}
	}
	second := func(a *egov1.Activity) { a.Spec.Run = new(int64(2)) }
	done := inState(egov1.StateSucceeded)
	first := *newPod(endedWith(exit3))
	for name, c := range map[string]struct {
		object *egov1.Activity
		facts  facts
		after  time.Duration
		want   does
	}{
		"a run is written down before anything else":    {newActivity(func(a *egov1.Activity) { a.Status.Run = 0 }), facts{}, 0, does{holds: true}},
		"then its pod is made":                          {newActivity(), facts{begin: permitted()}, 0, does{children: 1, holds: true, again: 5 * time.Minute}},
		"the values of Secrets come before it":          {newActivity(withSecret), facts{begin: permitted()}, 0, does{children: 1, holds: true, again: 5 * time.Minute}},
		"a pod that cannot be made in time is not made": {newActivity(), facts{begin: permitted()}, time.Hour, does{holds: true}},
		"a further run is written down, too":            {newActivity(done, second), facts{former: []corev1.Pod{first}}, 0, does{holds: true}},
		"what may not begin makes nothing":              {newActivity(), facts{begin: hindered(egov1.ReasonForbidden, "", true)}, 0, does{holds: true}},
		"what keeps it is looked at again":              {newActivity(), facts{begin: hindered(egov1.ReasonHostMissing, "", false)}, 0, does{holds: true, again: obstacleInterval}},
		"a pod that waits is given its time":            {newActivity(), facts{pod: newPod()}, time.Minute, does{holds: true, again: 4 * time.Minute}},
		"its host is looked at after a while":           {newActivity(), facts{pod: newPod(bornAt(0))}, time.Second, does{holds: true, again: hostPatience}},
		"and then less and less often":                  {newActivity(), facts{pod: newPod(bornAt(0))}, time.Minute, does{holds: true, again: time.Minute}},
		"and withdrawn after it":                        {newActivity(), facts{pod: newPod()}, time.Hour, does{holds: true, step: "withdraw the pod"}},
		"once":                                          {newActivity(), facts{pod: newPod(deleted)}, time.Hour, does{holds: true}},
		"a command runs as long as it likes":            {newActivity(), facts{pod: newPod(running)}, time.Hour, does{holds: true}},
		"a cancel withdraws the pod":                    {newActivity(cancelled), facts{pod: newPod(running)}, 0, does{holds: true, step: "withdraw the pod"}},
		"a result that is not written down holds it":    {newActivity(inState(egov1.StateRunning)), facts{pod: newPod(endedWith(exit3))}, 0, does{holds: true}},
		"one that is lets the pod go":                   {newActivity(inState(egov1.StateFailed)), facts{pod: newPod(endedWith(exit3))}, 0, does{patches: 1, holds: true}},
		"values of Secrets go at the end":               {newActivity(withSecret, done), facts{secrets: []corev1.Secret{{}}}, 0, does{holds: true, step: "remove the values of secretEnvs"}},
		"pods of earlier runs go at the end":            {newActivity(done), facts{former: []corev1.Pod{first}}, 0, does{patches: 1, holds: true, step: "remove the pod of an earlier run"}},
		"a host that was given up is not forgotten":     {newActivity(inState(egov1.StateUnreachable)), facts{pod: newPod()}, time.Hour, does{holds: true, step: "withdraw the pod"}},
		"it stays as long as it is told to":             {newActivity(done, shortLived), facts{}, 20 * time.Second, does{holds: true, again: 40 * time.Second}},
		"and no longer":                                 {newActivity(done, shortLived), facts{}, time.Minute, does{holds: true, step: "remove the Activity, whose time is up"}},
		"at rest nothing is planned":                    {newActivity(done), facts{}, time.Hour, does{holds: true}},

		"a deletion ends what runs":             {newActivity(leaving), facts{pod: newPod(running), hostAnswers: true}, 0, does{step: "remove the pod"}},
		"and waits for it":                      {newActivity(leaving), facts{pod: newPod(running, deleted), hostAnswers: true}, 0, does{again: hostInterval}},
		"but not for a dead host":               {newActivity(leaving), facts{pod: newPod(running, deleted)}, 0, does{patches: 1, releases: true}},
		"and takes the values of Secrets along": {newActivity(leaving), facts{secrets: []corev1.Secret{{}}}, 0, does{step: "remove the values of secretEnvs", again: hostInterval}},
		"a deletion of what has ended is quick": {newActivity(leaving, done), facts{}, 0, does{releases: true}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := (&reconciler{}).Plan(c.object, c.facts, noon.Add(c.after))
			check(t, "plan", summary(plan), c.want)
		})
	}
}
