// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/opcrew/opcrew/hack/localcluster/pki"
	"github.com/opcrew/opcrew/hack/localcluster/state"
)

// cluster returns the recorded state of a local cluster that does not run, and creates its certificates.
func cluster(t *testing.T) *state.State {
	t.Helper()
	st := &state.State{
		Dir: t.TempDir(),
		Network: state.Network{
			DNS:           netip.MustParseAddr("10.96.0.10"),
			LoadBalancers: netip.MustParsePrefix("10.214.1.0/24"),
		},
		ControlPlane: state.Machine{Name: state.ControlPlaneName, Address: netip.MustParseAddr("10.214.0.1")},
	}
	if err := pki.Create(st, netip.MustParseAddr("10.96.0.1")); err != nil {
		t.Fatal(err)
	}
	return st
}

// typed decodes the objects of an add-on into their Go types. It fails the test if an object has an unknown field.
func typed(t *testing.T, a addon) []runtime.Object {
	t.Helper()
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiregistrationv1.AddToScheme} {
		if err := add(types); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := a.objects()
	if err != nil {
		t.Fatalf("%s: %v", a.name, err)
	}
	decoder := serializer.NewCodecFactory(types, serializer.EnableStrict).UniversalDeserializer()
	var all []runtime.Object
	for _, object := range objects {
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		decoded, _, err := decoder.Decode(data, nil, nil)
		if err != nil {
			t.Fatalf("%s: %s %s: %v", a.name, object.GetKind(), object.GetName(), err)
		}
		all = append(all, decoded)
	}
	return all
}

func TestManifestsAreWhatTheAPIKnows(t *testing.T) {
	for _, a := range all(cluster(t), &applier{}) {
		if len(typed(t, a)) == 0 {
			t.Errorf("%s applies nothing", a.name)
		}
	}
}

func TestAddOnsHaveRightsOfTheirOwnAndNoWildcards(t *testing.T) {
	for _, a := range all(cluster(t), &applier{}) {
		user := "localcluster:" + a.name
		bound := false
		for _, object := range typed(t, a) {
			switch object := object.(type) {
			case *rbacv1.ClusterRole:
				for _, rule := range object.Rules {
					if slices.Contains(slices.Concat(rule.Verbs, rule.Resources, rule.APIGroups), "*") {
						t.Errorf("%s: role %s has a wildcard", a.name, object.Name)
					}
				}
			case *rbacv1.ClusterRoleBinding:
				bound = bound || object.RoleRef.Name == user && object.Subjects[0].Name == user
			}
		}
		if !bound {
			t.Errorf("%s has no role of its own", a.name)
		}
	}
}

func TestOneStorageClassIsTheDefaultAndAllBindLate(t *testing.T) {
	var names, defaults []string
	for _, object := range typed(t, localPath(cluster(t))) {
		class, ok := object.(*storagev1.StorageClass)
		if !ok {
			continue
		}
		names = append(names, class.Name)
		if class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" {
			defaults = append(defaults, class.Name)
		}
		if *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer || class.Annotations["defaultVolumeType"] != "local" {
			t.Errorf("class %s does not bind its volumes to a node", class.Name)
		}
	}
	if !slices.Equal(names, []string{"local-path", "gp2", "longhorn"}) || !slices.Equal(defaults, []string{"local-path"}) {
		t.Errorf("classes %q, defaults %q", names, defaults)
	}
}

func TestTheCorefileAnswersOnOneAddressOnly(t *testing.T) {
	got := corefile(netip.MustParseAddr("10.214.0.1"), "/x/kubeconfig")
	want := `cluster.local in-addr.arpa ip6.arpa {
	bind 10.214.0.1
	errors
	kubernetes cluster.local in-addr.arpa ip6.arpa {
		kubeconfig /x/kubeconfig
		pods insecure
		ttl 5
	}
}
. {
	bind 10.214.0.1
	errors
	template ANY ANY {
		rcode NXDOMAIN
	}
}
`
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestAKeyWithoutAValueIsAnError(t *testing.T) {
	if _, err := render("coredns", map[string]string{"DNS": "10.96.0.10"}); err == nil {
		t.Error("a manifest with a hole was rendered")
	}
}
