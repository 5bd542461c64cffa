// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
)

// latch is a file that exists as long as the pod, and records that the member was part of the cluster. The operator
// records that too (Established). But the kubelet may take a minute to update the start file, and the container can
// restart at any time.
type latch string

// closed reports whether the latch records that the member was part of the cluster. Such a member must not start
// without data.
func (l latch) closed() (bool, error) {
	there, err := exists(string(l))
	if err != nil {
		return false, fmt.Errorf("check the file that records that the member was part of its cluster: %w", err)
	}
	return there, nil
}

// close records on disk that the member was part of the cluster.
func (l latch) close() error {
	if err := durable.Replace(string(l), strings.NewReader(""), markerMode); err != nil {
		return fmt.Errorf("write the file that records that the member is part of its cluster: %w", err)
	}
	return nil
}
