// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package crds

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/test/testenv/eventually"
	"github.com/opcrew/opcrew/test/testenv/manifest"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// named is a field of a spec that contains the name of another object, such as a Secret. The user who writes the spec
// must have a right to that object.
type named struct{ file, spec, want string }

// Rights to create objects. Unlike a right such as "get secrets other", they contain no object name.
const (
	newServices = "create services in namespace default"
	newClaims   = "create persistentvolumeclaims in namespace default"
)

// names lists every field for which the admission policies require a right of the user who sets the field.
var names = slices.Concat(
	podNames("appservice", "pod: {%s}"),
	podNames("memcached", "pod: {%s}"),
	podNames("microservicedeploy", "pod: {%s}"),
	podNames("diva", "client: {pod: {%s}}"),
	podNames("diva", "manager: {pod: {%s}}"),
	[]named{
		{"appservice", "ports: [{port: 80, nodePort: 30777}]", "use nodeports.opcrew.io 30777"},
		{"microservicedeploy", "ports: [{port: 80, nodePort: 30777}]", "use nodeports.opcrew.io 30777"},
		{"microservicedeploy", "baseDomain: shop.example.org", "use domains.opcrew.io shop.example.org"},
		{"microservicedeploy", "{needAuth: true, auth: {secretRef: {name: other}}}", "get secrets other"},
		{"microservicedeploy", "{config: null, configFrom: {secretRef: {name: other}}}", "get secrets other"},
		{"diva", "manager: {ports: [{port: 80, nodePort: 30777}]}", "use nodeports.opcrew.io 30777"},
		{"diva", "{privateKey: null, publicKey: null, ssh: {secretRef: {name: other}}}", "get secrets other"},
		{"etcdcluster", "TLS: {static: {operatorSecret: other, member: {serverSecret: mine}}}", "get secrets other"},
		{"etcdcluster", "TLS: {static: {operatorSecret: mine, member: {serverSecret: other}}}", "get secrets other"},
		{"etcdcluster", "TLS: {static: {member: {peerSecret: other}}}", "get secrets other"},
		{"etcdcluster", memberClaim("dataSource: {kind: PersistentVolumeClaim, name: other}"), "get persistentvolumeclaims other in namespace default"},
		{"etcdcluster", memberClaim("dataSourceRef: {kind: PersistentVolumeClaim, name: other}"), "get persistentvolumeclaims other in namespace default"},
		{"etcdcluster", memberClaim("dataSourceRef: {kind: PersistentVolumeClaim, name: other, namespace: kube-system}"), "get persistentvolumeclaims other in namespace kube-system"},
		{"etcdcluster", memberClaim("volumeName: theirs"), newClaims},
		{"etcdcluster", memberClaim("selector: {matchLabels: {disk: theirs}}"), newClaims},
		{"etcdbackup", "clientTLSSecret: other", "get secrets other"},
		{"etcdbackup", "pod: {serviceAccountName: robot}", "impersonate serviceaccounts robot"},
		{"redisenterprisecluster", "clusterCredentialSecretName: other", "get secrets other"},
		{"redisenterprisecluster", "certificates: {cmCertificateSecretName: other}", "get secrets other"},
		{"redisenterprisecluster", "priorityClassName: high", "use priorityclasses.scheduling.k8s.io high"},
		{"redisenterprisecluster", "serviceAccountName: robot", "impersonate serviceaccounts robot"},
		{"redisenterprisecluster", "services: {servicesAnnotations: {dns: pay.example.com}}", newServices},
		{"redisenterprisecluster", "uiAnnotations: {dns: pay.example.com}", newServices},
		{"redisenterprisecluster", "uiServiceType: LoadBalancer", newServices},
		{"redisenterprisecluster", ephemeral("volumeName: theirs"), newClaims},
		{"redisenterprisecluster", ephemeral("selector: {matchLabels: {disk: theirs}}"), newClaims},
	},
	stored("etcdbackup", "storageType"),
	stored("restore/etcdrestore", "backupStorageType"),
)

func podNames(file, within string) []named {
	return []named{
		{file, fmt.Sprintf(within, "serviceAccountName: robot"), "impersonate serviceaccounts robot"},
		{file, fmt.Sprintf(within, "priorityClassName: high"), "use priorityclasses.scheduling.k8s.io high"},
		{file, fmt.Sprintf(within, "runtimeClassName: gold"), "use runtimeclasses.node.k8s.io gold"},
	}
}

// memberClaim returns the part of an EtcdCluster's spec with the volume claim of its members, with one additional
// field.
func memberClaim(field string) string {
	return "pod: {persistentVolumeClaimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, " + field + "}}"
}

// ephemeral returns the part of a Redis cluster's spec with an ephemeral volume, whose claim has one additional field.
func ephemeral(field string) string {
	return "volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, " + field + "}}}}]"
}

func stored(file, field string) []named {
	return []named{
		{file, "{" + field + ": S3, s3: {path: b/k, awsSecret: other}}", "get secrets other"},
		{file, "{" + field + ": ABS, abs: {path: b/k, absSecret: other}}", "get secrets other"},
		{file, "{" + field + ": GCS, gcs: {path: b/k, gcpSecret: other}}", "get secrets other"},
		{file, "{" + field + ": OSS, oss: {path: b/k, ossSecret: other}}", "get secrets other"},
		{file, "{" + field + ": PVC, pvc: {path: k, claimName: other}}", "get persistentvolumeclaims other"},
	}
}

func TestEveryNameInASpecNeedsARightOfItsAuthor(t *testing.T) {
	carol := authorOfAllKinds(t)
	for _, n := range names {
		t.Run(n.file+"/"+n.spec, func(t *testing.T) {
			object := sample(t, n.file)
			if err := client.NewDryRunClient(env.Client).Create(t.Context(), n.in(t, object)); err != nil {
				t.Fatalf("expected an administrator to have every right, got %v", err)
			}
			err := client.NewDryRunClient(carol).Create(t.Context(), n.in(t, object))
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "carol may not "+n.want) {
				t.Errorf("expected that carol may not %s, got %v", n.want, err)
			}
		})
	}
}

// changed is a change that carol makes to an object. An administrator created the object, so its spec may name other
// objects to which carol has no right. If want is empty, carol may make the change.
type changed struct{ file, spec, change, want string }

var changes = []changed{
	{"etcdbackup", inBucket, "s3: {path: c/k}", "get secrets other"},
	{"etcdbackup", inBucket, `s3: {endpoint: "https://mallory.example.com"}`, "get secrets other"},
	{"etcdbackup", inBucket, "suspend: true", ""},
	{"etcdbackup", inBucket, "backupPolicy: {maxBackups: 2}", ""},
	{"etcdbackup", "clientTLSSecret: other", `{etcdCluster: null, etcdEndpoints: ["https://mallory.example.com:2379"]}`, "get secrets other"},
	{"etcdbackup", "{storageType: S3, s3: {path: b/k}, pod: {serviceAccountName: robot}}", "s3: {path: c/k}", "impersonate serviceaccounts robot"},
	{"microservicedeploy", "baseDomain: shop.example.org", "gateway: {name: other}", "use domains.opcrew.io shop.example.org"},
	{"microservicedeploy", "baseDomain: shop.example.org", "ingressClassName: other", "use domains.opcrew.io shop.example.org"},
	{"microservicedeploy", "baseDomain: shop.example.org", "current: true", "use domains.opcrew.io shop.example.org"},
	{"microservicedeploy", "baseDomain: shop.example.org", "image: nginx:1.27", ""},
	{"etcdcluster", memberClaim("volumeName: theirs"), "size: 3", ""},
	{"redisenterprisecluster", "{uiServiceType: LoadBalancer, uiAnnotations: {a: b}}", "uiAnnotations: {a: c}", newServices},
	{"redisenterprisecluster", "{uiServiceType: LoadBalancer, uiAnnotations: {a: b}}", "uiAnnotations: null", ""},
	{"redisenterprisecluster", "{uiServiceType: LoadBalancer, uiAnnotations: {a: b}}", "uiServiceType: ClusterIP", ""},
	{"redisenterprisecluster", ephemeral("volumeName: theirs"), ephemeral("volumeName: another"), newClaims},
	{"redisenterprisecluster", ephemeral("volumeName: theirs"), "nodes: 5", ""},
}

const inBucket = "{storageType: S3, s3: {path: b/k, awsSecret: other}}"

func TestAUserWithoutARightMayNotRedirectWhatOthersHaveNamed(t *testing.T) {
	carol := authorOfAllKinds(t)
	for _, c := range changes {
		t.Run(c.file+"/"+c.spec+"/"+c.change, func(t *testing.T) {
			object := named{spec: c.spec}.in(t, sample(t, c.file))
			if err := env.Client.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := remove(context.WithoutCancel(t.Context()), env.Client, object); err != nil {
					t.Error(err)
				}
			}()
			err := client.NewDryRunClient(carol).Update(t.Context(), named{spec: c.change}.in(t, object))
			switch {
			case c.want == "" && err != nil:
				t.Errorf("expected carol to make the change, got %v", err)
			case c.want != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "carol may not "+c.want)):
				t.Errorf("expected that carol may not %s, got %v", c.want, err)
			}
		})
	}
}

// in returns a copy of the object with the fields of n.spec in its spec.
func (n named) in(t *testing.T, object *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	out := object.DeepCopy()
	spec := map[string]any{}
	if err := yaml.Unmarshal([]byte(n.spec), &spec); err != nil {
		t.Fatal(err)
	}
	merge(out.Object["spec"].(map[string]any), spec)
	return out
}

func merge(into, from map[string]any) {
	for key, value := range from {
		inner, isMap := value.(map[string]any)
		there, exists := into[key].(map[string]any)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && exists:
			merge(there, inner)
		default:
			into[key] = value
		}
	}
}

// sample returns the sample object of a kind, without fields for which user carol would need rights.
func sample(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	docs, err := manifest.Read(filepath.Join(env.Root, "config", "samples", file+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		if strings.EqualFold(doc.Object.GetKind(), filepath.Base(file)) {
			doc.Object.SetNamespace("default")
			for _, field := range []string{"baseDomain", "path", "current", "ingressClassName", "auth", "needAuth", "configFrom", "TLS", "ports"} {
				unstructured.RemoveNestedField(doc.Object.Object, "spec", field)
			}
			return doc.Object
		}
	}
	t.Fatalf("expected an object in config/samples/%s.yaml", file)
	return nil
}

// authorOfAllKinds installs the admission policies. It returns a client for user carol, who may edit all kinds and has
// no other rights.
func authorOfAllKinds(t *testing.T) client.Client {
	t.Helper()
	for _, object := range slices.Concat(operator.Built(t, env.Root, "config/cluster/rights"), operator.Built(t, env.Root, "config/users")) {
		env.ApplyObject(t, object)
	}
	for _, kind := range []string{"appservice", "memcached", "microservicedeploy", "diva", "etcdcluster", "etcdbackup", "etcdrestore", "redisenterprisecluster"} {
		binding := &rbacv1.RoleBinding{
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "opcrew-" + kind + "-editor"},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "carol"}},
		}
		binding.Namespace, binding.Name = "default", "carol-"+kind
		if err := env.Client.Create(t.Context(), binding); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	grantItsOwn(t)
	carol := env.ClientFor(t, env.ConfigAs("carol"))
	eventually.True(t, operator.Long, "the roles and policies are in force", func() error {
		var errs []error
		for _, file := range []string{"appservice", "memcached", "microservicedeploy", "diva", "etcdcluster", "etcdbackup", "redisenterprisecluster"} {
			object := sample(t, file)
			if err := client.NewDryRunClient(carol).Create(t.Context(), object); err != nil {
				errs = append(errs, err)
			} else if object.GetAnnotations()["opcrew.io/requester"] == "" {
				errs = append(errs, fmt.Errorf("%s carries no requester", file))
			}
		}
		return errors.Join(append(errs, notYetRefused(t, carol)...)...)
	})
	return carol
}

// notYetRefused returns an error for each kind of which carol may create an object that only an administrator may
// create. The API server does not enforce a new policy at once.
func notYetRefused(t *testing.T, carol client.Client) []error {
	t.Helper()
	var errs []error
	tried := map[string]bool{}
	for _, n := range names {
		if tried[n.file] {
			continue
		}
		tried[n.file] = true
		err := client.NewDryRunClient(carol).Create(t.Context(), n.in(t, sample(t, n.file)))
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "carol may not "+n.want) {
			errs = append(errs, fmt.Errorf("the policy of %s is not in force: expected a refusal of %s", n.file, n.spec), err)
		}
	}
	return errs
}

// grantItsOwn lets user carol read the Secret and the PersistentVolumeClaim that samples and test cases need. It gives
// no right to the objects whose protection the tests check, such as the Secret named other.
func grantItsOwn(t *testing.T) {
	t.Helper()
	role := &rbacv1.Role{Rules: []rbacv1.PolicyRule{
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"mine"}},
		{Verbs: []string{"get"}, APIGroups: []string{""}, Resources: []string{"persistentvolumeclaims"}, ResourceNames: []string{"example-etcd-backups"}},
	}}
	role.Namespace, role.Name = "default", "carol-own"
	binding := &rbacv1.RoleBinding{
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "carol"}},
	}
	binding.Namespace, binding.Name = "default", "carol-own"
	for _, object := range []client.Object{role, binding} {
		if err := env.Client.Create(t.Context(), object); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
}
