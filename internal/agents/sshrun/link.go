// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package sshrun

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// link is a connection to an SSH server. It closes itself if the server does not respond any more.
type link struct {
	*ssh.Client
	limits
	once sync.Once
	gone chan struct{} // closed when the connection has ended
	mu   sync.Mutex
	why  error
}

func newLink(client *ssh.Client, l limits) *link {
	out := &link{Client: client, limits: l, gone: make(chan struct{})}
	go func() { out.lose(client.Wait()) }()
	go out.watch()
	return out
}

// lose records why the connection has ended, and closes it. Only the first reason counts.
func (l *link) lose(why error) {
	l.once.Do(func() {
		l.mu.Lock()
		l.why = why
		l.mu.Unlock()
		close(l.gone)
	})
	_ = l.Close()
}

func (l *link) close() { l.lose(errors.New("opcrew closed the connection")) }

// cause returns why the connection has ended; nil if it has not.
func (l *link) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

// watch closes the connection if the server does not answer a question in time. A server answers even a question that
// it does not know.
func (l *link) watch() {
	for l.wait(l.alive) {
		if err := l.within(l.alive, l.ask); err != nil {
			l.lose(fmt.Errorf("the server does not respond: %w", err))
			return
		}
	}
}

func (l *link) ask() error {
	_, _, err := l.SendRequest("keepalive@openssh.com", true, nil)
	return err
}

// wait waits, and reports whether the connection still exists then.
func (l *link) wait(length time.Duration) bool {
	select {
	case <-l.gone:
		return false
	case <-time.After(length):
		return true
	}
}

// errNoAnswer means that a function still waits for the server.
var errNoAnswer = errors.New("no answer")

// within calls a function that waits for the server. If it takes too long, the function goes on until the connection is
// closed.
func (l *link) within(length time.Duration, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(length):
		return fmt.Errorf("%w within %s", errNoAnswer, length)
	}
}
