// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kinds/diva/rotation"
)

// name returns the name of a test key; "" if the key is unknown.
func name(t testing.TB, public string) string {
	for _, known := range []string{"old", "new", "fresh", "host", "fresh-host", "given"} {
		if public == key(t, known).Public {
			return known
		}
	}
	return "none"
}

// text describes the content of a key ring.
func text(t testing.TB, r *ring.Ring) string {
	if r == nil {
		return "nothing"
	}
	next := "none"
	if r.Next != nil {
		next = name(t, r.Next.Public)
	}
	host, shared := "none", "none"
	for _, known := range []string{"host", "fresh-host"} {
		if r.Seed == seed(known) {
			host = known
		}
	}
	if r.Shared != nil {
		shared = name(t, r.Shared.Public)
	}
	return fmt.Sprintf("%s: current %s, next %s, previous %s, identity %t, host %s, shared %s",
		r.Phase(), name(t, r.Current.Public), next, name(t, r.Previous), r.Identity, host, shared)
}

func authorizing(t testing.TB) *ring.Ring {
	r := settled(t)
	r.Next = key(t, "new")
	return r
}

func switching(t testing.TB) *ring.Ring {
	r := settled(t)
	r.Current, r.Previous, r.Former = key(t, "new"), key(t, "old").Public, key(t, "old")
	return r
}

// isLost returns a key ring that was created after the Secret was lost, while pods still run with the old keys.
func isLost(t testing.TB) *ring.Ring {
	r := settled(t)
	r.Current, r.Previous, r.Identity = key(t, "fresh"), key(t, "old").Public, false
	r.Seed = seed("fresh-host")
	return r
}

func TestTheKeyInUseInAnotherFormIsWrittenAndNoChangeOfThePair(t *testing.T) {
	d, r := newDiva(1), settled(t)
	other := &keys.Pair{Private: []byte("the same key, written otherwise"), Public: r.Current.Public}
	got := nextRing(d, observed(t, d, r, gives(keys.Given{Pair: other})))
	same(t, "phase", opsv1.SSHInUse, got.Phase())
	same(t, "private key", string(other.Private), string(got.Current.Private))
}

func TestTheRingGoesOneStepAtATimeAndOnlyWhenAllPodsHaveFollowed(t *testing.T) {
	const inUse = "InUse: current old, next none, previous none, identity true, host host, shared none"
	old := settled(t)
	mine := keys.Given{Pair: key(t, "given")}
	wrong := keys.Given{Problem: &keys.Problem{Reason: opsv1.ReasonKeyUnusable, Message: "x"}}
	behind := func(d *opsv1.Diva, role string) factOption { return serves(d, old, role) }
	for what, test := range map[string]struct {
		diva    *opsv1.Diva
		ring    *ring.Ring
		options func(d *opsv1.Diva) []factOption
		want    string
	}{
		"nothing asks for a change":        {newDiva(2), old, nil, inUse},
		"the annotation was seen before":   {newDiva(2, withRequest("1")), requested(old, "1"), nil, inUse},
		"the annotation is taken away":     {newDiva(2), requested(old, "1"), nil, inUse},
		"the annotation is another":        {newDiva(2, withRequest("2")), requested(old, "1"), nil, "Authorizing: current old, next fresh, previous none, identity true, host host, shared none"},
		"the pair is young":                {newDiva(2, withAge("2h")), old, nil, inUse},
		"the pair is old":                  {newDiva(2, withAge("1h")), old, nil, "Authorizing: current old, next fresh, previous none, identity true, host host, shared none"},
		"the user gives the same":          {newDiva(2), old, with(gives(keys.Given{Pair: key(t, "old")})), inUse},
		"the user gives another":           {newDiva(2), old, with(gives(mine)), "Authorizing: current old, next given, previous none, identity true, host host, shared none"},
		"the user gives one of no use":     {newDiva(2, withRequest("2"), withAge("1h")), old, with(gives(wrong)), inUse},
		"clients are behind":               {newDiva(2), authorizing(t), func(d *opsv1.Diva) []factOption { return []factOption{behind(d, "client")} }, "Authorizing: current old, next new, previous none, identity true, host host, shared none"},
		"one client does not answer":       {newDiva(2), authorizing(t), with(silent("ops-client-1")), "Authorizing: current old, next new, previous none, identity true, host host, shared none"},
		"one client is not placed yet":     {newDiva(2), authorizing(t), with(silent("ops-client-1"), unplaced("ops-client-1")), "Switching: current new, next none, previous old, identity true, host host, shared none"},
		"one client is going":              {newDiva(2), authorizing(t), with(silent("ops-client-1"), going("ops-client-1")), "Switching: current new, next none, previous old, identity true, host host, shared none"},
		"clients have followed":            {newDiva(2), authorizing(t), nil, "Switching: current new, next none, previous old, identity true, host host, shared none"},
		"another is given on the way":      {newDiva(2), authorizing(t), with(gives(mine)), "Authorizing: current old, next given, previous none, identity true, host host, shared none"},
		"the one in use is given again":    {newDiva(2), authorizing(t), with(gives(keys.Given{Pair: key(t, "old")})), inUse},
		"the manager is behind":            {newDiva(2), switching(t), func(d *opsv1.Diva) []factOption { return []factOption{behind(d, "manager")} }, "Switching: current new, next none, previous old, identity true, host host, shared none"},
		"the manager has followed":         {newDiva(2), switching(t), nil, "InUse: current new, next none, previous none, identity true, host host, shared none"},
		"another is given while it does":   {newDiva(2), switching(t), with(gives(mine), func(f *facts) { f.serving["uid-of-ops-manager-0"] = "" }), "Switching: current new, next none, previous old, identity true, host host, shared none"},
		"after a loss, clients are behind": {newDiva(2), isLost(t), func(d *opsv1.Diva) []factOption { return []factOption{behind(d, "client")} }, "Authorizing: current fresh, next none, previous old, identity false, host fresh-host, shared none"},
		"after a loss, clients follow":     {newDiva(2), isLost(t), nil, "Switching: current fresh, next none, previous old, identity true, host fresh-host, shared none"},
	} {
		t.Run(what, func(t *testing.T) {
			options := []factOption(nil)
			if test.options != nil {
				options = test.options(test.diva)
			}
			before := *test.ring
			got := nextRing(test.diva, observed(t, test.diva, test.ring, options...))
			same(t, "the ring", test.want, text(t, got))
			if !reflect.DeepEqual(*test.ring, before) {
				t.Error("the ring that was read is changed: a step that is not written would be taken for done")
			}
		})
	}
}

func requested(r *ring.Ring, request string) *ring.Ring {
	out := *r
	out.Request = request
	return &out
}

func with(options ...factOption) func(*opsv1.Diva) []factOption {
	return func(*opsv1.Diva) []factOption { return options }
}

func silent(pod string) factOption { return func(f *facts) { delete(f.serving, "uid-of-"+pod) } }

func unplaced(pod string) factOption {
	return func(f *facts) { f.clients.Pods[pod].Spec.NodeName = "" }
}

func going(pod string) factOption {
	return func(f *facts) { f.clients.Pods[pod].DeletionTimestamp = &metav1.Time{Time: noon} }
}

func TestWhereThereIsNoSecretOneIsMadeThatLocksNoOneOut(t *testing.T) {
	old := settled(t)
	wrong := keys.Given{Problem: &keys.Problem{Reason: opsv1.ReasonKeyUnusable, Message: "x"}}
	for what, test := range map[string]struct {
		diva    *opsv1.Diva
		options []factOption
		want    string
	}{
		"a new object":                          {newDiva(2), []factOption{nothingRuns}, "InUse: current fresh, next none, previous none, identity true, host fresh-host, shared none"},
		"with a key of the user":                {newDiva(2), []factOption{nothingRuns, gives(keys.Given{Pair: key(t, "given")})}, "InUse: current given, next none, previous none, identity true, host fresh-host, shared none"},
		"with one of no use":                    {newDiva(2), []factOption{nothingRuns, gives(wrong)}, "nothing"},
		"reported before, and nothing runs":     {newDiva(2, withStatus(opsv1.SSHInUse, old)), []factOption{nothingRuns}, "InUse: current fresh, next none, previous none, identity true, host fresh-host, shared none"},
		"reported before, and pods run":         {newDiva(2, withStatus(opsv1.SSHInUse, old)), nil, "Authorizing: current fresh, next none, previous old, identity false, host fresh-host, shared none"},
		"reported before, and the user has it":  {newDiva(2, withStatus(opsv1.SSHInUse, old)), []factOption{gives(keys.Given{Pair: key(t, "old")})}, "InUse: current old, next none, previous none, identity true, host fresh-host, shared none"},
		"reported before, the user's of no use": {newDiva(2, withStatus(opsv1.SSHInUse, old)), []factOption{gives(wrong)}, "Authorizing: current fresh, next none, previous old, identity false, host fresh-host, shared none"},
		"pods of a Diva that reported no keys":  {newDiva(2), nil, "InUse: current fresh, next none, previous none, identity true, host fresh-host, shared none"},
	} {
		t.Run(what, func(t *testing.T) {
			got := nextRing(test.diva, observed(t, test.diva, nil, append(test.options, noSecret)...))
			same(t, "the ring", test.want, text(t, got))
		})
	}
}

// opcrew may crash between any two writes, so each step must rely on the content of the Secret alone.
func TestWhatTheSecretHoldsIsReadBackAsItWas(t *testing.T) {
	d := newDiva(2)
	for what, r := range map[string]*ring.Ring{"in use": settled(t), "authorizing": authorizing(t), "switching": switching(t), "lost": isLost(t), "asked for": requested(settled(t), "1")} {
		t.Run(what, func(t *testing.T) {
			got := ring.Parse(stored(r.Secret(d, nil, nil)))
			same(t, "the ring", text(t, r), text(t, got))
			if (got.Former == nil) != (r.Former == nil) {
				t.Error("expected the pair before it to be read back, too")
			}
			if got.Request != r.Request || !got.Made.Equal(r.Made) {
				t.Errorf("expected it to be made at %s for %q, got %s for %q", r.Made, r.Request, got.Made, got.Request)
			}
		})
	}
}

// stored returns a Secret as the API server would return it.
func stored(ac *corev1ac.SecretApplyConfiguration) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Annotations: ac.Annotations}, Data: ac.Data}
}

func TestASecretWithoutItsPrivateKeysIsNone(t *testing.T) {
	secret := stored(settled(t).Secret(newDiva(1), nil, nil))
	for _, lost := range []string{ring.PrivateKey, ring.IdentityKey, ring.NextIdentityKey} {
		secret.Data[lost] = []byte("a user's mistake")
	}
	if got := ring.Parse(secret); got != nil {
		t.Errorf("expected nothing, got %s", text(t, got))
	}
	if ring.Parse(nil) != nil {
		t.Error("expected no ring of no Secret")
	}
}

// opcrew must not give the manager pods a key that no client pod accepts.
func TestAPrivateKeyThatIsEditedByHandIsPutBack(t *testing.T) {
	for _, r := range []*ring.Ring{settled(t), authorizing(t), switching(t)} {
		for _, edited := range []string{ring.PrivateKey, ring.IdentityKey, ring.NextIdentityKey} {
			for what, by := range map[string][]byte{"another key": key(t, "given").Private, "no key": []byte("x"), "nothing": nil} {
				if r.Phase() == opsv1.SSHSwitching && edited == ring.NextIdentityKey || edited == ring.NextIdentityKey && by == nil {
					continue // the edited copy cannot be detected, because the remaining copies differ too
				}
				secret := stored(r.Secret(newDiva(1), nil, nil))
				secret.Data[edited] = by
				got := ring.Parse(secret)
				if got == nil || got.Current.Public != r.Current.Public || got.Phase() != r.Phase() {
					t.Errorf("%s, %s is %s: expected the key to stay, got %s", r.Phase(), edited, what, text(t, got))
				}
			}
		}
	}
}

func TestASeedOfHostKeysThatIsLostAloneComesFromTheOtherSecret(t *testing.T) {
	d := newDiva(1, withStatus(opsv1.SSHInUse, settled(t)))
	secret := stored(settled(t).Secret(d, nil, nil))
	delete(secret.Data, ring.HostSeed)
	f := observed(t, d, ring.Parse(secret))
	same(t, "the ring", "InUse: current old, next none, previous none, identity true, host fresh-host, shared none", text(t, nextRing(d, f)))
	f.server = stored(settled(t).ServerSecret(d, nil))
	same(t, "the ring with the clients' Secret", "InUse: current old, next none, previous none, identity true, host host, shared none", text(t, nextRing(d, f)))
}

func TestAPairThatIsLostAloneTakesTheHostKeysWithItNot(t *testing.T) {
	d := newDiva(1, withStatus(opsv1.SSHInUse, settled(t)))
	for what, left := range map[string]factOption{
		"the pair in the Secret is lost": func(f *facts) { f.secret = stored(settled(t).Secret(d, nil, nil)) },
		"the Secret is deleted":          func(f *facts) { f.secret, f.server = nil, stored(settled(t).ServerSecret(d, nil)) },
	} {
		got := nextRing(d, observed(t, d, nil, left))
		same(t, what, "Authorizing: current fresh, next none, previous old, identity false, host host, shared none", text(t, got))
	}
}

// When the manager pods switch keys, the keys that client pods accept must not change, so that client pods need no
// update.
func TestTheSwitchChangesNothingAtTheClients(t *testing.T) {
	d := newDiva(2)
	host := ring.Host{Name: "ops-client-0"}
	same(t, "what clients serve", rotation.ClientDigest(d, authorizing(t), host), rotation.ClientDigest(d, switching(t), host))
}

// ssh reads a key twice for one login, and fails if the key changed in between. The manager pods therefore have two
// keys, and they must never change in the same step.
func TestOfTheManagersTwoKeysOneStaysAtEveryStep(t *testing.T) {
	d, after := newDiva(1), settled(t)
	after.Current = key(t, "new")
	steps := []*ring.Ring{settled(t), authorizing(t), switching(t), after}
	for i := range steps[1:] {
		was, is := steps[i].ManagerFiles(d, nil), steps[i+1].ManagerFiles(d, nil)
		changed := 0
		for _, file := range []string{"identity", "identity-next"} {
			if !slices.Equal(was[file], is[file]) {
				changed++
			}
		}
		if changed > 1 {
			t.Errorf("from %s to %s both keys change", steps[i].Phase(), steps[i+1].Phase())
		}
		for _, file := range []string{"identity", "identity-next"} {
			p, _ := keys.Parse(string(is[file]))
			if slices.Equal(was[file], is[file]) && !strings.Contains(steps[i].Authorized(nil), p.Public) && !strings.Contains(steps[i+1].Authorized(nil), p.Public) {
				t.Errorf("from %s to %s the key that stays is let in by no one", steps[i].Phase(), steps[i+1].Phase())
			}
		}
	}
}

func TestAManagerHasBothItsFilesFromItsStart(t *testing.T) {
	for what, r := range map[string]*ring.Ring{"in use": settled(t), "authorizing": authorizing(t), "switching": switching(t)} {
		files := r.ManagerFiles(newDiva(1), nil)
		if len(files["identity"]) == 0 || len(files["identity-next"]) == 0 {
			t.Errorf("%s: a file that is not there is mounted as a directory", what)
		}
	}
	after := isLost(t)
	after.Identity = true
	if files := after.ManagerFiles(newDiva(1), nil); len(files["identity"]) == 0 || len(files["identity-next"]) == 0 {
		t.Error("after a loss: a file that is not there is mounted as a directory")
	}
}

func TestTheManagerKnowsEachClientByItsOwnKeyUnderEveryNameThatItHasInTheCluster(t *testing.T) {
	d, clients := newDiva(2), []string{"ops-client-0", "ops-client-1"}
	want := ""
	for _, client := range clients {
		want += strings.ReplaceAll("NAME,NAME.ops-client,NAME.ops-client.shop,NAME.ops-client.shop.* ", "NAME", client) +
			string(settled(t).ClientFiles(nil, ring.Host{Name: client})["ssh_host_ed25519_key.pub"])
	}
	same(t, "known_hosts", want, settled(t).Known(d, clients))
	if lines := strings.Split(want, "\n"); strings.Fields(lines[0])[2] == strings.Fields(lines[1])[2] {
		t.Error("two clients have one host key: each can pretend to be the other")
	}
	d.Spec.SSH = &opsv1.SSH{Port: new(int32(2222))}
	says(t, settled(t).Known(d, clients), "[ops-client-0]:2222,", "[ops-client-1.ops-client.shop.*]:2222 ")
}

func TestARotationByAgeIsLookedForWhenItIsDue(t *testing.T) {
	for what, test := range map[string]struct {
		diva *opsv1.Diva
		ring *ring.Ring
		g    keys.Given
		want time.Duration
	}{
		"no age":                  {newDiva(1), settled(t), keys.Given{}, 0},
		"in an hour":              {newDiva(1, withAge("2h")), settled(t), keys.Given{}, time.Hour},
		"at once":                 {newDiva(1, withAge("1h")), settled(t), keys.Given{}, time.Second},
		"while another goes on":   {newDiva(1, withAge("2h")), authorizing(t), keys.Given{}, 0},
		"for one that is given":   {newDiva(1, withAge("2h")), settled(t), keys.Given{Pair: key(t, "old")}, 0},
		"that is beyond all days": {newDiva(1, withAge("3650d")), settled(t), keys.Given{}, 3650*24*time.Hour - time.Hour},
	} {
		if got := rotation.DueIn(test.diva, test.ring, test.g, noon); got != test.want {
			t.Errorf("%s: expected %s, got %s", what, test.want, got)
		}
	}
}
