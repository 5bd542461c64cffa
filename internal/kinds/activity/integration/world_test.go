// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	"github.com/opcrew/opcrew/internal/kinds/activity/run"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// site is the environment of a test: a namespace, nodes as hosts, and the operator.
type site struct {
	*testing.T
	ns       string
	hosts    []string
	operator *operator.Process
}

var sites int

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, hosts: env.Nodes(t, 2, testenv.NodeSpec{Prefix: nodePrefix()}), ns: env.Namespace(t)}
	s.operator = env.Operator(t)
	env.Clear(t, &egov1.ActivityList{}, s.ns)
	s.policiesWork()
	env.PolicyAges(t)
	return s
}

// nodePrefix returns a new prefix, because kwok does not simulate pods on a node that is recreated under its old name.
// Fleets start hosts in the order of their names, so a later prefix sorts after an earlier one.
func nodePrefix() string {
	sites++
	return fmt.Sprintf("site%04d", sites)
}

// policiesWork waits until the API server sets spec.requester, because a new admission policy takes a moment to be
// enforced.
func (s *site) policiesWork() {
	s.Helper()
	operator.Until(s.T, "the requester is filled in", func() error {
		a := s.declared("probe", "true")
		if err := env.Client.Create(s.Context(), a, client.DryRunAll); err != nil {
			return err
		}
		if a.Spec.Requester == nil {
			return errors.New("spec.requester is empty")
		}
		return nil
	})
}

type option func(*egov1.Activity)

func (s *site) declared(name, command string, options ...option) *egov1.Activity {
	a := &egov1.Activity{}
	a.Namespace, a.Name = s.ns, name
	a.Spec.Command, a.Spec.Host = command, s.hosts[0]
	for _, o := range options {
		o(a)
	}
	return a
}

func (s *site) create(name, command string, options ...option) {
	s.Helper()
	if err := env.Client.Create(s.Context(), s.declared(name, command, options...)); err != nil {
		s.Fatal(err)
	}
}

func (s *site) patch(name, merge string) {
	s.Helper()
	if err := env.Client.Patch(s.Context(), s.declared(name, ""), client.RawPatch("application/merge-patch+json", []byte(merge))); err != nil {
		s.Fatal(err)
	}
}

func (s *site) delete(name string) {
	s.Helper()
	if err := env.Client.Delete(s.Context(), s.declared(name, "")); err != nil {
		s.Fatal(err)
	}
}

func (s *site) get(name string) *egov1.Activity {
	s.Helper()
	a := &egov1.Activity{}
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: name}, a); err != nil {
		s.Fatal(err)
	}
	return a
}

// await waits until an Activity has a state and the message of Ready contains the words.
func (s *site) await(name string, state egov1.State, words ...string) *egov1.Activity {
	s.Helper()
	var a *egov1.Activity
	operator.Until(s.T, fmt.Sprintf("%s is %s and says %q", name, state, words), func() error {
		a = s.get(name)
		ready := meta.FindStatusCondition(a.Status.Conditions, egov1.ActivityReady)
		if a.Status.Prosta != state || ready == nil || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(ready.Message, w) }) {
			return fmt.Errorf("it is %s, Ready %+v", a.Status.Prosta, ready)
		}
		return nil
	})
	return a
}

// pods returns the pods of an Activity.
func (s *site) pods(a *egov1.Activity) []corev1.Pod {
	s.Helper()
	list := &corev1.PodList{}
	if err := env.Client.List(s.Context(), list, client.InNamespace(run.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)}); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// gone waits until the Activity and all its objects are deleted.
func (s *site) gone(a *egov1.Activity) {
	s.Helper()
	operator.Until(s.T, "nothing is left of "+a.Name, func() error {
		secrets := &corev1.SecretList{}
		err := env.Client.List(s.Context(), secrets, client.InNamespace(run.Namespace), client.MatchingLabels{common.OwnerLabel: string(a.UID)})
		if left := len(s.pods(a)) + len(secrets.Items); left > 0 {
			return fmt.Errorf("%d objects are left", left)
		}
		if client.IgnoreNotFound(err) == nil && env.Client.Get(s.Context(), client.ObjectKeyFromObject(a), &egov1.Activity{}) == nil {
			return errors.New("the Activity is there")
		}
		return err
	})
}

func node(name string) *corev1.Node {
	n := &corev1.Node{}
	n.Name = name
	return n
}

func policyBinding() *admissionv1.ValidatingAdmissionPolicyBinding {
	b := &admissionv1.ValidatingAdmissionPolicyBinding{}
	b.Name = "opcrew-activity-rights"
	return b
}
