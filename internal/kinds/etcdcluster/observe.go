// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdcluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/etcd"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
)

type reconciler struct {
	*kit.Tools
	prober *etcd.Prober
	// born is what the process knows of clusters that are not formed yet.
	born births
	// refused is what clusters said when they did not take a step.
	refused refusals
}

// facts are all that is read about a cluster.
type facts struct {
	now         time.Time
	helperImage string
	pods        map[string]*corev1.Pod
	// patched are pods of which the cache does not show our own last patch yet.
	patched map[string]bool
	claims  map[string]*corev1.PersistentVolumeClaim
	// nodes are those that the pods run on.
	nodes      map[string]node
	nodesKnown bool
	// view is the last look at the members; one without a time if there was none.
	view etcd.View
	// quorumSince is since when a quorum of first members has been there.
	quorumSince time.Time
	// begunWith is the number of first members that this process began the cluster with; 0: it
	// did not, or the cluster was formed long ago.
	begunWith int32
	// refused is what the cluster said when it did not take the last step.
	refused string
	// tls is what is wrong with the certificates; nil: nothing.
	tls *obstacle
	// behind: the API server knows the cluster as formed and the cache does not.
	behind bool
}

// Observe reads the members' pods, claims and nodes, the certificates, and what the prober
// has seen of the cluster itself, which it asks of nobody here.
func (r *reconciler) Observe(ctx context.Context, c *etcdv1beta2.EtcdCluster) (facts, error) {
	key := client.ObjectKeyFromObject(c)
	f := facts{now: r.Clock.Now(), helperImage: r.HelperImage, refused: r.refused.of(key)}
	r.renew(key, c)
	if c.DeletionTimestamp != nil {
		r.prober.Forget(client.ObjectKeyFromObject(c))
		return f, nil
	}
	for _, read := range []func(context.Context, *etcdv1beta2.EtcdCluster, *facts) error{
		r.observePods, r.observeNodes, r.observeFormed, r.observeStore,
	} {
		if err := read(ctx, c, &f); err != nil {
			return f, err
		}
	}
	return f, nil
}

// forget drops all that is known by a name.
// renew forgets what is known by a name if it is known of an earlier cluster.
func (r *reconciler) renew(key client.ObjectKey, c *etcdv1beta2.EtcdCluster) {
	if r.born.isAnother(key, c) {
		r.prober.Forget(key)
		r.refused.forget(key)
	}
}

func (r *reconciler) forget(key client.ObjectKey) {
	r.prober.Forget(key)
	r.born.forget(key)
	r.refused.forget(key)
}

func (r *reconciler) observePods(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	pods, claims := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}
	for _, list := range []client.ObjectList{pods, claims} {
		if err := r.Client.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels(selector(c))); err != nil {
			return fmt.Errorf("list %T: %w", list, err)
		}
	}
	f.pods, f.claims, f.patched = map[string]*corev1.Pod{}, map[string]*corev1.PersistentVolumeClaim{}, map[string]bool{}
	for i := range pods.Items {
		if pod := &pods.Items[i]; metav1.IsControlledBy(pod, c) {
			f.pods[pod.Name] = pod
			f.patched[pod.Name] = r.Writes().Behind(corev1.SchemeGroupVersion.WithKind("Pod"), pod)
		}
	}
	for i := range claims.Items {
		if metav1.IsControlledBy(&claims.Items[i], c) {
			f.claims[claims.Items[i].Name] = &claims.Items[i]
		}
	}
	return nil
}

func (r *reconciler) observeNodes(ctx context.Context, _ *etcdv1beta2.EtcdCluster, f *facts) error {
	f.nodes, f.nodesKnown = map[string]node{}, true
	for _, pod := range f.pods {
		if pod.Spec.NodeName == "" {
			continue
		}
		n := &corev1.Node{}
		err := r.Client.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, n)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("read node: %w", err)
		default:
			f.nodes[n.Name] = nodeOf(n)
		}
	}
	return nil
}

// observeFormed asks the API server whether the cluster was formed, as long as the cache
// says no: a first member that is made anew in a cluster with data would lose it.
func (r *reconciler) observeFormed(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	if c.Status.ClusterID != "" || int32(len(f.pods)) >= f.first(c) {
		return nil
	}
	live := &etcdv1beta2.EtcdCluster{}
	if err := r.Live.Get(ctx, client.ObjectKeyFromObject(c), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	f.behind = live.UID != c.UID || live.Status.ClusterID != ""
	return nil
}

// observeStore reads what the prober last saw, and tells it where to look.
func (r *reconciler) observeStore(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	key := client.ObjectKeyFromObject(c)
	target, err := r.target(ctx, c, f)
	switch {
	case err != nil:
		return err
	case asleep(c) && len(f.pods) == 0:
		r.prober.Forget(key)
		return nil
	case f.tls == nil: // else whoever was reached before is reached as before
		r.prober.Watch(key, target)
	}
	f.view, _ = r.prober.View(key)
	f.view = ownView(c, f.view)
	if f.outrun() {
		r.prober.Poke(key)
	}
	f.quorumSince = r.born.since(key, c, *f)
	if c.Status.ClusterID == "" {
		f.begunWith = r.born.begunWith(key, f.first(c))
	}
	return nil
}

// outrun tells whether a kubelet has said something of a member since the members were looked at:
// one that came back need not wait for the next look. Kubelets tell times in seconds.
func (f facts) outrun() bool {
	seen := f.view.At.Truncate(time.Second)
	for _, pod := range f.pods {
		if !workload.Turned(pod).Before(seen) {
			return true
		}
	}
	return false
}

// ownView takes what another cluster says for no answer: an address may have gone to a pod of
// another one, and a volume may have been restored by hand.
func ownView(c *etcdv1beta2.EtcdCluster, v etcd.View) etcd.View {
	if c.Status.ClusterID == "" || v.ClusterID == 0 || clusterID(v.ClusterID) == c.Status.ClusterID {
		return v
	}
	err := fmt.Errorf("cluster %s answers where %s is expected", clusterID(v.ClusterID), c.Status.ClusterID)
	return etcd.View{At: v.At, Err: err, Status: map[uint64]etcd.MemberStatus{}}
}

func clusterID(id uint64) string { return fmt.Sprintf("%016x", id) }

// target is where the members are to be reached. Certificates are read each time that the
// cluster is looked at, and those that were renewed are used at once.
func (r *reconciler) target(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) (etcd.Target, error) {
	target := etcd.Target{Generation: strconv.FormatBool(serverSecret(c) != "")}
	target.Endpoints = f.endpoints(c)
	for _, b := range bundles(c) {
		data, err := r.secret(ctx, client.ObjectKey{Namespace: c.Namespace, Name: b.secret})
		if err != nil {
			return target, err
		}
		if why := b.check(data, f.now); why != nil {
			if f.tls == nil {
				f.tls = why
			}
			continue
		}
		if b.secret == operatorSecret(c) && b.usage != 0 && b.certKey == "etcd-client.crt" {
			if target.TLS, target.Generation, err = clientTLS(data); err != nil {
				return target, err
			}
		}
	}
	return target, nil
}

// endpoints are those of all that may be members: what the status says of them can be older than
// the last changes, and then none of those that it names may be left.
func (f facts) endpoints(c *etcdv1beta2.EtcdCluster) []string {
	names := map[string]bool{}
	for _, m := range f.members(c) {
		names[m.name] = true
	}
	for name := range f.pods {
		names[name] = true
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, clientURL(c, name))
	}
	return out
}

// secret reads a Secret of the user, which is in no cache; nil if there is none.
func (r *reconciler) secret(ctx context.Context, key client.ObjectKey) (map[string][]byte, error) {
	secret := &corev1.Secret{}
	err := r.Live.Get(ctx, key, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Secret %s: %w", key, err)
	case secret.Data == nil:
		return map[string][]byte{}, nil
	}
	return secret.Data, nil
}
