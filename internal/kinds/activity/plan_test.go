// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package activity

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/activitytest"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/internal/kit"
)

// does describes the effects of a plan.
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
		a.Status.EndedAt = &metav1.Time{Time: activitytest.Noon}
	}
	second := func(a *egov1.Activity) { a.Spec.Run = new(int64(2)) }
	done := activitytest.InState(egov1.StateSucceeded)
	first := *activitytest.Pod(activitytest.EndedWith(activitytest.Exit3))
	for name, c := range map[string]struct {
		object *egov1.Activity
		facts  facts
		after  time.Duration
		want   does
	}{
		"a run is written down before anything else":    {activitytest.New(func(a *egov1.Activity) { a.Status.Run = 0 }), facts{}, 0, does{holds: true}},
		"then its pod is made":                          {activitytest.New(), facts{begin: permitted()}, 0, does{children: 1, holds: true, again: 5 * time.Minute}},
		"the values of Secrets come before it":          {activitytest.New(withSecret), facts{begin: permitted()}, 0, does{children: 1, holds: true, again: 5 * time.Minute}},
		"a pod that cannot be made in time is not made": {activitytest.New(), facts{begin: permitted()}, time.Hour, does{holds: true}},
		"a further run is written down, too":            {activitytest.New(done, second), facts{former: []corev1.Pod{first}}, 0, does{holds: true}},
		"what may not begin makes nothing":              {activitytest.New(), facts{begin: hindered(egov1.ReasonForbidden, "", true)}, 0, does{holds: true}},
		"what keeps it is looked at again":              {activitytest.New(), facts{begin: hindered(egov1.ReasonHostMissing, "", false)}, 0, does{holds: true, again: run.ObstacleInterval}},
		"a pod that waits is given its time":            {activitytest.New(), facts{pod: activitytest.Pod()}, time.Minute, does{holds: true, again: 4 * time.Minute}},
		"its host is looked at after a while":           {activitytest.New(), facts{pod: activitytest.Pod(activitytest.CreatedAt(0))}, time.Second, does{holds: true, again: run.HostPatience}},
		"and then less and less often":                  {activitytest.New(), facts{pod: activitytest.Pod(activitytest.CreatedAt(0))}, time.Minute, does{holds: true, again: time.Minute}},
		"and withdrawn after it":                        {activitytest.New(), facts{pod: activitytest.Pod()}, time.Hour, does{holds: true, step: "delete the pod of a run that cannot start or was cancelled"}},
		"once":                                          {activitytest.New(), facts{pod: activitytest.Pod(activitytest.Deleted)}, time.Hour, does{holds: true}},
		"a command runs as long as it likes":            {activitytest.New(), facts{pod: activitytest.Pod(activitytest.Running)}, time.Hour, does{holds: true}},
		"a cancel withdraws the pod":                    {activitytest.New(activitytest.Cancelled), facts{pod: activitytest.Pod(activitytest.Running)}, 0, does{holds: true, step: "delete the pod of a run that cannot start or was cancelled"}},
		"a result that is not written down holds it":    {activitytest.New(activitytest.InState(egov1.StateRunning)), facts{pod: activitytest.Pod(activitytest.EndedWith(activitytest.Exit3))}, 0, does{holds: true}},
		"one that is lets the pod go":                   {activitytest.New(activitytest.InState(egov1.StateFailed)), facts{pod: activitytest.Pod(activitytest.EndedWith(activitytest.Exit3))}, 0, does{patches: 1, holds: true}},
		"values of Secrets go at the end":               {activitytest.New(withSecret, done), facts{secrets: []corev1.Secret{{}}}, 0, does{holds: true, step: "delete the Secret with the values of Secrets"}},
		"pods of earlier runs go at the end":            {activitytest.New(done), facts{former: []corev1.Pod{first}}, 0, does{patches: 1, holds: true, step: "delete the pod of an earlier run"}},
		"a host that was given up is not forgotten":     {activitytest.New(activitytest.InState(egov1.StateUnreachable)), facts{pod: activitytest.Pod()}, time.Hour, does{holds: true, step: "delete the pod of a run that cannot start or was cancelled"}},
		"it stays as long as specified":                 {activitytest.New(done, shortLived), facts{}, 20 * time.Second, does{holds: true, again: 40 * time.Second}},
		"and no longer":                                 {activitytest.New(done, shortLived), facts{}, time.Minute, does{holds: true, step: "delete the Activity after ttlSecondsAfterFinished"}},
		"at rest nothing is planned":                    {activitytest.New(done), facts{}, time.Hour, does{holds: true}},

		"a deletion ends what runs":             {activitytest.New(activitytest.Leaving), facts{pod: activitytest.Pod(activitytest.Running), hostAnswers: true}, 0, does{step: "delete the pod"}},
		"and waits for it":                      {activitytest.New(activitytest.Leaving), facts{pod: activitytest.Pod(activitytest.Running, activitytest.Deleted), hostAnswers: true}, 0, does{again: hostInterval}},
		"but not for a dead host":               {activitytest.New(activitytest.Leaving), facts{pod: activitytest.Pod(activitytest.Running, activitytest.Deleted)}, 0, does{patches: 1, releases: true}},
		"and takes the values of Secrets along": {activitytest.New(activitytest.Leaving), facts{secrets: []corev1.Secret{{}}}, 0, does{step: "delete the Secret with the values of Secrets", again: hostInterval}},
		"a deletion of what has ended is quick": {activitytest.New(activitytest.Leaving, done), facts{}, 0, does{releases: true}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := planAt(c.object, c.facts, activitytest.Noon.Add(c.after))
			activitytest.Check(t, "plan", summary(plan), c.want)
		})
	}
}
