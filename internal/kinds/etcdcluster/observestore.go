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
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/certificates"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/model"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/settings"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster/upkeep"
	"github.com/opcrew/opcrew/internal/stores/etcd"
	"github.com/opcrew/opcrew/internal/workload"
)

// observeStore sets the addresses that the prober reads, and takes the prober's last view of the members.
func (r *reconciler) observeStore(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) error {
	key := client.ObjectKeyFromObject(c)
	target, err := r.target(ctx, c, f)
	switch {
	case err != nil:
		return err
	case model.Hibernating(c) && len(f.pods) == 0:
		r.prober.Forget(key)
		return nil
	case f.tls == nil: // with invalid certificates, the prober keeps its previous connection settings
		r.prober.Watch(key, target)
	}
	f.view, _ = r.prober.View(key)
	f.view, f.otherID = ownView(c, f.view)
	f.history = r.upkeep.After(c, f.view)
	f.quorumSince = r.born.QuorumSince(key, f.now, c.Status.ClusterID == "" && f.view.HasQuorum())
	if c.Status.ClusterID == "" {
		f.begunWith = r.born.BegunWith(key, f.formation(c).First())
		f.lastPod = r.born.LastPod(key, f.now, f.pods)
	}
	if f.outrun() || f.formation(c).SeenBeforeLastPod() {
		r.prober.Poke(key)
	}
	return nil
}

// outrun reports whether a kubelet has reported on a pod since the last view was read. opcrew then reads the members at
// once. The comparison ignores fractions of seconds, because kubelets report whole seconds.
func (f facts) outrun() bool {
	seen := f.view.At.Truncate(time.Second)
	for _, pod := range f.pods {
		if !workload.ReadyChanged(pod).Before(seen) {
			return true
		}
	}
	return false
}

// ownView replaces a view of another etcd cluster by an error, and returns the ID of that cluster. An address of a
// member may now belong to a pod of another cluster, or a user may have replaced a volume or the status.
func ownView(c *etcdv1beta2.EtcdCluster, v etcd.View) (own etcd.View, other string) {
	if c.Status.ClusterID == "" || model.Restoring(c) || v.ClusterID == 0 || model.FormatID(v.ClusterID) == c.Status.ClusterID {
		return v, ""
	}
	other = model.FormatID(v.ClusterID)
	err := fmt.Errorf("cluster %s responds at the members' addresses instead of cluster %s", other, c.Status.ClusterID)
	return etcd.View{At: v.At, Err: err, Status: map[uint64]etcd.MemberStatus{}}, other
}

// target returns the settings with which the prober reaches the members. It reads the certificates each time, so that
// renewed ones are used at once.
func (r *reconciler) target(ctx context.Context, c *etcdv1beta2.EtcdCluster, f *facts) (etcd.Target, error) {
	target := etcd.Target{Generation: strconv.FormatBool(c.ServerSecret() != ""), Endpoints: f.endpoints(c), Addresses: f.addresses(c)}
	if settings.Upkeep(c).Defragment != nil && settings.Upkeep(c).Defragment.Schedule == "" {
		target.Waste = upkeep.Waste(settings.Upkeep(c))
	}
	held := map[string]map[string][]byte{}
	for _, b := range certificates.Bundles(c) {
		data, err := r.secret(ctx, client.ObjectKey{Namespace: c.Namespace, Name: b.Secret})
		if err != nil {
			return target, err
		}
		held[b.Secret] = data
	}
	var err error
	if f.tls = certificates.Check(c, held, f.now); f.tls == nil && c.OperatorSecret() != "" {
		target.TLS, target.Generation, err = certificates.ClientTLS(held[c.OperatorSecret()])
	}
	return target, err
}

// endpoints returns the client URLs of all possible members. It includes all pods, because the list of members may be
// outdated.
func (f facts) endpoints(c *etcdv1beta2.EtcdCluster) []string {
	if model.Restoring(c) {
		return []string{f.restoreInput(c).Seed().Client}
	}
	names := map[string]bool{}
	for _, m := range f.members(c) {
		names[m.Name] = true
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

// addresses returns the IP addresses of the pods, by the host name in their client URL.
func (f facts) addresses(c *etcdv1beta2.EtcdCluster) map[string]string {
	out := map[string]string{}
	for _, pod := range slices.Concat(f.others.Pods, slices.Collect(maps.Values(f.pods))) {
		if pod.Status.PodIP != "" && !model.Ended(pod) {
			out[c.MemberHost(pod.Name)] = pod.Status.PodIP
		}
	}
	return out
}

// foreign returns client URLs that members publish but that lead to none of the cluster's pods. It checks the URLs in
// the view again, because a pod may have appeared after the view was read.
func (f facts) foreign(c *etcdv1beta2.EtcdCluster) []string {
	target := etcd.Target{Endpoints: f.endpoints(c)}
	var out []string
	for _, found := range f.view.Foreign {
		if _, own := target.Own(found.URL); !own {
			out = append(out, found.String())
		}
	}
	return out
}

// secret reads a Secret of the user from the API server, as Secrets are not cached; nil if it does not exist.
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
