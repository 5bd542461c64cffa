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

	// barrierPrefix is the prefix of names of ConfigMaps that do not exist. Requests for them mark positions in the
	// audit log.
	barrierPrefix = "testenv-barrier-"
	barrierWait   = 2 * time.Minute
)

// Audit counts requests in the server's audit log. The server writes the line of a request before it completes the
// response (blocking mode). So a completed request is always in the log before any later request.
type Audit struct {
	file   string
	client kubernetes.Interface

	mu  sync.Mutex
	end int64 // position after the last barrier; the next search starts here
}

// Mark is a position in the audit log. The zero Mark is the beginning of the log.
type Mark struct{ offset int64 }

// OpenAudit opens the audit log of a running server: the server of the environment, or the local cluster in end-to-end
// tests.
func OpenAudit(file string, config *rest.Config) (*Audit, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the audit log's client: %w", err)
	}
	return &Audit{file: file, client: client}, nil
}

// Mark returns the current end of the log.
func (a *Audit) Mark(t testing.TB) Mark {
	t.Helper()
	offset, err := a.barrier(t.Context())
	if err != nil {
		t.Fatalf("audit log: %v", err)
	}
	return Mark{offset}
}

// Since returns all requests to which the server responded between the mark and now.
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

// knows reports whether the user has made any request.
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

// barrier makes a request, waits for its line in the log, and returns the position after this line.
func (a *Audit) barrier(ctx context.Context) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	// Ignore the end of the context, because cleanups call barrier when the context of the test has ended.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), barrierWait)
	defer cancel()
	// The name must be unique among all processes that read this log, including earlier processes.
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

// await waits until the log has a complete line that contains text, and returns the position after this line.
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
