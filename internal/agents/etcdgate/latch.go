// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdgate

import (
	"fmt"
	"strings"

	"github.com/opcrew/opcrew/internal/agents/shared/durable"
)

// latch is a file that says, for as long as the pod is there, that its member has been part of
// the cluster. The operator says so too (Established), but a kubelet may take a minute to put that
// into the pod, and a container can start again at any time. It is not on the volume of the data,
// and is lost with the pod at the latest: what the next pod may begin with is the operator's to
// say.
type latch string

// closed reports whether the member may not begin with nothing any more.
func (l latch) closed() (bool, error) {
	there, err := exists(string(l))
	if err != nil {
		return false, fmt.Errorf("look whether the member has been part of its cluster: %w", err)
	}
	return there, nil
}

// close says so from now on; it is on the disk when it returns.
func (l latch) close() error {
	if err := durable.Replace(string(l), strings.NewReader(""), markerMode); err != nil {
		return fmt.Errorf("note that the member is part of its cluster: %w", err)
	}
	return nil
}
