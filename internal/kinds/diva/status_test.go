// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package diva

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"

	opsv1 "github.com/opcrew/opcrew/api/ops/v1"
	"github.com/opcrew/opcrew/internal/kinds/diva/keys"
	"github.com/opcrew/opcrew/internal/kinds/diva/ring"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/kit/ensure"
	"github.com/opcrew/opcrew/test/testenv/golden"
)

func fp(t testing.TB, name string) string { return keys.Fingerprint(key(t, name).Public) }

func TestSSHReadyReportsHowFarTheKeysAre(t *testing.T) {
	wrong := keys.Given{Problem: &keys.Problem{Reason: opsv1.ReasonKeyMismatch, Message: "they do not belong together"}}
	for what, test := range map[string]struct {
		diva    *opsv1.Diva
		ring    *ring.Ring
		options []factOption
		done    kit.Outcome
		want    string
	}{
		"in use":                      {newDiva(2), settled(t), nil, done, "True KeysInPlace: The manager logs in with the key " + fp(t, "old")},
		"not made yet":                {newDiva(2), nil, []factOption{noSecret, nothingRuns}, kit.Outcome{Err: errors.New("timeout")}, "False Applying: The SSH key pair is being created"},
		"just made":                   {newDiva(2), nil, []factOption{noSecret, nothingRuns}, outcome("Secret", ensure.Created), "True KeysInPlace: The manager logs in with the key " + fp(t, "fresh")},
		"given ones of no use":        {newDiva(2), nil, []factOption{noSecret, nothingRuns, gives(wrong)}, kit.Outcome{}, "False KeyMismatch: they do not belong together"},
		"beside one that is in use":   {newDiva(2), settled(t), []factOption{gives(wrong)}, done, "False KeyMismatch: they do not belong together; the current key stays in use: " + fp(t, "old")},
		"while another one comes":     {newDiva(2), authorizing(t), []factOption{gives(wrong), silent("ops-client-1")}, done, "False KeyMismatch: they do not belong together; the current key stays in use: " + fp(t, "old") + "; a key change that has already started continues: 1 of 2 clients accept the new key " + fp(t, "new") + "; waiting for client ops-client-1"},
		"while the manager switches":  {newDiva(2), switching(t), []factOption{gives(wrong), func(f *facts) { f.serving["uid-of-ops-manager-0"] = "" }}, done, "False KeyMismatch: they do not belong together; the current key stays in use: " + fp(t, "new") + "; a key change that has already started continues: 0 of 1 managers log in with the new key " + fp(t, "new")},
		"while a lost one is mended":  {newDiva(2), isLost(t), []factOption{gives(wrong), silent("ops-client-0")}, done, "False KeyMismatch: they do not belong together; the current key stays in use: " + fp(t, "old") + "; a key change that has already started continues: 1 of 2 clients accept the new key " + fp(t, "fresh") + "; waiting for client ops-client-0"},
		"clients are to follow":       {newDiva(2), authorizing(t), []factOption{silent("ops-client-1")}, done, "True Rotating: 1 of 2 clients accept the new key " + fp(t, "new") + "; waiting for client ops-client-1"},
		"the manager is to follow":    {newDiva(2), switching(t), []factOption{func(f *facts) { f.serving["uid-of-ops-manager-0"] = "" }}, done, "True Rotating: 0 of 1 managers log in with the new key " + fp(t, "new")},
		"clients are to retire":       {newDiva(2, withStatus(opsv1.SSHRetiring, switching(t)), withPrevious(fp(t, "old"))), settled(t), []factOption{silent("ops-client-0")}, done, "True Rotating: 1 of 2 clients no longer accept the previous key " + fp(t, "old") + "; waiting for client ops-client-0"},
		"the Secret was lost":         {newDiva(2), isLost(t), []factOption{silent("ops-client-0")}, done, "False KeyLost: Secret ops-ssh lost its SSH keys while pods were running, and opcrew is replacing the keys: 1 of 2 clients accept the new key " + fp(t, "fresh") + "; waiting for client ops-client-0. Running managers log in with the old key; a manager that starts now waits for the new key"},
		"a step that was not written": {newDiva(2, withRequest("1")), settled(t), nil, kit.Outcome{Err: errors.New("timeout")}, "True KeysInPlace: The manager logs in with the key " + fp(t, "old")},
		"a step that was":             {newDiva(2, withRequest("1")), settled(t), nil, outcome("Secret", ensure.Applied), "True Rotating: 0 of 2 clients accept the new key " + fp(t, "fresh") + "; waiting for client ops-client-0"},
	} {
		t.Run(what, func(t *testing.T) {
			d := reported(test.diva, observed(t, test.diva, test.ring, test.options...), test.done)
			same(t, "SSHReady", test.want, conditionOf(d, opsv1.DivaSSHReady))
		})
	}
}

// Every reconcile generates new random keys. A key that could not be written must not be reported.
func TestAKeyThatWasNotWrittenIsNeverReported(t *testing.T) {
	d := newDiva(2, withRequest("1"))
	reported(d, observed(t, d, settled(t)), kit.Outcome{Err: errors.New("timeout")})
	if got := d.Status.SSH; got.Fingerprint != fp(t, "old") || got.Phase != opsv1.SSHInUse {
		t.Errorf("expected the key that is in place, got %+v", got)
	}
}

func TestTheStatusReportsBothKeysWhileOneTakesThePlaceOfTheOther(t *testing.T) {
	for what, test := range map[string]struct {
		ring *ring.Ring
		want opsv1.SSHStatus
	}{
		"in use":      {settled(t), opsv1.SSHStatus{Phase: "InUse", Fingerprint: fp(t, "old"), PublicKey: key(t, "old").Public}},
		"authorizing": {authorizing(t), opsv1.SSHStatus{Phase: "Authorizing", Fingerprint: fp(t, "new"), PreviousFingerprint: fp(t, "old"), PublicKey: key(t, "old").Public}},
		"switching":   {switching(t), opsv1.SSHStatus{Phase: "Switching", Fingerprint: fp(t, "new"), PreviousFingerprint: fp(t, "old"), PublicKey: key(t, "new").Public}},
		"lost":        {isLost(t), opsv1.SSHStatus{Phase: "Authorizing", Fingerprint: fp(t, "fresh"), PreviousFingerprint: fp(t, "old"), PublicKey: key(t, "old").Public}},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDiva(1)
			same(t, "status.ssh", test.want, *podsOf(d, observed(t, d, test.ring)).Status(d, test.ring))
		})
	}
}

func TestStorageReadyReportsTheFirstClaimThatIsInTheWay(t *testing.T) {
	grows := newDiva(1, func(d *opsv1.Diva) { d.Spec.Client.Storage.Size = "3Gi" })
	pending := func(name string) factOption {
		return func(f *facts) { f.claims[name].Status.Phase = corev1.ClaimPending }
	}
	for what, test := range map[string]struct {
		diva    *opsv1.Diva
		options []factOption
		want    string
	}{
		"all are bound":      {newDiva(1), nil, "True Bound: All 3 claims are bound to volumes"},
		"one is missing":     {newDiva(1), []factOption{func(f *facts) { delete(f.claims, "ops-extra") }}, "False Applying: Not all 3 claims have a volume yet"},
		"one waits":          {newDiva(1), []factOption{pending("wi-ops-client-0")}, "False Applying: Not all 3 claims have a volume yet"},
		"one waits for long": {newDiva(1), []factOption{pending("wi-ops-client-0"), func(f *facts) { f.unbound.Words = `class "longhorn" not found` }}, `False ClaimsPending: 2 of 3 claims have a volume; wi-ops-client-0: class "longhorn" not found`},
		"one has lost its own": {newDiva(1), []factOption{func(f *facts) {
			f.claims["ops-manager"].Status.Phase, f.claims["ops-manager"].Spec.VolumeName = corev1.ClaimLost, "pv-1"
		}}, "False ClaimLost: claim ops-manager has lost its volume: PersistentVolume pv-1 no longer exists; restore the claim from a backup, or delete it to get an empty claim"},
		"one is of another class": {newDiva(1), []factOption{func(f *facts) { f.claims["ops-extra"].Spec.StorageClassName = new("slow") }},
			`False ClaimDiffers: claim ops-extra existed before this Diva and has storage class "slow" instead of "longhorn"; opcrew uses the claim unchanged. Recreate the Diva with a spec that matches the claim (claims are kept while deletionPolicy is Retain), or delete the claim and its data`},
		"one is for one node": {newDiva(1, func(d *opsv1.Diva) { d.Spec.Manager.Storage.AccessMode = "ReadWriteMany" }), []factOption{func(f *facts) {
			f.claims["ops-manager"].Spec.AccessModes = []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"}
		}}, `False ClaimDiffers: claim ops-manager existed before this Diva and has access modes [ReadWriteOnce] instead of ReadWriteMany; opcrew uses the claim unchanged. Recreate the Diva with a spec that matches the claim (claims are kept while deletionPolicy is Retain), or delete the claim and its data`},
		"one grows": {grows, []factOption{asks("wi-ops-client-0", "2Gi")}, "False Growing: claim wi-ops-client-0 has 2Gi of 3Gi"},
		"its file system waits": {grows, []factOption{asks("wi-ops-client-0", "2Gi"), func(f *facts) {
			f.claims["wi-ops-client-0"].Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Status: "True", Message: "Waiting for user to (re-)start a pod"}}
		}}, "False Growing: claim wi-ops-client-0 has 2Gi of 3Gi: Waiting for user to (re-)start a pod"},
		"one is to grow and has no volume": {grows, []factOption{asks("wi-ops-client-0", "2Gi"), pending("wi-ops-client-0"), func(f *facts) { f.rigid["longhorn"] = "it is rigid" }},
			"False ClaimsPending: 2 of 3 claims have a volume; claim wi-ops-client-0 has no volume yet, so its size of 2Gi cannot change: wait until the claim has a volume and grows, or delete the claim, and it is recreated with 3Gi"},
		"one cannot grow": {grows, []factOption{asks("wi-ops-client-0", "2Gi"), func(f *facts) { f.rigid["longhorn"] = "it is rigid" }},
			"False CannotGrow: claim wi-ops-client-0 keeps 2Gi and cannot grow to 3Gi: it is rigid; you can lower spec.client.storage.size again, to 2Gi or more"},
		"one is larger": {newDiva(1), []factOption{func(f *facts) {
			f.claims["ops-extra"].Status.Capacity = corev1.ResourceList{"storage": resource.MustParse("9Gi")}
		}}, "True Bound: All 3 claims are bound to volumes"},
	} {
		t.Run(what, func(t *testing.T) {
			d := reported(test.diva, observed(t, test.diva, settled(t), test.options...), done)
			same(t, "StorageReady", test.want, conditionOf(d, opsv1.DivaStorageReady))
		})
	}
}

func TestReadyIsTheFirstThatStandsInTheWayAndTheMessageIsItsOwn(t *testing.T) {
	stuck := func(f *facts) {
		f.clients.Pods["ops-client-1"].Status.Conditions = nil
		f.clients.Pods["ops-client-1"].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "ops", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "not found"},
		}}}
	}
	starting := func(f *facts) {
		f.manager.Pods[0].Status.Conditions = nil
		f.manager.Deployment.Status.AvailableReplicas = 0
	}
	rigid := []factOption{asks("ops-extra", "1Gi"), func(f *facts) { f.rigid["longhorn"] = "it is rigid" }}
	for what, test := range map[string]struct {
		diva              *opsv1.Diva
		options           []factOption
		want              string
		clients, managers string
	}{
		"nothing":                    {newDiva(2), nil, "True AllReady: 1/1 managers and 2/2 clients are ready", "2/2", "1/1"},
		"a client":                   {newDiva(2), []factOption{stuck, starting}, "False PodsNotReady: 1 of 2 clients are ready; ops-client-1: container ops: ErrImagePull: not found", "1/2", "0/1"},
		"the manager":                {newDiva(2), []factOption{starting}, "False Updating: 0 of 1 pods are ready", "2/2", "0/1"},
		"storage, before the pods":   {newDiva(2), append(rigid, stuck), "False CannotGrow: claim ops-extra keeps 1Gi and cannot grow to 2Gi: it is rigid", "1/2", "1/1"},
		"more clients are to come":   {newDiva(2), []factOption{func(f *facts) { f.clients.Set.Spec.Replicas = new(int32(1)) }}, "False Updating: The number of clients is changing from 1 to 2", "2/2", "1/1"},
		"an image that is none":      {newDiva(2, func(d *opsv1.Diva) { d.Spec.Client.Image = "No:image" }), nil, `False InvalidImage: spec.client.image: "No:image" is not a valid image`, "2/2", "1/1"},
		"a bad image of the manager": {newDiva(2, func(d *opsv1.Diva) { d.Spec.Extra.Image = "No:image" }), nil, `False InvalidImage: spec.extra.image: "No:image" is not a valid image`, "2/2", "1/1"},
		"a quota refuses clients": {newDiva(2), []factOption{func(f *facts) {
			delete(f.clients.Pods, "ops-client-1")
			f.clients.Refusal.Words = "exceeded quota: q"
		}}, "False PodsMissing: 1 of 2 clients cannot be created: exceeded quota: q", "1/2", "1/1"},
	} {
		t.Run(what, func(t *testing.T) {
			d := reported(test.diva, observed(t, test.diva, settled(t), test.options...), done)
			if got := conditionOf(d, opsv1.DivaReady); !strings.HasPrefix(got, test.want) {
				t.Errorf("expected Ready to be %q, got %q", test.want, got)
			}
			same(t, "clients and managers", []string{test.clients, test.managers}, []string{d.Status.Clients, d.Status.Manager})
			if !strings.HasSuffix(conditionOf(d, opsv1.DivaReady), ": "+d.Status.Message) {
				t.Errorf("expected the message of Ready, got %q", d.Status.Message)
			}
		})
	}
}

func TestKeysOfNoUseAreNamedAndBlockNothing(t *testing.T) {
	for what, test := range map[string]struct {
		private, public, want string
	}{
		"none":                     {"", "", "none"},
		"one more key":             {"", key(t, "given").Public, "none"},
		"the article's":            {"", "ssh-rsa AAAAB3NzaC1yc2EAAAA...", "True PublicKeyUnusable: line 1 of spec.publicKey is not a public key, so opcrew ignores it; enter the whole key, or remove the line"},
		"an inline private key":    {string(key(t, "old").Private), "", "True InlineKey: anyone who may read this Diva can read the private key in spec.privateKey; provide another key in a Secret with spec.ssh.secretRef, or remove spec.privateKey and then have opcrew generate a key with the annotation opcrew.io/rotate-ssh-key; until you do so, the current key stays in use"},
		"and a public one of none": {string(key(t, "old").Private), "x", "True PublicKeyUnusable: anyone who may read this Diva can read the private key in spec.privateKey; provide another key in a Secret with spec.ssh.secretRef, or remove spec.privateKey and then have opcrew generate a key with the annotation opcrew.io/rotate-ssh-key; until you do so, the current key stays in use; line 1 of spec.publicKey is not a"},
	} {
		t.Run(what, func(t *testing.T) {
			d := newDiva(1, func(d *opsv1.Diva) { d.Spec.PrivateKey, d.Spec.PublicKey = test.private, test.public })
			reported(d, observed(t, d, settled(t), gives(keys.Inline(d))), done)
			if got := conditionOf(d, opsv1.DivaKeyWarning); !strings.HasPrefix(got, test.want) {
				t.Errorf("expected %q, got %q", test.want, got)
			}
			if got := conditionOf(d, opsv1.DivaReady); !strings.HasPrefix(got, "True") {
				t.Errorf("expected Ready to be True, got %q", got)
			}
			if test.want != "none" && !strings.Contains(d.Status.Message, "spec.p") {
				t.Errorf("expected the message to name it, got %q", d.Status.Message)
			}
			if strings.Contains(d.Status.Message, "PRIVATE") {
				t.Error("the message has the private key in it")
			}
		})
	}
}

func TestEveryPhaseIsAnEventOnce(t *testing.T) {
	r := &reconciler{}
	before, after := newDiva(1), newDiva(1)
	reported(after, observed(t, after, settled(t)), done)
	if got := r.transitions(before, after); len(got) > 0 {
		t.Errorf("expected no event of the first pair, got %+v", got)
	}
	next := newDiva(1)
	reported(next, observed(t, next, authorizing(t), silent("ops-client-0")), done)
	got := r.transitions(after, next)
	if len(got) != 1 || got[0].Reason != "KeyPairAuthorizing" || got[0].Warning {
		t.Errorf("expected one event of the new phase, got %+v", got)
	}
	if again := r.transitions(next, next.DeepCopy()); len(again) > 0 {
		t.Errorf("expected no event of a phase that was already reported, got %+v", again)
	}
	lost := newDiva(1)
	reported(lost, observed(t, lost, isLost(t), silent("ops-client-0")), done)
	if got := r.transitions(after, lost); len(got) != 1 || !got[0].Warning {
		t.Errorf("expected a warning of the lost key, got %+v", got)
	}
}

func TestTheStatusOfTheArticlesObject(t *testing.T) {
	d := manifest(t, "article.yaml")
	golden.Check(t, "status-new.yaml", reported(manifest(t, "article.yaml"), observed(t, d, nil, noSecret, nothingRuns), outcome("Secret", ensure.Created)).Status)
	golden.Check(t, "status-ready.yaml", reported(d, observed(t, d, settled(t)), done).Status)
}

// If reads fail or the Diva is being deleted, the reconcile loop sets Ready after everything else in the status.
// status.message must still show the new message of Ready.
func TestTheMessageFollowsReady(t *testing.T) {
	d := reported(newDiva(2), observed(t, newDiva(2), settled(t)), done)
	meta.FindStatusCondition(d.Status.Conditions, opsv1.DivaReady).Message = "list pods: the server is busy"
	meta.FindStatusCondition(d.Status.Conditions, opsv1.DivaReady).Status = "Unknown"
	(&reconciler{}).finish(d)
	same(t, "message", "list pods: the server is busy", d.Status.Message)
}
