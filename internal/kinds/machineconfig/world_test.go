// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kit"
)

// world is an API server with the admission policy about rights, with rights of users, and with Secret password.
type world struct {
	t *testing.T
	r *poolReconciler
	// rights are those that users have, such as "bob get secrets/password".
	rights map[string]bool
	// reviews counts the checks of rights, and reads the reads of Secrets.
	reviews, reads map[string]int
	clock          *clocktesting.FakeClock
	key            []byte
}

func newWorld(t *testing.T, rights ...string) *world {
	t.Helper()
	w := &world{t: t, rights: map[string]bool{}, reviews: map[string]int{}, reads: map[string]int{}, clock: clocktesting.NewFakeClock(now)}
	w.allow(rights...)
	password := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "password"}, Data: map[string][]byte{"key": []byte("hunter2")}}
	objects := append(policies(t), password)
	server := interceptor.NewClient(fake.NewClientBuilder().WithObjects(objects...).Build(), interceptor.Funcs{Create: w.review, Get: w.get})
	w.r = &poolReconciler{shared: &shared{Tools: &kit.Tools{Client: server, Live: server, Clock: w.clock}}}
	return w
}

// policies returns the policy about rights, and its binding, as they are deployed.
func policies(t *testing.T) []client.Object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "config", "machineconfig", "rights.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	out := []client.Object{&admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}}
	for i, document := range strings.SplitN(string(text), "\n---\n", 2) {
		if err := yaml.Unmarshal([]byte(document), out[i]); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (w *world) allow(rights ...string) {
	for _, right := range rights {
		w.rights[right] = true
	}
}

// review answers a SubjectAccessReview.
func (w *world) review(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
	review := object.(*authorizationv1.SubjectAccessReview)
	what := review.Spec.ResourceAttributes
	right := fmt.Sprintf("%s %s %s", review.Spec.User, what.Verb, what.Resource)
	if what.Name != "" {
		right += "/" + what.Name
	}
	w.reviews[right]++
	review.Status.Allowed = w.rights[right]
	return nil
}

func (w *world) get(ctx context.Context, server client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, is := object.(*corev1.Secret); is {
		w.reads[key.String()]++
	}
	return server.Get(ctx, key, object, options...)
}

func (w *world) delete(namespace, name string) {
	w.t.Helper()
	if err := w.r.Client.Delete(w.t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}); err != nil {
		w.t.Fatal(err)
	}
}

// render renders a MachineConfig for a pool.
func (w *world) render(pool *mcfgv1.MachineConfigPool, mc *mcfgv1.MachineConfig) rendering {
	w.t.Helper()
	out, err := w.r.render(w.t.Context(), pool, []mcfgv1.MachineConfig{*mc}, &w.key)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func newConfig() *mcfgv1.MachineConfig {
	mc := &mcfgv1.MachineConfig{ObjectMeta: metav1.ObjectMeta{Name: "50-gold", ResourceVersion: "1"}}
	mc.Spec.Config.Raw = []byte(`{"ignition":{"version":"3.4.0"}}`)
	return mc
}

// usesPassword makes a MachineConfig write the password to a file, with a hash to verify unless it is "".
func usesPassword(mc *mcfgv1.MachineConfig, hash string) *mcfgv1.MachineConfig {
	contents := `"source":"secret://shop/password/key"`
	if hash != "" {
		contents += fmt.Sprintf(`,"verification":{"hash":%q}`, hash)
	}
	mc.Spec.Config.Raw = fmt.Appendf(nil, `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/password","contents":{%s}}]}}`, contents)
	return mc
}

// requestedBy records the requester of an object.
func requestedBy[T client.Object](user string, object T) T {
	object.SetAnnotations(map[string]string{common.RequesterAnnotation: fmt.Sprintf(`{"username":%q}`, user)})
	return object
}
