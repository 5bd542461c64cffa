// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"sync"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ClassInterval is how long the result for a StorageClass is reused. opcrew does not watch StorageClasses.
const ClassInterval = time.Minute

// Classes remembers whether StorageClasses let volumes grow. opcrew needs nothing else about them, so it reads them
// from the API server and does not cache them.
type Classes struct {
	Live  client.Reader
	Clock clock.PassiveClock

	mu      sync.Mutex
	answers map[string]classAnswer
}

// classAnswer is the result for one class. rigid is the reason why volumes of the class cannot grow; "" if they can.
type classAnswer struct {
	rigid string
	until time.Time
}

// Rigid reports which StorageClasses do not let volumes grow. rigid maps these classes to the reasons. unread maps
// classes that could not be read to the errors; the next call reads these classes again.
func (c *Classes) Rigid(ctx context.Context, names []string) (rigid, unread map[string]string) {
	rigid, unread = map[string]string{}, map[string]string{}
	for _, name := range names {
		switch words, err := c.ask(ctx, name); {
		case err != nil:
			unread[name] = fmt.Sprintf("opcrew cannot read whether StorageClass %s lets volumes grow: %v", name, err)
		case words != "":
			rigid[name] = words
		}
	}
	return rigid, unread
}

func (c *Classes) ask(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "the claim has no StorageClass, so its volume cannot grow", nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.Clock.Now()
	if known, ok := c.answers[name]; ok && now.Before(known.until) {
		return known.rigid, nil
	}
	rigid, err := whyRigid(ctx, c.Live, name)
	if err != nil {
		return "", err
	}
	if c.answers == nil {
		c.answers = map[string]classAnswer{}
	}
	c.answers[name] = classAnswer{rigid, now.Add(ClassInterval)}
	return rigid, nil
}

func whyRigid(ctx context.Context, live client.Reader, name string) (string, error) {
	class := &storagev1.StorageClass{}
	switch err := live.Get(ctx, client.ObjectKey{Name: name}, class); {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("StorageClass %s does not exist, so the volume cannot grow", name), nil
	case err != nil:
		return "", err
	case class.AllowVolumeExpansion == nil || !*class.AllowVolumeExpansion:
		return fmt.Sprintf("StorageClass %s does not let volumes grow; set allowVolumeExpansion in the class if its driver supports that", name), nil
	}
	return "", nil
}
