// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package order reads the order that the operator gives to a program in a pod (package hostjob), and the values of
// Secrets that it needs. It refuses orders that no host can carry out.
package order

import (
	"fmt"

	"github.com/opcrew/opcrew/internal/podapi/hostjob"
)

// Read returns the order in a file, and the values of the variables whose files are in a directory.
func Read(file, secrets string) (hostjob.Order, map[string]string, *hostjob.Result) {
	text, err := UpTo(file, hostjob.MaxOrder+1)
	if err != nil {
		return hostjob.Order{}, nil, hostjob.RefuseOrder(fmt.Errorf("the order cannot be read: %w", err))
	}
	o, err := hostjob.ParseOrder(text)
	if err != nil {
		return o, nil, hostjob.RefuseOrder(err)
	}
	values, refusal := readSecrets(secrets, o.SecretEnvs)
	if refusal == nil {
		refusal = checkLengths(o)
	}
	return o, values, refusal
}
