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
	"sigs.k8s.io/controller-runtime/pkg/client"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

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
	case f.tls == nil: // else anyone who was reached before is reached as before
		r.prober.Watch(key, target)
	}
	f.view, _ = r.prober.View(key)
	f.view, f.otherID = ownView(c, f.view)
	f.tended = r.tended(c, f.view)
	f.quorumSince = r.born.since(key, c, *f)
	if c.Status.ClusterID == "" {
		f.begunWith = r.born.begunWith(key, f.first(c))
		f.lastPod = r.born.lastPod(key, *f)
	}
	if f.outrun() || f.seenBeforeTheLast(c) {
		r.prober.Poke(key)
	}
	return nil
}

// outrun reports whether a kubelet has said something of a member since the members were looked at:
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

// ownView takes what another cluster says for no answer, and returns the id of that one: an address may have gone to a
// pod of another one, a volume may have been restored by hand, and so may the status.
func ownView(c *etcdv1beta2.EtcdCluster, v etcd.View) (own etcd.View, other string) {
	if c.Status.ClusterID == "" || restoring(c) || v.ClusterID == 0 || clusterID(v.ClusterID) == c.Status.ClusterID {
		return v, ""
	}
	other = clusterID(v.ClusterID)
	err := fmt.Errorf("cluster %s answers where %s is expected", other, c.Status.ClusterID)
	return etcd.View{At: v.At, Err: err, Status: map[uint64]etcd.MemberStatus{}}, other
}

func clusterID(id uint64) string { return fmt.Sprintf("%016x", id) }

// target is where the members are to be reached. Certificates are read each time that the
// cluster is looked at, and those that were renewed are used at once.
func (r *reconciler) target(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) (etcd.Target, error) {
	target := etcd.Target{Generation: strconv.FormatBool(c.ServerSecret() != ""), Endpoints: f.endpoints(c)}
	if upkeep(c).Defragment != nil && upkeep(c).Defragment.Schedule == "" {
		target.Waste = wasteOf(c)
	}
	held := map[string]map[string][]byte{}
	for _, b := range bundles(c) {
		data, err := r.secret(ctx, client.ObjectKey{Namespace: c.Namespace, Name: b.secret})
		if err != nil {
			return target, err
		}
		held[b.secret] = data
	}
	var err error
	if f.tls = preflight(c, held, f.now); f.tls == nil && c.OperatorSecret() != "" {
		target.TLS, target.Generation, err = clientTLS(held[c.OperatorSecret()])
	}
	return target, err
}

// endpoints are those of all that may be members: what the status says of them can be older than
// the last changes, and then none of those that it names may be left.
func (f facts) endpoints(c *etcdv1beta2.EtcdCluster) []string {
	if restoring(c) {
		return []string{f.seed(c).client}
	}
	names := map[string]bool{}
	for _, m := range f.members(c) {
		names[m.name] = true
	}
	for name := range f.pods {
		names[name] = true
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, c.ClientURL(name))
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
