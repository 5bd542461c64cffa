// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/e2e/etcd"
)

// floorSize is the number of members in the comparison with a StatefulSet.
const floorSize = 3

// etcdFloor measures how long three members need to become ready without an operator: at creation, and after one pod
// was deleted. They run in a StatefulSet with the same image and a static initial cluster. An operator cannot be much
// faster.
func (e *etcdTest) etcdFloor(t *testing.T, name, version string, claims bool) (created, again time.Duration) {
	t.Helper()
	set := e.floorSet(name, version, claims)
	begin := time.Now()
	if err := e.Create(t.Context(), e.floorService(name)); err != nil {
		t.Fatal(err)
	}
	if err := e.Create(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	created = timeTo(t, "all of the floor's members are ready", begin, func() bool {
		now := &appsv1.StatefulSet{}
		return e.Get(t.Context(), client.ObjectKeyFromObject(set), now) == nil && now.Status.ReadyReplicas == floorSize
	})
	if claims { // without a volume, the member would start without data, and etcd would exit
		again = e.floorAgain(t, name)
	}
	e.kubectl(t, "delete", "-n", e.ns, "statefulset/"+name, "service/"+name, "--cascade=foreground")
	e.kubectl(t, "delete", "pvc", "-n", e.ns, "-l", "floor="+name)
	return created, again
}

func (e *etcdTest) floorAgain(t *testing.T, name string) time.Duration {
	t.Helper()
	key := client.ObjectKey{Namespace: e.ns, Name: name + "-0"}
	pod := &corev1.Pod{}
	if err := e.Get(t.Context(), key, pod); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := e.Delete(t.Context(), pod.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	return timeTo(t, "the floor's member is back", begin, func() bool {
		now := &corev1.Pod{}
		return e.Get(t.Context(), key, now) == nil && now.UID != pod.UID && workload.Ready(now)
	})
}

// floorService returns the members' Service. Members need each other's DNS names to become ready, so the Service also
// publishes members that are not ready.
func (e *etcdTest) floorService(name string) *corev1.Service {
	s := &corev1.Service{Spec: corev1.ServiceSpec{
		ClusterIP: corev1.ClusterIPNone, PublishNotReadyAddresses: true, Selector: map[string]string{"floor": name},
		Ports: []corev1.ServicePort{{Name: "client", Port: 2379}, {Name: "peer", Port: 2380}},
	}}
	s.Namespace, s.Name = e.ns, name
	return s
}

func (e *etcdTest) floorSet(name, version string, claims bool) *appsv1.StatefulSet {
	labels := map[string]string{"floor": name}
	set := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(floorSize)), ServiceName: name, PodManagementPolicy: appsv1.ParallelPodManagement,
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(1)),
			Containers:                    []corev1.Container{e.floorContainer(name, version)},
			Volumes:                       []corev1.Volume{{Name: "etcd-data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		}},
	}}
	set.Namespace, set.Name = e.ns, name
	if claims {
		claim := corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Mi")}},
		}}
		claim.Name, claim.Labels = "etcd-data", labels
		set.Spec.VolumeClaimTemplates, set.Spec.Template.Spec.Volumes = []corev1.PersistentVolumeClaim{claim}, nil
	}
	return set
}

func (e *etcdTest) floorContainer(name, version string) corev1.Container {
	host := func(pod string) string { return fmt.Sprintf("http://%s.%s.%s.svc", pod, name, e.ns) }
	var initial []string
	for i := range floorSize {
		pod := fmt.Sprint(name, "-", i)
		initial = append(initial, pod+"="+host(pod)+":2380")
	}
	return corev1.Container{
		Name: "etcd", Image: etcd.Image(version),
		Env: []corev1.EnvVar{{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
		Command: []string{
			"/usr/local/bin/etcd", "--name=$(POD)", "--data-dir=/var/etcd/data",
			"--listen-peer-urls=http://0.0.0.0:2380", "--initial-advertise-peer-urls=" + host("$(POD)") + ":2380",
			"--listen-client-urls=http://0.0.0.0:2379", "--advertise-client-urls=" + host("$(POD)") + ":2379",
			"--listen-metrics-urls=http://0.0.0.0:2381",
			"--initial-cluster=" + strings.Join(initial, ","), "--initial-cluster-state=new", "--initial-cluster-token=" + name,
		},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(2381)}},
			PeriodSeconds: 1,
		},
		VolumeMounts: []corev1.VolumeMount{{Name: "etcd-data", MountPath: "/var/etcd"}},
	}
}

// timeTo returns the time from begin until done returns true. It calls done every few milliseconds.
func timeTo(t *testing.T, what string, begin time.Time, done func() bool) time.Duration {
	t.Helper()
	for !done() {
		if time.Since(begin) > 2*time.Minute {
			t.Fatalf("expected within two minutes: %s", what)
		}
		time.Sleep(20 * time.Millisecond) // sets the precision of the measurement
	}
	return time.Since(begin)
}
