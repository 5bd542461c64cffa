// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

const (
	s3Image = "opcrew-test/versitygw:1.8"
	s3Port  = 7070
	// bucket is the name of the S3 bucket in which backups are stored.
	bucket = "backups"
)

// wantS3 builds and starts a real S3 server with one bucket. The server is a separate Go module. Its pod also has a
// container with a shell, which can read the bucket's folder.
func (e *etcdTest) wantS3(t *testing.T) {
	t.Helper()
	if !e.holds(t, s3Image) {
		e.makeS3(t)
	}
	e.startS3(t)
	e.kubectl(t, "create", "service", "clusterip", "s3", "-n", e.ns, "--tcp=7070:7070")
	e.kubectl(t, "patch", "-n", e.ns, "service/s3", "--type=merge", "-p", `{"spec":{"selector":{"app":"s3"}}}`)
	e.s3Secret(t, "aws", "secretkey")
}

func (e *etcdTest) makeS3(t *testing.T) {
	t.Helper()
	if out, err := e.made("versitygw").CombinedOutput(); err != nil {
		t.Fatalf("build the S3 server: %v\n%s", err, out)
	}
	tar := filepath.Join(t.TempDir(), "s3.tar")
	e.run(t, "localcluster", "image", "build", "--tag", s3Image, "--binary", filepath.Join(e.root, "bin", "versitygw")+"=/versitygw",
		"--entrypoint", "/versitygw", "--user", "0:0", "--output", tar)
	e.run(t, "localcluster", "image", "load", tar)
}

// startS3 starts the S3 server. If it ran on the same node before, it still has its data.
func (e *etcdTest) startS3(t *testing.T) {
	t.Helper()
	data := []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		TerminationGracePeriodSeconds: new(int64(0)),
		Volumes:                       []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		InitContainers:                []corev1.Container{{Name: "bucket", Image: "busybox:1.35", Command: []string{"mkdir", "-p", "/data/" + bucket}, VolumeMounts: data}},
		Containers: []corev1.Container{
			{
				Name: "s3", Image: s3Image, Args: []string{"--port", ":7070", "--quiet", "posix", "/data"}, VolumeMounts: data,
				Env:            []corev1.EnvVar{{Name: "ROOT_ACCESS_KEY", Value: "access"}, {Name: "ROOT_SECRET_KEY", Value: "secretkey"}},
				Ports:          []corev1.ContainerPort{{ContainerPort: s3Port}},
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(s3Port)}}},
			},
			{Name: "shell", Image: "busybox:1.35", Command: []string{"sleep", "86400"}, VolumeMounts: data},
		},
	}}
	pod.Namespace, pod.Name, pod.Labels = e.ns, "s3", map[string]string{"app": "s3"}
	if err := e.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, time.Minute, "the S3 server is ready", func() error {
		if err := e.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
			return err
		}
		if !workload.Ready(pod) {
			return errNotReady
		}
		return nil
	})
}

// s3Secret creates a Secret with S3 credentials in the format of the AWS tools.
func (e *etcdTest) s3Secret(t *testing.T, name, secret string) {
	t.Helper()
	s := &corev1.Secret{StringData: map[string]string{
		"credentials": "[default]\naws_access_key_id = access\naws_secret_access_key = " + secret + "\n",
		"config":      "[default]\nregion = us-east-1\n",
	}}
	s.Namespace, s.Name = e.ns, name
	if err := e.Create(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

// objects returns the names of the backups in the bucket, without the objects that describe the backups.
func (e *etcdTest) objects(t *testing.T) []string {
	t.Helper()
	out := e.kubectl(t, "exec", "-n", e.ns, "s3", "-c", "shell", "--", "find", "/data/"+bucket, "-type", "f")
	var found []string
	for path := range strings.FieldsSeq(out) {
		if name := strings.TrimPrefix(path, "/data/"+bucket+"/"); !strings.HasSuffix(name, ".meta.json") && !strings.Contains(name, ".sgwtmp") {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// wantClaim creates a PersistentVolumeClaim for backups.
func (e *etcdTest) wantClaim(t *testing.T, name string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	claim.ObjectMeta = metav1.ObjectMeta{Namespace: e.ns, Name: name}
	if err := e.Create(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
}
