// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package hostjob

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// MaxOrder is how long an encoded order may be: all annotations of a pod together have 256 KiB.
	MaxOrder = 240 << 10
	// MaxArgument is how long one argument, or one variable with its name, may be: Linux
	// executes nothing with a longer one.
	MaxArgument = 128<<10 - 1
)

// Order is what to run. NewOrder has the defaults; an encoded order has them where a field
// is missing.
type Order struct {
	// UID of the Activity. With Run it names the marker on the host.
	UID string `json:"uid"`
	// Run counts the runs that were asked for, from 1.
	Run int64 `json:"run"`
	// Created is when the Activity was created, by the clock of the API server.
	Created time.Time `json:"created"`
	// ForgetBefore, if any, lets the host forget runs of Activities that were created before.
	// It must not be later than Created of an Activity that may still have a pod on the host:
	// without its marker it could run again.
	ForgetBefore time.Time `json:"forgetBefore,omitzero"`

	// BeginBefore, if any, is when the run is given up that has not begun, and BootID the boot of
	// the host when the order was given: see forgotten.
	BeginBefore time.Time `json:"beginBefore,omitzero"`
	BootID      string    `json:"bootID,omitempty"`

	// Command is handed to the host's /bin/sh as it is; Args are executed without a shell.
	// An order has one of them.
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
	// User is a name or a number that the host knows.
	User string `json:"user"`
	// Dir is the working directory, absolute on the host, entered as the user.
	Dir string `json:"dir"`
	// Envs are KEY=value; a later one wins.
	Envs []string `json:"envs,omitempty"`
	// SecretEnvs are variables whose values are in files; they win over Envs.
	SecretEnvs map[string]string `json:"secretEnvs,omitempty"`

	// TimeoutSeconds is how long the command may run; zero: without end.
	TimeoutSeconds int `json:"timeoutSeconds,omitempty"`
	// GraceSeconds is how long it may take to end by itself when it is cancelled or out of
	// time. The pod's own grace period must be some 10 seconds longer.
	GraceSeconds int `json:"graceSeconds"`
}

// NewOrder is an order with all defaults, and nothing to run yet.
func NewOrder(uid string, run int64, created time.Time) Order {
	return Order{UID: uid, Run: run, Created: created, User: defaultUser, Dir: defaultDir, GraceSeconds: defaultGrace}
}

const (
	defaultUser  = "root"
	defaultDir   = "/"
	defaultGrace = 10
)

// EncodeOrder gives what ParseOrder reads, or says what is wrong with the order.
func EncodeOrder(o Order) (string, error) {
	if err := o.Check(); err != nil {
		return "", err
	}
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // shell text is full of < > &, and space is scarce
	if err := encoder.Encode(o); err != nil {
		return "", fmt.Errorf("encode the order: %w", err)
	}
	text := strings.TrimSuffix(out.String(), "\n")
	if len(text) > MaxOrder {
		return "", tooLong(len(text))
	}
	return text, nil
}

// ParseOrder reads an order and refuses whatever it does not understand: half an order
// is not to be carried out.
func ParseOrder(text []byte) (Order, error) {
	switch {
	case len(text) > MaxOrder:
		return Order{}, tooLong(len(text))
	case !utf8.Valid(text):
		return Order{}, errors.New("the order is not UTF-8: a command would not be run as it was written")
	}
	o := NewOrder("", 0, time.Time{})
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&o); err != nil {
		return Order{}, fmt.Errorf("the order is not what this version reads: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Order{}, errors.New("there is something behind the order")
	}
	o.fill()
	return o, o.Check()
}

func tooLong(length int) error {
	return fmt.Errorf("the order has %d bytes with all that is in it, and at most %d fit: put what is long into a file on the host", length, MaxOrder)
}

// fill gives defaults to what was written down as empty.
func (o *Order) fill() {
	if o.User == "" {
		o.User = defaultUser
	}
	if o.Dir == "" {
		o.Dir = defaultDir
	}
}
