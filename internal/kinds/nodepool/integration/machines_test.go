// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines/reading"
	"github.com/opcrew/opcrew/test/testenv/manifest"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const (
	matches     = nodesv1.NodePoolMachinesMatch
	machineData = "internal/kinds/nodepool/integration/testdata/"
)

func fromNodeClass(name string) nodesv1.TemplateRef {
	return nodesv1.TemplateRef{APIVersion: "karpenter.k8s.aws/v1", Kind: "EC2NodeClass", Name: name}
}

func fromMachineTemplate(name string) nodesv1.TemplateRef {
	return nodesv1.TemplateRef{APIVersion: "infrastructure.cluster.x-k8s.io/v1beta2", Kind: "AWSMachineTemplate", Name: name, Namespace: "capi"}
}

func madeFrom(ref nodesv1.TemplateRef, groups ...nodesv1.SecurityGroup) poolOption {
	return func(p *nodesv1.NodePool) {
		p.Spec.Machine = &nodesv1.Machine{TemplateRef: &ref, SecurityGroups: groups}
	}
}

// withProviderID gives each node the provider ID that the simulated machines name.
func withProviderID(n *corev1.Node) { n.Spec.ProviderID = "aws:///eu-central-1a/i-" + n.Name }

// machinesCanBeRead binds the optional roles, as an administrator would: that of Karpenter in the cluster, and that of
// Cluster API in one namespace.
func machinesCanBeRead(t *testing.T) {
	t.Helper()
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: operator.Namespace, Name: "opcrew-machines"}}
	role := func(name string) rbacv1.RoleRef {
		return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	}
	create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "capi"}})
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "opcrew-karpenter"}, Subjects: subjects, RoleRef: role("opcrew-karpenter-machines"),
	})
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "opcrew-cluster-api", Namespace: "capi"}, Subjects: subjects, RoleRef: role("opcrew-cluster-api-machines"),
	})
	env.Deployed(t)
	awaitRight(t, "", "karpenter.sh", "nodeclaims")
	awaitRight(t, "capi", "infrastructure.cluster.x-k8s.io", "awsmachines")
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := env.Client.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Client.Delete(context.WithoutCancel(t.Context()), object); err != nil {
			t.Error(err)
		}
	})
}

// installMachineCRDs installs the simulated CRDs until the test ends.
func installMachineCRDs(t *testing.T) {
	t.Helper()
	crds := env.Apply(t, machineData+"machine-crds.yaml")
	t.Cleanup(func() { removeAll(t, crds) })
}

// removeAll deletes objects, and waits until they are gone: an object that is being deleted could be applied again in vain.
// It also works when the test has ended.
func removeAll(t *testing.T, objects []*unstructured.Unstructured) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	left := remove(ctx, objects)
	for deadline := time.Now().Add(operator.Long); left != nil && time.Now().Before(deadline); left = remove(ctx, objects) {
		time.Sleep(50 * time.Millisecond)
	}
	if left != nil {
		t.Errorf("expected all objects to go: %v", left)
	}
}

// remove deletes objects. It returns an error as long as one of them exists.
func remove(ctx context.Context, objects []*unstructured.Unstructured) error {
	var left []error
	for _, object := range objects {
		if err := env.Client.Delete(ctx, object); !apierrors.IsNotFound(err) {
			left = append(left, fmt.Errorf("%s still exists: %w", object.GetName(), err))
		}
	}
	return errors.Join(left...)
}

// installMachines installs the simulated CRDs and creates the machines, with their statuses.
func installMachines(t *testing.T) {
	t.Helper()
	installMachineCRDs(t)
	docs, err := manifest.Read(env.Root + "/" + machineData + "machines.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		status := doc.Object.Object["status"]
		delete(doc.Object.Object, "status")
		env.ApplyObject(t, doc.Object)
		if status == nil {
			continue
		}
		doc.Object.Object["status"] = status
		if err := env.Client.Status().Update(t.Context(), doc.Object); err != nil {
			t.Fatal(err)
		}
	}
}

// A real API server refuses requests of a user without the optional roles. The user here is not that of the operator,
// because a test fails if the operator lacks a right.
func withoutRights(t *testing.T) {
	t.Helper()
	reader := readAs(t, env.ConfigAs("una"), clock.RealClock{})
	for ref, command := range map[nodesv1.TemplateRef]string{
		fromNodeClass("gold"):       "create clusterrolebinding opcrew-karpenter --clusterrole opcrew-karpenter-machines",
		fromMachineTemplate("gold"): "create rolebinding opcrew-cluster-api --namespace capi --clusterrole opcrew-cluster-api-machines",
	} {
		p := newPool("unread", madeFrom(ref))
		reader.Observe(p, nil)
		<-reader.Woken()
		problem := reader.Observe(p, nil).View.Problem
		if problem == nil || problem.Reason != nodesv1.ReasonTemplateUnreadable || !strings.Contains(problem.Message, command) {
			t.Errorf("%s: expected a missing right and the command that grants it, got %+v", ref.Kind, problem)
		} else {
			t.Log(problem.Message)
		}
	}
}

// readAs runs a Reader with the rights of a user.
func readAs(t *testing.T, config *rest.Config, now clock.PassiveClock) *reading.Reader {
	t.Helper()
	served, err := reading.NewCatalog(config)
	if err != nil {
		t.Fatal(err)
	}
	reader := reading.New(env.ClientFor(t, config), served, now)
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- reader.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return reader
}

func TestMachinesAreComparedWithTheirTemplate(t *testing.T) {
	machinesCanBeRead(t)
	process := env.Operator(t)
	createPool(t, newPool("early", madeFrom(fromNodeClass("early"))))
	p := awaitCondition(t, "early", matches, "Unknown TemplateMissing", "kind EC2NodeClass in karpenter.k8s.aws/v1")
	if c := ready(p); c.Status != metav1.ConditionTrue {
		t.Errorf("expected a missing CRD to block nothing, Ready is %s: %s", c.Status, c.Message)
	}

	installMachines(t)
	withoutRights(t)
	editPool(t, "early", madeFrom(fromMachineTemplate("none")))
	p = awaitCondition(t, "early", matches, "False TemplateMissing", "AWSMachineTemplate none does not exist in namespace capi")
	t.Log(conditionOf(p, matches).Message)
	makeNodes(t, 2, "karp", role("karp"), withProviderID)
	makeNodes(t, 2, "capa", role("capa"), withProviderID)
	createPool(t, newPool("karp", madeFrom(fromNodeClass("gold"))), newPool("capa", madeFrom(fromMachineTemplate("gold"))))

	p = awaitCondition(t, "karp", matches, "False TemplateMismatch", "1 node (karp-1): node karp-1 was not made from EC2NodeClass gold")
	t.Log(conditionOf(p, matches).Message)
	awaitCondition(t, "karp", nodesv1.NodePoolReady, "False TemplateMismatch", "karp-1")
	p = awaitCondition(t, "capa", matches, "False TemplateMismatch", "1 node (capa-1): node capa-1 was not made from AWSMachineTemplate gold")
	t.Log(conditionOf(p, matches).Message)
	editPool(t, "karp", madeFrom(fromNodeClass("lead")))
	p = awaitCondition(t, "karp", matches, "False TemplateMissing", "EC2NodeClass lead does not exist")
	t.Log(conditionOf(p, matches).Message)

	changeNode(t, "karp-1", lacksRole("karp"))
	changeNode(t, "capa-1", lacksRole("capa"))
	editPool(t, "karp", madeFrom(fromNodeClass("gold"), "sg-0f3c2a1b", "gold-db"))
	p = awaitCondition(t, "karp", matches, "False SecurityGroupMismatch", "does not have the security group gold-db")
	t.Log(conditionOf(p, matches).Message)
	editPool(t, "karp", madeFrom(fromNodeClass("gold"), "sg-0f3c2a1b", "gold-nodes"))
	p = awaitCondition(t, "karp", matches, "True AsWanted", "has its security groups")
	t.Log(conditionOf(p, matches).Message)
	awaitReady(t, "karp", 1)
	editPool(t, "capa", madeFrom(fromMachineTemplate("gold"), "sg-77"))
	awaitCondition(t, "capa", matches, "True AsWanted")
	editPool(t, "capa", madeFrom(fromMachineTemplate("gold"), "sg-1"))
	p = awaitCondition(t, "capa", matches, "Unknown NotReported", "do not show all security groups of 1 node (capa-0)")
	t.Log(conditionOf(p, matches).Message)
	awaitReady(t, "capa", 1)

	mark := env.Audit.Mark(t)
	editPool(t, "karp", wantsLabel("a", "b"))
	awaitReady(t, "karp", 1)
	if calls := env.Settled(t, mark).On("nodeclaims", "ec2nodeclasses"); len(calls) > 0 {
		t.Errorf("expected no request for machines before the next reading is due, got:\n%s", calls)
	}
	env.Rests(t)
	process.ExpectNoWork(func() { changeNode(t, "karp-0", hasLabel("example.com/unrelated", "a")) })
}

// awaitRight waits until the authorizer of the API server knows a binding, because the test fails at a refused request of
// the operator.
func awaitRight(t *testing.T, namespace, group, resource string) {
	t.Helper()
	operator.Until(t, "the operator may list "+resource, func() error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               env.User,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Group: group, Resource: resource},
		}}
		if err := env.Client.Create(t.Context(), review); err != nil || review.Status.Allowed {
			return err
		}
		return errors.New(review.Status.Reason)
	})
}
