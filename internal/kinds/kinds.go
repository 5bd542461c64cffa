// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

// Package kinds lists the kinds of opcrew. Each kind is a package below this one.
package kinds

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/opcrew/opcrew/internal/kinds/activity"
	"github.com/opcrew/opcrew/internal/kinds/appservice"
	"github.com/opcrew/opcrew/internal/kinds/diva"
	"github.com/opcrew/opcrew/internal/kinds/etcdbackup"
	"github.com/opcrew/opcrew/internal/kinds/etcdcluster"
	"github.com/opcrew/opcrew/internal/kinds/etcdrestore"
	"github.com/opcrew/opcrew/internal/kinds/machineconfig"
	"github.com/opcrew/opcrew/internal/kinds/memcached"
	"github.com/opcrew/opcrew/internal/kinds/microservicedeploy"
	"github.com/opcrew/opcrew/internal/kinds/nodepool"
	"github.com/opcrew/opcrew/internal/kinds/redisenterprisecluster"
	"github.com/opcrew/opcrew/internal/kit"
)

// All returns all kinds. The operator and the tests of all kinds use this list. Tests that simulate stores pass other
// registrations of some kinds, which replace those with the same name.
func All(replacements ...kit.Registration) []kit.Registration {
	list := []kit.Registration{
		nodepool.Kind(),
		activity.Kind(),
		machineconfig.Kind(),
		appservice.Kind(),
		microservicedeploy.Kind(),
		diva.Kind(),
		memcached.Kind(),
		etcdcluster.Kind(),
		etcdbackup.Kind(),
		etcdrestore.Kind(),
		redisenterprisecluster.Kind(),
	}
	for _, replacement := range replacements {
		for i := range list {
			if list[i].Name == replacement.Name {
				list[i] = replacement
			}
		}
	}
	return list
}

// AddToScheme adds the Go types of all kinds to a scheme.
func AddToScheme(scheme *runtime.Scheme) error {
	for _, kind := range All() {
		if err := kind.AddToScheme(scheme); err != nil {
			return err
		}
	}
	return nil
}
