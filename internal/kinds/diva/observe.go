// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

// reconciler is keyed by a Diva.
type reconciler struct {
	*kit.Tools
	served *served
	// refusals says why pods of clients are missing, unbound why claims have no volume.
	refusals, unbound workload.Refusals
	classes           workload.Classes
}

// facts are all that is read about a Diva.
type facts struct {
	clients workload.Members
	manager workload.Rollout
	// attachment is what the first pod of theirs waits for that has a node, and has not begun.
	attachment attachment
	// secret is ours, nil for none; ring what it holds, and given what the user gives.
	secret *corev1.Secret
	ring   *ring
	given  given
	// fresh is a pair and a host's, where a plan may need some: what is made at random cannot
	// be computed twice alike.
	fresh struct{ pair, host *pair }
	// serving are the digests of what the pods serve whose log was asked, by their UIDs.
	serving map[string]string
	// claims are those of the Diva, by name; patched, those that the cache has as they were
	// before our own last patch. unbound is why one has no volume.
	claims  map[string]*corev1.PersistentVolumeClaim
	patched map[string]bool
	unbound workload.Refusal
	// weAsked are the claims whose too large size is the operator's own writing.
	weAsked map[string]bool
	// rigid are the classes whose volumes do not grow, of those of which claims are to, and why.
	rigid map[string]string
	// inventory is the list of clients that the manager has.
	inventory   string
	helperImage string
	now         time.Time
}

// Observe reads what belongs to a Diva.
func (r *reconciler) Observe(ctx context.Context, d *opsv1.Diva) (facts, error) {
	f := facts{helperImage: r.HelperImage, now: r.Clock.Now()}
	var err error
	for _, read := range []func(context.Context, *opsv1.Diva, *facts) error{
		r.observePods, r.observeAttachment, r.observeKeys, r.observeServed, r.observeClaims, r.observeInventory,
	} {
		if err == nil {
			err = read(ctx, d, &f)
		}
	}
	return f, err
}

func (r *reconciler) observePods(ctx context.Context, d *opsv1.Diva, f *facts) (err error) {
	if f.manager, err = workload.ObserveRollout(ctx, r.Client, d, managers(d)); err != nil {
		return err
	}
	if f.clients, err = workload.ObserveMembers(ctx, r.Client, d, clients(d)); err != nil {
		return err
	}
	f.manager.Recall(r.Writes())
	f.clients.Recall(r.Writes())
	if !f.clients.Missing() {
		r.refusals.Forget(client.ObjectKeyFromObject(d))
		return nil
	}
	f.clients.Refusal = r.refusals.Why(ctx, client.ObjectKeyFromObject(d), f.clients.Set, told(d, opsv1.DivaClientsReady, common.ReasonPodsMissing))
	return nil
}

// told reports whether a condition had a reason when last reported.
func told(d *opsv1.Diva, kind, reason string) bool {
	c := meta.FindStatusCondition(d.Status.Conditions, kind)
	return c != nil && c.Reason == reason
}

// observeKeys reads the Secret. Where the cache has none the API server is asked: a pair
// that is recreated locks the manager out.
func (r *reconciler) observeKeys(ctx context.Context, d *opsv1.Diva, f *facts) error {
	f.given = r.observeGiven(ctx, d)
	secret, key := &corev1.Secret{}, client.ObjectKey{Namespace: d.Namespace, Name: secretName(d)}
	err := r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) && d.DeletionTimestamp == nil {
		err = r.Live.Get(ctx, key, secret)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read key pair: %w", err)
	}
	if err == nil && (metav1.IsControlledBy(secret, d) || secret.Labels[common.OwnerLabel] == string(d.UID)) {
		f.secret, f.ring = secret, parseRing(secret)
	}
	if f.ring != nil && f.ring.host != nil && !f.ring.due(d, given{}, f.now) {
		return nil
	}
	comment := "opcrew " + d.Namespace + "/" + d.Name
	if f.fresh.pair, err = newPair(comment); err == nil {
		f.fresh.host, err = newPair(comment)
	}
	return err
}

// observeGiven reads the pair that the user gives. A Secret of the user is not in the cache.
// One that cannot be read stops nothing but a change of the pair.
func (r *reconciler) observeGiven(ctx context.Context, d *opsv1.Diva) given {
	if d.Spec.SSH == nil || d.Spec.SSH.SecretRef == nil {
		return inline(d)
	}
	name, secret := d.Spec.SSH.SecretRef.Name, &corev1.Secret{}
	if err := r.Live.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: name}, secret); client.IgnoreNotFound(err) != nil {
		return given{wrong: &obstacle{common.ReasonReadFailed, fmt.Sprintf("spec.ssh.secretRef: Secret %s cannot be read: %v", name, err)}}
	}
	return referred(name, secret.Data)
}

// observeServed asks what pods serve while the pair is being changed, and never else.
func (r *reconciler) observeServed(ctx context.Context, d *opsv1.Diva, f *facts) error {
	if f.ring == nil || !changing(d, f.ring) {
		r.served.forget(client.ObjectKeyFromObject(d))
		return nil
	}
	f.serving = r.served.ask(ctx, client.ObjectKeyFromObject(d), slices.Concat(f.boundClients(), f.boundManagers()), wantedDigests(d, f.ring))
	return nil
}

// changing reports whether the pair is being changed, or was when last told.
func changing(d *opsv1.Diva, r *ring) bool {
	return r.phase() != opsv1.SSHInUse || d.Status.SSH != nil && d.Status.SSH.Phase != opsv1.SSHInUse && d.Status.SSH.Phase != ""
}

func (r *reconciler) observeInventory(ctx context.Context, d *opsv1.Diva, f *facts) error {
	list := &corev1.ConfigMap{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: inventoryName(d)}, list)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read inventory: %w", err)
	}
	f.inventory = list.Data[hostsKey]
	return nil
}

func (f facts) boundClients() []*corev1.Pod {
	return workload.Bound(slices.SortedFunc(maps.Values(f.clients.Pods), byName))
}

func (f facts) boundManagers() []*corev1.Pod {
	var out []*corev1.Pod
	for i := range f.manager.Pods {
		out = append(out, &f.manager.Pods[i])
	}
	return workload.Bound(out)
}
