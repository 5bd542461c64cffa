// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
	"github.com/opcrew/opcrew/internal/agents/shared/rewatch"
	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

const (
	// FirstLifetime is the lifetime of the token that the installer requests. A host that is off for the last quarter of
	// it cannot renew the token.
	FirstLifetime = 28 * 24 * time.Hour

	renewRetry = time.Minute
	// longestWait is after what time at most the agent looks at the clock again, because a host can set it.
	longestWait = time.Hour
)

// KeepToken renews the token until the context ends.
func (c *Client) KeepToken(ctx context.Context) {
	failed := false
	for ctx.Err() == nil {
		wait, err := c.keepToken(ctx)
		if err != nil && !failed {
			c.log.Warn("The token cannot be renewed", "error", err.Error())
		}
		failed = err != nil
		rewatch.Sleep(ctx, c.clock, wait)
	}
}

// keepToken renews the token if it is time, and returns how long to wait.
func (c *Client) keepToken(ctx context.Context) (time.Duration, error) {
	content, err := os.ReadFile(c.token)
	if err != nil {
		return renewRetry, err
	}
	life, err := parseLifetime(strings.TrimSpace(string(content)))
	if err != nil {
		return renewRetry, err
	}
	if wait := life.renewal().Sub(c.clock.Now()); wait > 0 {
		return min(wait, longestWait), nil
	}
	node := c.seen()
	if node == nil {
		return renewRetry, errors.New("the Node has not been seen")
	}
	token, err := requestToken(ctx, c.core, node.Name, node.UID, life.expires.Sub(life.issued))
	if err == nil {
		err = durable.Replace(c.token, strings.NewReader(token), 0o600)
	}
	if err != nil {
		return renewRetry, err
	}
	c.log.Info("The token is renewed", "expired", life.expires)
	// On a host whose date is wrong, the new token seems to be old.
	return min(longestWait, life.expires.Sub(life.issued)/4), nil
}

// requestToken returns a token that is valid as long as the Node exists.
func requestToken(ctx context.Context, core rest.Interface, node string, uid types.UID, life time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	seconds := int64(life / time.Second)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Node", APIVersion: "v1", Name: node, UID: uid},
	}}
	var out authenticationv1.TokenRequest
	err := core.Post().Namespace(machineorder.Namespace).Resource("serviceaccounts").Name(machineorder.ServiceAccount).
		SubResource("token").Body(request).Do(ctx).Into(&out)
	if err != nil {
		return "", fmt.Errorf("request a token for Node %s: %w", node, err)
	}
	if _, err := parseLifetime(out.Status.Token); err != nil {
		return "", err
	}
	return out.Status.Token, nil
}

// FirstToken returns a token for a Node, with the token of the installer's pod in a file.
func FirstToken(ctx context.Context, server Server, podToken string) (string, error) {
	c, err := newClient(server, podToken, nil, nil)
	if err != nil {
		return "", err
	}
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	node, err := c.nodes.Get(call, server.Node, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("read Node %s: %w", server.Node, err)
	}
	return requestToken(ctx, c.core, node.Name, node.UID, FirstLifetime)
}
