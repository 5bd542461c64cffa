// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

package machineconfig

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	egov1 "github.com/opcrew/opcrew/api/ego/v1"
	mcfgv1 "github.com/opcrew/opcrew/api/machineconfiguration/v1"
	"github.com/opcrew/opcrew/internal/kit"
	"github.com/opcrew/opcrew/internal/nodedrain/claims"
)

// activitiesCRD is the CRD of Activity. Without it no Activity runs on a node.
const activitiesCRD = "activities.ego.example.com"

// activeIndex is the cache index that finds the Activities of fleets and NodePools that are pending or running.
const activeIndex = "machineconfig-active"

func addToScheme(scheme *runtime.Scheme) error {
	if err := mcfgv1.AddToScheme(scheme); err != nil {
		return err
	}
	return egov1.AddToScheme(scheme)
}

func indexActivities(mgr ctrl.Manager, tools *kit.Tools) error {
	if !tools.Installed[activitiesCRD] {
		return nil
	}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &egov1.Activity{}, activeIndex, func(object client.Object) []string {
		if claims.Host(object.(*egov1.Activity)) == "" {
			return nil
		}
		return []string{"active"}
	})
	if err != nil {
		return fmt.Errorf("index Activities: %w", err)
	}
	return nil
}

// activities returns the nodes on which Activities of fleets and NodePools are pending or running, from the cache.
func (s *shared) activities(ctx context.Context) (map[string]string, error) {
	if !s.Installed[activitiesCRD] {
		return nil, nil
	}
	list := &egov1.ActivityList{}
	if err := s.Client.List(ctx, list, client.MatchingFields{activeIndex: "active"}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list Activities: %w", err)
	}
	return claims.Hosts(list.Items), nil
}

// watchActivities enqueues the pools when an Activity begins or ends to occupy a node. A pool wakes its nodes.
func watchActivities(b *builder.Builder, tools *kit.Tools) {
	if tools.Installed[activitiesCRD] {
		b.Watches(&egov1.Activity{}, poolsSoon(tools.Client), builder.WithPredicates(claims.Occupancy()))
	}
}
