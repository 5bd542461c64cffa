// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/ssh"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/build"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/served"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/internal/workload"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

const agentImage = "opcrew/opcrew-agent:v1"

// Builders of Divas.

type divaOption func(*opsv1.Diva)

func newDiva(replicas int32, options ...divaOption) *opsv1.Diva {
	d := &opsv1.Diva{}
	d.Namespace, d.Name, d.UID, d.Generation = "shop", "ops", "uid-of-ops", 1
	storage := opsv1.Storage{Size: "2Gi", ClassName: "longhorn"}
	d.Spec.Client = opsv1.Client{Replicas: replicas, Part: opsv1.Part{Image: "client:1", Storage: storage}}
	d.Spec.Manager = opsv1.Manager{Part: opsv1.Part{Image: "diva:1", Storage: storage}}
	d.Spec.Extra = opsv1.Extra{Image: "extra:1", Storage: storage}
	for _, option := range options {
		option(d)
	}
	return d
}

func withRequest(value string) divaOption {
	return func(d *opsv1.Diva) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, opsv1.RotateAnnotation, value) }
}

func withAge(age opsv1.Age) divaOption {
	return func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{RotateAfter: age} }
}

// withStatus gives the Diva the status that an earlier reconcile would have reported for a key ring in a phase.
func withStatus(phase opsv1.SSHPhase, r *ring.Ring) divaOption {
	return func(d *opsv1.Diva) {
		d.Status.SSH = &opsv1.SSHStatus{Phase: phase, Fingerprint: keys.Fingerprint(r.Current.Public), PublicKey: r.Current.Public}
		if r.Shared != nil {
			d.Status.SSH.HostKey = r.Shared.Public
		}
	}
}

func withPrevious(fingerprint string) divaOption {
	return func(d *opsv1.Diva) { d.Status.SSH.PreviousFingerprint = fingerprint }
}

// manifest reads a Diva from a file in testdata.
func manifest(t *testing.T, file string) *opsv1.Diva {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	d := &opsv1.Diva{}
	if err := yaml.UnmarshalStrict(raw, d); err != nil {
		t.Fatal(err)
	}
	d.Namespace = "my-diva"
	return d
}

// Test keys. A name always has the same key pair, so that golden files do not change.

var testKeys = map[string]*keys.Pair{}

func key(t testing.TB, name string) *keys.Pair {
	t.Helper()
	if testKeys[name] == nil {
		seed := sha256.Sum256([]byte(name))
		p, why := keys.Parse(encoded(t, ed25519.NewKeyFromSeed(seed[:])))
		if why != "" {
			t.Fatal(why)
		}
		testKeys[name] = p
	}
	return testKeys[name]
}

// seed returns the random bytes from which the host keys of client pods are derived. The same name always has the same
// seed.
func seed(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

func encoded(t testing.TB, private crypto.PrivateKey) string {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block))
}

// settled returns a key ring with one key pair in use, which was created an hour ago.
func settled(t testing.TB) *ring.Ring {
	return &ring.Ring{Current: key(t, "old"), Seed: seed("host"), Identity: true, Made: noon.Add(-time.Hour)}
}

// Builders of facts.

type factOption func(*facts)

// observed returns the facts about a Diva whose pods all run, are ready, and serve the files of the key ring.
func observed(t testing.TB, d *opsv1.Diva, r *ring.Ring, options ...factOption) facts {
	t.Helper()
	f := facts{ring: r, now: noon, agentImage: agentImage, claims: map[string]*corev1.PersistentVolumeClaim{}, serving: map[string]string{}, rigid: map[string]string{}}
	f.fresh.pair, f.fresh.host, f.fresh.seed = key(t, "fresh"), key(t, "fresh-host"), seed("fresh-host")
	f.secret, f.server = &corev1.Secret{}, &corev1.Secret{}
	f.secret.ResourceVersion, f.server.ResourceVersion = "7", "8"
	f.clients = newMembers(d)
	f.manager = newRollout(d)
	f.inventory = build.Hosts(d)
	for _, e := range storage.ExpectedClaims(d) {
		f.claims[e.Name] = newClaim(e)
	}
	if r != nil {
		serves(d, r, "client", "manager")(&f)
	}
	for _, option := range options {
		option(&f)
	}
	return f
}

// serves makes all pods of the given roles serve the files of a key ring.
func serves(d *opsv1.Diva, r *ring.Ring, roles ...string) factOption {
	return func(f *facts) {
		now := *f
		now.ring = r
		digest := wantedDigest(d, now)
		for _, name := range roles {
			for _, pod := range append(boundClients(f.clients), boundManagers(f.manager)...) {
				if served.Role(pod) == name {
					f.serving[string(pod.UID)] = digest(pod)
				}
			}
		}
	}
}

func nothingRuns(f *facts) { f.clients, f.manager = workload.Members{}, workload.Rollout{} }

func noSecret(f *facts) { f.secret, f.server, f.ring = nil, nil, nil }

func gives(g keys.Given) factOption { return func(f *facts) { f.given = g } }

func newMembers(d *opsv1.Diva) workload.Members {
	n := d.Spec.Client.Replicas
	set := &appsv1.StatefulSet{}
	set.Namespace, set.Name, set.UID, set.Generation = d.Namespace, names.Clients(d).Name, "uid-of-set", 3
	set.Spec.Replicas = &n
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{*newClaim(storage.Expected{Name: names.ClaimTemplate, Storage: d.Spec.Client.Storage})}
	set.Status = appsv1.StatefulSetStatus{ObservedGeneration: 3, Replicas: n, UpdatedReplicas: n}
	m := workload.Members{Set: set, Pods: map[string]*corev1.Pod{}}
	for _, name := range names.Clients(d).Names(n) {
		m.Pods[name] = newPod(name, "client")
	}
	return m
}

func newRollout(d *opsv1.Diva) workload.Rollout {
	n := names.ManagerReplicas(d)
	deployment, set := &appsv1.Deployment{}, appsv1.ReplicaSet{}
	deployment.Generation, deployment.Spec.Replicas = 3, &n
	deployment.Status = appsv1.DeploymentStatus{ObservedGeneration: 3, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
	r := workload.Rollout{Deployment: deployment, Sets: []appsv1.ReplicaSet{set}}
	for i := range n {
		r.Pods = append(r.Pods, *newPod(fmt.Sprint("ops-manager-", i), "manager"))
	}
	return r
}

// newPod returns a ready pod.
func newPod(name, role string) *corev1.Pod {
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "shop", name, types.UID("uid-of-"+name)
	pod.Labels = map[string]string{"app.kubernetes.io/component": role}
	pod.Spec.NodeName = "node1"
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	return pod
}

// newClaim returns a claim that is bound to a volume of the requested size.
func newClaim(e storage.Expected) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{}
	claim.Name, claim.UID = e.Name, types.UID("uid-of-"+e.Name)
	claim.Labels = names.Selector(newDiva(0))
	claim.Spec.StorageClassName = &e.Storage.ClassName
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{storage.AccessMode(e.Storage)}
	claim.Spec.Resources.Requests = corev1.ResourceList{"storage": storage.Size(e.Storage)}
	claim.Status.Phase = corev1.ClaimBound
	claim.Status.Capacity = claim.Spec.Resources.Requests.DeepCopy()
	return claim
}

// asks sets the requested size and the capacity of a claim to the same amount.
func asks(name, amount string) factOption {
	return func(f *facts) {
		f.claims[name].Spec.Resources.Requests = corev1.ResourceList{"storage": resource.MustParse(amount)}
		f.claims[name].Status.Capacity = corev1.ResourceList{"storage": resource.MustParse(amount)}
	}
}

// Outcomes of reconciles.

func outcome(kind string, action ensure.Action) kit.Outcome {
	out := kit.Outcome{Results: []ensure.Result{{Action: ensure.Unchanged}}}
	for _, name := range []string{"ops-ssh", "diva-test-ssh"} {
		result := ensure.Result{Action: action}
		result.Ref.Kind, result.Ref.Name = kind, name
		out.Results = append(out.Results, result)
	}
	return out
}

// done is the outcome of a reconcile in which all writes succeeded.
var done = outcome("Secret", ensure.Unchanged)

// reported returns the Diva with the status that a reconcile would report.
func reported(d *opsv1.Diva, f facts, done kit.Outcome) *opsv1.Diva {
	reportAt(d, f, done, noon)
	(&reconciler{}).finish(d)
	return d
}

func conditionOf(d *opsv1.Diva, kind string) string {
	c := meta.FindStatusCondition(d.Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

// same fails the test if two values differ. what describes the values in the failure message.
func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: not as expected (-expected +found):\n%s", what, diff)
	}
}

// says fails the test unless a text contains all the given words.
func says(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("expected %q to say %q", text, word)
		}
	}
}
