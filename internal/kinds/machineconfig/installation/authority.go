// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package installation

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const (
	// podFile has the CA of the API server in each pod, also in that of the operator.
	podFile = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"
	// renewalWait is the time between two looks at the file. The kubelet takes as long to write a new one.
	renewalWait = time.Minute
)

// authority is the CA of the API server that the operator uses. It can change while the operator runs, if it is a file.
type authority struct {
	file string
	data []byte
}

func authorityOf(c *rest.Config) authority {
	if len(c.CAData) > 0 {
		return authority{data: c.CAData}
	}
	return authority{file: c.CAFile}
}

// fingerprint reads the file each time.
func (a authority) fingerprint() (string, error) {
	if a.file == "" {
		return machineorder.Fingerprint(a.data), nil
	}
	content, err := os.ReadFile(a.file)
	if err != nil {
		return "", fmt.Errorf("read the CA of the API server: %w", err)
	}
	return machineorder.Fingerprint(content), nil
}

// isThatOfPods reports whether the pod of an installation has the same CA. An operator outside the cluster may use
// another one.
func (a authority) isThatOfPods() bool { return a.file == podFile }

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// renewals enqueues all nodes after a change of the CA, about which no object of the cluster says anything.
func (a authority) renewals(clk clock.Clock, all handler.MapFunc) source.Source {
	return source.Func(func(ctx context.Context, q queue) error {
		if a.file != "" {
			go a.follow(ctx, clk, func() {
				for _, request := range all(ctx, nil) {
					q.Add(request)
				}
			})
		}
		return nil
	})
}

// follow calls changed after each change of the file. A file that cannot be read is reported by the reconciler.
func (a authority) follow(ctx context.Context, clk clock.Clock, changed func()) {
	last, _ := a.fingerprint()
	for {
		select {
		case <-ctx.Done():
			return
		case <-clk.After(renewalWait):
		}
		if now, err := a.fingerprint(); err == nil && now != last {
			last = now
			changed()
		}
	}
}
