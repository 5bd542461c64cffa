// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// installed returns the objects that make install applies. The keys have the form kind/name.
func installed(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	dry := exec.CommandContext(t.Context(), "make", "-n", "install")
	dry.Dir = root
	commands, err := dry.Output()
	if err != nil {
		t.Fatal(err)
	}
	folder := regexp.MustCompile(`apply --server-side -k (\S+)`).FindSubmatch(commands)
	if folder == nil {
		t.Fatal("make install applies no folder")
	}
	out := map[string]*unstructured.Unstructured{}
	for _, object := range operator.Built(t, root, string(folder[1])) {
		out[object.GetKind()+"/"+object.GetName()] = object
	}
	return out
}

func TestThePolicyAboutNestedValuesCoversEveryFieldOfAnyContent(t *testing.T) {
	objects := installed(t)
	policy, err := json.Marshal(objects["ValidatingAdmissionPolicy/opcrew-nesting"])
	if err != nil {
		t.Fatal(err)
	}
	versions, _, err := unstructured.NestedSlice(objects["CustomResourceDefinition/redisenterpriseclusters.app.redislabs.com"].Object, "spec", "versions")
	if err != nil || len(versions) == 0 {
		t.Fatalf("expected a CRD with versions, got %v", err)
	}
	fields, _, err := unstructured.NestedMap(versions[0].(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties")
	if err != nil || len(fields) == 0 {
		t.Fatalf("expected fields of the spec, got %v", err)
	}
	for name, field := range fields {
		schema := field.(map[string]any)
		if schema["x-kubernetes-preserve-unknown-fields"] == true && schema["enum"] == nil && !bytes.Contains(policy, []byte("'"+name+"'")) {
			t.Errorf("expected opcrew-nesting to limit spec.%s", name)
		}
	}
}

func TestMakeInstallInstallsAllThatAnOperatorOutsideNeeds(t *testing.T) {
	objects := installed(t)
	wanted := []string{
		"Namespace/" + deployed, "Namespace/opcrew-activities", "PriorityClass/opcrew-microservices",
		"MutatingAdmissionPolicy/opcrew-activity-requester", "MutatingAdmissionPolicyBinding/opcrew-activity-requester",
		"ValidatingAdmissionPolicy/opcrew-activity-rights", "ValidatingAdmissionPolicyBinding/opcrew-activity-rights",
		"ValidatingAdmissionPolicy/opcrew-nodepool-hostfirewall", "ValidatingAdmissionPolicyBinding/opcrew-nodepool-hostfirewall",
		"MutatingAdmissionPolicy/opcrew-nodepool-joining", "MutatingAdmissionPolicyBinding/opcrew-nodepool-joining",
		"MutatingAdmissionPolicy/opcrew-nodepool-requester", "MutatingAdmissionPolicyBinding/opcrew-nodepool-requester",
		"ValidatingAdmissionPolicy/opcrew-nodepool-rights", "ValidatingAdmissionPolicyBinding/opcrew-nodepool-rights",
		"Namespace/opcrew-firewall", "ServiceAccount/opcrew-firewall", "Role/opcrew-firewall-agent", "RoleBinding/opcrew-firewall-agent",
		"ClusterRole/opcrew-firewall-agent", "ClusterRoleBinding/opcrew-firewall-agent",
		"ValidatingAdmissionPolicy/opcrew-firewall-agent", "ValidatingAdmissionPolicyBinding/opcrew-firewall-agent",
	}
	wanted = append(wanted, "MutatingAdmissionPolicy/opcrew-requester", "MutatingAdmissionPolicyBinding/opcrew-requester")
	for _, name := range []string{
		"opcrew-nesting", "opcrew-requester", "opcrew-rights-appservice", "opcrew-rights-diva", "opcrew-rights-etcdbackup", "opcrew-rights-etcdcluster",
		"opcrew-rights-etcdrestore", "opcrew-rights-memcached", "opcrew-rights-microservicedeploy", "opcrew-rights-redisenterprisecluster",
	} {
		wanted = append(wanted, "ValidatingAdmissionPolicy/"+name, "ValidatingAdmissionPolicyBinding/"+name)
	}
	for _, kind := range kinds.All() {
		for _, crd := range kind.CRDs {
			name := "CustomResourceDefinition/" + crd
			if !kind.OptIn {
				wanted = append(wanted, name)
			} else if objects[name] != nil {
				t.Errorf("expected make install to leave out %s, which is installed separately", name)
			}
		}
	}
	for _, name := range wanted {
		object, ok := objects[name]
		if !ok {
			t.Errorf("expected make install to install %s", name)
		} else if object.GetLabels()["app.kubernetes.io/part-of"] != "opcrew" {
			t.Errorf("expected %s to carry the label by which make uninstall and the operator know what is theirs", name)
		}
	}
}

func TestAdmissionPoliciesAreInstalledBeforeTheFieldsThatTheyProtect(t *testing.T) {
	for _, folder := range []string{"config/default", "config/install", "config/machineconfig"} {
		crd, policies := "", 0
		for _, object := range operator.Built(t, root, folder) {
			switch kind := object.GetKind(); {
			case kind == "CustomResourceDefinition":
				crd = object.GetName()
			case strings.Contains(kind, "AdmissionPolicy") && crd != "":
				t.Errorf("%s: expected %s %s before the CRD %s, because users could set its fields without the policy in between", folder, kind, object.GetName(), crd)
			case strings.Contains(kind, "AdmissionPolicy"):
				policies++
			}
		}
		if crd == "" || policies == 0 {
			t.Errorf("%s: expected CRDs and policies, got the CRD %q and %d policies", folder, crd, policies)
		}
	}
}
