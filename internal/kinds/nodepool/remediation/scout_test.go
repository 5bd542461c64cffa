// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package remediation

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	nodesv1 "github.com/opcrew/opcrew/api/nodes/v1"
)

// scouting is a Scout of a pool whose commands need Secrets, and the number of its requests.
type scouting struct {
	*Scout
	t     *testing.T
	clock *clocktesting.FakeClock
	pool  *nodesv1.NodePool
	reads int
	err   error
	live  client.Client
}

func newScouting(t *testing.T, objects ...client.Object) *scouting {
	t.Helper()
	s := &scouting{t: t, clock: clocktesting.NewFakeClock(noon), pool: newWorld(t).pool, live: fake.NewClientBuilder().WithObjects(objects...).Build()}
	s.pool.UID, s.pool.Generation = "uid", 1
	s.pool.Spec.Remediation.Fence.SecretEnvs = []nodesv1.RemediationSecretEnv{{Name: "A", Secret: "bmc", Key: "user"}, {Name: "B", Secret: "bmc", Key: "password"}}
	s.pool.Spec.Remediation.PowerStatus.SecretEnvs = []nodesv1.RemediationSecretEnv{{Name: "A", Secret: "cloud", Key: "token"}}
	counting := interceptor.NewClient(s.live.(client.WithWatch), interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
		s.reads++
		if s.err != nil {
			return s.err
		}
		return c.Get(ctx, key, object)
	}})
	s.Scout = &Scout{Cached: s.live, Live: counting, Clock: s.clock}
	return s
}

func secret(name string, keys ...string) *corev1.Secret {
	out := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "opcrew-activities", Name: name}, Data: map[string][]byte{}}
	for _, key := range keys {
		out.Data[key] = []byte("a")
	}
	return out
}

// expect compares what is missing, and the number of requests since the last call.
func (s *scouting) expect(when string, reads int, want ...string) {
	s.t.Helper()
	s.reads = 0
	out, err := s.Observe(s.t.Context(), s.pool)
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, m := range out.Missing {
		got = append(got, m.String())
	}
	if s.reads != reads || len(got) != len(want) {
		s.t.Errorf("%s: expected %d requests and %q, got %d and %q", when, reads, want, s.reads, got)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			s.t.Errorf("%s: expected %q, got %q", when, want[i], got[i])
		}
	}
}

const (
	noBMC      = "Secret bmc in namespace opcrew-activities does not exist, so the command in spec.remediation.fence cannot run; create it"
	noPassword = "Secret bmc in namespace opcrew-activities has no key password, so the command in spec.remediation.fence cannot run; add the key, or correct secretEnvs"
	noCloud    = "Secret cloud in namespace opcrew-activities does not exist, so the command in spec.remediation.powerStatus cannot run; create it"
)

func TestMissingSecretsAreReportedUntilTheyAreThere(t *testing.T) {
	s := newScouting(t)
	s.expect("without Secrets", 2, noBMC, noCloud)
	s.expect("a moment later", 0, noBMC, noCloud)
	if err := errors.Join(s.live.Create(t.Context(), secret("bmc", "user")), s.live.Create(t.Context(), secret("cloud", "token"))); err != nil {
		t.Fatal(err)
	}
	s.clock.Step(time.Minute)
	s.expect("without a key", 2, noPassword)
	if err := s.live.Update(t.Context(), secret("bmc", "user", "password")); err != nil {
		t.Fatal(err)
	}
	s.clock.Step(time.Minute)
	s.expect("with all Secrets", 2)
}

func TestSecretsThatExistAreReadRarely(t *testing.T) {
	s := newScouting(t, secret("bmc", "user", "password"), secret("cloud", "token"))
	s.expect("at first", 2)
	s.clock.Step(10*time.Minute - time.Second)
	s.expect("within ten minutes", 0)
	s.clock.Step(time.Second)
	s.expect("after ten minutes", 2)
	s.pool.Generation++
	s.expect("after a change of the spec", 2)
	s.pool.UID = "another"
	s.expect("for a pool that was created again", 2)
	s.Forget(s.pool.Name)
	s.expect("after the pool was forgotten", 2)
	s.pool.Spec.Remediation.Fence.SecretEnvs, s.pool.Spec.Remediation.PowerStatus.SecretEnvs = nil, nil
	s.pool.Generation++
	s.expect("without secretEnvs", 0)
}

func TestASecretThatCannotBeReadIsNotReported(t *testing.T) {
	for name, err := range map[string]error{
		"no right":  apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "bmc", nil),
		"no answer": context.DeadlineExceeded,
	} {
		s := newScouting(t)
		s.err = err
		s.expect(name, 2)
	}
}
