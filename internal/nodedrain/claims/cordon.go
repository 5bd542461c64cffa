// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package claims

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// MachineCordon is the annotation of a Node with the time at which MachineConfig cordoned it.
	MachineCordon = "opcrew.io/machine-cordoned"
	// FleetCordon is the annotation of a Node that a fleet of Activities cordoned. Its value is a Cordon.
	FleetCordon = "opcrew.io/fleet-cordoned"
)

// Cordon records which run of which fleet cordoned a node, and when.
type Cordon struct {
	Namespace, Name string
	UID             types.UID
	Run             int64
	At              time.Time
}

// String returns the value of FleetCordon.
func (c Cordon) String() string {
	return fmt.Sprintf("%s %s %s %d %s", c.Namespace, c.Name, c.UID, c.Run, c.At.UTC().Format(time.RFC3339))
}

// CordonOf returns the record of the fleet that cordoned a node; nil if there is none, or none that can be read.
func CordonOf(node *corev1.Node) *Cordon {
	text := node.Annotations[FleetCordon]
	if text == "" {
		return nil
	}
	c, at := &Cordon{}, ""
	if _, err := fmt.Sscanf(text, "%s %s %s %d %s", &c.Namespace, &c.Name, &c.UID, &c.Run, &at); err != nil {
		return nil
	}
	var err error
	if c.At, err = time.Parse(time.RFC3339, at); err != nil || c.String() != text {
		return nil
	}
	return c
}
