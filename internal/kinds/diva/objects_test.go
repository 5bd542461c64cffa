// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/opcrew/opcrew/api/common"
	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/build"
	"github.com/opcrew/opcrew/internal/kinds/diva/names"
	"github.com/opcrew/opcrew/internal/kinds/diva/storage"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

// masked returns a Secret with placeholders for its private keys, because their bytes depend on the version of Go.
func masked(object runtime.ApplyConfiguration) any {
	secret, ok := object.(*corev1ac.SecretApplyConfiguration)
	if !ok {
		return object
	}
	out := *secret
	out.Data = nil
	out.StringData = map[string]string{}
	for key, value := range secret.Data {
		out.StringData[key] = string(value)
		if strings.Contains(string(value), "PRIVATE KEY") {
			out.StringData[key] = "a private key"
		}
	}
	return &out
}

func TestTheChildrenOfTheArticlesObjectAndOfOneWithAllFields(t *testing.T) {
	for _, file := range []string{"article", "all-fields"} {
		t.Run(file, func(t *testing.T) {
			d := manifest(t, file+".yaml")
			plan := planAt(d, observed(t, d, settled(t)), noon)
			for _, child := range plan.Children {
				kind, name := refOf(child)
				golden.Check(t, fmt.Sprintf("%s-%s-%s.yaml", file, strings.ToLower(kind), strings.TrimPrefix(name, d.Name+"-")), masked(child.Object))
			}
			if got := len(plan.Children); got != 11 {
				t.Errorf("expected 11 children, got %d", got)
			}
		})
	}
}

func refOf(child ensure.Child) (kind, name string) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(child.Object)
	if err != nil {
		panic(err)
	}
	return content["kind"].(string), content["metadata"].(map[string]any)["name"].(string)
}

// A client pod has the labels, selector and container name of the tutorial article that this API comes from. Its claim
// is mounted at /wi, and the SSH files are mounted where the article's image reads them.
func TestAClientHasTheArticlesShape(t *testing.T) {
	d := newDiva(2)
	set := build.StatefulSet(d, 2, storage.Size(d.Spec.Client.Storage), agentImage)
	same(t, "the selector", map[string]string{"diva-client": "ops"}, set.Spec.Selector.MatchLabels)
	labels := set.Spec.Template.Labels
	if labels["app"] != "diva-client" || labels["diva-client"] != "ops" {
		t.Errorf("expected the labels app and diva-client, got %v", labels)
	}
	if *set.Spec.ServiceName != *build.ClientService(d).Name || len(set.Spec.VolumeClaimTemplates) != 1 {
		t.Errorf("expected the headless Service and one claim template, got %s and %d", *set.Spec.ServiceName, len(set.Spec.VolumeClaimTemplates))
	}
	c := set.Spec.Template.Spec.Containers[0]
	same(t, "the container", "ops", *c.Name)
	mounts := map[string]string{}
	for _, mount := range c.VolumeMounts {
		sub := ""
		if mount.SubPath != nil {
			sub = " " + *mount.SubPath
		}
		mounts[*mount.MountPath] = *mount.Name + sub
	}
	for path, want := range map[string]string{"/wi": "wi", "/root/.ssh/id_rsa": "", "/root/.ssh/id_rsa.pub": "diva-client-ssh id_rsa.pub"} {
		same(t, path, want, mounts[path])
	}
	for _, volume := range set.Spec.Template.Spec.Volumes {
		if *volume.Name == "diva-client-ssh" && *volume.Secret.DefaultMode != 384 {
			t.Errorf("expected the Secret with mode 384, got %d", *volume.Secret.DefaultMode)
		}
	}
}

func TestFilesBelongToTheUserThatTheImageRunsAs(t *testing.T) {
	for what, test := range map[string]struct {
		user    *int64
		agent   int64
		group   *int64
		article bool
	}{
		"the image says nothing": {nil, 0, nil, true},
		"root":                   {new(int64(0)), 0, nil, true}, // no fsGroup, because members of the group could read root's keys
		"another":                {new(int64(1000)), 1000, new(int64(1000)), false},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDiva(1)
			d.Spec.Client.RunAsUser, d.Spec.Manager.RunAsUser = test.user, test.user
			for _, template := range []*corev1ac.PodTemplateSpecApplyConfiguration{build.ClientTemplate(d, agentImage), build.ManagerTemplate(d, false, agentImage)} {
				spec := template.Spec
				same(t, "the user of the pod", test.user, spec.SecurityContext.RunAsUser)
				same(t, "the group of its volumes", test.group, spec.SecurityContext.FSGroup)
				same(t, "the user of the agent", test.agent, *spec.InitContainers[0].SecurityContext.RunAsUser)
				home := slices.ContainsFunc(spec.Containers[0].VolumeMounts, func(m corev1ac.VolumeMountApplyConfiguration) bool {
					return strings.HasPrefix(*m.MountPath, "/root/")
				})
				same(t, "keys in root's home", test.article, home)
			}
		})
	}
}

// deployed returns the Deployment of the manager pods for the given facts.
func deployed(d *opsv1.Diva, f facts) *appsv1ac.DeploymentApplyConfiguration {
	return build.Deployment(d, storage.Decide(storageInput(d, f, noon)).Shared, f.agentImage)
}

func TestAManagerWaitsForThePodBeforeItUnlessAllItsVolumesAreShared(t *testing.T) {
	d, f := newDiva(1), facts{agentImage: agentImage}
	same(t, "the strategy", "Recreate", string(*deployed(d, f).Spec.Strategy.Type))
	d.Spec.Manager.Replicas = new(int32(2))
	if deployed(d, f).Spec.Template.Spec.Affinity == nil {
		t.Error("expected managers that share a volume to be kept on one node")
	}
	d.Spec.Manager.Storage.AccessMode = corev1.ReadWriteMany
	same(t, "the strategy with one shared volume", "Recreate", string(*deployed(d, f).Spec.Strategy.Type))
	d.Spec.Extra.Storage.AccessMode = corev1.ReadWriteMany
	same(t, "the strategy with shared volumes", "RollingUpdate", string(*deployed(d, f).Spec.Strategy.Type))
	if deployed(d, f).Spec.Template.Spec.Affinity != nil {
		t.Error("expected managers of shared volumes to run anywhere")
	}
	left := newClaim(storage.Expected{Name: "ops-extra", Storage: opsv1.Storage{}})
	left.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	f.claims = map[string]*corev1.PersistentVolumeClaim{"ops-extra": left}
	if ac := deployed(d, f); *ac.Spec.Strategy.Type != "Recreate" || ac.Spec.Template.Spec.Affinity == nil {
		t.Error("expected a claim that was there before to count as it is")
	}
}

func TestTheWallLeavesEveryOtherPortOpen(t *testing.T) {
	for port, want := range map[int32]string{
		22: "UDP 1-65535, SCTP 1-65535, TCP 1-21, TCP 23-65535", 1: "UDP 1-65535, SCTP 1-65535, TCP 2-65535", 65535: "UDP 1-65535, SCTP 1-65535, TCP 1-65534",
	} {
		d := newDiva(1)
		d.Spec.SSH = &opsv1.SSH{Port: &port}
		rules := build.SSHPolicy(d).Spec.Ingress
		same(t, "who reaches sshd", map[string]string{"diva-manager": "ops"}, rules[0].From[0].PodSelector.MatchLabels)
		var open []string
		for _, p := range rules[1].Ports {
			open = append(open, fmt.Sprintf("%s %d-%d", *p.Protocol, p.Port.IntVal, *p.EndPort))
		}
		same(t, "what all reach", want, strings.Join(open, ", "))
		if len(rules[1].From) > 0 {
			t.Error("expected the other ports to be open to all")
		}
	}
}

// Pods are recreated when the user changes settings that affect them. They keep running after an upgrade of opcrew and
// after changes of all other settings.
func TestPodsAreReplacedForWhatTheyKnowOfAndForNothingElse(t *testing.T) {
	for what, test := range map[string]struct {
		change          divaOption
		client, manager bool
	}{
		"the number of clients": {func(d *opsv1.Diva) { d.Spec.Client.Replicas = 9 }, false, false},
		"storage that grows": {func(d *opsv1.Diva) {
			d.Spec.Client.Storage.Size, d.Spec.Manager.Storage.Size, d.Spec.Extra.Storage.Size = "9Gi", "9Gi", "9Gi"
		}, false, false},
		"the deletion policy": {func(d *opsv1.Diva) { d.Spec.DeletionPolicy = opsv1.DeletionDelete }, false, false},
		"a rotation":          {func(d *opsv1.Diva) { withRequest("1")(d); withAge("90d")(d) }, false, false},
		"a key":               {func(d *opsv1.Diva) { d.Spec.PublicKey = "x"; d.Spec.PrivateKey = "y" }, false, false},
		"extra.replicas":      {func(d *opsv1.Diva) { d.Spec.Extra.Replicas = new(int32(3)) }, false, false}, //nolint:staticcheck // the field is deprecated only for users
		"a nodePort": {func(d *opsv1.Diva) {
			d.Spec.Manager.Ports = []common.Port{{Name: "http", Port: 80, TargetPort: "8080", NodePort: new(int32(30080))}}
		}, false, false},
		"the client's image":     {func(d *opsv1.Diva) { d.Spec.Client.Image = "client:2" }, true, false},
		"the manager's image":    {func(d *opsv1.Diva) { d.Spec.Manager.Image = "diva:2" }, false, true},
		"the extra image":        {func(d *opsv1.Diva) { d.Spec.Extra.Image = "extra:2" }, false, true},
		"its command":            {func(d *opsv1.Diva) { d.Spec.Extra.Command = []string{"sh"} }, false, true},
		"the client's env":       {func(d *opsv1.Diva) { d.Spec.Client.Env = []corev1.EnvVar{{Name: "A"}} }, true, false},
		"the manager's port":     {func(d *opsv1.Diva) { d.Spec.Manager.Ports = []common.Port{{Port: 81}} }, false, true},
		"the port of sshd":       {func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{Port: new(int32(2222))} }, true, true},
		"the user of logins":     {func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{User: "ops"} }, false, true},
		"the manager's replicas": {func(d *opsv1.Diva) { d.Spec.Manager.Replicas = new(int32(2)) }, false, true}, // several manager pods get an affinity to one node
	} {
		t.Run(what, func(t *testing.T) {
			before, after := newDiva(2), newDiva(2, test.change)
			same(t, "clients are replaced", test.client, !equalJSON(t, build.ClientSettings(before), build.ClientSettings(after)))
			same(t, "the manager is replaced", test.manager, !equalJSON(t, build.ManagerSettings(before, false), build.ManagerSettings(after, false)))
			same(t, "the clients' template changes", test.client, !equalJSON(t, build.ClientTemplate(before, agentImage), build.ClientTemplate(after, agentImage)))
			same(t, "the manager's template changes", test.manager, !equalJSON(t, build.ManagerTemplate(before, false, agentImage), build.ManagerTemplate(after, false, agentImage)))
		})
	}
}

func TestAnOverrideCannotTakeAPodFromItsDiva(t *testing.T) {
	d := newDiva(1)
	d.Spec.Client.Pod = &common.PodOverride{Labels: map[string]string{"diva-client": "other", names.NameLabel: "other", "team": "ops"}}
	got := build.ClientTemplate(d, agentImage).Labels
	if got["diva-client"] != "ops" || got[names.NameLabel] != names.AppName || got["team"] != "ops" {
		t.Errorf("expected our labels to stay and the user's own to come, got %v", got)
	}
}

func TestAClaimTemplateHasNeitherKindNorVersionNorNamespace(t *testing.T) {
	template := storage.Template(newDiva(1), storage.Size(opsv1.Storage{Size: "2Gi"}))
	if template.Kind != nil || template.APIVersion != nil || template.Namespace != nil {
		t.Error("the API server drops them: declaring them has the StatefulSet be recreated for ever")
	}
}

func TestNothingIsDoneForAnObjectThatGoes(t *testing.T) {
	d := newDiva(1)
	d.DeletionTimestamp = &metav1.Time{Time: noon}
	if plan := planAt(d, observed(t, d, settled(t)), noon); len(plan.Children) > 0 || len(plan.Patches) > 0 || plan.Again > 0 {
		t.Errorf("expected nothing to be done, got %+v", plan)
	}
}

func equalJSON(t *testing.T, a, b any) bool {
	t.Helper()
	first, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(first) == string(second)
}
