// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const (
	auditLog = "audit.log"

	// barrierPrefix is the prefix of names that are requested only to find the request in
	// the log. No such object exists.
	barrierPrefix = "testenv-barrier-"
	barrierWait   = 2 * time.Minute
)

// Audit counts requests from the server's audit log. The log is written in blocking
// mode, each line before its response is complete, so requests that a client has seen
// answered come before the line of any later request.
type Audit struct {
	file   string
	client kubernetes.Interface

	mu  sync.Mutex
	end int64 // of the latest barrier's line: later ones need not search before it
}

// Mark is a moment in the log; the zero Mark is its beginning.
type Mark struct{ offset int64 }

// OpenAudit reads the audit log of a running server: that of the environment, or in
// end-to-end tests that of the local cluster.
func OpenAudit(file string, config *rest.Config) (*Audit, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the audit log's client: %w", err)
	}
	return &Audit{file: file, client: client}, nil
}

// Mark remembers now, to count from.
func (a *Audit) Mark(t testing.TB) Mark {
	t.Helper()
	offset, err := a.barrier(t.Context())
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	return Mark{offset}
}

// Since returns every request that was answered between the mark and now.
func (a *Audit) Since(t testing.TB, mark Mark) Calls {
	t.Helper()
	end, err := a.barrier(t.Context())
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	calls, err := readCalls(a.file, mark.offset, end)
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	return calls
}

// knows reports whether a user has made any request, without reading more of the log than needed.
func (a *Audit) knows(t testing.TB, user string) bool {
	t.Helper()
	err := eachLine(a.file, 0, func(line []byte) bool {
		call, err := parseCall(line)
		return err != nil || call.User != user
	})
	if err != nil && !errors.Is(err, errStopped) {
		t.Fatalf("audit log: %v", err)
	}
	return err != nil
}

// barrier makes a request and returns where in the log its line ends.
func (a *Audit) barrier(ctx context.Context) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// A cleanup counts too, and its test's own context has ended by then.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), barrierWait)
	defer cancel()
	// Unique over all processes that read one log, now and earlier.
	name := barrierPrefix + string(uuid.NewUUID())
	if err := a.client.CoreV1().RESTClient().Get().Namespace("default").Resource("configmaps").Name(name).Do(ctx).Error(); !apierrors.IsNotFound(err) {
		return 0, fmt.Errorf("asking for %s: %w", name, err)
	}
	end, err := a.await(ctx, fmt.Appendf(nil, "%q", name))
	if err != nil {
		return 0, fmt.Errorf("waiting for %s: %w", name, err)
	}
	a.end = end
	return end, nil
}

// await polls the log until a whole line contains text.
func (a *Audit) await(ctx context.Context, text []byte) (int64, error) {
	for from := a.end; ; {
		err := eachLine(a.file, from, func(line []byte) bool {
			from += int64(len(line))
			return !bytes.Contains(line, text)
		})
		if errors.Is(err, errStopped) {
			return from, nil
		}
		if err != nil {
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("not in %s: %w", a.file, ctx.Err())
		case <-time.After(2 * time.Millisecond):
		}
	}
}
