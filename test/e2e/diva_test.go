// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/test/testenv/eventually"
)

// articleDiva is the name of the Diva in the tutorial article that the Diva API comes from.
const articleDiva = "diva-test"

// divaTest is a namespace with the Diva of the tutorial article that the Diva API comes from. The Diva runs real
// images: sshd, ansible, and a playbook.
type divaTest struct {
	*cluster
	ns string
}

func newDivaTest(t *testing.T) *divaTest {
	t.Helper()
	if err := opsv1.AddToScheme(clientgoscheme.Scheme); err != nil {
		t.Fatal(err)
	}
	c := connect(t)
	c.removePools(t) // otherwise, taints of NodePools from earlier tests would leave one node for all client pods
	d := &divaTest{cluster: c}
	d.wantLonghorn(t)
	ns := &corev1.Namespace{}
	ns.GenerateName = "diva-"
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kubectl(t, "delete", "namespace", ns.Name, "--wait=false") })
	d.ns = ns.Name
	d.apply(t)
	return d
}

// wantLonghorn creates the StorageClass longhorn as a copy of the cluster's default StorageClass. The manifest of the
// tutorial article that the Diva API comes from uses this name.
func (d *divaTest) wantLonghorn(t *testing.T) {
	t.Helper()
	classes := &storagev1.StorageClassList{}
	if err := d.List(t.Context(), classes); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(classes.Items, func(c storagev1.StorageClass) bool {
		return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	})
	if i < 0 {
		t.Fatal("the local cluster has no default StorageClass")
	}
	class := &storagev1.StorageClass{
		Provisioner: classes.Items[i].Provisioner, Parameters: classes.Items[i].Parameters,
		ReclaimPolicy: classes.Items[i].ReclaimPolicy, VolumeBindingMode: classes.Items[i].VolumeBindingMode,
	}
	class.Name = "longhorn"
	if err := d.Create(t.Context(), class); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
}

// debian builds an image from Debian packages, loads it into the nodes and returns its tag.
func (c *cluster) debian(t *testing.T, name string) string {
	t.Helper()
	out := strings.Fields(c.run(t, "localcluster", "image", "build-debian", name))
	c.run(t, "localcluster", "image", "load", out[len(out)-1])
	return strings.TrimSuffix(out[0], ",")
}

// apply applies the manifest of the tutorial article that the Diva API comes from, with images that exist.
func (d *divaTest) apply(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(d.root, "internal", "kinds", "diva", "testdata", "article.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		"diva-client:v0.0.1", d.debian(t, "diva-client"),
		"diva:v1.1", d.debian(t, "diva"),
		"diva-extra:0.0.1", d.debian(t, "diva-extra"),
	).Replace(string(raw))
	file := filepath.Join(t.TempDir(), "diva.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d.kubectl(t, "apply", "-n", d.ns, "-f", file)
}

// awaitReady waits until the manager pod and the given number of client pods are ready.
func (d *divaTest) awaitReady(t *testing.T, clients int) *opsv1.Diva {
	t.Helper()
	diva := &opsv1.Diva{}
	eventually.True(t, 5*time.Minute, fmt.Sprintf("the manager and %d clients are ready", clients), func() error {
		if err := d.Get(t.Context(), client.ObjectKey{Namespace: d.ns, Name: articleDiva}, diva); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(diva.Status.Conditions, opsv1.DivaReady)
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != diva.Generation || diva.Status.Clients != fmt.Sprintf("%d/%d", clients, clients) {
			return fmt.Errorf("the status is %+v", diva.Status)
		}
		return nil
	})
	return diva
}

// inManager runs a command in the manager pod and returns its output.
func (d *divaTest) inManager(t *testing.T, command ...string) (string, error) {
	t.Helper()
	return d.inManagerFor(t, 2*time.Minute, command...)
}

// inManagerFor runs a command in the manager pod. It kills the command after the given time.
func (d *divaTest) inManagerFor(t *testing.T, patience time.Duration, command ...string) (string, error) {
	t.Helper()
	args := append([]string{"exec", "-n", d.ns, "deploy/" + articleDiva + "-manager", "-c", articleDiva, "--"}, command...)
	cmd := d.program("kubectl", args...)
	// Kill fails only if the command has already ended.
	end := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer end.Stop()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// reaches waits until ansible in the manager pod reaches exactly the given number of client pods by name and verifies
// their host keys. It waits long enough for the kubelet to update the inventory in the manager pod.
func (d *divaTest) reaches(t *testing.T, clients int) {
	t.Helper()
	eventually.True(t, 3*time.Minute, fmt.Sprintf("ansible reaches exactly %d clients", clients), func() error {
		out, err := d.inManager(t, "ansible", "all", "-m", "ping")
		if n := strings.Count(out, "SUCCESS"); err != nil || n != clients {
			return fmt.Errorf("it reaches %d: %w\n%s", n, err, out)
		}
		return nil
	})
}

func (d *divaTest) scale(t *testing.T, n int) {
	t.Helper()
	d.kubectl(t, "scale", "-n", d.ns, "dv/"+articleDiva, fmt.Sprint("--replicas=", n))
}

// watched records every state that "kubectl get" shows for the Diva, until the test ends. It also records states that
// last only a moment.
func (d *divaTest) watched(t *testing.T) (shown func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	table, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	watch := d.program("kubectl", "get", "-n", d.ns, "dv", "--watch")
	watch.Stdout = table
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = watch.Process.Kill() // kubectl get --watch does not end by itself
		_ = watch.Wait()         // fails because the process was killed
		_ = table.Close()        // all content has been read
	})
	shown = func() string {
		text, _ := os.ReadFile(path) // the file may not exist yet
		return string(text)
	}
	eventually.True(t, time.Minute, "the table is watched", func() error {
		if shown() == "" {
			return errors.New("the table is still empty")
		}
		return nil
	})
	return shown
}

func TestDivaSmokeTheArticlesManifestComesUpAndAnsibleReachesItsClients(t *testing.T) {
	d := newDivaTest(t)
	d.awaitReady(t, 2)
	d.reaches(t, 2)
	if out, err := d.inManager(t, "ansible-playbook", "/extra/ping.yaml"); err != nil {
		t.Errorf("the playbook of the extra image does not run: %v\n%s", err, out)
	}
	table := d.kubectl(t, "get", "-n", d.ns, "dv")
	if fields := strings.Fields(strings.Split(table, "\n")[0]); !slices.Equal(fields, []string{"NAME", "MANAGER", "CLIENTS", "AGE", "MESSAGE"}) {
		t.Errorf("expected the article's columns, got %q", fields)
	}
	if !strings.Contains(table, "1/1") || !strings.Contains(table, "2/2") || !strings.Contains(table, "spec.publicKey") {
		t.Errorf("expected 1/1, 2/2 and a word about the public key, got:\n%s", table)
	}
	shown := d.watched(t)
	// The command kills its own container, so ignore its error.
	_ = d.program("kubectl", "exec", "-n", d.ns, articleDiva+"-client-1", "-c", articleDiva, "--", "sh", "-c", "kill 1").Run()
	eventually.True(t, time.Minute, "the table shows that a client is not ready", func() error {
		if table := shown(); !strings.Contains(table, "1/2") {
			return fmt.Errorf("the table was:\n%s", table)
		}
		return nil
	})
	d.awaitReady(t, 2)
	d.reaches(t, 2)
}

func TestDivaClientsAreReachedWhateverHappensToThem(t *testing.T) {
	d := newDivaTest(t)
	d.awaitReady(t, 2)
	for _, n := range []int{5, 3} {
		d.scale(t, n)
		d.awaitReady(t, n)
		d.reaches(t, n)
	}
	d.kubectl(t, "delete", "pod", "-n", d.ns, articleDiva+"-client-0")
	d.awaitReady(t, 3)
	d.reaches(t, 3)
	d.kill(t, d.leader(t, "applications"))
	d.waitOperator(t, "applications")
	d.reaches(t, 3)
	pod := &corev1.Pod{}
	if err := d.Get(t.Context(), client.ObjectKey{Namespace: d.ns, Name: articleDiva + "-client-1"}, pod); err != nil {
		t.Fatal(err)
	}
	d.crash(t, pod.Spec.NodeName)
	d.start(t, pod.Spec.NodeName)
	d.awaitReady(t, 3)
	d.reaches(t, 3)
}

// login is a shell script for the manager pod. It repeatedly logs in to every client pod and counts the failures.
const login = `rm -f /tmp/stop; n=0; f=0
while [ ! -e /tmp/stop ]; do
  for c in 0 1; do
    n=$((n+1)); ssh -o BatchMode=yes -o ConnectTimeout=10 diva-test-client-$c.diva-test-client true || f=$((f+1))
  done
done
echo "logins: $n, refused: $f"`

// rotationTime is more than twice the time that kubelets need to update a mounted SSH key in all pods.
const rotationTime = 10 * time.Minute

func TestDivaARotationRefusesNoLogin(t *testing.T) {
	d := newDivaTest(t)
	before := d.awaitReady(t, 2).Status.SSH.Fingerprint
	d.reaches(t, 2)
	said := make(chan string)
	go func() {
		out, err := d.inManagerFor(t, rotationTime, "sh", "-c", login)
		said <- fmt.Sprint(out, err)
	}()
	d.kubectl(t, "annotate", "-n", d.ns, "dv/"+articleDiva, opsv1.RotateAnnotation+"="+time.Now().Format(time.RFC3339))
	diva := &opsv1.Diva{}
	eventually.True(t, rotationTime, "only the new key is in use", func() error {
		if err := d.Get(t.Context(), client.ObjectKey{Namespace: d.ns, Name: articleDiva}, diva); err != nil {
			return err
		}
		if s := diva.Status.SSH; s.Phase != opsv1.SSHInUse || s.Fingerprint == before {
			return fmt.Errorf("the keys are %+v", s)
		}
		return nil
	})
	if out, err := d.inManager(t, "touch", "/tmp/stop"); err != nil {
		t.Fatal(out)
	}
	out := <-said
	t.Log(out)
	if !strings.Contains(out, "refused: 0") || strings.Contains(out, "logins: 0,") {
		t.Errorf("expected logins and none refused, got %s", out)
	}
	d.reaches(t, 2)
}
