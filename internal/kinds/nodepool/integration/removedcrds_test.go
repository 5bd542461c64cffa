// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/opcrew/opcrew/internal/kinds/nodepool/machines/reading"
	"github.com/opcrew/opcrew/test/testenv/operator"
)

// userOfMachines reads the machines of a NodePool with the rights of a user. Its clock passes five minutes per reading.
type userOfMachines struct {
	*reading.Reader
	clock *clocktesting.FakeClock
}

func newUserOfMachines(t *testing.T, config *rest.Config) *userOfMachines {
	t.Helper()
	now := clocktesting.NewFakeClock(time.Now())
	return &userOfMachines{readAs(t, config, now), now}
}

// problem returns what prevents the comparison; empty if nothing does.
func (u *userOfMachines) problem(ctx context.Context) (string, error) {
	p := newPool("read", madeFrom(fromNodeClass("gold")))
	u.clock.Step(5 * time.Minute)
	u.Observe(p, nil)
	select {
	case <-u.Woken():
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if found := u.Observe(p, nil).View.Problem; found != nil {
		return found.Reason + ": " + found.Message, nil
	}
	return "", nil
}

func (u *userOfMachines) awaits(t *testing.T, when, want string) {
	t.Helper()
	operator.Until(t, when+", the problem is "+want, func() error {
		got, err := u.problem(t.Context())
		if err != nil {
			return err
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

// A client keeps the kinds that it has found, so a removed kind looks like one that the user may not read.
func TestCRDsOfMachinesThatAreRemovedAndReturn(t *testing.T) {
	const unserved, unread = "TemplateMissing: The API server does not serve kind", "TemplateUnreadable: opcrew is not allowed to get"
	installMachineCRDs(t)
	class := &unstructured.Unstructured{}
	class.SetGroupVersionKind(schema.FromAPIVersionAndKind("karpenter.k8s.aws/v1", "EC2NodeClass"))
	class.SetName("gold")
	env.ApplyObject(t, class)
	mayRead, mayNot := newUserOfMachines(t, env.Config), newUserOfMachines(t, env.ConfigAs("una"))
	mayRead.awaits(t, "with the CRDs and the right", "")
	mayNot.awaits(t, "with the CRDs and without the right", unread)

	removeAll(t, env.Apply(t, machineData+"machine-crds.yaml"))
	mayRead.awaits(t, "without the CRDs", unserved)
	mayNot.awaits(t, "without the CRDs and the right", unserved)

	env.Apply(t, machineData+"machine-crds.yaml")
	mayRead.awaits(t, "when the CRDs are back", "TemplateMissing: EC2NodeClass gold does not exist; create it")
	mayNot.awaits(t, "when the CRDs are back, without the right", unread)
}
