// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package microservicedeploy

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/bcrypt"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/opcrew/opcrew/api/common"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/podapi/htpasswd"
)

// tenantOf is a namespace whose Secret holds such data, if any.
type tenantOf struct {
	*testing.T
	ns     *corev1.Namespace
	secret *corev1.Secret
	r      *tenantReconciler
	behind bool // the cache has not seen the Secret yet
}

func newTenant(t *testing.T, data map[string]string) *tenantOf {
	ns := &corev1.Namespace{}
	ns.Name, ns.UID = "shop", "uid-of-shop"
	o := &tenantOf{T: t, ns: ns, r: &tenantReconciler{}}
	if data != nil {
		o.secret = &corev1.Secret{Data: bytes(data)}
		o.secret.Namespace, o.secret.Name, o.secret.Labels = "shop", tenantAuth, map[string]string{common.OwnerLabel: string(ns.UID)}
	}
	return o
}

// look observes the Secret at a time and puts in place what is declared, as an apply that
// carries values does. It gives what stands there then, and when to look again.
func (o *tenantOf) look(now time.Time) (map[string]string, time.Duration) {
	o.Helper()
	child, again := o.observe().child(o.ns, now)
	raw, _ := json.Marshal(child.Object)
	declared := &corev1.Secret{}
	if err := json.Unmarshal(raw, declared); err != nil {
		o.Fatal(err)
	}
	if o.secret != nil {
		for _, path := range child.Carry {
			key := strings.TrimPrefix(path, "data.")
			declared.Data[key] = o.secret.Data[key]
		}
	}
	declared.Labels = map[string]string{common.OwnerLabel: string(o.ns.UID)}
	declared.ResourceVersion = ""
	o.secret = declared
	out := map[string]string{}
	for key, value := range declared.Data {
		out[key] = string(value)
	}
	return out, again
}

func (o *tenantOf) observe() credentialFacts {
	o.Helper()
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme)
	builder := fake.NewClientBuilder().WithScheme(scheme)
	if o.secret != nil {
		builder.WithObjects(o.secret)
	}
	live := builder.Build()
	o.r.Tools = &kit.Tools{Client: live, Live: live}
	if o.behind {
		o.r.Client = fake.NewClientBuilder().WithScheme(scheme).Build()
	}
	f, err := o.r.observeCredentials(o.Context(), o.ns, true)
	if err != nil {
		o.Fatal(err)
	}
	return f
}

// edit is the tenant's hand on the Secret.
func (o *tenantOf) edit(key, value string) {
	if o.secret.Data[key] = []byte(value); value == "" {
		delete(o.secret.Data, key)
	}
}

// admits says which of some users with their passwords the lines let in.
func admits(lines string, pairs ...string) []string {
	var in []string
	for _, pair := range pairs {
		user, password, _ := strings.Cut(pair, ":")
		ok := slices.ContainsFunc(strings.Split(lines, "\n"), func(line string) bool { return matches(line, user, password) })
		if ok {
			in = append(in, pair)
		}
	}
	return in
}

func TestATenantGetsAPasswordThatNobodyCanGuess(t *testing.T) {
	o := newTenant(t, nil)
	first, again := o.look(someTime)
	if first["username"] != defaultUser || len(first["password"]) < 20 || again != 0 {
		t.Errorf("expected user %s and a long password, got %q of %d characters, again after %s", defaultUser, first["username"], len(first["password"]), again)
	}
	if got := admits(first[htpasswdKey], defaultUser+":"+first["password"]); len(got) != 1 || strings.Contains(first[htpasswdKey], first["password"]) {
		t.Errorf("expected the hash of the password and not itself, got %q", first[htpasswdKey])
	}
	if other, _ := newTenant(t, nil).look(someTime); other["password"] == first["password"] {
		t.Error("expected each tenant to have a password of its own")
	}
	for range 3 {
		again, _ := o.look(someTime.Add(time.Hour))
		same(t, "what stands there after another look", first, again)
	}
}

func TestAfterAnEditBothPasswordsAreLetInForAWhile(t *testing.T) {
	o := newTenant(t, nil)
	first, _ := o.look(someTime)
	o.edit("password", "new")
	both := []string{"tenant:" + first["password"], "tenant:new"}
	edited, again := o.look(someTime)
	same(t, "who is let in", both, admits(edited[htpasswdKey], both...))
	same(t, "the user's password", "new", edited["password"])
	same(t, "another look", overlap, again)
	if !strings.Contains(edited[htpasswdKey], "# valid until 2026-08-01T12:10:00Z\n") {
		t.Errorf("expected the old line to have an end, got %q", edited[htpasswdKey])
	}
	later, again := o.look(someTime.Add(9 * time.Minute))
	same(t, "before the end nothing changes", edited, later)
	same(t, "another look", time.Minute, again)
	last, again := o.look(someTime.Add(10 * time.Minute))
	same(t, "who is let in after the end", both[1:], admits(last[htpasswdKey], both...))
	if again != 0 || strings.Contains(last[htpasswdKey], "#") || strings.Contains(last[htpasswdKey], "\n") {
		t.Errorf("expected one line and no further look, got %q after %s", last[htpasswdKey], again)
	}
}

func TestOfTwoEditsThePasswordBetweenIsTheOldOne(t *testing.T) {
	o := newTenant(t, nil)
	first, _ := o.look(someTime)
	o.edit("password", "b")
	o.look(someTime)
	o.edit("password", "c")
	got, _ := o.look(someTime.Add(time.Minute))
	same(t, "who is let in", []string{"tenant:b", "tenant:c"}, admits(got[htpasswdKey], "tenant:"+first["password"], "tenant:b", "tenant:c"))
}

func TestAnotherUserIsLetInBesideTheOld(t *testing.T) {
	o := newTenant(t, nil)
	first, _ := o.look(someTime)
	o.edit("username", "alice")
	both := []string{"tenant:" + first["password"], "alice:" + first["password"]}
	got, _ := o.look(someTime)
	same(t, "who is let in", both, admits(got[htpasswdKey], both...))
	same(t, "the user", "alice", got["username"])
	got, _ = o.look(someTime.Add(overlap))
	same(t, "who is let in later", both[1:], admits(got[htpasswdKey], both...))
}

func TestWhatIsMissingIsMadeAnew(t *testing.T) {
	for _, key := range []string{"username", "password", htpasswdKey} {
		o := newTenant(t, nil)
		o.look(someTime)
		o.edit("username", "alice")
		o.edit("password", "secret")
		o.look(someTime)
		o.edit(key, "")
		got, _ := o.look(someTime)
		again, _ := o.look(someTime)
		same(t, "after "+key+" was taken away: at rest at once", got, again)
		if got["username"] == "" || got["password"] == "" || len(admits(got[htpasswdKey], got["username"]+":"+got["password"])) != 1 {
			t.Errorf("after %s was taken away: expected the user and password that stand there to be let in, got %q", key, got)
		}
		if key == "password" && got["username"] != "alice" {
			t.Errorf("expected the user to stay, got %q", got["username"])
		}
	}
}

// Whatever someone writes there, lines are well formed and the operator comes to rest.
func TestHostileValuesDoNoHarm(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"a user with a colon":          {"username": "a:b", "password": "p"},
		"a user of two lines":          {"username": "a\nroot:x", "password": "p"},
		"a user that is a comment":     {"username": "# valid until never", "password": "p"},
		"a user that ends with blanks": {"username": "a ", "password": "p"},
		"a user that is not text":      {"username": "\xff\xfe", "password": "p"},
		"a long password":              {"username": "a", "password": strings.Repeat("long", 40)},
		"a password that is not text":  {"username": "a", "password": "\x00\xff\x00"},
		"lines that are none":          {"username": "a", "password": "p", htpasswdKey: "\n\n:::\n# valid until tomorrow\nx"},
		"an end that is none":          {"username": "a", "password": "p", htpasswdKey: "b:c\n# valid until 9999999-99-99\nd:e"},
		"many ends":                    {"username": "a", "password": "p", htpasswdKey: "b:c\n# valid until 2026-08-01T12:00:00Z\nd:e\n# valid until 2027-08-01T12:00:00Z\nf:g"},
		"only an end of a line":        {"username": "a", "password": "\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTenant(t, data)
			got, _ := o.look(someTime)
			again, _ := o.look(someTime)
			same(t, "at rest after one look", got, again)
			last, _ := o.look(someTime.Add(overlap))
			final, wait := o.look(someTime.Add(overlap))
			same(t, "at rest after the end", last, final)
			user := userIn(o.secret)
			if wait != 0 || strings.Count(last[htpasswdKey], "\n") != 0 || !strings.HasPrefix(last[htpasswdKey], user+":") || !htpasswd.Usable(last[htpasswdKey]) {
				t.Errorf("expected one line of %s, got %q, again after %s", user, last[htpasswdKey], wait)
			}
			if in := admits(last[htpasswdKey], user+":"+passwordIn(o.secret)); len(in) != 1 {
				t.Errorf("expected the password that stands there to be let in")
			}
		})
	}
}

func TestTheEndOfALineBesideAPasswordIsNoPartOfIt(t *testing.T) {
	got, _ := newTenant(t, map[string]string{"username": "a", "password": "typed\n"}).look(someTime)
	same(t, "who is let in", []string{"a:typed"}, admits(got[htpasswdKey], "a:typed", "a:typed\n"))
}

// Regression: of a long password 72 bytes were hashed, which the proxy refuses to take for all of it.
func TestAllOfALongPasswordCounts(t *testing.T) {
	long := strings.Repeat("x", 73)
	got, _ := newTenant(t, map[string]string{"username": "a", "password": long}).look(someTime)
	same(t, "who is let in", []string{"a:" + long}, admits(got[htpasswdKey], "a:"+long, "a:"+long[:72], "a:"+long+"y"))
}

// Regression: the hash of a fresh password came beside one that the cache had not seen yet.
func TestASecretThatTheCacheHasNotSeenYetIsNotMadeAnew(t *testing.T) {
	o := newTenant(t, nil)
	first, _ := o.look(someTime)
	o.behind = true
	again, _ := o.look(someTime)
	same(t, "what stands there", first, again)
}

func TestAStrangersSecretIsNotOurs(t *testing.T) {
	o := newTenant(t, map[string]string{"username": "a", "password": "theirs"})
	o.secret.Labels = nil
	if f := o.observe(); f.live != nil || f.user != defaultUser || f.password == "theirs" {
		t.Errorf("expected nothing of a stranger's Secret to be used, got user %s", f.user)
	}
}

func TestALookAtCredentialsThatWereFoundInOrderHashesNothing(t *testing.T) {
	o := newTenant(t, map[string]string{"username": "a", "password": "p", htpasswdKey: "a:x"})
	o.secret.ResourceVersion = "7"
	o.r.checked.Store("shop", "7")
	got, _ := o.look(someTime)
	same(t, "lines", "a:x", got[htpasswdKey])
}

func TestAHashCostsAGuesserTime(t *testing.T) {
	line, err := hashLine("a", "p")
	if err != nil {
		t.Fatal(err)
	}
	if cost, err := bcrypt.Cost([]byte(strings.TrimPrefix(line, "a:"))); err != nil || cost < 10 {
		t.Errorf("expected a cost of 10 at least, got %d (%v)", cost, err)
	}
}

func TestAPasswordAndItsLineRestOnTheSecretThatWasLookedAt(t *testing.T) {
	o := newTenant(t, nil)
	if child, _ := o.observe().child(o.ns, time.Now()); !child.New || child.DecidedOn != "" {
		t.Errorf("expected a fresh password to be for no Secret that somebody else has made since, got new %t, on %q", child.New, child.DecidedOn)
	}
	o.look(time.Now())
	if child, _ := o.observe().child(o.ns, time.Now()); child.New || child.DecidedOn == "" {
		t.Error("expected what is done to a Secret to rest on the version that was looked at")
	}
}
