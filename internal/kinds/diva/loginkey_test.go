// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podtemplate"
)

// mentioned returns the Secrets that a pod uses: in a volume, in its environment, or to pull its image.
func mentioned(spec *corev1.PodSpec) map[string]bool {
	out := map[string]bool{}
	for _, v := range spec.Volumes {
		if v.Secret != nil {
			out[v.Secret.SecretName] = true
		}
		if v.Projected != nil {
			for _, source := range v.Projected.Sources {
				if source.Secret != nil {
					out[source.Secret.Name] = true
				}
			}
		}
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				out[e.ValueFrom.SecretKeyRef.Name] = true
			}
		}
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil {
				out[from.SecretRef.Name] = true
			}
		}
	}
	for _, pull := range spec.ImagePullSecrets {
		out[pull.Name] = true
	}
	return out
}

// readableByClients returns everything in a plan that client pods can read: whole Secrets, ConfigMaps, and the pods
// themselves.
func readableByClients(plan kit.Plan) map[string][]byte {
	out, secrets := map[string][]byte{}, map[string]bool{}
	for _, child := range plan.Children {
		switch object := child.Object.(type) {
		case *appsv1ac.StatefulSetApplyConfiguration:
			template := podtemplate.Convert[*corev1.PodTemplateSpec](object.Spec.Template)
			secrets = mentioned(&template.Spec)
			out["pod"] = fmt.Appendf(nil, "%+v", template)
		case *corev1ac.ConfigMapApplyConfiguration:
			for key, value := range object.Data {
				out["ConfigMap "+*object.Name+" "+key] = []byte(value)
			}
		}
	}
	for _, child := range plan.Children {
		secret, ok := child.Object.(*corev1ac.SecretApplyConfiguration)
		if !ok || !secrets[*secret.Name] {
			continue
		}
		for key, value := range secret.Data {
			out["Secret "+*secret.Name+" "+key] = value
		}
	}
	return out
}

// A client pod must not get the private key of the manager pods, because it could then log in to all other client pods.
func TestNothingThatAClientCanReadHasAKeyThatLogsIn(t *testing.T) {
	inline := func(d *opsv1.Diva) { d.Spec.PrivateKey = string(key(t, "old").Private) }
	byReference := func(d *opsv1.Diva) { d.Spec.SSH = &opsv1.SSH{SecretRef: &opsv1.SecretRef{Name: "mine"}} }
	asUser := func(d *opsv1.Diva) { d.Spec.Client.RunAsUser = new(int64(1000)) }
	given := keys.Given{Pair: key(t, "old")}
	for what, test := range map[string]struct {
		diva    *opsv1.Diva
		ring    *ring.Ring
		options []factOption
	}{
		"a generated pair":         {newDiva(2), settled(t), nil},
		"another user":             {newDiva(2, asUser), settled(t), nil},
		"an inline key":            {newDiva(2, inline), settled(t), []factOption{gives(given)}},
		"a Secret of the user":     {newDiva(2, byReference), settled(t), []factOption{gives(given)}},
		"while clients get a key":  {newDiva(2), authorizing(t), nil},
		"while the manager has it": {newDiva(2), switching(t), nil},
		"after a loss":             {newDiva(2), isLost(t), nil},
	} {
		t.Run(what, func(t *testing.T) {
			for where, content := range readableByClients(planAt(test.diva, observed(t, test.diva, test.ring, test.options...), noon)) {
				for _, name := range []string{"old", "new", "fresh"} {
					if bytes.Contains(content, bytes.TrimSpace(key(t, name).Private)) || strings.Contains(where, " privateKey") {
						t.Errorf("%s has a private key that the manager logs in with: a client could log in to all others", where)
					}
				}
			}
		})
	}
}

// A client pod must not get the host key of another client pod, because it could then pretend to be that pod.
func TestAClientServesItsOwnHostKeyAlone(t *testing.T) {
	first, second := settled(t).ClientFiles(nil, ring.Host{Name: "ops-client-0"}), settled(t).ClientFiles(nil, ring.Host{Name: "ops-client-1"})
	if bytes.Equal(first["ssh_host_ed25519_key"], second["ssh_host_ed25519_key"]) {
		t.Error("expected each client to have a host key of its own")
	}
	again := settled(t).ClientFiles(nil, ring.Host{Name: "ops-client-0"})
	same(t, "the files of a client that comes back", first, again)
	if p, why := keys.Parse(string(first["ssh_host_ed25519_key"])); why != "" || p.Public+"\n" != string(first["ssh_host_ed25519_key.pub"]) {
		t.Errorf("expected a pair that ssh reads, got %s", why)
	}
}

func TestTheSecretsOfAThousandClientsFitIntoTheLimitOfKubernetes(t *testing.T) {
	d := newDiva(1000)
	d.Name, d.Namespace = strings.Repeat("n", 45), strings.Repeat("s", 63)
	plan, size := planAt(d, observed(t, d, settled(t)), noon), 0
	for _, child := range plan.Children {
		if secret, ok := child.Object.(*corev1ac.SecretApplyConfiguration); ok {
			for _, value := range secret.Data {
				size = max(size, len(value))
			}
		}
	}
	if size == 0 || size > 700<<10 {
		t.Errorf("expected the list of hosts to take at most 700 KiB of the 1 MiB, got %d bytes", size)
	}
}
