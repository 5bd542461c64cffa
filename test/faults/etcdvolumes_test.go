// Copyright The opcrew Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults_test

import (
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	etcdv1beta2 "github.com/opcrew/opcrew/api/etcd/v1beta2"
	"github.com/opcrew/opcrew/test/faults"
	"github.com/opcrew/opcrew/test/testenv"
)

const etcdClasses = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: elastic}
provisioner: ` + testenv.VolumeProvisioner + `
allowVolumeExpansion: true
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: other}
provisioner: ` + testenv.VolumeProvisioner + `
`

const etcdOnClass = `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdCluster
metadata: {name: db}
spec:
  size: 3
  version: 3.5.35
  pod: {persistentVolumeClaimSpec: {storageClassName: elastic, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
`

// etcdMoving enlarges volumes, and then moves members to volumes of another StorageClass. The test server has no
// storage driver, so the workload itself sets the new size in the status of the claims.
var etcdMoving = faults.Workload{
	Name:  "moving",
	World: func(w *faults.World) { w.Apply(etcdClasses) },
	Steps: []faults.Step{
		{
			Name:     "create a cluster with claims",
			Do:       func(u *faults.User) { u.Apply(etcdOnClass) },
			Until:    etcdReady,
			Patience: patience,
		},
		{
			Name: "give it larger volumes",
			Do: func(u *faults.User) {
				u.Patch("db", &etcdv1beta2.EtcdCluster{}, claimPatch(`"resources":{"requests":{"storage":"2Gi"}}`))
			},
			Until:    etcdAsksForMore,
			Patience: time.Minute,
		},
		{
			Name: "its volumes are larger",
			Do: func(u *faults.User) {
				claims := &corev1.PersistentVolumeClaimList{}
				u.List(claims)
				for _, claim := range claims.Items {
					u.PatchStatus(claim.Name, &corev1.PersistentVolumeClaim{}, `{"status":{"capacity":{"storage":"2Gi"}}}`)
				}
			},
			Until:    etcdUpToDate("elastic", "2Gi"),
			Patience: time.Minute,
		},
		{
			Name: "give it volumes of another class",
			Do: func(u *faults.User) {
				u.Patch("db", &etcdv1beta2.EtcdCluster{}, claimPatch(`"storageClassName":"other"`))
			},
			Until:    etcdUpToDate("other", "2Gi"),
			Patience: 2 * patience, // the operator adds three members and removes three
		},
	},
}

func claimPatch(fields string) string {
	return `{"spec":{"pod":{"persistentVolumeClaimSpec":{` + fields + `}}}}`
}

// etcdAsksForMore holds if all claims request the size in the spec, and the status reports that volumes are being
// enlarged.
func etcdAsksForMore(v faults.View) error {
	if err := etcdClaims(v, "elastic", "2Gi"); err != nil {
		return err
	}
	return etcdSays(v, etcdv1beta2.ReasonVolumesGrowing)
}

// etcdUpToDate holds if all members are ready, and their claims have the given StorageClass and size.
func etcdUpToDate(class, size string) func(faults.View) error {
	return func(v faults.View) error {
		return errors.Join(etcdReady(v), etcdClaims(v, class, size), etcdSays(v, etcdv1beta2.ReasonAllUpToDate))
	}
}

func etcdSays(v faults.View, reason string) error {
	c := &etcdv1beta2.EtcdCluster{}
	if err := v.Get("db", c); err != nil {
		return err
	}
	reported := meta.FindStatusCondition(c.Status.Conditions, etcdv1beta2.EtcdClusterUpToDate)
	if reported == nil || reported.Reason != reason || c.Status.ObservedGeneration != c.Generation {
		return fmt.Errorf("the status is %+v for generation %d, expected reason %s", reported, c.Status.ObservedGeneration, reason)
	}
	return nil
}

func etcdClaims(v faults.View, class, size string) error {
	claims := &corev1.PersistentVolumeClaimList{}
	if err := v.List(claims); err != nil {
		return err
	}
	n := 0
	for _, claim := range claims.Items {
		if claim.DeletionTimestamp != nil {
			continue
		}
		n++
		if asks := claim.Spec.Resources.Requests.Storage().String(); asks != size || *claim.Spec.StorageClassName != class {
			return fmt.Errorf("claim %s has class %s and requests %s", claim.Name, *claim.Spec.StorageClassName, asks)
		}
	}
	if n != 3 {
		return fmt.Errorf("there are %d claims", n)
	}
	return nil
}
