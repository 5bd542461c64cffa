// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	appv1 "github.com/opcrew/opcrew/api/app/v1"
	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const (
	forged = `{"username":"admin","groups":["system:masters"]}`
	record = operator.TenantRecord
)

func fromSecret(name string) option {
	return func(a *appv1.AppService) {
		a.Spec.Envs = append(a.Spec.Envs, corev1.EnvVar{Name: "TOKEN", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: "token"},
		}})
	}
}

func withPod(pod common.PodOverride) option {
	return func(a *appv1.AppService) { a.Spec.Pod = &pod }
}

// tenant is a user with rights in the shop's namespace only.
type tenant struct {
	*shop
	user *operator.Tenant
}

func newTenant(t *testing.T) tenant {
	t.Helper()
	c := tenant{shop: newShopOf(t, env.CheckingOperator)}
	c.user = env.Tenant(t, c.ns, c.object())
	return c
}

func (c tenant) object(options ...option) *appv1.AppService {
	a := &appv1.AppService{}
	a.Namespace, a.Name, a.Spec.Image = c.ns, c.name, "nginx:1.26"
	for _, option := range options {
		option(a)
	}
	return a
}

// change edits the object as the tenant.
func (c tenant) change(options ...option) error {
	c.Helper()
	a := c.get()
	before := a.DeepCopy()
	for _, option := range options {
		option(a)
	}
	return c.user.Patch(c.Context(), a, client.MergeFrom(before), client.FieldOwner("kubectl-edit"))
}

func (s *shop) record() string { return s.get().Annotations[common.RequesterAnnotation] }

func TestAUserOfTheKindAloneUsesNoSecretUntilARoleGrantsIt(t *testing.T) {
	c := newTenant(t)
	if err := c.user.Create(t.Context(), c.object(withSize(1), fromSecret("bank"), annotated(common.RequesterAnnotation, forged))); err != nil {
		t.Fatal(err)
	}
	c.await(ready, "False "+common.ReasonRequesterMayNot, append(c.user.MayNot("bank"), "variable TOKEN of container web")...)
	if c.there(&appsv1.Deployment{}) {
		t.Fatal("expected no pods with a Secret that the user may not read")
	}
	c.user.Grant("get", "", "secrets", "bank")
	if err := c.change(withSize(2)); err != nil {
		t.Fatal(err)
	}
	c.await(children, "True AsDeclared")
}

func TestARefusalIsReviewedOnceAMinute(t *testing.T) {
	c := newTenant(t)
	if err := c.user.Create(t.Context(), c.object(withSize(1), fromSecret("bank"))); err != nil {
		t.Fatal(err)
	}
	c.await(ready, "False "+common.ReasonRequesterMayNot)
	env.Settled(t, env.Audit.Mark(t))
	env.Rests(t)
}

func TestAUserGoesOnWithWhatAnAdministratorHasGivenTheObject(t *testing.T) {
	c := newTenant(t)
	c.user.MakeSecret("bank")
	c.create(1, fromSecret("bank"), withPod(common.PodOverride{PriorityClassName: "system-cluster-critical"}))
	c.await(children, "True AsDeclared")
	if err := c.change(withSize(2)); err != nil {
		t.Fatal(err)
	}
	c.await(children, "True AsDeclared")
	if got := c.record(); !strings.Contains(got, "system:masters") {
		t.Errorf("expected a change of the size to leave the administrator as the requester, got %s", got)
	}
	if err := c.change(func(a *appv1.AppService) {
		a.Spec.Envs = append(a.Spec.Envs, corev1.EnvVar{Name: "COLOR", Value: "red"})
	}); err != nil {
		t.Fatal(err)
	}
	c.await(children, "True AsDeclared")
	if got := c.record(); got != record {
		t.Errorf("expected carol to be the requester of what she changed, got %s", got)
	}
	if err := c.change(func(a *appv1.AppService) { a.Spec.Envs = nil }, fromSecret("bank"), fromOther("safe")); err != nil {
		t.Fatal(err)
	}
	c.await(children, "False "+common.ReasonRequesterMayNot, "carol may not get secrets safe")
}

func fromOther(name string) option {
	return func(a *appv1.AppService) {
		fromSecret(name)(a)
		a.Spec.Envs[len(a.Spec.Envs)-1].Name = "OTHER"
	}
}

func TestTheRecordOfTheRequesterIsTheAPIServers(t *testing.T) {
	c := newTenant(t)
	c.create(0)
	admins := c.record()
	for name, step := range map[string]struct {
		change option
		want   string
	}{
		"a label":         {func(a *appv1.AppService) { a.Labels = map[string]string{"a": "b"} }, admins},
		"no record":       {func(a *appv1.AppService) { a.Annotations = nil }, admins},
		"a forged record": {annotated(common.RequesterAnnotation, forged), record},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.change(step.change); err != nil {
				t.Fatal(err)
			}
			if got := c.record(); got != step.want {
				t.Errorf("expected %s, got %s", step.want, got)
			}
			if err := env.Client.Patch(t.Context(), c.get(), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"opcrew.io/requester":"me"}}}`))); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The test runs without the mutating admission policy, as in clusters before Kubernetes 1.36. Then no policy sets the
// annotation that records the requester.
func TestWithoutTheMutatingPolicyAForgedRecordIsRefused(t *testing.T) {
	c := newTenant(t)
	env.Unbind(t, operator.Requester())
	operator.Until(t, "a forged record is refused", func() error {
		err := c.user.Create(t.Context(), c.object(annotated(common.RequesterAnnotation, forged)), client.DryRunAll)
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "leave it out, or write "+record) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
	for name, option := range map[string]option{"the user's own": annotated(common.RequesterAnnotation, record), "none": withSize(1)} {
		if err := c.user.Create(t.Context(), c.object(option), client.DryRunAll); err != nil {
			t.Errorf("record %s: expected it to be accepted, got %v", name, err)
		}
	}
	c.create(0, annotated(common.RequesterAnnotation, ""))
	if err := c.change(fromSecret("bank"), withSize(1)); err != nil {
		t.Fatal(err)
	}
	c.await(ready, "False "+common.ReasonRequesterUnknown, "secrets bank", "annotation opcrew.io/requester is missing")
}

func TestNamesOfTheSpecNeedTheRequestersRights(t *testing.T) {
	c := newTenant(t)
	c.create(0, withPorts(atNodes(30321)), withPod(common.PodOverride{ServiceAccountName: "builder"}))
	for name, test := range map[string]struct {
		change      option
		verb, group string
		resource    string
		of          string
	}{
		"another ServiceAccount": {withPod(common.PodOverride{ServiceAccountName: "robot"}), "impersonate", "", "serviceaccounts", "robot"},
		"a PriorityClass":        {withPod(common.PodOverride{PriorityClassName: "high"}), "use", "scheduling.k8s.io", "priorityclasses", "high"},
		"a RuntimeClass":         {withPod(common.PodOverride{RuntimeClassName: "gold"}), "use", "node.k8s.io", "runtimeclasses", "gold"},
		"a nodePort":             {withPorts(atNodes(30322)), "use", "opcrew.io", "nodeports", "30322"},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.try(test.change)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "carol may not "+test.verb+" "+test.resource) || !strings.Contains(err.Error(), test.of) {
				t.Errorf("expected a refusal that names user, verb, resource and name, got %v", err)
			}
			c.user.Grant(test.verb, test.group, test.resource, test.of)
			operator.Until(t, "it is accepted once a role grants it", func() error { return c.try(test.change) })
		})
	}
	for name, change := range map[string]option{
		"the account that an administrator named": withPod(common.PodOverride{ServiceAccountName: "builder", Labels: map[string]string{"a": "b"}}),
		"the default account":                     withPod(common.PodOverride{ServiceAccountName: "default"}),
		"the same nodePort, and any that is free": withPorts(atNodes(30321), common.Port{Port: 81, NodePort: new(int32(0))}),
	} {
		if err := c.try(change); err != nil {
			t.Errorf("%s: expected it to need no right, got %v", name, err)
		}
	}
}

// try is a dry run of an edit as the tenant.
func (c tenant) try(options ...option) error {
	a := c.get()
	before := a.DeepCopy()
	for _, option := range options {
		option(a)
	}
	return c.user.Patch(c.Context(), a, client.MergeFrom(before), client.DryRunAll)
}

func TestManyNodePortsNeedOneRightToAll(t *testing.T) {
	c := newTenant(t)
	var ports []common.Port
	for i := range int32(9) {
		ports = append(ports, common.Port{Port: 80 + i, NodePort: new(30400 + i)})
	}
	c.create(0)
	if err := c.try(withPorts(ports...)); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "at most 8 new nodePorts") {
		t.Errorf("expected a refusal, got %v", err)
	}
	c.user.Grant("use", "opcrew.io", "nodeports", "")
	operator.Until(t, "a right to all of them is enough", func() error { return errors.Join(c.try(withPorts(ports...))) })
}
