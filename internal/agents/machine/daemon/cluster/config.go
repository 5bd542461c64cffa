// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/opcrew/opcrew/internal/podapi/machineorder"
)

// Refusal is an error that another attempt would not solve.
type Refusal struct{ Text string }

func (r *Refusal) Error() string { return r.Text }

// Config returns the encoded configuration in the Secret with a name. The caller checks the content.
func (c *Client) Config(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var secret corev1.Secret
	err := c.core.Get().Namespace(machineorder.Namespace).Resource("secrets").Name(name).Do(ctx).Into(&secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &Refusal{fmt.Sprintf("there is no Secret %s in namespace %s", name, machineorder.Namespace)}
	case apierrors.IsForbidden(err):
		return nil, &Refusal{fmt.Sprintf("the machine agent may not read Secret %s in namespace %s", name, machineorder.Namespace)}
	case err != nil:
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	content, found := secret.Data[machineorder.SecretKey]
	if !found {
		return nil, &Refusal{fmt.Sprintf("Secret %s in namespace %s has no key %s", name, machineorder.Namespace, machineorder.SecretKey)}
	}
	return content, nil
}
