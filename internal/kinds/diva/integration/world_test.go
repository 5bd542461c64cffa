// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// shop is the environment of one test: a namespace with nodes, a StorageClass and the operator. Its tenant, if it has one,
// creates and edits the Diva; otherwise an administrator does.
type shop struct {
	*testing.T
	ns string
	// name is the name of the Diva.
	name     string
	operator *operator.Process
	tenant   *operator.Tenant
}

var shops int

func newShop(t *testing.T) *shop {
	t.Helper()
	return newShopOf(t, env.Operator)
}

func newShopOf(t *testing.T, start func(*testing.T) *operator.Process) *shop {
	t.Helper()
	shops++ // kwok runs no pods on a node that is recreated under the same name
	env.Nodes(t, 2, testenv.NodeSpec{Prefix: fmt.Sprint("shop", shops)})
	class := &storagev1.StorageClass{Provisioner: testenv.VolumeProvisioner, AllowVolumeExpansion: new(true)}
	class.Name = "longhorn"
	if err := env.Client.Create(t.Context(), class); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	s := &shop{T: t, ns: env.Namespace(t), name: "ops", operator: start(t)}
	t.Cleanup(s.clear)
	return s
}

// clear deletes the Diva while the operator still runs and the namespace still exists. In a namespace that is being
// deleted, the operator could no longer create objects.
func (s *shop) clear() {
	ctx := context.WithoutCancel(s.Context())
	d := &opsv1.Diva{}
	d.Namespace, d.Name = s.ns, s.name
	err := env.Client.Delete(ctx, d, client.PropagationPolicy(metav1.DeletePropagationForeground))
	for deadline := time.Now().Add(operator.Long); !apierrors.IsNotFound(err) && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
		err = env.Client.Get(ctx, client.ObjectKeyFromObject(d), d)
	}
	if !apierrors.IsNotFound(err) {
		s.Errorf("expected Diva ops to go, got %v", err)
	}
}

type option func(*opsv1.Diva)

func annotated(key, value string) option {
	return func(d *opsv1.Diva) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, key, value) }
}

func withClients(n int32) option { return func(d *opsv1.Diva) { d.Spec.Client.Replicas = n } }

func withClientImage(image opsv1.Image) option {
	return func(d *opsv1.Diva) { d.Spec.Client.Image = image }
}

func withManagerImage(image opsv1.Image) option {
	return func(d *opsv1.Diva) { d.Spec.Manager.Image = image }
}

func withClientSize(size string) option {
	return func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = size }
}

func (s *shop) create(replicas int32, options ...option) {
	s.Helper()
	if err := env.As(s.tenant).Create(s.Context(), s.object(replicas, options...)); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) object(replicas int32, options ...option) *opsv1.Diva {
	d := &opsv1.Diva{}
	d.Namespace, d.Name = s.ns, s.name
	storage := opsv1.Storage{Size: "2Gi", ClassName: "longhorn"}
	d.Spec.Client = opsv1.Client{Replicas: replicas, Part: opsv1.Part{Image: "diva-client:v0.0.1", Storage: storage}}
	d.Spec.Manager = opsv1.Manager{Part: opsv1.Part{Image: "diva:v1.1", Storage: storage}}
	d.Spec.Extra = opsv1.Extra{Image: "diva-extra:0.0.1", Storage: storage}
	for _, option := range options {
		option(d)
	}
	return d
}

// edit changes the Diva as a user would.
func (s *shop) edit(options ...option) {
	s.Helper()
	d := s.get()
	before := d.DeepCopy()
	for _, option := range options {
		option(d)
	}
	if err := env.As(s.tenant).Patch(s.Context(), d, client.MergeFrom(before), client.FieldOwner("kubectl-edit")); err != nil {
		s.Fatal(err)
	}
}

func (s *shop) get() *opsv1.Diva {
	s.Helper()
	d := &opsv1.Diva{}
	s.read(s.name, d)
	return d
}

func (s *shop) read(name string, object client.Object) {
	s.Helper()
	if err := env.Client.Get(s.Context(), client.ObjectKey{Namespace: s.ns, Name: name}, object); err != nil {
		s.Fatalf("reading %T %s: %v", object, name, err)
	}
}

// await waits until a condition has the given status and reason, and its message contains the words, for the current
// spec.
func (s *shop) await(kind, statusReason string, words ...string) *opsv1.Diva {
	s.Helper()
	var d *opsv1.Diva
	operator.Until(s.T, fmt.Sprintf("%s is %s and says %q", kind, statusReason, words), func() error {
		d = s.get()
		c := meta.FindStatusCondition(d.Status.Conditions, kind)
		switch {
		case c == nil:
			return errors.New("there is no such condition")
		case d.Status.ObservedGeneration != d.Generation:
			return fmt.Errorf("the status is about generation %d, the spec is %d", d.Status.ObservedGeneration, d.Generation)
		case fmt.Sprintf("%s %s", c.Status, c.Reason) != statusReason:
			return fmt.Errorf("it is %s %s: %s", c.Status, c.Reason, c.Message)
		}
		for _, word := range words {
			if !strings.Contains(c.Message, word) {
				return fmt.Errorf("it says %q", c.Message)
			}
		}
		return nil
	})
	return d
}

// awaitReady waits until one manager pod and n client pods are ready.
func (s *shop) awaitReady(n int) *opsv1.Diva {
	s.Helper()
	d := s.await(opsv1.DivaReady, "True AllReady", fmt.Sprintf("1/1 managers and %d/%d clients", n, n))
	if want := fmt.Sprintf("%d/%d", n, n); d.Status.Clients != want || d.Status.Manager != "1/1" {
		s.Errorf("expected clients %s and manager 1/1, got %s and %s", want, d.Status.Clients, d.Status.Manager)
	}
	return d
}

// pods returns the pods of a role that are not being deleted, sorted by name.
func (s *shop) pods(role string) []corev1.Pod {
	s.Helper()
	list := &corev1.PodList{}
	if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns), client.MatchingLabels{"diva-" + role: s.name}); err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(list.Items, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return slices.DeleteFunc(list.Items, func(p corev1.Pod) bool { return p.DeletionTimestamp != nil })
}

// uids returns the UIDs of the pods of a role.
func (s *shop) uids(role string) []types.UID {
	s.Helper()
	var out []types.UID
	for _, pod := range s.pods(role) {
		out = append(out, pod.UID)
	}
	return out
}

func (s *shop) secret() *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	s.read("ops-ssh", secret)
	return secret
}

// serverSecret returns the Secret that client pods mount.
func (s *shop) serverSecret() *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	s.read("ops-sshd", secret)
	return secret
}

// claims returns the requested sizes of all claims, by name.
func (s *shop) claims() map[string]string {
	s.Helper()
	list, out := &corev1.PersistentVolumeClaimList{}, map[string]string{}
	if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
	for _, claim := range list.Items {
		out[claim.Name] = claim.Spec.Resources.Requests.Storage().String()
	}
	return out
}

func (s *shop) list(list client.ObjectList) {
	s.Helper()
	if err := env.Client.List(s.Context(), list, client.InNamespace(s.ns)); err != nil {
		s.Fatal(err)
	}
}

func contains(text, part string) bool { return strings.Contains(text, part) }
