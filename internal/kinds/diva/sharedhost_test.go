// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
)

// earlier returns the key ring of an earlier version of opcrew, whose client pods share a host key.
func earlier(t testing.TB) *ring.Ring {
	r := settled(t)
	r.Shared = key(t, "host")
	return r
}

// createdEarlier makes the template and the named client pods look as if an earlier version of opcrew had created them:
// they mount the login key pair.
func createdEarlier(pods ...string) factOption {
	spec := corev1.PodSpec{Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "ops-ssh"}}}}}
	return func(f *facts) {
		f.clients.Set.Spec.Template.Spec = spec
		for _, name := range pods {
			f.clients.Pods[name].Spec.Volumes = spec.Volumes
		}
	}
}

// templateIsNew simulates a StatefulSet that already has the new pod template, while pods of the old template still
// exist.
func templateIsNew(f *facts) { f.clients.Set.Spec.Template.Spec = corev1.PodSpec{} }

func TestTheKeysThatEarlierClientsHadAreReplacedWhenTheLastOfThemIsGone(t *testing.T) {
	const kept = "InUse: current old, next none, previous none, identity true, host host, shared host"
	d := newDiva(2, withStatus(opsv1.SSHInUse, earlier(t)))
	for what, test := range map[string]struct {
		options []factOption
		want    string
	}{
		"all are of an earlier version":       {[]factOption{createdEarlier("ops-client-0", "ops-client-1")}, kept},
		"only the template is":                {[]factOption{createdEarlier()}, kept},
		"one is left":                         {[]factOption{createdEarlier("ops-client-1"), templateIsNew}, kept},
		"none is left":                        {nil, "Authorizing: current old, next fresh, previous none, identity true, host host, shared none"},
		"none is left, and the pair is given": {[]factOption{gives(keys.Given{Pair: key(t, "old")})}, "InUse: current old, next none, previous none, identity true, host host, shared none"},
	} {
		t.Run(what, func(t *testing.T) {
			same(t, "the ring", test.want, text(t, nextRing(d, observed(t, d, earlier(t), test.options...))))
		})
	}
}

func TestAnUpgradeChangesNothingForEarlierClientsButTheSeed(t *testing.T) {
	d, r := newDiva(2, withStatus(opsv1.SSHInUse, earlier(t))), earlier(t)
	r.Seed = ""
	got := nextRing(d, observed(t, d, r, createdEarlier("ops-client-0", "ops-client-1")))
	same(t, "the ring", "InUse: current old, next none, previous none, identity true, host fresh-host, shared host", text(t, got))
	before, after := r.ClientFiles(nil, ring.Host{Name: "ops-client-0", Shared: true}), got.ClientFiles(nil, ring.Host{Name: "ops-client-0", Shared: true})
	same(t, "what an earlier client serves", before, after)
	secret := stored(got.Secret(d, nil, nil))
	for _, mounted := range []string{ring.AuthorizedKeys, ring.HostKey, ring.HostPublicKey, ring.PrivateKey, ring.PublicKey} {
		if len(secret.Data[mounted]) == 0 {
			t.Errorf("expected %s to stay for pods of an earlier template: without it none starts", mounted)
		}
	}
}

func TestARotationWaitsForEarlierClientsAndNewOnesAlike(t *testing.T) {
	d, r := newDiva(2, withStatus(opsv1.SSHInUse, earlier(t))), authorizing(t)
	r.Shared = key(t, "host")
	some := createdEarlier("ops-client-1")
	waiting := "Authorizing: current old, next new, previous none, identity true, host host, shared host"
	behind := observed(t, d, r, some, serves(d, earlier(t), "client"))
	same(t, "the ring while clients are behind", waiting, text(t, nextRing(d, behind)))
	followed := observed(t, d, r, some, serves(d, r, "client"))
	same(t, "the ring", "Switching: current new, next none, previous old, identity true, host host, shared host", text(t, nextRing(d, followed)))
}

func TestASharedHostKeyThatIsLostIsRecreatedForEarlierClients(t *testing.T) {
	d := newDiva(1, withStatus(opsv1.SSHInUse, earlier(t)))
	secret := stored(earlier(t).Secret(d, nil, nil))
	delete(secret.Data, ring.HostKey)
	r := ring.Parse(secret)
	f := observed(t, d, r, createdEarlier("ops-client-0"))
	got := nextRing(d, f)
	same(t, "the ring", "InUse: current old, next none, previous none, identity true, host host, shared fresh-host", text(t, got))
	same(t, "former host keys", []string{key(t, "host").Public}, got.FormerShared)
	same(t, "the host key until that is written", key(t, "host").Public, podsOf(d, f).Status(d, r).HostKey)
}

func TestTheManagerKnowsEarlierClientsByAFewFormerHostKeys(t *testing.T) {
	d := newDiva(1, withStatus(opsv1.SSHInUse, earlier(t)))
	d.Status.SSH.FormerHostKeys = []string{key(t, "new").Public, key(t, "old").Public, key(t, "given").Public}
	got := nextRing(d, observed(t, d, nil, noSecret, createdEarlier("ops-client-0")))
	want := []string{key(t, "host").Public, key(t, "new").Public, key(t, "old").Public}
	same(t, "former host keys", want, got.FormerShared)
	same(t, "as they are reported", want, podsOf(d, observed(t, d, got, createdEarlier())).Status(d, got).FormerHostKeys)
	same(t, "as they are read back", want, ring.Parse(stored(got.Secret(d, nil, nil))).FormerShared)
	says(t, got.Known(d, nil), "*.ops-client.shop.svc,*.ops-client.shop.svc.*,*.ops-client.shop,*.ops-client,ops-client-* "+key(t, "fresh-host").Public)
}

func TestClientsThatHaveThePrivateKeyAreNamed(t *testing.T) {
	d := newDiva(1, withStatus(opsv1.SSHInUse, earlier(t)))
	after := reported(d, observed(t, d, earlier(t), createdEarlier("ops-client-0")), done)
	says(t, conditionOf(after, opsv1.DivaKeyWarning), "True ClientsHoldKey: ", "have the manager's private key", "spec.client.pod.annotations")
	after = reported(newDiva(1), observed(t, newDiva(1), settled(t)), done)
	if got := conditionOf(after, opsv1.DivaKeyWarning); !strings.HasPrefix(got, "none") {
		t.Errorf("expected no warning about clients of this version, got %s", got)
	}
}
