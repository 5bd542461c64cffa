// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package namespaced

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/podapi/backup"
	"github.com/opcrew/opcrew/test/testenv"
	"github.com/opcrew/opcrew/test/testenv/backuppods"
	"github.com/opcrew/opcrew/test/testenv/etcdpods"
	"github.com/opcrew/opcrew/test/testenv/manifest"
	"github.com/opcrew/opcrew/test/testenv/operator"
	"github.com/opcrew/opcrew/test/testenv/redispods"
)

// installed creates the namespaces and starts operators that serve only them. At the end of the test, it fails the test
// if the API server has refused a request of an operator because of a missing right.
func installed(t *testing.T, namespaces ...string) {
	t.Helper()
	for _, name := range namespaces {
		create(t, &corev1.Namespace{}, name)
	}
	for _, kinds := range layers() {
		operator.NewIn(t, env, namespaces, kinds...).Operator(t)
	}
}

func create(t *testing.T, object client.Object, name string) {
	t.Helper()
	object.SetName(name)
	if err := env.Client.Create(t.Context(), object); client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
}

// declared returns one object of every namespaced kind, for a namespace.
func declared(t *testing.T, namespace string) []*unstructured.Unstructured {
	t.Helper()
	docs, err := manifest.Read(filepath.Join("testdata", "objects.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, doc := range docs {
		doc.Object.SetNamespace(namespace)
		if doc.Object.GetKind() == "MicroServiceDeploy" { // two instances in the cluster cannot have the same host name
			if err := unstructured.SetNestedField(doc.Object.Object, namespace+".example.com", "spec", "baseDomain"); err != nil {
				t.Fatal(err)
			}
		}
		objects = append(objects, doc.Object)
	}
	return objects
}

// goals maps kinds to functions that check, from the status of an object, whether the operator has done its work. For
// any other kind, the condition Ready must be True.
var goals = map[string]func(*unstructured.Unstructured) bool{
	"Activity": func(o *unstructured.Unstructured) bool { return text(o, "prosta") == string(egov1.StateSucceeded) },
	// An EtcdRestore cannot complete here, because no simulated pod restores the first member. So it is enough that the
	// operator works on it.
	"EtcdRestore": func(o *unstructured.Unstructured) bool {
		_, reason, message := ready(o)
		return message != unserved && reason != "ReadFailed"
	},
}

// unserved is the message of the condition Ready until an operator has served the object. The CRDs set it as a default.
const unserved = "Waiting for the operator"

func text(o *unstructured.Unstructured, field string) string {
	value, _, _ := unstructured.NestedString(o.Object, "status", field)
	return value
}

// ready returns the status, reason and message of an object's condition Ready.
func ready(o *unstructured.Unstructured) (status, reason, message string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range conditions {
		condition := item.(map[string]any)
		if condition["type"] == "Ready" {
			return fmt.Sprint(condition["status"]), fmt.Sprint(condition["reason"]), fmt.Sprint(condition["message"])
		}
	}
	return "", "", ""
}

// works waits until the operator has done its work for an object, as the status shows.
func works(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	what := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
	operator.Until(t, what+" works", func() error {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		status, reason, message := ready(object)
		goal := goals[object.GetKind()]
		if goal == nil && status == "True" || goal != nil && goal(object) {
			return nil
		}
		return fmt.Errorf("Ready is %q: %s: %s (state %s)", status, reason, message, text(object, "prosta"))
	})
}

func TestEveryKindWorksInTheNamespacesOfANamespacedInstallationAndNowhereElse(t *testing.T) {
	env.Nodes(t, 4, testenv.NodeSpec{Prefix: "narrow"})
	create(t, &storagev1.StorageClass{Provisioner: testenv.VolumeProvisioner, AllowVolumeExpansion: new(true)}, "longhorn")
	etcdpods.Follow(t, env.Config, env.Client, etcds)
	redispods.Follow(t, env.Config, env.Client, redises)
	backuppods.Follow(t, env.Config, env.Client, func(o backup.Order, _ int) *backup.Result {
		success := backuppods.Success(o)
		return &success
	})
	installed(t, "narrow-a", "narrow-b")
	policiesWork(t)
	create(t, &corev1.Namespace{}, "narrow-c")
	pool := &nodesv1.NodePool{}
	pool.Spec.NodeSelector = map[string]nodesv1.LabelValue{"kubernetes.io/hostname": "narrow-0"}
	create(t, pool, "all")
	elsewhere := declared(t, "narrow-c")
	for _, object := range elsewhere {
		env.ApplyObject(t, object)
	}
	for _, namespace := range []string{"narrow-a", "narrow-b"} {
		objects := declared(t, namespace)
		for _, object := range objects {
			env.ApplyObject(t, object)
		}
		for _, object := range objects {
			works(t, object)
		}
	}
	untouched(t, append(elsewhere, asUnstructured(t, pool)))
}

// untouched fails the test if an operator has served one of the objects.
func untouched(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		if err := env.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		if _, reason, message := ready(object); message != unserved {
			t.Errorf("expected %s %s/%s to be left alone, Ready is %s: %s", object.GetKind(), object.GetNamespace(), object.GetName(), reason, message)
		}
	}
}

func asUnstructured(t *testing.T, pool *nodesv1.NodePool) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(nodesv1.GroupVersion.WithKind("NodePool"))
	out.SetName(pool.Name)
	return out
}

// policiesWork waits until it is certain that the API server applies the admission policies of Activities to new
// objects.
func policiesWork(t *testing.T) {
	t.Helper()
	operator.Until(t, "the API server has recorded the requesters of Activities for a while", func() error {
		probe := &egov1.Activity{}
		probe.Namespace, probe.Name, probe.Spec.Command, probe.Spec.Host = "default", "probe", "true", "narrow-0"
		if err := env.Client.Create(t.Context(), probe, client.DryRunAll); err != nil {
			return err
		}
		if probe.Spec.Requester == nil {
			return errors.New("spec.requester is empty")
		}
		binding := &admissionv1.ValidatingAdmissionPolicyBinding{}
		if err := env.Client.Get(t.Context(), client.ObjectKey{Name: "opcrew-activity-rights"}, binding); err != nil {
			return err
		}
		if age := time.Since(binding.CreationTimestamp.Time); age < 12*time.Second {
			return fmt.Errorf("for %s", age)
		}
		return nil
	})
}
