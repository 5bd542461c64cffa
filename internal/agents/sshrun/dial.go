// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// connect connects to the host, again and again until the start deadline. It gives up at once if the host key or the
// private key is refused.
func (r *runner) connect(ctx context.Context) (*link, *hostjob.Result) {
	before := r.order.SSH.ConnectBefore
	for {
		l, refusal, err := r.dial(ctx)
		switch {
		case err == nil:
			return l, nil
		case ctx.Err() != nil:
			return nil, &hostjob.Result{State: hostjob.Cancelled, Reason: hostjob.ReasonPodEnded, Message: "the run was cancelled before the command was started"}
		case refusal != nil:
			return nil, refusal
		case !r.clock.Now().Add(r.retry).Before(before):
			return nil, hostjob.Refuse(hostjob.ReasonNoConnect, "the SSH server of %s did not accept a connection in time: %v", r.target, err)
		}
		r.pause(ctx, r.retry)
	}
}

func (r *runner) pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-r.clock.After(length):
	}
}

// dial connects once. A refusal is final, and other errors are not.
func (r *runner) dial(ctx context.Context) (*link, *hostjob.Result, error) {
	deadline := time.Now().Add(r.handshake)
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", r.login.address)
	if err != nil {
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	var found verdict
	client, channels, requests, err := ssh.NewClientConn(conn, r.login.address, r.login.config(&found))
	if err == nil && !stop() {
		err = errors.New("the login took too long")
	}
	if err != nil {
		_ = conn.Close()
		return nil, r.final(found, err), err
	}
	return newLink(ssh.NewClient(client, channels, requests), r.limits), nil, nil
}

// config returns the settings of a connection. It names no function for banners, so that they are dropped.
func (l login) config(found *verdict) *ssh.ClientConfig {
	return &ssh.ClientConfig{
		User: l.user, Auth: []ssh.AuthMethod{ssh.PublicKeys(l.signer)},
		HostKeyCallback: found.check(l), HostKeyAlgorithms: l.algorithms,
		ClientVersion: "SSH-2.0-opcrew",
	}
}

// final returns the refusal that another attempt would meet again; nil if another attempt may succeed.
func (r *runner) final(found verdict, err error) *hostjob.Result {
	switch {
	case found.refusal != nil:
		return found.refusal
	case found.passed && strings.Contains(err.Error(), "unable to authenticate"): // the library has no type for this error
		return hostjob.Refuse(hostjob.ReasonLogin, "the server at %s does not let user %s log in with the private key in Secret %s; add its public key to ~/.ssh/authorized_keys of the user, then raise spec.run",
			r.login.address, r.login.user, r.login.secret)
	}
	return nil
}
