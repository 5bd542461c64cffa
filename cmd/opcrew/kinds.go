// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

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

// kinds returns all kinds. This is the only list of them: a new kind needs a package and a line here.
func kinds() []kit.Registration {
	return []kit.Registration{
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
}

// choose returns the kinds that belong to a layer (machines, applications or data) and whose names are in a list. An
// empty layer or list selects all kinds.
func choose(all []kit.Registration, layer, list string) ([]kit.Registration, error) {
	layers := []string{kit.Machines, kit.Applications, kit.Data}
	if layer != "" && !slices.Contains(layers, layer) {
		return nil, fmt.Errorf("--layer=%s: this layer does not exist; use one of %v", layer, layers)
	}
	wanted := split(list)
	for _, name := range wanted {
		if !slices.Contains(names(all), name) {
			return nil, fmt.Errorf("--kinds: kind %q does not exist; use some of %s", name, strings.Join(names(all), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(k kit.Registration) bool {
		return layer != "" && k.Layer != layer || len(wanted) > 0 && !slices.Contains(wanted, k.Name)
	}), nil
}

func names(list []kit.Registration) []string {
	out := make([]string, len(list))
	for i, kind := range list {
		out[i] = kind.Name
	}
	return out
}

// split returns the items of a list that is separated by commas or spaces.
func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}
