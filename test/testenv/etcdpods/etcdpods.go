// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package etcdpods runs fake etcd members in memory, for the pods of an API server without kubelets. It watches the
// pods, and starts and stops their members. A fake member uses the command line, the volume and the annotation
// etcd.opcrew.io/start (how etcd may start) of its pod, as a real member does.
package etcdpods

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/internal/podapi/etcdstart"
	"github.com/opcrew/opcrew/internal/stores/etcd/etcdtest"
)

const (
	startAnnotation = "etcd.opcrew.io/start"
	orderAnnotation = "etcd.opcrew.io/order"
	voterLabel      = "etcd.opcrew.io/voter"
)

// Kubelets stands in for the kubelets: it runs a fake etcd member for each pod.
type Kubelets struct {
	World  *etcdtest.World
	client client.Client

	mu      sync.Mutex
	running map[types.UID]etcdtest.Process
	volumes map[string]string // by claim or pod name; wiping a volume changes the value
	written map[string]bool   // volumes to which etcd has written data
}

// Follow runs the fake members of all pods on a server until the test ends.
func Follow(t testing.TB, config *rest.Config, c client.Client, world *etcdtest.World) *Kubelets {
	t.Helper()
	k, err := Start(context.WithoutCancel(t.Context()), config, c, world, t.Cleanup)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// Start is like Follow, but for use outside a test.
func Start(ctx context.Context, config *rest.Config, c client.Client, world *etcdtest.World, atEnd func(func())) (*Kubelets, error) {
	k := &Kubelets{World: world, client: c, running: map[types.UID]etcdtest.Process{}, volumes: map[string]string{}, written: map[string]bool{}}
	pods, err := cache.New(config, cache.Options{Scheme: c.Scheme()})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	atEnd(cancel)
	informer, err := pods.GetInformer(ctx, &corev1.Pod{})
	if err != nil {
		return nil, err
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { k.see(ctx, o.(*corev1.Pod)) },
		UpdateFunc: func(_, o any) { k.see(ctx, o.(*corev1.Pod)) },
		DeleteFunc: func(o any) {
			if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = gone.Obj
			}
			k.gone(o.(*corev1.Pod))
		},
	})
	if err != nil {
		return nil, err
	}
	go func() { _ = pods.Start(ctx) }()
	return k, nil
}

// Wipe deletes all data on the volume of a pod. The pod's fake etcd stops and starts again.
func (k *Kubelets) Wipe(ctx context.Context, pod *corev1.Pod) {
	k.mu.Lock()
	delete(k.written, k.volume(pod))
	k.volumes[volumeName(pod)] += "'"
	k.stop(pod)
	k.mu.Unlock()
	k.see(ctx, pod)
}

// see starts or stops the fake member of a pod, according to the pod's current state.
func (k *Kubelets) see(ctx context.Context, pod *corev1.Pod) {
	if pod.Labels["app"] != "etcd" || len(pod.Spec.Containers) == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case pod.DeletionTimestamp != nil, pod.Status.Phase != corev1.PodRunning:
		k.stop(pod)
		return
	}
	p := k.process(pod)
	if k.running[pod.UID] == p {
		k.serve(pod, p)
		return
	}
	if why := k.gate(pod, p.Volume); why != nil {
		k.stop(pod)
		k.refuse(ctx, pod, *why)
		return
	}
	k.running[pod.UID] = p
	k.World.Run(p)
	// If the member has already been bootstrapped, etcd ends before it writes data.
	if why := k.World.Reason(p.Name); strings.Contains(why, "already been bootstrapped") {
		k.refuse(ctx, pod, etcdstart.Report{Reason: etcdstart.EtcdEnded, Message: why})
		return
	}
	k.written[p.Volume] = true
	k.serve(pod, p)
}

// serve lets clients connect to the member of a pod if the Service selects the pod.
func (k *Kubelets) serve(pod *corev1.Pod, p etcdtest.Process) {
	if pod.Labels[voterLabel] == "true" {
		k.World.Serve(p.PeerURL)
	}
}

func (k *Kubelets) gone(pod *corev1.Pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stop(pod)
}

// stop ends the fake member of a pod. It does not end the member of a later pod with the same name.
func (k *Kubelets) stop(pod *corev1.Pod) {
	if p, ok := k.running[pod.UID]; ok {
		delete(k.running, pod.UID)
		k.World.Stop(p.PeerURL)
	}
}

// gate returns why the member must not start, as the program that starts etcd in a real pod would decide (see
// internal/agents/etcdgate).
func (k *Kubelets) gate(pod *corev1.Pod, volume string) *etcdstart.Report {
	start, err := etcdstart.ParseStart(pod.Annotations[startAnnotation])
	switch {
	case err != nil:
		return &etcdstart.Report{Reason: etcdstart.NoAuthorisation, Message: err.Error()}
	case !k.written[volume] && start.Mode == etcdstart.Established:
		return &etcdstart.Report{Reason: etcdstart.VolumeLost, Message: "there is no log on the volume"}
	}
	return nil
}

// refuse writes into the status of a pod that its member must not start, as a kubelet would.
func (k *Kubelets) refuse(ctx context.Context, pod *corev1.Pod, why etcdstart.Report) {
	text, _ := json.Marshal(why)
	patch, _ := json.Marshal(map[string]any{"status": map[string]any{
		"conditions": []map[string]any{{"type": "Ready", "status": "False"}, {"type": "ContainersReady", "status": "False"}},
		"containerStatuses": []map[string]any{{
			"name": "etcd", "image": "etcd", "imageID": "", "ready": false, "restartCount": 1,
			"state":     map[string]any{"waiting": map[string]any{"reason": "CrashLoopBackOff"}},
			"lastState": map[string]any{"terminated": map[string]any{"exitCode": etcdstart.RefusedCode, "reason": "Error", "message": string(text)}},
		}},
	}})
	_ = k.client.Status().Patch(ctx, pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, patch))
}

// volume returns the identity of a pod's volume. Wiping a volume gives it a new identity.
func (k *Kubelets) volume(pod *corev1.Pod) string {
	name := volumeName(pod)
	return name + k.volumes[name]
}

func volumeName(pod *corev1.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			return pod.Namespace + "/" + v.PersistentVolumeClaim.ClaimName
		}
	}
	return string(pod.UID)
}

func (k *Kubelets) process(pod *corev1.Pod) etcdtest.Process {
	flag := func(name string) string {
		for _, arg := range pod.Spec.Containers[0].Args {
			if value, ok := strings.CutPrefix(arg, "--"+name+"="); ok {
				return value
			}
		}
		return ""
	}
	_, version, _ := strings.Cut(pod.Spec.Containers[0].Image, ":v")
	p := etcdtest.Process{
		Name: flag("name"), PeerURL: flag("initial-advertise-peer-urls"), ClientURL: flag("advertise-client-urls"),
		InitialCluster: flag("initial-cluster"), Token: flag("initial-cluster-token"),
		Existing: flag("initial-cluster-state") == "existing", Volume: k.volume(pod), Version: version,
	}
	if order, err := backup.ParseOrder(pod.Annotations[orderAnnotation]); err == nil && order.Restore != nil {
		// A member that starts from a backup belongs to a new cluster.
		p.InitialCluster, p.Token, p.Existing = order.Restore.InitialCluster, order.Restore.Token, false
	}
	return p
}

// String describes the pods and members for failure messages.
func (k *Kubelets) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return fmt.Sprintf("%d members run", len(k.running))
}
