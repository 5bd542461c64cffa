// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/opcrew/opcrew/api/common"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
)

func TestAPoolGetsNoSecretsThatItsRequesterMayNotRead(t *testing.T) {
	w := newWorld(t, "bob apply machines", "root apply machines/gold", "root get secrets/password")
	got := w.render(requestedBy("bob", newPool()), usesPassword(requestedBy("root", newConfig()), ""))
	if got.problem == nil || got.problem.reason != common.ReasonRequesterMayNot || !strings.Contains(got.problem.message, "bob") || !strings.Contains(got.problem.message, "get secrets password") {
		t.Errorf("expected the Secret to be refused, because the requester of the pool may not read it, got %+v", got.problem)
	}
	w.allow("bob get secrets/password")
	w.clock.Step(rightsWait)
	if got = w.render(requestedBy("bob", newPool()), usesPassword(requestedBy("root", newConfig()), "")); got.problem != nil {
		t.Errorf("expected the Secret to be used, got %+v", got.problem)
	}
}

func TestTheRequesterOfAPoolNeedsTheRightToAllMachines(t *testing.T) {
	w := newWorld(t, "bob apply machines/gold", "root apply machines/gold")
	got := w.render(requestedBy("bob", newPool()), requestedBy("root", newConfig()))
	if got.problem == nil || got.problem.reason != common.ReasonRequesterMayNot || !strings.Contains(got.problem.message, "bob") || !strings.Contains(got.problem.message, "of all pools") {
		t.Errorf("expected the pool of a user without the right to all machines to be refused, got %+v", got.problem)
	}
}

func TestNoSecretIsReadBeforeTheRightsOfItsAuthorAreChecked(t *testing.T) {
	w := newWorld(t, "root apply machines", "bob apply machines/gold", "root get secrets/password")
	pool, mc := requestedBy("root", newPool()), usesPassword(requestedBy("bob", newConfig()), "sha256-"+strings.Repeat("0", 64))
	if got := w.render(pool, mc); got.problem == nil || got.problem.reason != common.ReasonRequesterMayNot {
		t.Errorf("expected bob not to be able to use the Secret, got %+v", got.problem)
	}
	if w.reads["shop/password"] != 0 {
		t.Error("expected the Secret not to be read")
	}
	w.allow("bob get secrets/password")
	w.clock.Step(rightsWait)
	if got := w.render(pool, mc); got.problem == nil || got.problem.reason != mcfgv1.ReasonInvalidConfig {
		t.Errorf("expected the wrong hash to be reported to a user who may read the Secret, got %+v", got.problem)
	}
}

func TestAMissingRightIsCheckedOnceAMinute(t *testing.T) {
	w := newWorld(t, "root apply machines")
	pool, mc := requestedBy("root", newPool()), requestedBy("bob", newConfig())
	for range 3 {
		if got := w.render(pool, mc); got.problem == nil || got.problem.reason != common.ReasonRequesterMayNot {
			t.Fatalf("expected bob not to be able to configure the pool, got %+v", got.problem)
		}
	}
	if checks := w.reviews["bob apply machines/gold"]; checks != 1 {
		t.Errorf("expected one check of bob's right, got %d", checks)
	}
	w.allow("bob apply machines/gold")
	w.clock.Step(rightsWait)
	if got := w.render(pool, mc); got.problem != nil {
		t.Errorf("expected the right to be noticed after a minute, got %+v", got.problem)
	}
	if w.render(requestedBy("eve", newPool()), mc).problem == nil {
		t.Error("expected another requester of the pool to be checked at once")
	}
}

func TestAMissingSecretIsReadOnceAMinute(t *testing.T) {
	w := newWorld(t, "root apply machines", "root apply machines/gold", "root get secrets/password")
	w.delete("shop", "password")
	for range 3 {
		if got := w.render(requestedBy("root", newPool()), usesPassword(requestedBy("root", newConfig()), "")); got.problem == nil || got.problem.reason != mcfgv1.ReasonSecretMissing {
			t.Fatalf("expected the Secret to be missing, got %+v", got.problem)
		}
	}
	if w.reads["shop/password"] != 1 {
		t.Errorf("expected one read of the Secret, got %d", w.reads["shop/password"])
	}
}

func TestADeletedKeyOfHashesIsReplaced(t *testing.T) {
	w := newWorld(t, "root apply machines", "root apply machines/gold", "root get secrets/password")
	pool, mc := requestedBy("root", newPool()), usesPassword(requestedBy("root", newConfig()), "")
	w.key = bytes.Repeat([]byte{1}, 32)
	first := w.render(pool, mc)
	w.key = nil
	second := w.render(pool, mc)
	if first.newKey || !second.newKey || len(w.key) != 32 || first.host.Name == second.host.Name {
		t.Errorf("expected a new key and a new name, got %d bytes, %s after %s", len(w.key), second.host.Name, first.host.Name)
	}
	if declared := children(pool, facts{rendering: second, key: w.key}); len(declared) != 1 {
		t.Errorf("expected only the key to be declared at first, got %d objects", len(declared))
	}
}

func TestAKeyOfHashesThatCannotBeUsedIsReported(t *testing.T) {
	w := newWorld(t, "root apply machines", "root apply machines/gold", "root get secrets/password")
	w.key = []byte{}
	got := w.render(requestedBy("root", newPool()), usesPassword(requestedBy("root", newConfig()), ""))
	if got.problem == nil || !strings.Contains(got.problem.message, "delete Secret hash-key-gold in namespace opcrew-machine-keys") {
		t.Errorf("expected a message that says what to delete, got %+v", got.problem)
	}
}

func TestWithoutAKeyNoHashOfASecretIsPublished(t *testing.T) {
	secret := map[string]bool{"/etc/password": true}
	if got := publicDigest(nil, secret)("/etc/password", []byte("a")); got != "secret" {
		t.Errorf("expected no hash without a key, got %s", got)
	}
	if a, b := publicDigest(make([]byte, 32), secret)("/etc/password", []byte("a")), publicDigest(make([]byte, 32), secret)("/etc/password", []byte("b")); a == b {
		t.Errorf("expected different hashes of different contents, got %s", a)
	}
}

func TestARenderingWithSecretsIsReadAgainAfterAnHour(t *testing.T) {
	w := newWorld(t, "root apply machines", "root apply machines/gold", "root get secrets/password")
	w.key = make([]byte, 32)
	for range 3 {
		w.render(requestedBy("root", newPool()), usesPassword(requestedBy("root", newConfig()), ""))
		w.clock.Step(40 * time.Minute)
	}
	if w.reads["shop/password"] != 2 {
		t.Errorf("expected two reads within 80 minutes, got %d", w.reads["shop/password"])
	}
}
