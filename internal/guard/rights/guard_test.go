// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/guard"
)

const bob = `{"username":"bob","uid":"u-1","groups":["devs"]}`

// world is a fake API server that grants some rights. It contains the owner web in namespace shop.
type world struct {
	*Guard
	granted []string // the granted rights, each as "verb resource name"
	reviews []authorizationv1.SubjectAccessReviewSpec
	fails   error
	clock   *testingclock.FakePassiveClock
}

func newWorld(granted []string, objects ...client.Object) *world {
	w := &world{granted: granted, clock: testingclock.NewFakePassiveClock(time.Unix(1_800_000_000, 0))}
	api := fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{Create: w.review}).Build()
	w.Guard = &Guard{Client: api, Live: api, Clock: w.clock}
	return w
}

func (w *world) review(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
	review := object.(*authorizationv1.SubjectAccessReview)
	w.reviews = append(w.reviews, review.Spec)
	right := review.Spec.ResourceAttributes
	review.Status.Allowed = slices.Contains(w.granted, fmt.Sprintf("%s %s %s", right.Verb, right.Resource, right.Name))
	return w.fails
}

func owner(record string) client.Object {
	o := &corev1.ConfigMap{}
	o.Namespace, o.Name, o.UID, o.Generation = "shop", "web", "uid-of-web", 1
	if record != "" {
		o.Annotations = map[string]string{common.RequesterAnnotation: record}
	}
	return o
}

type change func(*corev1.PodSpec)

func podOf(changes ...change) *corev1.PodTemplateSpec {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app"}}}}
	for _, change := range changes {
		change(&template.Spec)
	}
	return template
}

func envOf(name string) change {
	return func(p *corev1.PodSpec) {
		p.Containers[0].Env = append(p.Containers[0].Env, corev1.EnvVar{Name: "X", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		}})
	}
}

func mounted(volume, name string) change {
	return func(p *corev1.PodSpec) {
		p.Volumes = append(p.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: name}}})
	}
}

func child(kind string, template, live *corev1.PodTemplateSpec) guard.Pod {
	return guard.Pod{Kind: kind, ObjectKey: client.ObjectKey{Namespace: "shop", Name: "web"}, Template: template, Live: live}
}

func madeFor(uid, name string) *corev1.Secret {
	s := &corev1.Secret{}
	s.Namespace, s.Name, s.Labels = "shop", name, map[string]string{common.OwnerLabel: uid}
	return s
}

// copyOf returns a new volume claim that starts with the data of another claim. If namespace is empty, the other claim
// is in the namespace of the new one.
func copyOf(name, namespace string) guard.Pod {
	from := &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: name}
	if namespace != "" {
		from.Namespace = &namespace
	}
	return guard.Pod{
		Kind: "PersistentVolumeClaim", ObjectKey: client.ObjectKey{Namespace: "shop", Name: "web-0"},
		Claim: &corev1.PersistentVolumeClaimSpec{DataSourceRef: from},
	}
}

func ownClaim(name string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{}
	c.Namespace, c.Name, c.Labels = "shop", name, map[string]string{common.OwnerLabel: "uid-of-web"}
	return c
}

// setWith returns a StatefulSet with one pod that would use the named claim.
func setWith(claim string) guard.Pod {
	pod := child("StatefulSet", podOf(), nil)
	pod.Claims = []string{claim}
	return pod
}

// someClaim returns a volume claim of another owner or, if left is true, a claim that an earlier StatefulSet left
// behind.
func someClaim(name string, left bool) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{}
	c.Namespace, c.Name = "shop", name
	if left {
		c.Labels = map[string]string{common.ManagedByLabel: common.Name}
	}
	return c
}

func sibling(owned bool) *corev1.Pod {
	p := &corev1.Pod{Spec: podOf(envOf("bank")).Spec}
	p.Namespace, p.Name, p.Labels = "shop", "web-0", map[string]string{common.OwnerLabel: "uid-of-web"}
	if owned {
		p.OwnerReferences = []metav1.OwnerReference{{UID: "uid-of-web", Kind: "ConfigMap", Name: "web", Controller: new(true)}}
	}
	return p
}

func TestAPodMayUseWhatBelongsToItsObjectOrItsRequester(t *testing.T) {
	bank := podOf(envOf("bank"))
	of := func(trust guard.Trust, pod guard.Pod) guard.Pod {
		pod.Trust = trust
		return pod
	}
	for name, test := range map[string]struct {
		record  string
		granted []string
		objects []client.Object
		pod     guard.Pod
		reason  string
		reviews int
	}{
		"nothing is used":                          {bob, nil, nil, child("Deployment", podOf(), nil), "", 0},
		"nothing is used, by an unknown user":      {"", nil, nil, child("Deployment", podOf(), nil), "", 0},
		"a Secret without a right":                 {bob, nil, nil, child("Deployment", bank, nil), "RequesterMayNot", 1},
		"a Secret with a right":                    {bob, []string{"get secrets bank"}, nil, child("Deployment", bank, nil), "", 1},
		"another Secret than the right is for":     {bob, []string{"get secrets tank"}, nil, child("Deployment", bank, nil), "RequesterMayNot", 1},
		"a Secret of an unknown user":              {"", []string{"get secrets bank"}, nil, child("Deployment", bank, nil), "RequesterUnknown", 0},
		"a record that cannot be read":             {"bob", []string{"get secrets bank"}, nil, child("Deployment", bank, nil), "RequesterUnknown", 0},
		"a record without a name":                  {`{"groups":["system:masters"]}`, []string{"get secrets bank"}, nil, child("Deployment", bank, nil), "RequesterUnknown", 0},
		"a Secret of the object":                   {bob, nil, []client.Object{madeFor("uid-of-web", "bank")}, child("Deployment", bank, nil), "", 0},
		"a Secret of another object":               {bob, nil, []client.Object{madeFor("uid-of-api", "bank")}, child("Deployment", bank, nil), "RequesterMayNot", 1},
		"what the live pod has":                    {bob, nil, nil, child("Deployment", podOf(envOf("bank")), bank), "", 0},
		"more than the live pod has":               {bob, nil, nil, child("Deployment", podOf(envOf("bank"), envOf("safe")), bank), "RequesterMayNot", 1},
		"in a variable what the live pod mounts":   {bob, nil, nil, child("Deployment", bank, podOf(mounted("proxy", "bank"))), "RequesterMayNot", 1},
		"the same Secret twice":                    {bob, []string{"get secrets bank"}, nil, child("Deployment", podOf(envOf("bank"), envOf("bank")), nil), "", 1},
		"a new pod uses what others of it use":     {bob, nil, []client.Object{sibling(true)}, child("Pod", bank, nil), "", 1},
		"a pod that only says it is one of it":     {bob, nil, []client.Object{sibling(false)}, child("Pod", bank, nil), "RequesterMayNot", 1},
		"a volume that the kind adds":              {bob, nil, nil, of(guard.Trust{Volumes: []string{"proxy"}}, child("Deployment", podOf(mounted("proxy", "bank")), nil)), "", 0},
		"in a variable what the kind mounts":       {bob, nil, nil, of(guard.Trust{Volumes: []string{"proxy"}}, child("Deployment", podOf(mounted("proxy", "bank"), envOf("bank")), nil)), "RequesterMayNot", 1},
		"a kind that has checked it":               {"", nil, nil, of(guard.Trust{All: true}, child("Pod", bank, nil)), "", 0},
		"a volume of another object":               {bob, []string{"get secrets bank"}, nil, of(guard.Trust{Requesters: map[string]string{"store": `{"username":"eve"}`}}, child("Pod", podOf(mounted("store", "bank")), nil)), "", 1},
		"a volume of another object, unknown":      {bob, []string{"get secrets bank"}, nil, of(guard.Trust{Requesters: map[string]string{"store": ""}}, child("Pod", podOf(mounted("store", "bank")), nil)), "RequesterUnknown", 0},
		"a claim without a source":                 {bob, nil, nil, guard.Pod{Claim: &corev1.PersistentVolumeClaimSpec{}}, "", 0},
		"a copy of a claim":                        {bob, nil, nil, copyOf("bank", ""), "RequesterMayNot", 1},
		"a copy of a claim with a right":           {bob, []string{"get persistentvolumeclaims bank"}, nil, copyOf("bank", ""), "", 1},
		"a copy of a claim of the object":          {bob, nil, []client.Object{ownClaim("bank")}, copyOf("bank", ""), "", 0},
		"a copy of a claim of that name, far away": {bob, nil, []client.Object{ownClaim("bank")}, copyOf("bank", "other"), "RequesterMayNot", 1},
		"a set with a claim that does not exist":   {bob, nil, []client.Object{someClaim("tank", false)}, setWith("bank"), "", 0},
		"a set with a claim of another owner":      {bob, nil, []client.Object{someClaim("bank", false)}, setWith("bank"), "RequesterMayNot", 1},
		"a set with such a claim and a right":      {bob, []string{"get persistentvolumeclaims bank"}, []client.Object{someClaim("bank", false)}, setWith("bank"), "", 1},
		"a set with a claim of an earlier set":     {bob, nil, []client.Object{someClaim("bank", true)}, setWith("bank"), "", 0},
		"another volume, mounted once for others":  {bob, nil, nil, of(guard.Trust{Requesters: map[string]string{"store": ""}}, child("Deployment", podOf(mounted("mine", "bank")), podOf(mounted("store", "bank")))), "RequesterMayNot", 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(test.granted, test.objects...)
			got, err := w.Object(t.Context(), owner(test.record), test.pod)
			if err != nil {
				t.Fatal(err)
			}
			if got == nil {
				got = &guard.Objection{}
			}
			if got.Reason != test.reason || len(w.reviews) != test.reviews {
				t.Errorf("expected %q after %d reviews, got %+v after %d", test.reason, test.reviews, got, len(w.reviews))
			}
		})
	}
}

func TestTheReviewIsAboutTheRecordedUserInTheNamespaceOfThePod(t *testing.T) {
	w := newWorld(nil)
	got, err := w.Object(t.Context(), owner(bob), child("Deployment", podOf(envOf("bank")), nil))
	if err != nil || len(w.reviews) != 1 {
		t.Fatalf("expected one review, got %d and %v", len(w.reviews), err)
	}
	asked := w.reviews[0]
	if asked.User != "bob" || asked.UID != "u-1" || !slices.Equal(asked.Groups, []string{"devs"}) || asked.ResourceAttributes.Namespace != "shop" {
		t.Errorf("expected a review of bob in shop, got %+v", asked)
	}
	for _, words := range []string{"bob may not get secrets bank", "variable X of container app", "kubectl create role get-bank -n shop --verb=get --resource=secrets --resource-name=bank"} {
		if !strings.Contains(got.Message, words) {
			t.Errorf("expected the message to say %q, got %q", words, got.Message)
		}
	}
}

func TestTheSourceOfAClaimIsReviewedInTheNamespaceThatItNames(t *testing.T) {
	w := newWorld(nil)
	got, err := w.Object(t.Context(), owner(bob), copyOf("bank", "other"))
	if err != nil || len(w.reviews) != 1 || w.reviews[0].ResourceAttributes.Namespace != "other" {
		t.Fatalf("expected one review in namespace other, got %+v and %v", w.reviews, err)
	}
	for _, words := range []string{"User bob may not get persistentvolumeclaims bank", "dataSourceRef of a new volume claim", "-n other"} {
		if !strings.Contains(got.Message, words) {
			t.Errorf("expected the message to say %q, got %q", words, got.Message)
		}
	}
}

func TestAClaimThatNoFieldNamesIsAvoidedWithAnotherName(t *testing.T) {
	got, err := newWorld(nil, someClaim("bank", false)).Object(t.Context(), owner(bob), setWith("bank"))
	const want = "User bob may not get persistentvolumeclaims bank, which a new pod of StatefulSet shop/web uses"
	if err != nil || !strings.HasPrefix(got.Message, want) || !strings.Contains(got.Message, "create the object under another name") {
		t.Errorf("expected a message with %q and another name, got %+v (%v)", want, got, err)
	}
}

func TestAReviewThatFailsIsNoApprovalAndIsAskedAgain(t *testing.T) {
	w := newWorld([]string{"get secrets bank"})
	w.fails = errors.New("no answer")
	for want := 1; want <= 2; want++ {
		if _, err := w.Object(t.Context(), owner(bob), child("Deployment", podOf(envOf("bank")), nil)); !errors.Is(err, w.fails) || len(w.reviews) != want {
			t.Errorf("expected the error after %d reviews, got %v after %d", want, err, len(w.reviews))
		}
	}
}

func TestARefusalIsRememberedForAMinuteAndAnApprovalIsNot(t *testing.T) {
	w := newWorld(nil)
	look := func(o client.Object) *guard.Objection {
		t.Helper()
		got, err := w.Object(t.Context(), o, child("Deployment", podOf(envOf("bank")), nil))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := look(owner(bob)); got == nil || got.Again != time.Minute {
		t.Fatalf("expected a refusal for a minute, got %+v", got)
	}
	w.clock.SetTime(w.clock.Now().Add(40 * time.Second))
	if got := look(owner(bob)); got == nil || got.Again != 20*time.Second || len(w.reviews) != 1 {
		t.Errorf("expected the same refusal without another review, got %+v after %d", got, len(w.reviews))
	}
	edited := owner(bob)
	edited.SetGeneration(2)
	if look(edited); len(w.reviews) != 2 {
		t.Errorf("expected another spec to be reviewed at once, got %d reviews", len(w.reviews))
	}
	w.granted = []string{"get secrets bank"}
	w.clock.SetTime(w.clock.Now().Add(time.Minute))
	for range 2 {
		if got := look(owner(bob)); got != nil {
			t.Errorf("expected the right to be noticed after a minute, got %+v", got)
		}
	}
	if len(w.reviews) != 4 {
		t.Errorf("expected a review each time that something is allowed, got %d", len(w.reviews))
	}
}

func TestRefusalsTakeABoundedAmountOfMemory(t *testing.T) {
	w := newWorld(nil)
	for i := range int64(most + 10) {
		o := owner(bob)
		o.SetGeneration(i)
		if _, err := w.Object(t.Context(), o, child("Deployment", podOf(envOf("bank")), nil)); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(w.refusals.last); got > most {
		t.Errorf("expected at most %d refusals, got %d", most, got)
	}
}
