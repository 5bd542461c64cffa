// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva"
	"github.com/opcrew/opcrew/internal/podapi/sshkeys"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
)

func TestDiva(t *testing.T) {
	faults.Attack(t, faults.Subject{
		Kind:       diva.KindReading(quickAgents),
		Namespaced: true,
		Nodes:      3,
		Primary:    &opsv1.Diva{},
		Others: []client.Object{
			&appsv1.StatefulSet{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.Secret{},
			&corev1.PersistentVolumeClaim{}, &policyv1.PodDisruptionBudget{}, &networkingv1.NetworkPolicy{}, &corev1.Pod{},
		},
		// The number of claims and pods that a StatefulSet creates differs between runs.
		Uncounted: []string{"Pod", "ReplicaSet", "PersistentVolumeClaim"},
		Truth:     divaServes,
		Invariants: []faults.Invariant{
			{Name: "a Diva has one StatefulSet", Check: oneStatefulSet},
			{Name: "the manager can always log in to clients", Check: loginsGoOn},
			{Name: "no client in the inventory is removed", Check: inventoryIsAhead},
			{Name: "no claim shrinks", Check: noClaimShrinks},
		},
		Mask:      maskDiva,
		Workloads: []faults.Workload{scalingDiva, rotatingDiva, growingDiva},
	})
}

// quickAgents simulates the agents in client pods. Each agent always reports that it serves the current content of its
// Secret.
func quickAgents(clientset kubernetes.Interface) diva.LogReader {
	return func(ctx context.Context, pod *corev1.Pod) (string, error) {
		name := "ops-ssh"
		if pod.Labels["app.kubernetes.io/component"] == "client" {
			name = "ops-sshd"
		}
		secret, err := clientset.CoreV1().Secrets(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		files, err := agentFiles(pod.Name, secret)
		return fmt.Sprintf(`{"msg":"Serving","digest":%q}`, sshkeys.Digest(files)), err
	}
}

// agentFiles returns the files that an agent writes for the content of a Secret.
func agentFiles(pod string, secret *corev1.Secret) (map[string][]byte, error) {
	if secret.Name == "ops-sshd" {
		files, err := sshkeys.HostFiles(secret.Data["hostSeed"], pod)
		if err == nil {
			files["authorized_keys"] = secret.Data["authorizedKeys"]
		}
		return files, err
	}
	files := map[string][]byte{}
	for key, file := range map[string]string{"identity": "identity", "identityNext": "identity-next", "knownHosts": "known_hosts"} {
		if content, ok := secret.Data[key]; ok {
			files[file] = content
		}
	}
	return files, nil
}

const system = `
apiVersion: ops.xx.com/v1
kind: Diva
metadata: {name: ops}
spec:
  deletionPolicy: Delete
  client: {replicas: 2, image: "client:1", storage: {size: 1Gi, className: standard}}
  manager: {image: "diva:1", storage: {size: 1Gi, className: standard}}
  extra: {image: "extra:1", storage: {size: 1Gi, className: standard}}
`

var createSystem = faults.Step{
	Name:  "create a system of two clients",
	Do:    func(u *faults.User) { u.Apply(system) },
	Until: divaReady,
}

// editSystem returns a step in which a user changes the Diva and waits until it is ready again.
func editSystem(name, patch string) faults.Step {
	return faults.Step{
		Name:  name,
		Do:    func(u *faults.User) { u.Patch("ops", &opsv1.Diva{}, patch) },
		Until: divaReady,
	}
}

var scalingDiva = faults.Workload{
	Name: "scaling",
	Steps: []faults.Step{
		createSystem,
		editSystem("grow to three clients", `{"spec":{"client":{"replicas":3}}}`),
		editSystem("shrink to one", `{"spec":{"client":{"replicas":1}}}`),
		{
			Name: "give it an image that cannot be pulled",
			Do: func(u *faults.User) {
				u.Patch("ops", &opsv1.Diva{}, `{"spec":{"client":{"image":"`+testenv.MissingImage+`"}}}`)
			},
			Until: divaSays("PodsNotReady"),
		},
		editSystem("correct it", `{"spec":{"client":{"image":"client:2"}}}`),
	},
}

var rotatingDiva = faults.Workload{
	Name: "rotating",
	Steps: []faults.Step{
		createSystem,
		editSystem("rotate the keys", `{"metadata":{"annotations":{"opcrew.io/rotate-ssh-key":"1"}}}`),
		{
			Name:  "a user deletes the Secret",
			Do:    func(u *faults.User) { u.Delete("ops-ssh", &corev1.Secret{}) },
			Until: divaReady,
		},
	},
}

// growingDiva enlarges the volumes. The operator must recreate the StatefulSet to change its claim templates. The test
// server has no storage driver, so the workload itself sets the new size in the status of the claims.
var growingDiva = faults.Workload{
	Name: "growing",
	World: func(w *faults.World) {
		w.Apply(`
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: elastic}
provisioner: ` + testenv.VolumeProvisioner + `
allowVolumeExpansion: true
`)
	},
	Steps: []faults.Step{
		{
			Name:  "create a system of two clients whose volumes can grow",
			Do:    func(u *faults.User) { u.Apply(strings.ReplaceAll(system, "standard", "elastic")) },
			Until: divaReady,
		},
		{
			Name: "give its clients more",
			Do: func(u *faults.User) {
				u.Patch("ops", &opsv1.Diva{}, `{"spec":{"client":{"storage":{"size":"2Gi"}}}}`)
			},
			Until: divaHasGrown,
		},
		{
			Name: "their volumes have it",
			Do: func(u *faults.User) {
				for _, claim := range []string{"wi-ops-client-0", "wi-ops-client-1"} {
					u.PatchStatus(claim, &corev1.PersistentVolumeClaim{}, `{"status":{"capacity":{"storage":"2Gi"}}}`)
				}
			},
			Until: divaReady,
		},
	},
}

func divaReady(v faults.View) error {
	d, err := divaReportedFor(v, "True", "")
	if err != nil {
		return err
	}
	if d.Status.SSH.Phase != opsv1.SSHInUse || d.Annotations[opsv1.RotateAnnotation] != requestOf(v) {
		return fmt.Errorf("the keys are %+v", d.Status.SSH)
	}
	return divaServes(v, d)
}

// requestOf returns the value that the rotation annotation of the Diva had when the operator created the current keys.
// The Secret with the keys records this value.
func requestOf(v faults.View) string {
	secret := &corev1.Secret{}
	if v.Get("ops-ssh", secret) != nil {
		return "none"
	}
	return secret.Annotations[opsv1.RotateAnnotation]
}

func divaSays(reason string) func(faults.View) error {
	return func(v faults.View) error {
		_, err := divaReportedFor(v, "False", reason)
		return err
	}
}

// divaReportedFor returns the Diva if it has reported its current spec with the given status of Ready, and, if reason
// is not empty, with that reason. Otherwise it returns an error.
func divaReportedFor(v faults.View, status metav1.ConditionStatus, reason string) (*opsv1.Diva, error) {
	d := &opsv1.Diva{}
	if err := v.Get("ops", d); err != nil {
		return nil, err
	}
	for _, c := range d.Status.Conditions {
		if c.Type == "Ready" && c.Status == status && (reason == "" || c.Reason == reason) && d.Status.ObservedGeneration == d.Generation {
			return d, nil
		}
	}
	return nil, fmt.Errorf("the status is %+v", d.Status)
}

func divaHasGrown(v faults.View) error {
	set, claims := &appsv1.StatefulSet{}, &corev1.PersistentVolumeClaimList{}
	if err := errors.Join(v.Get("ops-client", set), v.List(claims)); err != nil {
		return err
	}
	if got := set.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String(); got != "2Gi" || set.DeletionTimestamp != nil {
		return fmt.Errorf("the StatefulSet creates claims of size %s", got)
	}
	for _, claim := range claims.Items {
		if strings.HasPrefix(claim.Name, "wi-") && claim.Spec.Resources.Requests.Storage().String() != "2Gi" {
			return fmt.Errorf("claim %s requests %s", claim.Name, claim.Spec.Resources.Requests.Storage())
		}
	}
	_, waits := divaReportedFor(v, "False", "Growing")
	// If a fault recreates the Diva, its claims have the larger size from the start, so it is ready at once.
	_, ready := divaReportedFor(v, "True", "")
	if waits != nil && ready != nil {
		return waits
	}
	return nil
}

// divaServes checks that a ready Diva is truly ready. The manager pod and all client pods must be ready, the inventory
// of the manager pod must list exactly these client pods, and they must accept the login of the manager pod.
func divaServes(v faults.View, object client.Object) error {
	d := object.(*opsv1.Diva)
	set, list, manager, clients := &appsv1.StatefulSet{}, &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Secret{}
	if err := errors.Join(v.Get("ops-client", set), v.Get("ops-inventory", list), v.Get("ops-ssh", manager), v.Get("ops-sshd", clients)); err != nil {
		return err
	}
	if got := readyPods(v, "diva-client"); got != int(d.Spec.Client.Replicas) || *set.Spec.Replicas != d.Spec.Client.Replicas {
		return fmt.Errorf("%d of %d clients are ready", got, d.Spec.Client.Replicas)
	}
	if got := readyPods(v, "diva-manager"); got != 1 {
		return fmt.Errorf("%d managers are ready", got)
	}
	if got := strings.Count(list.Data["hosts"], "ansible_host="); got != int(d.Spec.Client.Replicas) {
		return fmt.Errorf("the inventory lists %d clients", got)
	}
	return letsIn(clients, manager)
}

func readyPods(v faults.View, label string) int {
	pods, n := &corev1.PodList{}, 0
	if v.List(pods) != nil {
		return 0
	}
	for _, pod := range pods.Items {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil && pod.Labels[label] == "ops" {
				n++
			}
		}
	}
	return n
}

// letsIn reports whether client pods with the given version of their Secret accept a manager pod with the given version
// of its Secret. The client pods must accept at least one of the keys of that manager pod.
func letsIn(clients, manager *corev1.Secret) error {
	for _, name := range []string{"identity", "identityNext"} {
		if len(manager.Data[name]) == 0 {
			return nil // this version of the Secret has no key, so the manager pods keep their previous keys
		}
		signer, err := ssh.ParsePrivateKey(manager.Data[name])
		if err != nil {
			return fmt.Errorf("the manager has no key: %w", err)
		}
		if strings.Contains(string(clients.Data["authorizedKeys"]), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))) {
			return nil
		}
	}
	return errors.New("clients refuse the manager's keys")
}

// loginsGoOn holds if the manager pod of a Diva can always log in to the client pods by SSH. While a Secret changes, a
// pod may have its previous or its new version, so the invariant checks all combinations.
func loginsGoOn(before, after faults.View, e faults.Event) error {
	was, is, clients, clientsNow := &corev1.Secret{}, &corev1.Secret{}, &corev1.Secret{}, &corev1.Secret{}
	if e.Key.Kind != "Secret" || !changed(before, after, "ops-ssh", was, is) || !changed(before, after, "ops-sshd", clients, clientsNow) {
		return nil
	}
	return errors.Join(letsIn(clients, is), letsIn(clientsNow, was))
}

// changed reads an object before and after an event. It reports whether the object existed both times with the same
// UID.
func changed(before, after faults.View, name string, was, is client.Object) bool {
	return there(before, name, was) && there(after, name, is) && was.GetUID() == is.GetUID()
}

func there(v faults.View, name string, object client.Object) bool { return v.Get(name, object) == nil }

// inventoryIsAhead holds if the operator removes client pods from the inventory first, and then from the StatefulSet.
func inventoryIsAhead(before, after faults.View, e faults.Event) error {
	was, is, list := &appsv1.StatefulSet{}, &appsv1.StatefulSet{}, &corev1.ConfigMap{}
	if e.Key.Kind != "StatefulSet" || !changed(before, after, "ops-client", was, is) || !there(after, "ops-inventory", list) {
		return nil
	}
	if has := strings.Count(list.Data["hosts"], "ansible_host="); *is.Spec.Replicas < *was.Spec.Replicas && has > int(*is.Spec.Replicas) {
		return fmt.Errorf("the StatefulSet went from %d to %d clients while the inventory lists %d", *was.Spec.Replicas, *is.Spec.Replicas, has)
	}
	return nil
}

func noClaimShrinks(before, after faults.View, e faults.Event) error {
	was, is := &corev1.PersistentVolumeClaim{}, &corev1.PersistentVolumeClaim{}
	if e.Key.Kind != "PersistentVolumeClaim" || !changed(before, after, e.Key.Name, was, is) {
		return nil
	}
	if is.Spec.Resources.Requests.Storage().Cmp(*was.Spec.Resources.Requests.Storage()) < 0 {
		return fmt.Errorf("the request of claim %s decreased from %s to %s", is.Name, was.Spec.Resources.Requests.Storage(), is.Spec.Resources.Requests.Storage())
	}
	return nil
}

// maskDiva removes values that differ between runs: random values, values of other field managers, and values that
// depend on earlier states.
func maskDiva(object *unstructured.Unstructured) {
	switch object.GetKind() {
	case "Secret":
		maskKeys(object)
	case "Diva":
		unstructured.RemoveNestedField(object.Object, "status", "ssh")
		unstructured.RemoveNestedField(object.Object, "status", "storage") // contains a time
		maskMessage(object, "SSHReady")
	case "PersistentVolumeClaim":
		if object.GetName() == "wi-ops-client-2" {
			// The claim belongs to a third client pod, which exists only for a while. If no operator saw the spec that
			// requests three client pods, the claim does not exist.
			object.Object = nil
			return
		}
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
		unstructured.RemoveNestedField(object.Object, "metadata", "ownerReferences")
		unstructured.RemoveNestedField(object.Object, "spec", "volumeName")
		unstructured.RemoveNestedField(object.Object, "status")
	case "StatefulSet":
		unstructured.RemoveNestedField(object.Object, "status", "collisionCount")
	default:
		maskApp(object)
	}
}

// maskKeys removes the values of keys but not their names. It also removes the keys of former client pods. If a test
// deletes the Secret, opcrew may restore it with or without these keys, depending on timing.
func maskKeys(object *unstructured.Unstructured) {
	unstructured.RemoveNestedField(object.Object, "metadata", "annotations")
	data, _, _ := unstructured.NestedMap(object.Object, "data")
	delete(data, "formerHostKey")
	for key := range data {
		data[key] = "masked"
	}
	_ = unstructured.SetNestedMap(object.Object, data, "data")
}

func maskMessage(object *unstructured.Unstructured, kind string) {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, c := range conditions {
		if content, ok := c.(map[string]any); ok && content["type"] == kind {
			content["message"] = "masked"
		}
	}
	_ = unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions")
}
