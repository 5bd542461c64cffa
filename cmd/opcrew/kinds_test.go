// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/internal/kinds"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/workload"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

const root = "../.."

var layers = []string{kit.Machines, kit.Applications, kit.Data}

func TestTheFlagsChooseKinds(t *testing.T) {
	all := []kit.Registration{{Name: "pool", Layer: kit.Machines}, {Name: "host", Layer: kit.Machines}, {Name: "store", Layer: kit.Data}}
	for name, c := range map[string]struct {
		layer, kinds string
		want         []string
		err          string
	}{
		"all of them without flags":        {want: []string{"pool", "host", "store"}},
		"those of a layer":                 {layer: "machines", want: []string{"pool", "host"}},
		"none of a layer that is empty":    {layer: "applications"},
		"those that are named":             {kinds: "store,pool", want: []string{"pool", "store"}},
		"with blanks and empty names":      {kinds: " store , ", want: []string{"store"}},
		"those that are named, of a layer": {layer: "machines", kinds: "store,host", want: []string{"host"}},
		"a layer that does not exist":      {layer: "attic", err: `--layer=attic: this layer does not exist; use one of [machines applications data]`},
		"a kind that does not exist":       {kinds: "pool,ghost", err: `--kinds: kind "ghost" does not exist; use some of pool, host, store`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := choose(all, c.layer, c.kinds)
			if text := message(err); text != c.err {
				t.Fatalf("expected the error %q, got %q", c.err, text)
			}
			if diff := cmp.Diff(c.want, names(got), cmpopts.EquateEmpty()); diff != "" && c.err == "" {
				t.Errorf("expected other kinds (-expected +found):\n%s", diff)
			}
		})
	}
	if len(all) != 3 || all[0].Name != "pool" {
		t.Error("expected the list itself to stay as it was")
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestEveryKindIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range kinds.All() {
		if kind.Name == "" || kind.Name != strings.ToLower(kind.Name) || seen[kind.Name] {
			t.Errorf("expected a name of its own in lower case, got %q", kind.Name)
		}
		seen[kind.Name] = true
		if !slices.Contains(layers, kind.Layer) || len(kind.CRDs) == 0 || kind.AddToScheme == nil || kind.Cache == nil || kind.Setup == nil {
			t.Errorf("kind %s: expected a layer, CRDs, a scheme, a cache and a setup, got %+v", kind.Name, kind)
		}
		for _, crd := range kind.CRDs {
			plural, group, _ := strings.Cut(crd, ".")
			if _, err := os.Stat(filepath.Join(root, folderOf(kind), "bases", group+"_"+plural+".yaml")); err != nil {
				t.Errorf("kind %s: its CRD is not generated: %v", kind.Name, err)
			}
		}
	}
}

// folderOf returns the folder with the generated CRDs of a kind. An opt-in kind has a folder of its own, which is
// installed separately.
func folderOf(kind kit.Registration) string {
	if kind.OptIn {
		return "config/" + kind.Name
	}
	return "config/crd"
}

// The Makefile lists the kinds of each layer (machines, applications or data) to generate the roles, while the
// processes use kinds.All. Both lists must agree.
func TestTheMakefileKnowsTheKindsOfEachLayer(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string][]string{}
	for line := range strings.Lines(string(makefile)) {
		if name, value, ok := strings.Cut(line, ":="); ok {
			listed[strings.TrimSpace(name)] = strings.Fields(value)
		}
	}
	if diff := cmp.Diff([]string{"machines", "applications", "data"}, listed["LAYERS"]); diff != "" {
		t.Errorf("expected LAYERS to list the layers of the kit:\n%s", diff)
	}
	for _, layer := range layers {
		served, err := choose(kinds.All(), layer, "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(names(served), listed["KINDS_"+layer], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("expected KINDS_%s to list the kinds of that layer in internal/kinds/kinds.go:\n%s", layer, diff)
		}
	}
}

func TestEveryLayerIsDeployedWithItsKindsAndRights(t *testing.T) {
	for _, layer := range layers {
		t.Run(layer, func(t *testing.T) {
			dir := filepath.Join(root, "config/layers", layer)
			kustomization, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"--layer=" + layer, "nameSuffix: -" + layer, "role.yaml"} {
				if !strings.Contains(string(kustomization), want) {
					t.Errorf("expected %q in the layer's kustomization", want)
				}
			}
			rules := rulesOf(t, filepath.Join(dir, "role.yaml"))
			served, _ := choose(kinds.All(), layer, "")
			for _, kind := range served {
				if kind.OptIn {
					continue
				}
				for _, crd := range kind.CRDs {
					if !allowed(rules, crd, "watch") {
						t.Errorf("kind %s: expected the layer's role to allow to watch %s", kind.Name, crd)
					}
				}
			}
			for _, kind := range kinds.All() {
				if kind.Layer == layer && !kind.OptIn {
					continue
				}
				for _, crd := range kind.CRDs {
					if allowed(rules, crd, "watch") {
						t.Errorf("kind %s is of another layer, or installed separately: expected no right on %s", kind.Name, crd)
					}
				}
			}
		})
	}
}

// An opt-in kind has rights only where it is installed. The layer always has the right to notice that it gets installed.
func TestTheRightsOfAnOptInKindAreInstalledWithItsCRDs(t *testing.T) {
	for _, kind := range kinds.All() {
		if !kind.OptIn {
			continue
		}
		own, layer := rulesOf(t, filepath.Join(root, folderOf(kind), "role.yaml")), rulesOf(t, filepath.Join(root, "config/layers", kind.Layer, "role.yaml"))
		for _, crd := range kind.CRDs {
			if !allowed(own, crd, "watch") {
				t.Errorf("kind %s: expected its role to allow to watch %s", kind.Name, crd)
			}
			if !slices.ContainsFunc(layer, func(r rbacv1.PolicyRule) bool { return notices(r, crd) }) {
				t.Errorf("kind %s: expected the layer's role to allow to get, list and watch CRD %s, or the process does not notice when it is installed", kind.Name, crd)
			}
		}
	}
}

// notices reports whether a rule allows to notice when a CRD is installed.
func notices(r rbacv1.PolicyRule, crd string) bool {
	return slices.Contains(r.Resources, "customresourcedefinitions") && slices.Contains(r.ResourceNames, crd) &&
		slices.Contains(r.Verbs, "get") && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "watch")
}

func TestThePodsOfTheDataLayerHaveTheLabelsAndTheNamespaceThatPoliciesOfStoresSelect(t *testing.T) {
	for _, object := range operator.Built(t, root, "config/default") {
		if object.GetKind() != "Deployment" || object.GetName() != "opcrew-"+kit.Data {
			continue
		}
		found, _, err := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "labels")
		if err != nil {
			t.Fatal(err)
		}
		for key, value := range workload.OperatorLabels(kit.Data) {
			if found[key] != value || object.GetNamespace() != deployed {
				t.Errorf("expected pods with the label %s=%s in %s, or stores refuse the operator; got %v in %s", key, value, deployed, found, object.GetNamespace())
			}
		}
		return
	}
	t.Error("expected a Deployment of the data layer")
}

// rulesOf returns the ClusterRole rules in a generated file.
func rulesOf(t *testing.T, file string) []rbacv1.PolicyRule {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	for text := range strings.SplitSeq(string(raw), "\n---\n") {
		role := &rbacv1.ClusterRole{}
		if err := yaml.Unmarshal([]byte(text), role); err != nil {
			t.Fatal(err)
		}
		if role.Kind == "ClusterRole" {
			rules = append(rules, role.Rules...)
		}
	}
	return rules
}

func allowed(rules []rbacv1.PolicyRule, crd, verb string) bool {
	plural, group, _ := strings.Cut(crd, ".")
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		return slices.Contains(r.APIGroups, group) && slices.Contains(r.Resources, plural) && slices.Contains(r.Verbs, verb)
	})
}

func TestListsAreSplitAtCommasAndBlanks(t *testing.T) {
	if diff := cmp.Diff([]string{"a", "b", "c"}, split("a,b c,,")); diff != "" {
		t.Errorf("not as expected:\n%s", diff)
	}
	if got := split(""); len(got) != 0 {
		t.Errorf("expected nothing, got %v", got)
	}
}

func TestLeaderElection(t *testing.T) {
	for name, c := range map[string]struct {
		elect, layer, namespace, want string
		wantError                     bool
	}{
		"in a cluster":                 {elect: "auto", layer: "data", namespace: "opcrew-system", want: "opcrew-data"},
		"in a cluster, on request":     {elect: "true", layer: "data", namespace: "opcrew-system", want: "opcrew-data"},
		"in a cluster, all layers":     {elect: "auto", namespace: "opcrew-system", want: "opcrew"},
		"in a cluster, not wanted":     {elect: "false", layer: "data", namespace: "opcrew-system"},
		"outside: not by the manager":  {elect: "auto", layer: "data"},
		"a word that is not one of it": {elect: "perhaps", wantError: true},
	} {
		opts, err := options(&flags{elect: c.elect, layer: c.layer, namespaces: "a,b"}, nil, c.namespace)
		if (err != nil) != c.wantError {
			t.Errorf("%s: expected an error: %t, got %v", name, c.wantError, err)
			continue
		}
		if opts.LeaderElectionID != c.want || c.want != "" && opts.LeaderElectionNamespace != c.namespace || err == nil && len(opts.Namespaces) != 2 {
			t.Errorf("%s: expected lease %q in namespace %q and two namespaces, got %+v", name, c.want, c.namespace, opts)
		}
	}
}

func TestAProcessOutsideWantsTheLeasesOfTheLayersThatItServes(t *testing.T) {
	for list, want := range map[string][]string{
		"":                         {"opcrew-applications", "opcrew-data", "opcrew-machines"},
		"etcdcluster,memcached":    {"opcrew-data"},
		"diva,activity,appservice": {"opcrew-applications", "opcrew-machines"},
	} {
		served, err := choose(kinds.All(), "", list)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, leases(served)); diff != "" {
			t.Errorf("--kinds=%s (-expected +found):\n%s", list, diff)
		}
	}
}

func TestPodsAreReachedByPortForwardFromOutside(t *testing.T) {
	for name, c := range map[string]struct {
		mode             string
		inCluster, wants bool
		err              string
	}{
		"inside":               {mode: "auto", inCluster: true},
		"inside, on request":   {mode: "port-forward", inCluster: true, wants: true},
		"outside":              {mode: "auto", wants: true},
		"outside, with routes": {mode: "direct"},
		"another word":         {mode: "phone", err: "--dial=phone: use auto, direct or port-forward"},
	} {
		dial, err := dialer(c.mode, c.inCluster, &rest.Config{Host: "http://127.0.0.1:1"})
		if message(err) != c.err || (dial != nil) != c.wants {
			t.Errorf("%s: expected port-forward: %t and the error %q, got %t and %v", name, c.wants, c.err, dial != nil, err)
		}
	}
}
