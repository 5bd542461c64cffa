// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

func stepper(count *int) func(context.Context) error {
	return func(context.Context) error { *count++; return nil }
}

// meddling changes the widget once as another client, just before the process writes the widget's metadata or status.
// The API server then returns a conflict.
func meddling(t *testing.T, meddle *int) interceptor.Funcs {
	change := func(object client.Object) {
		if _, ok := object.(*Widget); ok && *meddle > 0 {
			*meddle--
			edit(t, "kubectl-edit", object.DeepCopyObject().(client.Object), fmt.Sprintf(`{"metadata":{"annotations":{"at":"%d"}}}`, time.Now().UnixNano()))
		}
	}
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, opts ...client.PatchOption) error {
			change(object)
			return c.Patch(ctx, object, patch, opts...)
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			change(object)
			return c.SubResource(sub).Patch(ctx, object, patch, opts...)
		},
	}
}

func TestAConflictIsRetriedAndNotReported(t *testing.T) {
	meddle := 0
	l := newLoop(t, env.Namespace(t), setup{intercept: meddling(t, &meddle)})
	l.kind.plan = withSettings
	widget := l.widget("w")
	quietly := func(what string, costs cost) {
		t.Helper()
		meddle = 1
		result, err := l.reconciles(widget, costs)
		if err != nil || result.RequeueAfter != 200*time.Millisecond {
			t.Errorf("%s: the reconcile gives %v (%v), expected it to be tried again after 200ms", what, result, err)
		}
		if len(l.recorder.Events) != 0 {
			t.Errorf("%s: the user got the event %q, expected nothing", what, <-l.recorder.Events)
		}
	}
	// The status was computed from the same outdated object as the refused write, so it must not report success.
	quietly("finalizer", cost{"patch widgets": 1})
	if got := current(t, widget).Finalizers; len(got) != 0 {
		t.Errorf("finalizers %v, expected none yet", got)
	}
	l.goesWell(widget, cost{"get widgets": 1, "patch widgets": 1, "get configmaps": 1, "patch configmaps": 1, statusWrite: 1})
	l.recorded("Normal AsWanted")
	l.kind.seen = 1
	quietly("status", cost{statusWrite: 1})
	l.goesWell(widget, cost{statusWrite: 1})
	l.recorded("Normal Seen")
}

// limited returns a group that may read everything, but may only write widgets and ConfigMaps.
func limited(t *testing.T) []string {
	t.Helper()
	group := "limited-" + env.Namespace(t)
	create(t,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: group}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{"*"}, Resources: []string{"widgets", "widgets/status", "configmaps"}, Verbs: []string{"create", "patch", "delete"}},
		}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: group},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: group},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "Group", Name: group}},
		})
	return []string{group}
}

func TestARefusalIsReportedAndTheRestIsDone(t *testing.T) {
	stepped := 0
	plan := func(widget *Widget) kit.Plan {
		return kit.Plan{
			Children: []ensure.Child{service(widget.Namespace), settings(widget.Namespace, map[string]string{"mode": "fast"})},
			Step:     &kit.Step{Name: "step", Do: stepper(&stepped)},
			Events:   []kit.Event{{Reason: "Planned", Action: "Plan", Note: "x"}},
			Release:  finalizer,
		}
	}
	check := func(t *testing.T, l *loop, words string) {
		t.Helper()
		stepped = 0
		l.kind.plan = plan
		widget := l.widget("w")
		edit(t, "kubectl-edit", widget, `{"metadata":{"finalizers":["`+finalizer+`"]}}`)
		l.settles(widget)
		_, err := l.reconciles(widget, cost{"get widgets": 1, "get services": 1, "patch services": 1, "get configmaps": 1, "patch configmaps": 1, statusWrite: 1})
		if !apierrors.IsForbidden(err) || !ensure.Refused(err) {
			t.Errorf("error %v, expected the refusal, so that it is tried again with backoff", err)
		}
		ready := expectReady(t, widget, "False", "Refused")
		if !strings.HasPrefix(ready.Message, "apply Service "+widget.Namespace+"/web: services ") || !strings.Contains(ready.Message, words) {
			t.Errorf("message %q, expected the child's name and %q", ready.Message, words)
		}
		if stepped != 0 || len(current(t, widget).Finalizers) != 1 {
			t.Errorf("%d steps, finalizers %v: expected neither a step nor a release after a failure", stepped, widget.Finalizers)
		}
		l.recorded("Warning Refused")
		if _, sum := l.metric(t, "opcrew_writes_total", "action", "Created"); sum != 1 {
			t.Errorf("%v creations counted, expected that of the ConfigMap alone", sum)
		}
		edit(t, "kubectl-edit", widget, `{"metadata":{"finalizers":null}}`)
	}
	t.Run("by a missing right", func(t *testing.T) {
		check(t, newLoop(t, env.Namespace(t), setup{groups: limited(t)}), `cannot patch resource "services"`)
	})
	t.Run("by a quota", func(t *testing.T) {
		ns := env.Namespace(t)
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "none"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"services": resource.MustParse("0")}},
		}
		create(t, quota)
		eventually.True(t, eventually.Long, "the quota is in force", func() error {
			if len(current(t, quota).Status.Hard) == 0 {
				return errors.New("it was not counted yet")
			}
			return nil
		})
		check(t, newLoop(t, ns, setup{}), "exceeded quota")
	})
}
